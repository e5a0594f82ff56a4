"""python -m zofl.audit LOG"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import LogError, Verdict, model, verify


def main(argv: Sequence[str] | None = None) -> int:
    """Prints a verdict. Exit codes: 0 good, 1 no such log, 2 arguments, 4 a damaged log."""
    args = _arguments(argv)
    secret = _secret(args.secret)
    initial = _initial(args.initial)
    try:
        verdict = verify(args.log, at=args.at, secret=secret, initial=initial)
        if args.out and verdict.ok:
            np.save(args.out, model(args.log, args.at, secret=secret, initial=initial))
    except (LogError, OSError) as error:
        print(f"zofl.audit: {error}", file=sys.stderr)
        return 4 if isinstance(error, LogError) else 1
    if args.json:
        print(json.dumps(dataclasses.asdict(verdict)))
    else:
        _print(verdict)
    return 0 if verdict.ok else 4


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m zofl.audit",
        description="Check a log, and compute the digest of its state, apart from the program "
        "that wrote it.")
    parser.add_argument("log", type=Path, help="directory of a log, or its file of records")
    parser.add_argument("--at", type=int, help="record to stop after; default: the last one")
    parser.add_argument("--secret", type=Path, help="file with the run key of a private run")
    parser.add_argument("--initial", type=Path, help=".f32 or .npy file with the first "
                        "parameters, if the plan has initial=given")
    parser.add_argument("--out", type=Path, help="write the model to this .npy file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(argv)


def _secret(path: Path | None) -> bytes | None:
    return None if path is None else path.read_bytes()


def _initial(path: Path | None) -> npt.NDArray[Any] | None:
    if path is None:
        return None
    if path.suffix == ".npy":
        return np.asarray(np.load(path), np.float32)
    return np.fromfile(path, "<f4")


def _print(v: Verdict) -> None:
    print(f"run      {v.run}\ndim      {v.dim}\nrecords  {v.records}\nrounds   {v.rounds}")
    print(f"epoch    {v.epoch}\nhash     {v.hash}\ndigest   {v.digest or 'none'}")
    if v.ended:
        print(f"ended    {v.ended}")
    for note in v.notes:
        print(f"note     {note}")
    for problem in v.problems:
        print(f"WRONG    {problem}")


if __name__ == "__main__":
    sys.exit(main())
