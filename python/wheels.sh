#!/usr/bin/env bash
# Builds the sdist and the wheels of all platforms, or those that are named, into DIR: the same
# bytes from the same sources. It needs Go, Python and hatchling. PYTHON names an interpreter that
# has it.
#
#   ./wheels.sh [DIR [sdist|linux-amd64 ...]]
set -euo pipefail
dir=$(mkdir -p "${1:-$(dirname "$0")/dist}" && cd "${1:-$(dirname "$0")/dist}" && pwd)
cd "$(dirname "$0")"
shift $(($# > 0))
[ $# -gt 0 ] || set -- sdist linux-amd64 linux-arm64 linux-armv7 linux-armv6 \
	darwin-amd64 darwin-arm64 windows-amd64 windows-arm64

pinned=$(sed -n 's/^requires = \["hatchling==\(.*\)"\]$/\1/p' pyproject.toml)
for python in ${PYTHON:-_venv/bin/python python3}; do
	! "$python" -c 'import hatchling' 2>/dev/null || break
done
"$python" -c 'import hatchling' 2>/dev/null || {
	echo "wheels.sh: hatchling is missing: pip install hatchling==$pinned" >&2
	exit 1
}
have=$("$python" -c 'from hatchling.__about__ import __version__ as v; print(v)')
[ "$have" = "$pinned" ] || echo "wheels.sh: hatchling is $have, and that of releases $pinned:" \
	"the wheels have other bytes than a release's" >&2

# The time in the archives is that of the sources.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
for platform; do
	if [ "$platform" = sdist ]; then
		"$python" -m hatchling build -t sdist -d "$dir"
	else
		ZOFL_PLATFORM=${platform/\//-} "$python" -m hatchling build -t wheel -d "$dir"
	fi
done
chmod -R a+r "$dir"
