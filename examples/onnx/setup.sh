#!/usr/bin/env bash
# Brings the libraries of the example, once, with a network: a Python environment of 200 MB from
# PyPI in _venv, and onnxruntime for Java, 54 MB from Maven Central, in _jars.
set -euo pipefail
cd "$(dirname "$0")"
if ! cmp -s requirements.txt _venv/installed; then
	rm -rf _venv
	python3 -m venv _venv
	_venv/bin/pip install -q --disable-pip-version-check -r requirements.txt
	cp requirements.txt _venv/installed
fi
bring=(mvn -q -B --no-transfer-progress -f . dependency:copy-dependencies -DoutputDirectory=_jars)
if ! cmp -s pom.xml _jars/installed; then
	rm -rf _jars
	"${bring[@]}" -o >/dev/null 2>&1 || "${bring[@]}"
	cp pom.xml _jars/installed
fi
