#!/bin/bash
# Runs every fuzz target of the repository for a while, one after the other on one core:
#
#	testing/fuzz.sh [-k] [-d FILE] [TIME] [PATTERN]
#	testing/fuzz.sh -l
#
# TIME is that of each target, 1m by default; PATTERN chooses by "package target". -l lists them. -k
# keeps the shortest new inputs of each target in testdata/fuzz, where later runs and every test
# begin with them: 20 of at most 600 bytes, and none that is there. -d writes each target that
# passed to FILE, with its time and executions, and passes over those that are there with this time:
# so a run that was stopped goes on where it was.
# What fails is written to the package's testdata/fuzz, as Go does, and the exit code is 1.
set -euo pipefail
cd "$(dirname "$0")/.."

targets() {
	local module file
	for module in . testing coordinator/zofl examples/pid examples/sensor; do
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

# ended OUTPUT: whether only the time was over. Go's fuzzer sometimes takes that for a failure.
ended() {
	grep -qx ' *context deadline exceeded' <<<"$1" && ! grep -q 'Failing input' <<<"$1"
}

# fuzz MODULE DIR TARGET: prints the number of executions, or what failed.
fuzz() {
	local dir=$2 out execs
	[ "$1" = . ] || dir=.${2#"$1"}
	if ! out=$(GOMAXPROCS=1 nice -n 19 go -C "$1" test "./$dir" -run '^$' -fuzz "^$3\$" \
		-fuzztime "$time" -parallel 1 2>&1 </dev/null) && ! ended "$out"; then
		printf 'FAILED\n%s\n' "$out"
		return 1
	fi
	execs=$(grep -o 'execs: [0-9]*' <<<"$out" | tail -n 1) || execs='execs: 0'
	echo "$execs"
	if [ "${execs#execs: }" -gt 0 ]; then # a busy machine may run none in a short time
		echo "$2 $3 $time ${execs#execs: }" >>"$passed"
	fi
	if $keeps; then keep "$2" "$3"; fi
}

keeps=false passed=/dev/null
while getopts lkd: option; do
	case $option in
	l) targets; exit ;;
	k) keeps=true ;;
	d) passed=$OPTARG; touch "$passed" ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
time=${1:-1m} pattern=${2:-.} failed=0 at=0
mapfile -t chosen < <(targets | while read -r module dir name; do
	[[ "$dir $name" =~ $pattern ]] && echo "$module $dir $name"
done)
for target in "${chosen[@]}"; do
	read -r module dir name <<<"$target"
	at=$((at + 1))
	grep -q "^$dir $name $time " "$passed" && continue
	printf '== %d of %d: %s %s: ' "$at" "${#chosen[@]}" "$dir" "$name"
	fuzz "$module" "$dir" "$name" || failed=1
done
exit "$failed"
