#!/usr/bin/env bash
# The test command. It installs nothing; .ci/setup does.
#
#   ./check.sh       gofmt, vet, tidy, build, race tests and fuzz seeds of every
#                    module; golden vectors on amd64, GOAMD64=v3 and 386; no
#                    fused multiply-add in v3 code; without the race detector,
#                    thousands of the simulator's seeds, real processes that are
#                    killed, and long absences. Under 8 minutes warm.
#   ./check.sh all   also the golden vectors under qemu on arm64, arm v6 and v7,
#                    riscv64 and s390x, their disassembly, and a run that mixes
#                    architectures.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

modules=(. testing coordinator/zofl)
# Packages whose results must agree on every architecture.
replicated=(./prng ./mathx ./client/replica)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '== %s\n' "$*"; }
fail() { printf 'check.sh: %s\n' "$*" >&2; exit 1; }

# need TOOL PACKAGE: fails with the apt line where the tool is missing.
need() {
	command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"
}

check_module() {
	local dir=$1 bad
	step "module $dir"
	bad=$(cd "$dir" && gofmt -l $(git ls-files --cached --others --exclude-standard . | grep '\.go$' | grep -v '^_'))
	[ -z "$bad" ] || fail "gofmt -w these: $bad"
	go -C "$dir" mod tidy -diff || fail "go mod tidy in $dir"
	go -C "$dir" vet ./...
	go -C "$dir" build ./...
	go -C "$dir" test -race ./...
}

# golden NAME [VAR=VALUE...] [-- EXEC]: the golden vectors elsewhere.
golden() {
	local name=$1
	shift
	step "golden vectors on $name"
	local env=() exec=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do env+=("$1"); shift; done
	[ $# -eq 0 ] || { shift; exec=(-exec "$*"); }
	env "${env[@]}" CGO_ENABLED=0 go test "${exec[@]}" -count=1 -run '^TestGolden' "${replicated[@]}" | tee "$work/golden"
	[ "$(grep -c '^ok' "$work/golden")" = "${#replicated[@]}" ] || fail "golden vectors on $name"
	! grep -q 'no tests to run' "$work/golden" || fail "a package has no golden vectors"
}

# unfused NAME VAR=VALUE...: no fused multiply-add in the machine code of what
# must agree: the compiler's listing of every function, and assembly sources.
fused='[[:space:]](V?FN?M(ADD|SUB|A|S)|WFN?M[AS])[.A-Z0-9]*[[:space:]]'
unfused() {
	local name=$1 pkg
	shift
	step "no fused multiply-add on $name"
	for pkg in "${replicated[@]}"; do
		env "$@" CGO_ENABLED=0 go build -gcflags=-S "$pkg" 2>"$work/asm"
		[ "$(grep -c ' STEXT ' "$work/asm")" -gt 3 ] || fail "$name: no code of $pkg to look at"
		cat "$pkg"/*.s >>"$work/asm" 2>/dev/null || true
		if grep -E "$fused" "$work/asm"; then
			fail "$name: $pkg fuses a product into a sum: convert the product, float32(a*b)"
		fi
	done
}

need go golang
need git git
need gcc gcc
if [ "${1:-}" = all ]; then
	for a in arm aarch64 riscv64 s390x; do need "qemu-$a-static" qemu-user-static; done
fi

for dir in "${modules[@]}"; do check_module "$dir"; done
step "seeds, kills and absences without the race detector"
go -C testing test ./fleet ./fleet/simulation -run 'TestKill|TestAway|TestSeeds'
if [ "$(go env GOHOSTARCH)" = amd64 ]; then
	golden 386 GOARCH=386
	if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
		golden "amd64 v3" GOAMD64=v3
	fi
fi
unfused "amd64 v3" GOARCH=amd64 GOAMD64=v3

if [ "${1:-}" = all ]; then
	golden arm64 GOARCH=arm64 -- qemu-aarch64-static
	golden "arm v6" GOARCH=arm GOARM=6 -- qemu-arm-static -cpu arm1176
	golden "arm v7" GOARCH=arm GOARM=7 -- qemu-arm-static
	golden riscv64 GOARCH=riscv64 -- qemu-riscv64-static
	golden s390x GOARCH=s390x -- qemu-s390x-static
	unfused arm64 GOARCH=arm64
	unfused "arm v7" GOARCH=arm GOARM=7
	unfused riscv64 GOARCH=riscv64
	unfused s390x GOARCH=s390x
	step "devices of other architectures in one run"
	ZOFL_QEMU=1 go -C testing test -count=1 -run 'TestMixedArchitectures' ./fleet
fi
step "all passed"
