#!/usr/bin/env bash
# Measures the cost of calls between Go and Java on this machine's JVM, for several sizes of
# data and without anything that Zofl does in between, and the size of the library. It takes
# a minute.
set -euo pipefail
cd "$(dirname "$0")"
android=../../android
TAGS=jni "$android/hostjvm.sh" _bench ./crossing >/dev/null
out=$android/_bench
mkdir "$out/bench"
javac --release 8 -Xlint:-options -cp "$out/gobind.jar" -d "$out/bench" bench/Bench.java
java -Xmx256m -Djava.library.path="$out" -cp "$out/bench:$out/gobind.jar" Bench
printf 'libgojni.so, all of Zofl for an app: %s bytes, %s by gzip -9\n' \
	"$(stat -c %s "$out/libgojni.so")" "$(gzip -9c "$out/libgojni.so" | wc -c)"
