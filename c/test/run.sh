#!/usr/bin/env bash
# Tests of the core in C. It installs nothing; .ci/setup does.
#
#   c/test/run.sh         what ./check.sh runs: no warning of gcc, with every part and without
#                         each; what the object exports, calls and holds; all vectors.
#   c/test/run.sh all     also clang; sanitizers; arm64, s390x; flags and modes
#                         that the self-test must refuse; some seconds of each fuzzer.
#   c/test/run.sh sweep   arm; 32 bits; other levels of optimization; clang's memory sanitizer.
#   c/test/run.sh STEP... these steps alone: their names are the functions below "steps".
#
# JOBS, 2, is how many steps run at once.
set -euo pipefail
cd "$(dirname "$0")/../.."

quick=(generated gcc_warnings header object vectors)
everything=(keys fuzzers sanitizers s390x arm64 emulated clang_warnings wrong_flags)
sweep=(armv7 bits32 memory clang_vectors o0 plain_c)

# The programs of vectors, and the files that they take. Each fails where anything differs. Those
# with a + are run as every compiler makes them.
programs='
+ directions prng/testdata/scheme1.txt
+ lowrank prng/lowrank/testdata/lowrank.txt
+ replay client/replica/testdata/logs.txt client/replica/testdata/refused.txt client/replica/testdata/candidates.txt
- plan docs/wire.md docs/device.md plan/testdata/runkeys.txt
+ wirevec wire/testdata/vectors/*.txt
- golden wire/testdata/golden.txt wire/testdata/vectors
- blocks plan/testdata/blocks.txt
- nats
+ transcript client/testdata/transcripts/*.txt client/testdata/transcripts/kept/*.txt
+ mishaps
- state client/replica/testdata/state-*.bin
- lean wire/compact/testdata/frames.txt
'
strict=(-std=c99 -Wall -Wextra -Wconversion -Wvla -pedantic -Werror)

fail() { printf 'c/test/run.sh: %s\n' "$*" >&2; exit 1; }

# suite EXEC CC FLAG...: the programs of vectors, as the compiler makes them, run by EXEC.
marks=+
suite() {
	local exec=$1 mark name args
	shift
	while read -r mark name args; do
		[[ $mark && $marks == *$mark* && ${only:-$name} == "$name" ]] || continue
		"$@" -I"$work" -Ic -o "$work/$name" "c/test/$name.c" -lm || fail "$name: $*"
		# shellcheck disable=SC2086 # patterns of files
		$exec "$work/$name" $args >"$work/out" 2>&1 || { tail -n 20 "$work/out"; fail "$name: $*"; }
		tail -n 1 "$work/out"
	done <<<"$programs"
}

# ---- steps ----

# generated: files that scripts make are what the scripts print.
generated() {
	c/table.sh | cmp - c/src/table.inc || fail "c/src/table.inc is not what c/table.sh prints"
	! git ls-files --error-unmatch c/zofl.c >/dev/null 2>&1 || cmp "$work/zofl.c" c/zofl.c ||
		fail "c/zofl.c is not what c/amalgamate.sh prints: c/amalgamate.sh >c/zofl.c"
}

# warnings CC: none, with all parts, and without each.
warnings() {
	local part
	"$1" "${strict[@]}" -Ic -O2 -c -o "$work/o" "$work/zofl.c"
	for part in NORMAL CMA STATE SIMD NAMES LOWRANK; do
		"$1" "${strict[@]}" -Ic -O1 -DZOFL_WITH_"$part"=0 -fsyntax-only "$work/zofl.c"
	done
	"$1" "${strict[@]}" -Ic -O1 -DZOFL_WITH_{NORMAL,CMA,STATE,SIMD,NAMES,LOWRANK}=0 -c -o "$work/o" \
		"$work/zofl.c"
}
gcc_warnings() {
	warnings gcc
	gcc "${strict[@]}" -std=c11 -Ic -O1 -fsyntax-only "$work/zofl.c"
}
clang_warnings() { warnings clang; }

# header: C++ takes it too.
header() {
	local standard
	for standard in c++11 c++20; do
		g++ -std=$standard -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only -x c++ c/zofl.h
	done
}

# object: it exports zofl_ alone, calls of libc what needs neither memory nor files, has nothing
# that is written, no recursion, and calls no pointer.
allowed='__cpu_(model|indicator_init)|mem(cmp|chr|cpy|move|set)|str(chr|cmp|cspn|len|ncmp|ncpy)|(sqrt|floor|fabs|exp|log|pow|cos)f?'
object() {
	local o=$work/zofl.o
	gcc -std=c99 -O2 -fno-pie -fcallgraph-info -Ic -c -o "$o" "$work/zofl.c"
	nm "$o" >"$work/symbols"
	[ "$(grep -c ' T zofl_' "$work/symbols")" -ge 20 ] || fail "zofl.o exports nearly nothing"
	! grep -E ' [A-TV-Z] ' "$work/symbols" | grep -v ' zofl_' || fail "exported beside zofl_"
	! awk '$1 == "U" { print $2 }' "$work/symbols" | grep -vxE "$allowed" ||
		fail "zofl.c calls what a board may lack"
	size -A "$o" | awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /\.rel\.ro/ && $2 > 0 { print; bad = 1 }
		END { exit bad }' || fail "zofl.c holds what is written"
	sed -n 's/^edge: .*sourcename: "\([^"]*\)" targetname: "\([^"]*\)".*/\1 \2/p' "$work/zofl.ci" >"$work/calls"
	[ "$(wc -l <"$work/calls")" -gt 100 ] || fail "no calls seen"
	! grep __indirect_call "$work/calls" || fail "zofl.c calls a pointer"
	tsort "$work/calls" >/dev/null || fail "recursion"
}

vectors() { marks=+- suite '' gcc -std=c99 -O2; }
clang_vectors() { suite '' clang -std=c99 -O3 -march=native; }
o0() { suite '' gcc -std=c99 -O0 -DZOFL_TILE=64; }
plain_c() { suite '' gcc -std=gnu99 -O3 -march=native -DZOFL_WITH_SIMD=0; }
sanitizers() {
	suite '' clang -std=c99 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
}
# emulated: the kernels of AVX-512 on any processor.
emulated() {
	gcc -std=gnu99 -ffp-contract=off -O1 -w -DZOFL_EMULATED -Ic/test/emulated -I"$work" -Ic \
		-o "$work/directions" c/test/directions.c -lm
	"$work/directions" prng/testdata/scheme1.txt
}
# memory: nothing is read before it is written.
memory() {
	suite '' clang -std=c99 -O1 -g -DZOFL_WITH_SIMD=0 -fsanitize=memory -fno-sanitize-recover=all
}
# keys: zofl_keys.c, with the Ed25519 of OpenSSL, and the device that uses it.
keys() {
	local ed25519='-DZOFL_ED25519="test/ed25519.h"'
	gcc "${strict[@]}" -O2 -Ic "$ed25519" -o "$work/keys" c/test/keys.c -lcrypto
	"$work/keys"
	clang "${strict[@]}" -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Ic \
		"$ed25519" -o "$work/keys" c/test/keys.c -lcrypto
	"$work/keys"
	gcc "${strict[@]}" -O1 -Ic -DZOFL_KEYS "$ed25519" -o "$work/device" c/examples/posix/*.c \
		c/zofl_keys.c "$work/zofl.c" -lm -lcrypto
	g++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ c/zofl_keys.h
}
bits32() { suite '' gcc -std=c99 -O2 -m32 -msse2 -mfpmath=sse; }
# s390x is big-endian; arm64 has NEON.
s390x() { suite qemu-s390x-static s390x-linux-gnu-gcc -std=gnu99 -O1 -static; }
arm64() { only=directions suite qemu-aarch64-static aarch64-linux-gnu-gcc -std=c99 -O1 -static; }
armv7() { suite qemu-arm-static arm-linux-gnueabihf-gcc -std=c99 -O2 -static; }

# refuses CC FLAG...: the compiler does.
refuses() {
	! "$@" -Ic -c -o "$work/o" "$work/zofl.c" 2>"$work/out" || fail "compiled: $*"
	grep -q 'zofl.c needs' "$work/out" || { cat "$work/out"; fail "another error: $*"; }
}

# selftest RESULT EXEC CC FLAG...: what the self-test makes of these flags.
selftest() {
	local want=$1 exec=$2 got
	shift 2
	"$@" -I"$work/arithmetic" -Ic -o "$work/modes" c/test/modes.c -lm
	got=$($exec "$work/modes") || { echo "$got"; fail "modes: $*"; }
	[ "$got" = "$want" ] || fail "$got, not $want, with $*"
}

# wrong_flags: what does not agree with other devices does not get into a run.
wrong_flags() {
	mkdir "$work/arithmetic" # the self-test and what it tests: half of the core
	sed '/^\/\* src\/msgpack.c/,$d' "$work/zofl.c" >"$work/arithmetic/zofl.c"
	refuses gcc -O2 -ffast-math
	refuses clang -O2 -ffast-math
	refuses gcc -O2 -m32 -mfpmath=387
	selftest passed '' gcc -std=c99 -O2
	selftest passed '' clang -std=c99 -O2
	selftest passed '' gcc -std=gnu99 -ffp-contract=off -O3 -march=native
	selftest failed '' gcc -std=c99 -O2 -funsafe-math-optimizations # it links code that flushes
	selftest failed '' gcc -std=c99 -O2 -fassociative-math -fno-signed-zeros -fno-trapping-math
	selftest failed '' gcc -std=c99 -O2 -freciprocal-math
	selftest failed '' gcc -std=c99 -O2 -ffinite-math-only
	selftest passed qemu-aarch64-static aarch64-linux-gnu-gcc -std=gnu99 -O2 -static
	selftest passed qemu-s390x-static s390x-linux-gnu-gcc -std=gnu99 -O2 -static
	sed -i '/^#pragma/d' "$work/arithmetic/zofl.c" # which forbid to fuse
	selftest failed qemu-aarch64-static aarch64-linux-gnu-gcc -std=gnu99 -O2 -static
	selftest failed qemu-s390x-static s390x-linux-gnu-gcc -std=gnu99 -O2 -static
	! grep -qw fma /proc/cpuinfo || selftest failed '' gcc -std=gnu99 -O2 -mfma
}

fuzzers() { c/test/fuzz.sh 3; }

# ---- ----

# step NAME: runs it, and prints its seconds, those of its processors, and what it says.
step() {
	local from=$SECONDS status=0 TIMEFORMAT='%U %S'
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	c/amalgamate.sh >"$work/zofl.c"
	{ time { ( "$1" ) >"$work/said" 2>&1; }; } 2>"$work/cpu" & # "||" would switch off -e in it
	wait $! || status=$?
	[ "$status" = 0 ] || printf 'FAILED: '
	printf '%s: %d s' "$1" $((SECONDS - from))
	awk '{ printf ", %.0f s of CPU\n", $1 + $2 }' "$work/cpu"
	cat "$work/said"
	exit "$status"
}

case "${1:-}" in
'') set -- "${quick[@]}" ;;
all) set -- "${everything[@]}" "${quick[@]}" ;;
sweep) set -- "${sweep[@]}" ;;
esac
[ $# != 1 ] || step "$1"
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -n 1 c/test/run.sh
