#!/usr/bin/env bash
# Builds the wheels of all platforms, or of those that are named, into DIR: the same bytes from the
# same sources. It needs Go, Python and hatchling. PYTHON names an interpreter that has it.
#
#   ./wheels.sh [DIR [linux-amd64 ...]]
set -euo pipefail
dir=$(mkdir -p "${1:-$(dirname "$0")/dist}" && cd "${1:-$(dirname "$0")/dist}" && pwd)
cd "$(dirname "$0")"
shift $(($# > 0))
[ $# -gt 0 ] || set -- linux-amd64 linux-arm64 linux-armv7 linux-armv6 \
	darwin-amd64 darwin-arm64 windows-amd64 windows-arm64

for python in ${PYTHON:-python3 /usr/bin/python3}; do
	! "$python" -c 'import hatchling' 2>/dev/null || break
done
"$python" -c 'import hatchling' 2>/dev/null || {
	echo "wheels.sh: hatchling is missing: apt-get install -y python3-hatchling" >&2
	exit 1
}

pinned=$(sed -n 's/^requires = \["hatchling==\(.*\)"\]$/\1/p' pyproject.toml)
have=$("$python" -c 'from hatchling.__about__ import __version__ as v; print(v)')
[ "$have" = "$pinned" ] || echo "wheels.sh: hatchling is $have, and that of releases $pinned:" \
	"the wheels have other bytes than a release's" >&2

# The time in the archives is that of the sources.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
for platform; do
	ZOFL_PLATFORM=${platform/\//-} "$python" -m hatchling build -t wheel -d "$dir"
done
chmod a+r "$dir"/*.whl
