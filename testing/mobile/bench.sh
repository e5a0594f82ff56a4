#!/usr/bin/env bash
# Measures the cost of calls between Go and Java on this machine's JVM: for several sizes of data
# without anything that Zofl does in between, then of reads into direct buffers in a real step, and
# the size of the library. It takes some minutes.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
android=../../android
dim=1048576
"$android/hostjvm.sh" _bench ./crossing >/dev/null
out=$PWD/$android/_bench
mkdir "$out/bench"
javac --release 8 -Xlint:-options -cp "$out/gobind.jar" -d "$out/bench" bench/*.java
jvm=(java -Xmx256m -Djava.library.path="$out" -cp "$out/bench:$out/gobind.jar")
"${jvm[@]}" Bench

work=$(mktemp -d)
trap 'kill "${serve:-}" 2>/dev/null || true; rm -rf "$work"' EXIT
CGO_ENABLED=0 go -C ../../coordinator/zofl build -o "$work/zofl" .
"$work/zofl" plan --run buffers --dim "$dim" --set members=1 --set quorum=1 \
	--set perturbations=4 --set mu=0.001 --set deadline=600000 --write "$work/plan.json" >/dev/null
"$work/zofl" serve "$work/plan.json" --store "$work/log" --listen 127.0.0.1:0 2>"$work/said" &
serve=$!
url=
until [ -n "$url" ]; do
	sleep 0.1
	kill -0 "$serve" 2>/dev/null || { cat "$work/said" >&2; exit 1; }
	url=$(grep -om1 'nats://127[0-9.:]*' "$work/said" || true)
done
"${jvm[@]}" Buffers "$url" "$dim"

printf 'libgojni.so, all of Zofl for an app: %s bytes, %s by gzip -9\n' \
	"$(stat -c %s "$out/libgojni.so")" "$(gzip -9c "$out/libgojni.so" | wc -c)"
