#!/bin/sh
# Prints zofl.c: the sections of src in one translation unit.
set -eu
cd "$(dirname "$0")/src"
echo '/* zofl.c: see zofl.h. Made by amalgamate.sh of the files in src. DO NOT EDIT. */'
for section in begin sha256 half lanes kernels prng lowrank selftest msgpack plan record evolution replica \
	replay cohort frames lean points keep device error state; do
	echo "/* src/$section.c */"
	sed -e '/#include "table.inc"/{' -e 'r table.inc' -e 'd' -e '}' "$section.c"
done
