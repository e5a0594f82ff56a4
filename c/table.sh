#!/bin/sh
# Prints c/src/table.inc, the table of normal numbers, from prng/table.go.
set -eu
cd "$(dirname "$0")"
sed -n '/tableBits = /,$s/\t\({0x.*},\).*/\1/p' ../prng/table.go
