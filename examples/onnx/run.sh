#!/usr/bin/env bash
# A whole run: makes the model and the pictures, leads the run, and starts four devices, three in
# Python and one in Java. It fails unless they repair the model, and end with the same one.
#
#   ./run.sh [ROUNDS]    default 300
#
# It needs ./setup.sh once, and Go, gcc and a JDK.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

fail() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }
python=$PWD/_venv/bin/python
jars=(_jars/onnxruntime-*.jar)
jvm=../../android/_hostjvm
[ -x "$python" ] && [ -f "${jars[0]}" ] || fail "onnxruntime is missing: run ./setup.sh"
[ -f "$jvm/libgojni.so" ] || ../../android/hostjvm.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go -C ../../coordinator/zofl build -o "$work/zofl" .
classpath=$jvm/gobind.jar:${jars[0]}
javac --release 17 -Xlint:all -Werror -d "$work/classes" -cp "$classpath" Device.java
# The package zofl is that of this clone, and finds this program. The arrays are small: threads of
# OpenBLAS would only wait for each other.
export PYTHONPATH=../../python/src ZOFL=$work/zofl OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
"$python" make.py "$work/digits"
"$python" run.py "$work/digits" "${1:-300}" java -Xmx256m -Djava.library.path="$jvm" \
	-cp "$work/classes:$classpath" Device
