"""A device in Python, by ctypes: its loss is a bowl whose lowest point is (1, 1.1, 1.2, ...).

    libzofl/build.sh _lib
    python3 device.py _lib/libzofl.so nats://127.0.0.1:4222 kitchen py-1 5 [STORE]

It asks for all points of a step at once. Package zofl in python/ needs no library, but has fewer
methods.
"""

import ctypes as c
import sys

WAIT, EVALUATE, PAUSED, ENDED = 0, 4, 5, 6
F32 = 0


class Config(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        *[(name, c.c_char_p) for name in (
            "url", "creds", "ca", "enroll", "coordinator", "run", "id", "store", "program")],
        ("secret", c.POINTER(c.c_uint8)), ("secret_size", c.c_size_t),
        ("initial", c.POINTER(c.c_float)), ("dim", c.c_uint64), ("memory_limit", c.c_uint64),
        ("weight", c.c_uint32), ("max_batch", c.c_uint32), ("workers", c.c_uint32),
        ("passive", c.c_uint8), ("plaintext", c.c_uint8), ("held_out", c.c_uint8),
    ]


class Task(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t), ("size", c.c_uint64), ("record", c.c_uint64),
        ("seed", c.c_uint64), ("left_ms", c.c_int64), ("batch", c.c_uint32), ("step", c.c_uint32),
        ("point", c.c_uint32), ("points", c.c_uint32), ("metrics", c.c_uint32),
        ("held_out", c.c_uint8),
    ]


def library(path):
    """The library with the types of its calls, which ctypes cannot know."""
    lib = c.CDLL(path)
    handle, size = c.c_int32, c.c_uint64
    lib.zofl_open.argtypes = [c.POINTER(Config)]
    lib.zofl_poll.argtypes = [handle, c.c_int, c.POINTER(Task)]
    lib.zofl_points.argtypes = [handle, c.c_int, c.c_void_p, size, size]
    lib.zofl_losses.argtypes = [handle, c.POINTER(c.c_double), c.c_uint32]
    lib.zofl_digest.argtypes = [handle, c.c_void_p]
    lib.zofl_explain.argtypes = [handle, c.c_char_p, c.c_size_t]
    lib.zofl_explain.restype = c.c_size_t
    lib.zofl_records.restype = c.c_uint64
    lib.zofl_error.restype = lib.zofl_version.restype = c.c_char_p
    return lib


def loss(x):
    """Yours: run the engine with weights x, and return how badly it did."""
    return sum((e - (1 + 0.1 * i)) ** 2 for i, e in enumerate(x))


def main(path, url, run, name, dim, store=None):
    lib, dim = library(path), int(dim)

    def check(code, handle=0):
        if code < 0:
            why = c.create_string_buffer(1024)
            lib.zofl_explain(handle, why, len(why))
            sys.exit(f"{lib.zofl_error(code).decode()}: {why.value.decode()}")
        return code

    config = Config(struct_size=c.sizeof(Config), url=url.encode(), run=run.encode(),
                    id=name.encode(), dim=dim, store=store.encode() if store else None)
    device = check(lib.zofl_open(config))
    task, losses = Task(struct_size=c.sizeof(Task)), 0
    while (step := check(lib.zofl_poll(device, 1000, task), device)) != ENDED:
        if step != EVALUATE:
            continue
        points = (c.c_float * (task.points * dim))()
        if lib.zofl_points(device, F32, points, 0, dim) < 0:
            continue  # the round was over meanwhile
        values = [loss(points[i * dim:(i + 1) * dim]) for i in range(task.points)]
        if lib.zofl_losses(device, (c.c_double * len(values))(*values), len(values)) == 0:
            losses += len(values)
    digest = c.create_string_buffer(32)
    check(lib.zofl_digest(device, digest), device)
    print("losses", losses, "record", lib.zofl_records(device), "digest", digest.raw.hex())
    lib.zofl_close(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
