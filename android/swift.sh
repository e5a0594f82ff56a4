#!/usr/bin/env bash
# Brings a Swift compiler for Linux, from Debian 13, for the tests of the package in apple:
#
#   ./swift.sh [OUT]    default _swift, a folder in this one
#   ZOFL_SWIFT=$PWD/_swift go test -run TestSwift .
#
# It needs apt-get and Debian's keys, installs nothing, and does nothing if OUT is complete. It
# downloads 450 MB; OUT has 0.8 GB. The compiler runs on older Debians, too, because OUT has the C
# library that it needs. Only amd64 was tried.
set -euo pipefail
cd "$(dirname "$0")"

fail() { printf 'swift.sh: %s\n' "$*" >&2; exit 1; }
out=${1:-_swift}
[[ $out == _* && $out != */* ]] ||
	fail "OUT is \"$out\": give a folder in this one whose name begins with _, so that Go and git ignore it"
[ ! -f "$out/complete" ] || exit 0
command -v apt-get >/dev/null || fail "apt-get is missing: this needs a Debian"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
echo 'deb http://deb.debian.org/debian trixie main' >"$work/sources.list"
: >"$work/status"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
	-o APT::Sandbox::User= -o Acquire::Retries=3
	-o "Dir::State=$work/state" -o "Dir::Cache=$work/cache" -o "Dir::State::status=$work/status")
"${apt[@]}" update
(cd "$work" && "${apt[@]}" download swiftlang libswiftlang libc6 libgcc-s1 libstdc++6 zlib1g libzstd1 libtinfo6 libuuid1)

rm -rf "$out"
mkdir "$out"
for deb in "$work"/*.deb; do
	case $deb in
	*/swiftlang_*) # what compiles and runs, without debugger and documentation
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$out" --wildcards \
			'./usr/libexec/swift/bin/swift-frontend' './usr/libexec/swift/lib/swift/*' \
			'./usr/libexec/swift/lib/clang*'
		;;
	*) dpkg-deb -x "$deb" "$out" ;;
	esac
done
touch "$out/complete"
