#!/usr/bin/env bash
# Four devices fine-tune SmolLM2-135M on rated sentences about films: see train.py for options.
#
#   ./run.sh              the whole model, two minutes of a core
#   ./run.sh check.py     what the checks do: two layers, 64 sentences, seconds
#   ./run.sh table.py     the methods beside each other, hours
#
# It needs Go, and a network the first time: setup.sh says what it fetches.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
for python in "${PYTHON:-}" /usr/bin/python3 python3 _venv/bin/python; do
	"$python" -c 'import torch; torch.zeros(1).numpy()' 2>/dev/null && break
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 GOWORK=off go -C ../../coordinator/zofl build -o "$work/zofl" .
# The package zofl is that of this clone, and finds this program. Devices share the cores: threads
# of each would only wait for each other.
export PYTHONPATH=../../python/src ZOFL=$work/zofl PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
[ $# -gt 0 ] || set -- train.py
"$python" "$@"
