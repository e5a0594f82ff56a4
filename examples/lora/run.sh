#!/usr/bin/env bash
# Checks the example on small sizes: see check.py. It needs Go, and a Python with numpy, onnx and
# onnxruntime: that of PYTHON, or of the example onnx, or python3.
set -euo pipefail
cd "$(dirname "$0")"
for python in "${PYTHON:-}" ../onnx/_venv/bin/python python3; do
	"$python" -c 'import numpy, onnx, onnxruntime' 2>/dev/null && break
	python=
done
[ -n "$python" ] || {
	echo "run.sh: no onnxruntime: pip install numpy onnx onnxruntime, and name that PYTHON" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 GOWORK=off go -C ../../coordinator/zofl build -o "$work/zofl" .
export PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
"$python" check.py "$work/zofl" "$@"
