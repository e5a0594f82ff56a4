#!/usr/bin/env bash
# Fuzzes entry points of the core, each for SECONDS: all that c/test/fuzz.c has, or those named.
# Sanitizers look on. What is new stays in FOUND, a folder, if that is set: a longer run goes on
# from there.
#
#   c/test/fuzz.sh SECONDS [TARGET...]
set -euo pipefail
[ $# -ge 1 ] || { sed -n 's/^#   /usage: /p' "$0" >&2; exit 2; }
seconds=$1
shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
c/amalgamate.sh >"$work/zofl.c"
python3 c/test/corpus.py "$work/corpus"
clang -std=c99 -O1 -g -DZOFL_TILE=64 -DZOFL_WITH_SIMD=0 \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-I"$work" -Ic -o "$work/fuzz" c/test/fuzz.c -lm
[ $# -gt 0 ] || mapfile -t targets < <(cd "$work/corpus" && printf '%s\n' *)
[ $# = 0 ] || targets=("$@")
for target in "${targets[@]}"; do
	found=${FOUND:-$work/found}/$target
	mkdir -p "$found"
	TARGET=$target "$work/fuzz" -max_total_time="$seconds" -timeout=120 -rss_limit_mb=3000 \
		-artifact_prefix="$found/" "$found" "$work/corpus/$target" >"$work/said" 2>&1 || {
		tail -n 60 "$work/said"
		echo "c/test/fuzz.sh: $target"
		exit 1
	}
	grep '^Done ' "$work/said" | sed "s/^/$target: /"
done
