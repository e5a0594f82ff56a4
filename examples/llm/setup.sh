#!/usr/bin/env bash
# Brings what the example needs, once, with a network: the model and the sentences, 95 MB from PyPI,
# in _data; and where no Python has torch, PyPI's torch in _venv. Debian's python3-torch suffices
# and is far smaller: with libopenblas0 it is quick.
set -euo pipefail
cd "$(dirname "$0")"
python3 fetch.py _data
for python in "${PYTHON:-}" /usr/bin/python3 python3 _venv/bin/python; do
	"$python" -c 'import torch; torch.zeros(1).numpy()' 2>/dev/null && exit
done
rm -rf _venv
python3 -m venv _venv
_venv/bin/pip install -q --disable-pip-version-check -r requirements.txt
