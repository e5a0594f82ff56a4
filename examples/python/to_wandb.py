"""Logs a run of Zofl to Weights & Biases.

    zofl history --store kitchen.log --json | python to_wandb.py kitchen
"""

import json
import sys

import wandb


def numbers(point):
    """The numbers of a round: its own, metrics/NAME, and reported/NAME of the apps."""
    found = {k: v for k, v in point.items() if isinstance(v, (int, float)) and k != "n"}
    for name, value in (point.get("evaluation") or {}).get("metrics", {}).items():
        if value is not None:
            found["metrics/" + name] = value
    for name, value in (point.get("reported") or {}).items():
        found["reported/" + name] = value["median"]
    return found


history = json.load(sys.stdin)
with wandb.init(project="zofl", name=sys.argv[1]) as run:
    for point in history["points"]:
        run.log(numbers(point), step=point["n"])
    for mark in history["marks"]:
        run.summary["last event"] = f"{mark['kind']} {mark.get('text', '')}".strip()
