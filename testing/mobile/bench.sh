#!/usr/bin/env bash
# Measures what the crossing between Go and Java costs on this machine's JVM, without
# anything that Zofl does in between, and the size of what crosses. It takes a minute.
set -euo pipefail
cd "$(dirname "$0")"
android=../../examples/android
"$android/hostjvm.sh" _bench ./crossing >/dev/null
out=$android/_bench
mkdir "$out/bench"
javac --release 8 -Xlint:-options -cp "$out/gobind.jar" -d "$out/bench" bench/Bench.java
java -Xmx256m -Djava.library.path="$out" -cp "$out/bench:$out/gobind.jar" Bench
printf 'libgojni.so, all of Zofl for an app: %s bytes, %s by gzip -9\n' \
	"$(stat -c %s "$out/libgojni.so")" "$(gzip -9c "$out/libgojni.so" | wc -c)"
