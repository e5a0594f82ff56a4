#!/usr/bin/env bash
# Runs whole runs of client/mobile, with a broker and TLS, on emulated processors of
# Raspberry Pis and phones. Also compiles what apps link, for all their systems. check.sh
# all and nightly call it.
#
#   testing/mobile/qemu.sh              pi-zero and android, and what is compiled for iOS: devices of
#                                       other tests run on the rest
#   testing/mobile/qemu.sh rest         pi, arm64, and what is compiled for Android's other processors
#   testing/mobile/qemu.sh pi           one of pi-zero, pi, arm64 and android
#
# It needs qemu-user-static and, for Android's loader, libc6-arm64-cross.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOWORK=off CGO_ENABLED=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'qemu.sh: %s\n' "$*" >&2; exit 1; }

# need TOOL-OR-FILE PACKAGE: fails with the apt-get command if it is missing.
need() {
	[ -e "$1" ] || command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"
}

# live NAME VAR=VALUE... -- EMULATOR: does the runs there.
live() {
	local name=$1 env=()
	shift
	while [ "$1" != -- ]; do env+=("$1"); shift; done
	shift
	need "$1" qemu-user-static
	printf '== live on %s\n' "$name"
	env "${env[@]}" go -C testing test -vet=off -exec "$*" -count=1 -timeout 5m -v \
		-run '^TestLive(Slices|NothingInTheClear)?$' ./mobile >"$work/out" 2>&1 || { cat "$work/out"; fail "live on $name"; }
	[ "$(grep -c '^--- PASS: TestLive' "$work/out")" = 3 ] || { cat "$work/out"; fail "live on $name: tests are missing"; }
	grep -E '^(--- PASS|ok)' "$work/out"
}

# A Pi Zero lacks the instructions of arm v7, and crashes at one.
pi-zero() { live "arm v6" GOARCH=arm GOARM=6 -- qemu-arm-static -cpu arm1176; }
pi() { live "arm v7" GOARCH=arm GOARM=7 -- qemu-arm-static; }
arm64() { live arm64 GOARCH=arm64 -- qemu-aarch64-static; }

# Executables for Android name its loader, which glibc's can replace; Android's directory
# for temporary files does not exist here.
android() {
	local loader=/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1
	need "$loader" libc6-arm64-cross
	mkdir -p "$work/root/system/bin"
	cp -L "$loader" "$work/root/system/bin/linker64"
	live "android/arm64" GOOS=android GOARCH=arm64 TMPDIR="$work" -- qemu-aarch64-static -L "$work/root"
}

# libraries compiles the packages of the root module, but for programs and tests. Programs for
# phones need C to be linked.
libraries() {
	printf '== libraries for %s/%s\n' "$1" "$2"
	go list -f '{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}' ./... >"$work/packages"
	[ "$(wc -l <"$work/packages")" -ge 8 ] || fail "the root module's packages are missing"
	GOOS=$1 GOARCH=$2 xargs go build <"$work/packages"
}

# rest: what is left to check.sh nightly.
rest() {
	libraries android arm
	libraries android amd64
	pi
	arm64
}

if [ $# -gt 0 ]; then
	declare -F "$1" >/dev/null || fail "$1 is none of pi-zero, pi, arm64, android and rest"
	"$1"
	exit
fi
libraries ios arm64
pi-zero
android
