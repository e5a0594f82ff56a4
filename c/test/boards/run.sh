#!/bin/bash
# zofl.c on models of boards in QEMU: the self-test, golden runs whose digests equal those of a
# host, builds that the self-test must refuse, the size of code and the depth of the stack.
#
#	run.sh [BOARD...]
#	run.sh sizes       prints what the parts of the core take on m4f and on microbit
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")"

# Bytes of code on a Cortex-M4F, with what it takes of libm and libgcc, without the table of normal
# numbers: of the whole core, and of the smallest device.
code_limit=$((60 * 1024))
small_limit=$((48 * 1024))
small="-DZOFL_WITH_CMA=0 -DZOFL_WITH_STATE=0 -DZOFL_WITH_NAMES=0"
stack_limit=4096          # bytes, of any call
logs=../../../client/replica/testdata/logs.txt

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh ../../amalgamate.sh >"$work/zofl.c"

fail() {
	printf 'boards: %s\n' "$*" >&2
	exit 1
}

# flags BOARD: those of its processor, and of a small C library.
flags() {
	case $1 in
	microbit) echo -mthumb -mcpu=cortex-m0 -DMEMORY=7000 -DGIVEN=100 -DRECORD=700 -DZOFL_TILE=64 ;;
	m3) echo -mthumb -mcpu=cortex-m3 ;;
	m4) echo -mthumb -mcpu=cortex-m4 -mfloat-abi=soft ;;
	m4f) echo -mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 ;;
	m33) echo -mthumb -mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16 ;;
	riscv) echo -march=rv32imc -mabi=ilp32 --specs=picolibc.specs ;;
	*) fail "no board $1" ;;
	esac
	case $1 in
	riscv) ;;
	*) echo --specs=nano.specs ;;
	esac
}

# tool BOARD NAME: of its compiler's.
tool() {
	case $1 in
	riscv) echo "riscv64-unknown-elf-$2" ;;
	*) echo "arm-none-eabi-$2" ;;
	esac
}

# script BOARD: of the linker.
script() {
	case $1 in
	m3 | m4 | m4f) echo mps2.ld ;;
	m33) echo an505.ld ;;
	*) echo "$1.ld" ;;
	esac
}

# emulator BOARD: QEMU with the board's model.
emulator() {
	case $1 in
	microbit) echo qemu-system-arm -M microbit ;;
	m3) echo qemu-system-arm -M mps2-an385 ;;
	m4 | m4f) echo qemu-system-arm -M mps2-an386 ;;
	m33) echo qemu-system-arm -M mps2-an505 ;;
	riscv) echo qemu-system-riscv32 -M virt -cpu rv32,a=false,f=false,d=false -bios none ;;
	esac
}

warnings="-Wall -Wextra -Wconversion -Werror"
common="$warnings -Wno-unused-function -Wno-unknown-pragmas -Os -ffunction-sections -fdata-sections -DZOFL_WITH_LOWRANK=0 -I$work -I../.."

# build BOARD OUTPUT [FLAG...]: the program golden.
build() {
	# shellcheck disable=SC2046,SC2086 # they are words
	$(tool "$1" gcc) $(flags "$1") -std=c99 $common "${@:3}" golden.c semihosting.c start.c \
		-nostartfiles -Wl,--gc-sections -L. -T"$(script "$1")" -lm -o "$2"
}

# on BOARD PROGRAM [WORD...]: what the program says there; its status is the program's.
on() {
	local words
	words=$(printf ',arg=%s' golden "${@:3}")
	# shellcheck disable=SC2046
	timeout 1200 $(emulator "$1") -nographic -monitor none -serial none \
		-semihosting-config "enable=on,target=native$words" -kernel "$2" 2>&1
}

# host BOARD: what golden says on this machine with the board's memory.
host() {
	local conf
	conf=$(flags "$1" | tr ' ' '\n' | grep '^-D' || true)
	# shellcheck disable=SC2086
	gcc -std=c99 $common $conf golden.c host.c -lm -o "$work/host-$1"
	"$work/host-$1" "$logs"
}

# size BOARD [FLAG...]: text and data of the whole core with what it takes of libc, libm and libgcc, and how
# much of it is the table of normal numbers.
size() {
	local roots text table
	# shellcheck disable=SC2046,SC2086
	$(tool "$1" gcc) $(flags "$1") -std=c99 $common "${@:2}" -fcallgraph-info=su \
		-c "$work/zofl.c" -o "$work/$1.o"
	roots=$($(tool "$1" nm) -g --defined-only "$work/$1.o" | sed -n 's/.* T /-Wl,-u,/p')
	# shellcheck disable=SC2046,SC2086
	$(tool "$1" gcc) $(flags "$1") -nostartfiles -Wl,--gc-sections -Wl,-e,zofl_fill $roots \
		"$work/$1.o" -L. -T"$(script "$1")" -lm -o "$work/$1.core"
	text=$($(tool "$1" size) "$work/$1.core" | awk 'NR == 2 { print $1 + $2 }')
	table=$($(tool "$1" nm) -S "$work/$1.core" | sed -n 's/^[^ ]* \([^ ]*\) . table$/\1/p')
	echo "$text" $((0x${table:-0}))
}

# depth BOARD: bytes of the deepest chain of calls, and the chain. 128 bytes are for functions of
# libgcc and libm at its end, whose frames gcc does not know.
depth() {
	awk -f stack.awk "$work/$1.ci" >"$work/$1.depth" || fail "$1: see above"
	sort -rn "$work/$1.depth" | awk 'NR == 1 { $1 += 128; print }'
}

# sizes: of builds with less.
sizes() {
	local board flags built
	for board in m4f microbit; do
		for flags in "" "-DZOFL_WITH_CMA=0" "$small" "-DZOFL_WITH_NORMAL=0" \
			"$small -DZOFL_WITH_NORMAL=0"; do
			# shellcheck disable=SC2086 # they are words
			built=$(size "$board" $flags)
			printf '%-8s %s\n' "$board" "$built $flags"
		done
	done
}

# small_enough: what a Cortex-M4F has to hold.
small_enough() {
	local built code table
	built=$(size m4f)
	read -r code table <<<"$built"
	[ $((code - table)) -lt "$code_limit" ] || fail "$((code - table)) bytes of code: see code_limit"
	# shellcheck disable=SC2086
	built=$(size m4f $small)
	read -r code table <<<"$built"
	[ $((code - table)) -lt "$small_limit" ] || fail "$((code - table)) bytes of code: see small_limit"
	# shellcheck disable=SC2086
	built=$(size m4f $small -DZOFL_WITH_NORMAL=0) # all of a device for the preset zofl
	read -r code table <<<"$built"
	[ "$table" = 0 ] && [ "$code" -lt "$small_limit" ] || fail "$code bytes of code: see small_limit"
}

if [ "${1:-}" = sizes ]; then
	sizes
	exit
fi
boards=("$@")
[ ${#boards[@]} -gt 0 ] || boards=(microbit m3 m4 m4f m33 riscv)
for board in "${boards[@]}"; do
	build "$board" "$work/$board.elf"
	host "$board" >"$work/want" || fail "$board: on a host: $(tail -n 3 "$work/want")"
	on "$board" "$work/$board.elf" "$logs" >"$work/got" || fail "$board: $(tail -n 3 "$work/got")"
	stack=$(sed -n 's/^stack //p' "$work/got")
	sed '/^stack /d' "$work/got" | cmp -s "$work/want" - ||
		fail "$board: $(diff "$work/want" "$work/got" | head)"
	grep -q '^self-test: ok' "$work/got" || fail "$board: $(head -n 1 "$work/got")"
	sizes=$(size "$board")
	read -r code table <<<"$sizes"
	deep=$(depth "$board")
	read -r deepest chain <<<"$deep"
	printf '%-8s %s\n' "$board" "$(grep '^runs' "$work/got")"
	printf '%8s code %d, of it the table %d; stack %d in these runs, at most %d: %s\n' '' \
		"$code" "$table" "$stack" "$deepest" "$chain"
	[ "$stack" -gt 0 ] && [ "$stack" -le "$deepest" ] ||
		fail "$board: a stack of $stack, but the deepest is $deepest"
	if [ "$board" = m4f ]; then
		small_enough
		[ "$deepest" -lt "$stack_limit" ] || fail "a stack of $deepest, the limit is $stack_limit"
		# What would compute other numbers than the rest of a run, the self-test sees.
		! on m4f "$work/m4f.elf" "$logs" flush >"$work/flush" ||
			fail "the self-test passes with subnormal numbers flushed to zero"
		grep '^self-test: ' "$work/flush" | sed 's/^/         flushed: /'
		grep -v '^#pragma' "$work/zofl.c" >"$work/fused.c" # which forbid what follows
		cp "$work/fused.c" "$work/zofl.c"
		build m4f "$work/fused.elf" -std=gnu99 -ffp-contract=fast
		! on m4f "$work/fused.elf" "$logs" >"$work/fused" ||
			fail "the self-test passes with fused products"
		grep '^self-test: ' "$work/fused" | sed 's/^/         fused: /'
		sh ../../amalgamate.sh >"$work/zofl.c"
	fi
done
