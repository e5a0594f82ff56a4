#!/usr/bin/env bash
# The test command. It installs nothing; .ci/setup does.
#
#   ./check.sh quick  while you work, under a minute where Go's cache is warm: gofmt, and for
#                     what a change affects vet and tests without the race detector, the
#                     closest first, as far as the time goes; golden vectors on amd64 and 386,
#                     and the core in C, where it can change them. The change is all that differs
#                     from where this branch left origin/main, or main, or BASE (BASE=HEAD~3);
#                     files that are not committed count. Packages that changed are tested in
#                     full, and with -short those that import them, in any module. It prints which
#                     it tests, and which it leaves.
#   ./check.sh        the whole, before you send it. Each step prints what it took:
#                     gofmt, vet, tidy and build of every module; all tests of the root module,
#                     with the race detector but for what takes it too long or starts no goroutine,
#                     fuzz seeds among them; those of other modules without it, and with -short;
#                     what pages of docs show, run as shown; which code a plain run enters;
#                     the assembly as its generator writes it, and the code without it;
#                     golden vectors on amd64, GOAMD64=v3 and 386; no fused multiply-add
#                     in v3 code; the core in C: no warning, all vectors, nothing that a board
#                     lacks.
#   ./check.sh all    also long tests: processes that are killed, whole fleets, the example in
#                     a browser; whether tests compile for Windows and macOS; golden vectors
#                     under qemu on arm64, arm v6 and s390x, the disassembly of these and others;
#                     more of the simulator's seeds; a run that mixes architectures, whole runs
#                     of client/mobile on those of phones and Raspberry Pis; and on this
#                     machine's JVM what gobind makes of it: Java and Kotlin devices, and the
#                     Android example's core; the Python package, and its reader of logs on all
#                     vectors; the ONNX example, a run of three devices in Python and one in
#                     Java; language models on devices; the metrics in promtool; golden
#                     vectors in WebAssembly, and devices in tabs of Chromium; the dashboard and
#                     the site of docs, looked at in Chromium; the core in C by other compilers,
#                     under sanitizers, elsewhere, compared with Go on random runs, and fuzzed.
#   ./check.sh nightly  beside all, what seldom finds anything that all does not: the race detector
#                     over programs and whole fleets; the papers' experiments; whole releases;
#                     golden vectors also on riscv64, arm v7 and GOAMD64=v3 with
#                     assembly, where all looks for fused operations and has devices in a run;
#                     client/mobile on arm v7 and arm64, and for Android on 32 bits and amd64; the
#                     examples for sensors and Raspberry Pis on emulated ones; seeds by the
#                     thousand; the core in C with 32 bits, at other levels of optimization, under a
#                     memory sanitizer, and on more boards.
#
# A test that takes minutes, by itself or by the race detector, looks at testing.Short, or is in a
# file that is built without race, and so are those of programs that run others. Where tests run
# with the detector, such tests, which testing/cmd/unraced finds, run twice: in small with it, in
# full without.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
# Builds without the race detector, which needs cgo, are all of one kind, and made once.
export CGO_ENABLED=0

# Packages whose results must agree on every architecture.
replicated=(./prng ./prng/lowrank ./mathx ./client/replica ./client/replica/internal/evolution)
# Modules whose tests never run with the race detector: they compile everything once more, for
# releases, pages and browsers, or are the papers' experiments.
small=(papers release docs/site examples/browser)
# Of these, the modules whose long tests only nightly runs.
seldom=(papers release)
# Packages of assembly and their users, that have a way without it.
assembly=(./prng ./prng/lowrank ./mathx ./internal/isa ./client/replica)

work=$(mktemp -d)
workers=()
mkfifo "$work/ended" # the statuses of workers
exec 8<>"$work/ended"

# finish ends the steps that run beside a failed one.
finish() {
	local worker
	for worker in "${workers[@]}"; do kill -- "-$worker" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() { printf 'check.sh: %s\n' "$*" >&2; exit 1; }

# need TOOL PACKAGE: fails with the apt line where the tool is missing.
need() {
	command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"
}

# step NAME COMMAND...: runs it, and prints its seconds, those of its processors, and its
# output, whole, whatever runs beside it.
step() {
	local name=$1 from=$SECONDS out status=0 TIMEFORMAT='%U %S'
	shift
	out=$(mktemp "$work/out.XXXXXX")
	{ time { ( "$@" ) >"$out" 2>&1; }; } 2>"$out.cpu" & # "||" would switch off -e in it
	wait $! || status=$?
	[ "$status" = 0 ] || name="FAILED: $name"
	{
		flock 9
		printf '== %s: %d s' "$name" $((SECONDS - from))
		awk '{ printf ", %.0f s of CPU\n", $1 + $2 }' "$out.cpu"
		cat "$out"
	} 9>"$work/lock"
	[ "$status" = 0 ] || exit 1
}

# add NAME COMMAND...: puts a step into the queue.
add() {
	{ printf '%q ' "$@"; echo; } >>"$work/queue"
}

# next takes the first step of the queue that no worker took: they share how far it was read.
next() {
	flock 9
	IFS= read -r job <&7
} 9>"$work/turn"

# worker runs steps of the queue until none is left.
worker() {
	local job
	while next; do eval "step $job"; done
}

# drain runs the queue, up to the first step that fails. Four workers keep two cores busy, as
# many steps wait: for killed processes, elections, browsers. Three used 1.6 cores.
drain() {
	local i status
	exec 7<"$work/queue"
	for i in 1 2 3 4; do
		set -m # a process group of its own
		( trap 'echo $? >&8' EXIT; worker ) &
		workers+=($!)
		set +m
	done
	for i in "${workers[@]}"; do
		read -r status <&8
		[ "$status" = 0 ] || exit 1
	done
}

# modules prints the directories of the modules.
modules() {
	local file
	git ls-files --cached --others --exclude-standard -- '*go.mod' | while read -r file; do
		[ ! -e "$file" ] || [[ /$file =~ /[_.] ]] || [ "${file##*/}" != go.mod ] || dirname "$file"
	done
}

formatted() {
	local bad
	git ls-files -z --cached --others --exclude-standard -- '*.go' ':(exclude,glob)**/_*/**' | sort -zu >"$work/go"
	bad=$(while read -rd '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done <"$work/go" | xargs -0 gofmt -l)
	[ -z "$bad" ] || fail "gofmt -w these: $bad"
}

# module DIR: what is looked at in a module, but for its tests.
module() {
	go -C "$1" mod tidy -diff || fail "go mod tidy in $1"
	go -C "$1" vet ./...
	go -C "$1" build -o /dev/null ./... # a module of one program would have it beside its source
}

# compiles SYSTEM...: packages and tests of all modules compile for systems on which nothing here
# runs them.
compiles() {
	local dir
	while read -r dir; do echo "$PWD/$dir"; done <"$work/modules" |
		go -C testing run ./cmd/typecheck "$@" || fail "something does not compile"
}

# tested DIR FLAG...: the module's packages that have tests, and where they are, but for the
# simulator's in all, of which elsewhere runs more.
tested() {
	local dir=$1 apart=none
	shift
	[ "$mode" != all ] || apart=/testing/fleet/simulation
	go -C "$dir" list "$@" -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... |
		sed "\\|$apart |d"
}

# run DIR LIST FLAG...: the tests of listed packages. They were vetted.
run() {
	local dir=$1 packages
	mapfile -t packages <"$2"
	shift 2
	set -- -vet=off -timeout 30m "$@" # of a package: machines may be busy
	# Go does not see that a file outside the module changed, and keeps a test's result.
	[ "$dir" = . ] || set -- -count=1 "$@"
	[ ${#packages[@]} = 0 ] || go -C "$dir" test "$@" "${packages[@]}"
}

# sequential DIR: a package, tests and all, that starts no goroutine and imports nothing
# that does or that guards against them. The race detector has nothing to find in it.
concurrent='"(sync|sync/atomic|net|os/exec|testing/synctest)"|zofl/zofl/(bus|client|coordinator|internal/parallel)"'
sequential() {
	! grep -qE "$concurrent|(^|[^[:alnum:]_])go (func|[[:alpha:]_.]+\()|\.RunParallel\(" "$1"/*.go
}

# raced DIR: tests with the race detector.
raced() {
	local list=$work/raced.$BASHPID package dir
	export CGO_ENABLED=1
	tested "$1" -race | while read -r package dir; do
		sequential "$dir" || echo "$package"
	done >"$list"
	run "$1" "$list" -race -short
}

# unraced DIR FLAG...: all tests of a module, without the race detector.
unraced() {
	local list=$work/unraced.$BASHPID
	tested "$1" | cut -d' ' -f1 >"$list"
	run "$1" "$list" "${@:2}"
}

# long DIR: the tests of packages that the race detector has nothing to find in, and of others
# those that it makes minutes of. What replicas must agree on is tested as they run, without it.
long() {
	local list=$work/long.$BASHPID package dir
	: >"$list.whole"
	tested "$1" | while read -r package dir; do
		if sequential "$dir" || [[ " ${replicated[*]} " == *" .${dir#"$PWD"} "* ]]; then
			echo "$package" >>"$list.whole"
		else
			echo "$package $dir"
		fi
	done >"$list"
	go -C testing run ./cmd/unraced <"$list" >"$list.tests"
	cut -d' ' -f1 "$list.tests" | uniq >"$list"
	run "$1" "$list" -run "^($(cut -d' ' -f2 "$list.tests" | paste -sd'|'))\$"
	run "$1" "$list.whole"
}

# pages: what the docs show runs as shown, and a plain run enters nothing that it does not use.
pages() {
	go -C testing test -vet=off -count=1 -timeout 30m ./docs ./plainrun
}

# generated: the assembly is what its generator writes, in a copy of what it needs.
generated() {
	local copy=$work/generated f n=0
	mkdir "$copy"
	cp -r --parents go.mod go.sum internal/asm internal/isa prng mathx "$copy"
	go -C "$copy" generate ./prng ./prng/lowrank ./mathx ./internal/isa
	while read -r f; do
		n=$((n + 1))
		cmp -s "$f" "$copy/$f" || fail "$f is not what internal/asm writes: go generate ./${f%/*}, and look at the difference"
	done < <(grep -rl '^// Code generated by command: go run main.go' --include='*_amd64.*' prng mathx internal/isa)
	[ "$n" -ge 8 ] || fail "generated assembly is missing"
}

# plain [VAR=VALUE...]: what uses assembly, without it.
plain() {
	env "$@" go vet -tags purego "${assembly[@]}"
	env "$@" ZOFL_ISA=generic go test -vet=off -tags purego "${assembly[@]}"
}

# golden [VAR=VALUE...] [-- EXEC]: the golden vectors elsewhere.
golden() {
	local env=() exec=() seen=$work/golden.$BASHPID
	while [ $# -gt 0 ] && [ "$1" != -- ]; do env+=("$1"); shift; done
	[ $# -eq 0 ] || { shift; exec=(-exec "$*"); }
	env ZOFL_ISA= "${env[@]}" go test -vet=off "${exec[@]}" -count=1 -run '^TestGolden' "${replicated[@]}" | tee "$seen"
	[ "$(grep -c '^ok' "$seen")" = "${#replicated[@]}" ] || fail "golden vectors"
	! grep -q 'no tests to run' "$seen" || fail "a package has no golden vectors"
}

# unfused VAR=VALUE...: no fused multiply-add in the machine code of what
# must agree: the compiler's listing of every function, and assembly sources, but
# for that of signs, whose products are exact.
fused='[[:space:]](V?FN?M(ADD|SUB|A|S|LA|LS)|WFN?M[AS])[.A-Z0-9]*[[:space:]]'
unfused() {
	local pkg source asm=$work/asm.$BASHPID
	for pkg in "${replicated[@]}"; do
		env "$@" go build -gcflags=-S "$pkg" 2>"$asm" || fail "go build $pkg: $(tail -n 3 "$asm")"
		[ "$(grep -c ' STEXT ' "$asm")" -gt 3 ] || fail "no code of $pkg to look at"
		for source in "$pkg"/*.s; do
			[ ! -e "$source" ] || [[ $source =~ (rademacher|lowrank/sum)_arm64 ]] || cat "$source" >>"$asm"
		done
		if grep -E "$fused" "$asm" | grep -vE '[[:space:]]W?FMAX'; then # a maximum
			fail "$pkg fuses a product into a sum: convert the product, float32(a*b)"
		fi
	done
}

# phones: client/mobile in Java and Kotlin, the Android library and its example, without Google's
# SDK and without a network. What Maven takes from its cache .ci/setup put there.
phones() {
	local jvm=$PWD/android/_hostjvm
	export MVN=-o MAVEN_OPTS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' # for runs of seconds
	mvn -o -q -B -f android/pom.xml test
	android/hostjvm.sh
	android/robolectric.sh
	mvn -o -q -B -f testing/mobile/shrink dependency:copy-dependencies -DoutputDirectory=_jars
	ZOFL_QEMU=1 ZOFL_JVM=$jvm ZOFL_R8=$PWD/testing/mobile/shrink/_jars \
		go -C testing test -vet=off -timeout 30m -count=1 -skip '^TestLive' ./mobile # which raced ran
}

# swift: the package for Apple's systems, by a compiler for Linux. android/swift.sh brings it.
swift() {
	[ -e android/_swift/complete ] || fail "a Swift compiler is missing: android/swift.sh"
	ZOFL_SWIFT=$PWD/android/_swift go -C android test -vet=off -count=1 -run TestSwift .
}

# python prints an interpreter that has what the Python package's tests need. .ci/setup makes one.
python() {
	local p
	for p in "$PWD/python/_venv/bin/python" python3; do
		if "$p" -c 'import numpy, pytest, hatchling, mypy' 2>/dev/null; then
			echo "$p"
			return
		fi
	done
	fail "numpy, pytest, hatchling or mypy is missing: .ci/setup installs them, in python/_venv"
}

# rust: the crate around the core in C, without a network: what cargo needs .ci/setup fetched.
rust() {
	c/amalgamate.sh | cmp -s - c/zofl.c || c/amalgamate.sh >c/zofl.c
	CARGO_TARGET_DIR=$work/rust cargo test --offline --locked --quiet \
		--manifest-path c/examples/rust/Cargo.toml
}

# package: the Python package's types and tests. Debian's torch needs Debian's numpy, which is older than that
# of the other libraries: so tests of zofl.torch run by themselves, with Debian's Python.
package() {
	local interpreter hidden=$work/hidden torch=tests/test_torch.py
	interpreter=$(python)
	mkdir "$hidden"
	echo 'raise ModuleNotFoundError("no torch")' >"$hidden/torch.py"
	cd python
	"$interpreter" -m mypy --python-executable /usr/bin/python3 --cache-dir "$work/mypy"
	export PYTHONDONTWRITEBYTECODE=1
	PYTHONPATH=$hidden "$interpreter" -m pytest -q -p no:cacheprovider
	[ -e "$torch" ] || return 0
	/usr/bin/python3 -c 'import torch' ||
		fail "torch is missing: apt-get install -y python3-torch libopenblas0"
	/usr/bin/python3 -m pytest -q -p no:cacheprovider "$torch"
}

# tests DIR: the tests of a module, for the mode. The detector is worth its time where goroutines
# meet: devices, the coordinator and their bus are all in the root module. What other modules do
# with these, programs and whole fleets, it sees in nightly.
tests() {
	if [[ " ${seldom[*]} " == *" $1 "* ]]; then
		add "tests of $1, not raced" unraced "$1" -short
	elif [ "$1" = . ]; then
		add "tests of $1, raced" raced "$1"
		add "long tests of $1, not raced" long "$1"
	else
		add "tests of $1, not raced" unraced "$1" "${size[@]}"
	fi
}

# The whole check, its longest steps first, lest one runs alone at the end. What compiles the
# same code is not begun at once.
whole() {
	local dir size=(-short) first=(testing . coordinator/zofl)
	[ "$mode" != all ] || size=()
	modules >"$work/modules"
	tests testing
	tests .
	# What any change can break, which -short leaves out; all has it among long tests.
	[ "$mode" = all ] || add "pages of docs, gates of plain runs" pages
	add gofmt formatted
	[ "$host" != amd64 ] || add "generated assembly" generated
	while read -r dir; do add "tidy, vet, build $dir" module "$dir"; done <"$work/modules"
	tests coordinator/zofl
	while read -r dir; do
		[[ " ${first[*]} " == *" $dir "* ]] || tests "$dir"
	done <"$work/modules"
	if [ "$host" = amd64 ] && grep -qsw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
		# Where the compiler may fuse: without assembly all is the compiler's.
		add "without assembly, on amd64 v3" plain GOAMD64=v3
	else
		add "without assembly" plain
	fi
	[ "$host" != amd64 ] || add "golden vectors on 386" golden GOARCH=386
	add "no fused multiply-add on amd64 v3" unfused GOARCH=amd64 GOAMD64=v3
	[ "$mode" = all ] || add "the core in C" c/test/run.sh
}

# What else all checks: other languages with their engines, a browser, and emulators.
elsewhere() {
	add "compiles for Windows and macOS" compiles windows darwin
	add "Java and Kotlin devices, the Android library" phones
	add "the Python package" package
	add "the core in C, and elsewhere" c/test/run.sh all
	add "the core in C on boards" c/test/boards/run.sh microbit m4f
	add "boards in whole runs" env ZOFL_BOARDS=1 go -C testing test -vet=off -count=1 ./boards
	! command -v cargo >/dev/null || add "the core in C for Rust" rust # Debian 12 has it too old
	add "libzofl: devices in C, Python and C#" env ZOFL_LIBZOFL=1 \
		go -C testing test -vet=off -count=1 ./libzofl
	add "architectures of phones and Raspberry Pis" testing/mobile/qemu.sh
	add "seeds by the hundred" go -C testing test -vet=off -count=1 ./fleet/simulation -seeds 1000
	add "seeds, raced" env CGO_ENABLED=1 \
		go -C testing test -vet=off -race -count=1 ./fleet/simulation -seeds 150
	add "devices of other architectures in one run" \
		env ZOFL_QEMU=1 go -C testing test -vet=off -count=1 -run '^TestMixedArchitectures$' ./fleet
	add "golden vectors on s390x" golden GOARCH=s390x -- qemu-s390x-static
	add "golden vectors on arm v6" golden GOARCH=arm GOARM=6 -- qemu-arm-static -cpu arm1176
	add "golden vectors on arm64" golden GOARCH=arm64 -- qemu-aarch64-static
	add "kernels on arm64" env ZOFL_ISA=neon GOARCH=arm64 \
		go test -vet=off -exec qemu-aarch64-static ./prng ./prng/lowrank ./mathx ./internal/isa
	add "dashboard in Chromium" env ZOFL_CHROMIUM=chromium go -C testing test -vet=off -count=1 ./dashboard
	add "pages in Chromium" env ZOFL_CHROMIUM=chromium \
		go -C docs/site test -vet=off -count=1 -run 'Looks|Search' .
	add "language model example" examples/lora/run.sh
	add "pretrained language model" examples/llm/run.sh check.py
	add "golden vectors in WebAssembly" golden GOOS=js GOARCH=wasm -- \
		"$(go env GOROOT)/lib/wasm/go_js_wasm_exec"
	[ "$host" != amd64 ] || add "the Swift package, on Linux" swift
	add "devices in Chromium" env ZOFL_CHROMIUM=chromium \
		go -C examples/browser test -vet=off -count=1 -run TestTab .
	add "losses in Python, Node, shell and C" env ZOFL_LANGUAGES=all \
		go -C coordinator/zofl test -vet=off -count=1 -run '^TestExec$' .
	add "the sensor agent at mosquitto" env ZOFL_MOSQUITTO=mosquitto ZOFL_PROMTOOL=promtool \
		go -C examples/sensor test -vet=off -count=1 -run 'Household|Home|Again|Will|Credentials|Metrics' \
		. ./internal/mqtt ./internal/page
	add "ONNX example" examples/onnx/run.sh # long after phones bound what it uses
	add "costs of the kernels elsewhere" env ZOFL_QEMU=1 go -C testing test -vet=off ./cmd/kernelcost
	add "metrics in promtool" env ZOFL_PROMTOOL=promtool \
		go -C coordinator/zofl test -vet=off -count=1 -run TestPromtool ./internal/metrics
	add "no fused multiply-add on arm64" unfused GOARCH=arm64
	add "no fused multiply-add on arm v7" unfused GOARCH=arm GOARM=7
	add "no fused multiply-add on riscv64" unfused GOARCH=riscv64
	add "no fused multiply-add on s390x" unfused GOARCH=s390x
}

# sweeps: what nightly checks beside all.
sweeps() {
	local dir
	for dir in "${seldom[@]}"; do add "long tests of $dir" unraced "$dir"; done
	modules >"$work/modules"
	while read -r dir; do
		[ "$dir" = . ] || [[ " ${small[*]} " == *" $dir "* ]] || add "tests of $dir, raced" raced "$dir"
	done <"$work/modules"
	add "seeds by the thousand" go -C testing test -vet=off -count=1 ./fleet/simulation \
		-first 1001 -seeds 3000
	add "hundreds of seeds, raced" env CGO_ENABLED=1 \
		go -C testing test -vet=off -race -count=1 ./fleet/simulation -first 151 -seeds 500
	add "the core in C, swept" c/test/run.sh sweep
	add "the core in C on more boards" c/test/boards/run.sh m3 m4 m33
	add "more architectures of phones and Raspberry Pis" testing/mobile/qemu.sh rest
	add "sensor agents of other architectures" \
		env ZOFL_QEMU=1 go -C testing test -vet=off -count=1 -run '^TestSensorProcessors$' ./fleet
	add "a device on the processors of Raspberry Pis" \
		env ZOFL_QEMU=1 go test -vet=off -count=1 -run '^TestDevices$' ./examples/raspberrypi
	[ "$host" != amd64 ] || add "golden vectors on amd64 v3" golden GOAMD64=v3
	add "golden vectors on riscv64" golden GOARCH=riscv64 -- qemu-riscv64-static
	add "golden vectors on arm v7" golden GOARCH=arm GOARM=7 -- qemu-arm-static
}

# change prints the files that differ from where the branch began.
change() {
	git -c core.quotePath=false diff --name-only --no-renames "$1" --
	git -c core.quotePath=false ls-files --others --exclude-standard
}

# beginning prints the commit that a change is counted from.
beginning() {
	local main
	for main in ${BASE:-origin/main main}; do
		if git rev-parse -q --verify "$main^{commit}" >/dev/null; then
			git merge-base HEAD "$main" || fail "$main and HEAD have no commit in common: set BASE"
			return
		fi
	done
	[ -z "${BASE:-}" ] || fail "BASE=$BASE is no commit"
	git rev-parse HEAD
}

# look DIR: vet and tidy for the affected packages of a module, unless the time is over. It
# compiles, once, what their tests need.
look() {
	local packages listed=$work/listed.$BASHPID
	if [ $SECONDS -ge "$looking" ]; then
		printf '   vet of %s\n' "$1" >>"$work/left"
		return
	fi
	go -C "$1" mod tidy -diff || fail "go mod tidy in $1"
	go -C "$1" list ./... >"$listed"
	mapfile -t packages < <(awk -v m="$1" '$2 == m { print $3 }' "$work/affected" | grep -xFf - "$listed")
	[ ${#packages[@]} = 0 ] || go -C "$1" vet "${packages[@]}"
}

# one DISTANCE MODULE PACKAGE: tests of a package, as far as the time goes. What changed has half
# a minute in any case.
one() {
	local out size=-short status=0 rest=$((deadline - $(date +%s)))
	if [ "$1" = 0 ]; then
		size=
		[ "$rest" -ge 30 ] || rest=30
	fi
	out=$(mktemp "$work/out.XXXXXX")
	# shellcheck disable=SC2086 # no size is no argument
	[ "$rest" -le 0 ] || timeout "$rest" go -C "$2" test -vet=off -count=1 $size "$3" >"$out" 2>&1 || status=$?
	if [ "$rest" -le 0 ] || [ "$status" = 124 ]; then
		printf '   %s\n' "$3" >>"$work/left"
	elif [ "$status" != 0 ]; then
		cat "$out"
		return 255
	else
		printf '%s%s\n' "$(tail -n 1 "$out")" "${size:+ $size}"
	fi
}

quick() {
	local from dir changed looking=20
	deadline=$(($(date +%s) + 50))
	from=$(beginning)
	change "$from" | sort -u >"$work/change"
	go -C testing run ./cmd/affected <"$work/change" >"$work/affected"
	printf '== %d files changed since %s\n' "$(wc -l <"$work/change")" "$(git log -1 --format='%h %s' "$from")"
	awk '$1 == 0 { print "   " $3 } $1 > 0 { n++ } END { if (n) print "   and " n " packages that need these" }' "$work/affected"
	step gofmt formatted
	if grep -qE '^internal/asm/|_amd64\.(s|go)$' "$work/change" && [ "$host" = amd64 ]; then
		step "generated assembly" generated
	fi
	while read -r dir; do step "tidy, vet $dir" look "$dir"; done < <(cut -d' ' -f2 "$work/affected" | awk '!seen[$0]++')
	if go list "${replicated[@]}" | grep -qxF "$(cut -d' ' -f3 "$work/affected")"; then
		step "golden vectors" golden
		[ "$host" != amd64 ] || step "golden vectors on 386" golden GOARCH=386
	fi
	changed=$(awk '$1 == 0 { print $3 }' "$work/affected")
	if grep -qE '^(c|(wire|plan|prng|client)/(.*/)?testdata)/' "$work/change"; then
		step "the core in C" c/test/run.sh
	fi
	if go list "${replicated[@]}" | grep -qxF "$changed"; then
		step "no fused multiply-add on amd64 v3" unfused GOARCH=amd64 GOAMD64=v3
	fi
	printf '== tests\n'
	export deadline work
	export -f one
	awk '$4 == "tested" { print $1, $2, $3 }' "$work/affected" |
		xargs -r -P 3 -L 1 bash -c 'one "$@"' one || fail "tests"
	if [ -e "$work/left" ]; then
		printf '== %d are left to ./check.sh, the time is over:\n' "$(wc -l <"$work/left")"
		cat "$work/left"
	fi
	echo "== left to ./check.sh besides: the race detector, what -short omits, code without assembly, golden vectors on amd64 v3"
}

mode=${1:-}
case "$mode" in "" | all | nightly | quick) ;; *) fail "usage: ./check.sh [quick|all|nightly]" ;; esac
need go golang
need git git
need gcc gcc
need g++ g++
if [ "$mode" = all ] || [ "$mode" = nightly ]; then
	for a in arm aarch64 riscv64 s390x; do need "qemu-$a-static" qemu-user-static; done
	for a in arm-linux-gnueabihf aarch64-linux-gnu s390x-linux-gnu; do need "$a-gcc" "gcc-$a"; done
	need clang "clang libclang-rt-dev"
	need mcs mono-mcs
	need arm-none-eabi-gcc "gcc-arm-none-eabi libnewlib-arm-none-eabi"
	need qemu-system-arm qemu-system-arm
	need mono mono-runtime
	need javac default-jdk-headless
	need mvn maven
	need unzip unzip
	need node nodejs
	need python3 python3
	need chromium chromium
	need promtool prometheus
	need perl perl
	need mosquitto mosquitto
	python >/dev/null
fi

# What compiles, links and vets collects its garbage seldom, which saves a fifth of its time. Go's
# cache has what was compiled by its paths: without them, clones of one machine share it.
GOFLAGS="$(go env GOFLAGS) -trimpath '-toolexec=env GOGC=400'"
export GOFLAGS
host=$(go env GOHOSTARCH)
# What tests of kernels must have come to: see internal/isa/isatest.
[ "$host" != amd64 ] || export ZOFL_ISA=${ZOFL_ISA:-avx2}
case "$mode" in
quick) quick ;;
all) whole; elsewhere; drain ;;
nightly) sweeps; drain ;;
*) whole; drain ;;
esac
printf '== all passed in %d s\n' "$SECONDS"
