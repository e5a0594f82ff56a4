#!/bin/bash
# Runs every fuzz target of the repository for a while, one after the other on one core:
#
#	testing/fuzz.sh [-l | -k] [TIME] [PATTERN]
#
# TIME is that of each target, 1m by default; PATTERN chooses by "package target". -l lists them. -k
# keeps the shortest new inputs of each target in testdata/fuzz, where later runs and every test
# begin with them: 20 of at most 600 bytes, and none that is there.
# What fails is written to the package's testdata/fuzz, as Go does, and the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

targets() {
	local module file
	for module in . testing coordinator/zofl examples/pid examples/raspberrypi; do
		git ls-files --cached --others --exclude-standard -- "$module/*_test.go" |
			xargs grep -lE '^func Fuzz' | while read -r file; do
			case $module:$file in .:testing/* | .:coordinator/zofl/* | .:examples/*) continue ;; esac
			grep -oE '^func Fuzz[[:alnum:]_]*' "$file" | while read -r _ name; do
				echo "$module $(dirname "$file") $name"
			done
		done || true
	done
}

# keep DIR TARGET: DIR is the package's, and the cache has its inputs by import path.
keep() {
	local to=$1/testdata/fuzz/$2 from
	from=$(go env GOCACHE)/fuzz/$(go -C "$1" list .)/$2
	[ -d "$from" ] || return 0
	mkdir -p "$to"
	find "$from" -type f -size -601c -printf '%s %p\n' | sort -n | sed -n 1,20p |
		while read -r _ file; do cp -n "$file" "$to/"; done
}

if [ "${1:-}" = -l ]; then
	targets
	exit
fi
keeps=false
if [ "${1:-}" = -k ]; then
	keeps=true
	shift
fi
time=${1:-1m} pattern=${2:-.} failed=0
while read -r module dir name; do
	[[ "$dir $name" =~ $pattern ]] || continue
	printf '== %s %s: ' "$dir" "$name"
	folder=$dir
	[ "$module" = . ] || dir=.${dir#"$module"}
	if out=$(GOMAXPROCS=1 nice -n 19 go -C "$module" test "./$dir" -run '^$' -fuzz "^$name\$" \
		-fuzztime "$time" -parallel 1 2>&1 </dev/null); then
		grep -o 'execs: [0-9]*' <<<"$out" | tail -n 1 || true
		if $keeps; then keep "$folder" "$name"; fi
	else
		printf 'FAILED\n%s\n' "$out"
		failed=1
	fi
done < <(targets)
exit "$failed"
