#!/bin/sh
# Builds the firmware: build.sh BOARD OUTPUT [FLAG...]
#
#	build.sh microbit mcu.elf -DRUN='"kitchen"' -DID='"mcu-1"'
#
# BOARD is microbit (Cortex-M0, 16 kB of RAM), m4 (Cortex-M4 without a FPU) or m4f.
set -eu
case ${1:-} in
microbit) board="microbit.ld -mcpu=cortex-m0 -DNRF51" ;;
m4) board="mps2.ld -mcpu=cortex-m4 -mfloat-abi=soft" ;;
m4f) board="mps2.ld -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
*)
	echo "usage: build.sh microbit|m4|m4f OUTPUT [FLAG...]" >&2
	exit 2
	;;
esac
output=$2
shift 2
core=$(cd "$(dirname "$0")/../.." && pwd)
[ -e "$core/zofl.c" ] || sh "$core/amalgamate.sh" >"$core/zofl.c"
# shellcheck disable=SC2086 # they are words
arm-none-eabi-gcc -mthumb -std=c99 -Os -Wall -Wextra -ffunction-sections -fdata-sections \
	-DZOFL_TILE=64 -I"$core" "$@" \
	"$core/examples/firmware/main.c" "$core/examples/firmware/uart.c" "$core/zofl.c" \
	"$core/test/boards/start.c" "$core/test/boards/semihosting.c" \
	-nostartfiles --specs=nano.specs -Wl,--gc-sections -L"$core/test/boards" -T$board -lm -o "$output"
