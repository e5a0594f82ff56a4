#!/usr/bin/env bash
# Builds libzofl.so, and puts it and libzofl.h into a folder:
#
#   libzofl/build.sh DIR [amd64|arm64|armv7]
#
# For another processor it needs a C compiler of it: gcc-aarch64-linux-gnu, gcc-arm-linux-gnueabihf.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
host=$(go env GOHOSTARCH)
case ${2:-$host} in
amd64) export GOARCH=amd64 GOAMD64=v1 ;;
arm64) export GOARCH=arm64 ;;
armv7) export GOARCH=arm GOARM=7 ;;
*) echo "build.sh: $2: give amd64, arm64 or armv7" >&2; exit 2 ;;
esac
if [ "$GOARCH" != "$host" ]; then
	case $GOARCH in
	amd64) export CC=${CC:-x86_64-linux-gnu-gcc} ;;
	arm64) export CC=${CC:-aarch64-linux-gnu-gcc} ;;
	arm) export CC=${CC:-arm-linux-gnueabihf-gcc} ;;
	esac
fi
# Go resolves names itself, as in zofl: the C library's ways need more of it.
CGO_ENABLED=1 GOOS=linux GOWORK=off go -C "$(dirname "$0")" build -buildmode=c-shared \
	-tags netgo,osusergo -trimpath -buildvcs=false \
	-ldflags="-s -w -buildid= -X main.stamp=${VERSION:-}" -o "$out/libzofl.so" .
cp "$(dirname "$0")/include/libzofl.h" "$out/libzofl.h" # in place of the one that Go makes
