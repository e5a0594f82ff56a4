"""Logs a run of Zofl to MLflow: to $MLFLOW_TRACKING_URI, or to ./mlruns.

    zofl history --store kitchen.log --json | python to_mlflow.py kitchen
"""

import json
import sys
from calendar import timegm
from time import strptime

import mlflow
from mlflow.entities import Metric


def numbers(point):
    """The numbers of a round: its own, metrics/NAME, and reported/NAME of the apps."""
    found = {k: v for k, v in point.items() if isinstance(v, (int, float)) and k != "n"}
    for name, value in (point.get("evaluation") or {}).get("metrics", {}).items():
        if value is not None:
            found["metrics/" + name] = value
    for name, value in (point.get("reported") or {}).items():
        found["reported/" + name.replace("/", ".")] = value["median"]
    return found


history = json.load(sys.stdin)
metrics = [
    Metric(name, value, 1000 * timegm(strptime(point["time"][:19], "%Y-%m-%dT%H:%M:%S")), point["n"])
    for point in history["points"] for name, value in numbers(point).items()
]
mlflow.set_experiment("zofl")
with mlflow.start_run(run_name=sys.argv[1]) as run:
    for first in range(0, len(metrics), 1000):  # as many as MLflow takes at once
        mlflow.MlflowClient().log_batch(run.info.run_id, metrics[first:first + 1000])
    mlflow.set_tags({f"zofl.{mark['kind']}": mark.get("text", "") for mark in history["marks"]})
