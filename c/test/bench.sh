#!/usr/bin/env bash
# The core's kernels beside Go's, in turn on one machine: c/test/bench.sh [ROUNDS, 5] [FLAG...]
# Prints ns an element of both, the fastest of all rounds, and how many times Go's speed C reaches.
# CC is the compiler, ZOFL a program `zofl`, built here if unset. Close other programs first.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-5}
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "${ZOFL:-}" ] || GOWORK=off go -C coordinator/zofl build -o "$work/go" .
c/amalgamate.sh >"$work/zofl.c"
${CC:-gcc} -std=c99 -O3 "$@" -w -I"$work" -Ic -o "$work/bench" c/test/bench.c -lm
for ((i = 0; i < rounds; i++)); do
	"$work/bench" 0.2 >>"$work/c"
	"${ZOFL:-$work/go}" bench kernel --seconds 2 --dim 65536 --json 2>/dev/null |
		tr '{,}' '\n' >"$work/json"
	awk -F: '{ gsub(/"/, "") }
		$1 == "yardstick" { unit = $2 }
		$1 ~ /^(generic|avx2|avx512|neon)$/ { ratio[$1 " normal_f32"] = $2 }
		$1 ~ /^rademacher8_/ { sub(/rademacher8_/, ""); ratio[$1 " eight_signs"] = $2 }
		END { for (k in ratio) print k, 1e9 / unit / ratio[k] }' "$work/json" >>"$work/goes"
done
awk '{ k = $1 " " $2 }
	FILENAME ~ /goes$/ { if (!(k in go) || $3 < go[k]) go[k] = $3; next }
	{ if (!(k in c)) order[++n] = k; if (!(k in c) || $3 < c[k]) c[k] = $3 }
	END {
		printf "%-8s %-12s %8s %8s %6s\n", "set", "kernel", "C, ns", "Go, ns", "ratio"
		for (i = 1; i <= n; i++) {
			split(order[i], p, " ")
			printf "%-8s %-12s %8.3f ", p[1], p[2], c[order[i]]
			if (order[i] in go)
				printf "%8.3f %6.2f", go[order[i]], go[order[i]] / c[order[i]]
			print ""
		}
	}' "$work/goes" "$work/c"
