# A loss in Python for `zofl exec -- python3 loss.py`: a bowl around 0, 1, 2, ...
import array
import sys

for line in sys.stdin:
    verb, *words = line.rstrip("\n").split(" ")
    args = dict(w.split("=", 1) for w in words if "=" in w)
    if verb == "hello":
        print("hello 1 dim=0 points=20", flush=True)
    elif verb == "map":
        dim, path = int(args["dim"]), line.rstrip("\n").split("path=", 1)[1]
        print("ok", flush=True)
    elif verb == "loss":
        x = array.array("f")
        with open(path, "rb") as f:
            x.fromfile(f, dim * int(args["points"]))
        losses = [sum((x[p + i] - i) ** 2 for i in range(dim)) for p in range(0, len(x), dim)]
        print("loss", *losses, flush=True)
    else:
        print("error unknown request", flush=True)
