#!/bin/sh
# Compiles the example for ESP-IDF or Zephyr for this machine: hosted.sh espidf|zephyr OUTPUT. What
# it calls of them is in hosted.h, and the names of their headers are empty files.
set -eu
core=$(cd "$(dirname "$0")/../.." && pwd)
case $1 in
espidf) main=$core/examples/espidf/main/main.c ;;
zephyr) main=$core/examples/zephyr/src/main.c ;;
*) exit 2 ;;
esac
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
sh "$core/amalgamate.sh" >"$headers/zofl.c"
sed -n 's/^#include ["<]\(\(esp_\|freertos\/\|zephyr\/\|nvs_\|protocol_\|sdkconfig\).*\)[">]/\1/p' "$main" |
	while read -r name; do
		mkdir -p "$headers/$(dirname "$name")"
		: >"$headers/$name"
	done
flags="-std=c99 -D_POSIX_C_SOURCE=200809L -O1 -Wall -Wextra -Wconversion -Werror"
# shellcheck disable=SC2086 # they are words
gcc $flags -I"$core" -c "$headers/zofl.c" -o "$headers/zofl.o"
# shellcheck disable=SC2086
gcc $flags -DHOSTED_"$(echo "$1" | tr a-z A-Z)" -include "$core/test/boards/hosted.h" \
	-I"$headers" -I"$core" -I"$core/examples" "$main" "$headers/zofl.o" -lm -o "$2"
