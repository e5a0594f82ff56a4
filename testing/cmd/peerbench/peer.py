# Measures normals of numpy and torch for peerbench. It prints a line of JSON at the
# start, and one for each line that it reads.
import json, platform, sys, time

SECONDS, CALLS = 0.02, 5  # a measurement lasts, at least
SMALL, LARGE = 65536, 4 << 20
A = 1e-3
versions, missing, kernels = ["Python " + platform.python_version()], [], []


def kernel(name, n, f):
    kernels.append((name, n, f))


try:
    import numpy as np

    versions.append("numpy " + np.__version__)
    for bits in ("PCG64", "SFC64", "Philox"):
        rng, z = np.random.Generator(getattr(np.random, bits)(1)), np.empty(SMALL, np.float32)
        kernel(f"numpy standard_normal float32, {bits}, n={SMALL}", SMALL,
               lambda rng=rng, z=z: rng.standard_normal(dtype=np.float32, out=z))
except ImportError:
    missing.append("numpy")

try:
    import torch

    versions.append("torch " + torch.__version__)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    for n in (SMALL, LARGE):
        x = torch.zeros(n)
        kernel(f"torch randn, 1 thread, n={n}", n, lambda n=n: torch.randn(n))
        kernel(f"torch x.add_(randn(n), alpha=a), 1 thread, n={n}", n,
               lambda n=n, x=x: x.add_(torch.randn(n), alpha=A))
except ImportError:
    missing.append("torch")


def measure(n, f):
    """The speed of the fastest call: the others waited for other processes."""
    f()
    fastest, calls, start = float("inf"), 0, time.perf_counter()
    while calls < CALLS or time.perf_counter() - start < SECONDS:
        before = time.perf_counter()
        f()
        fastest = min(fastest, time.perf_counter() - before)
        calls += 1
    return n / fastest


def say(value):
    print(json.dumps(value), flush=True)


say({"versions": ", ".join(versions), "missing": missing})
for _ in sys.stdin:
    say([{"name": name, "speed": measure(n, f)} for name, n, f in kernels])
