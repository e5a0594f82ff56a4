#!/usr/bin/env bash
# Compiles all of the library and of its example without an Android SDK, and runs the tests of
# what needs Android under Robolectric; it makes no app. Instead of android.jar it uses
# Robolectric's jar of the same API level. androidx and the Compose compiler are those that
# the app is built with.
#
#   ./robolectric.sh [GOBIND.JAR]    default _hostjvm/gobind.jar, which hostjvm.sh makes
#
# It does not check resources, the manifest, or R8's work. MVN holds options for Maven, such
# as -o for offline.
set -euo pipefail
cd "$(dirname "$0")"

fail() { printf 'robolectric.sh: %s\n' "$*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"; }

gobind=$(realpath "${1:-_hostjvm/gobind.jar}")
[ -f "$gobind" ] || fail "$gobind does not exist: run ./hostjvm.sh, or give another"
need java default-jdk-headless
need mvn maven
need unzip unzip

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# bring POM FOLDER: what a pom lists, with the classes of each AAR beside it.
bring() {
	# shellcheck disable=SC2086 # options
	mvn -q -B ${MVN:-} -f "$1" package -Dzofl.build="$work/$2"
	for aar in "$work/$2"/libs/*.aar; do unzip -q -p "$aar" classes.jar >"${aar%.aar}.jar"; done
}
bring check/pom.xml main
bring check/robolectric/pom.xml test
jars() { printf '%s:' "$@"; }
libs=$(jars "$work"/main/libs/*.jar)
tests=$(jars "$work"/test/libs/*.jar)
without=$(jars $(ls "$work"/main/libs/*.jar | grep -v /android-all-)) # of Java 21: tests have their own
newest=$(ls "$work"/test/sdk/*.jar | sort -V | tail -n 1)
plugin=$(ls "$work"/main/compiler/kotlin-compose-compiler-plugin-embeddable-*.jar)
target=$(sed -n "s|.*<jvmTarget>\([0-9]*\)</jvmTarget>.*|\1|p" pom.xml)

quick=(-Xmx1g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC) # for runs of seconds

# compile OUT CLASSPATH OPTION-OR-SOURCE...
compile() {
	java "${quick[@]}" -cp "$(jars "$work"/main/compiler/*.jar)" \
		org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
		-Werror -no-stdlib -no-reflect -jvm-target "$target" -cp "$libs$gobind:$2" -d "$1" "${@:3}"
	printf 'robolectric.sh: %s classes of %s\n' "$(find "$1" -name '*.class' | wc -l)" "${1##*/}"
}

src=library/src app=../examples/android/app/src
compile "$work/library" "" $src/core $src/bridge $src/system $src/work
compile "$work/app" "$work/library" -Xplugin="$plugin" $app/digits $app/main $app/check
compile "$work/tests" "$work/library:$work/app:$tests" $src/robolectric $src/fake $app/robolectric

mapfile -t names < <(cd "$work/tests" && find . -name '*Test.class' | sed 's|^\./||; s|\.class$||' | tr / .)
[ ${#names[@]} -ge 6 ] || fail "only ${#names[@]} classes of tests: are their sources here?"
# What Robolectric says is pages long: it is shown only if a test fails.
java "${quick[@]}" -Drobolectric.offline=true -Drobolectric.dependency.dir="$work/test/sdk" \
	-cp "$work/tests:$work/app:$work/library:$gobind:$without$tests$newest" \
	org.junit.runner.JUnitCore "${names[@]}" >"$work/said" 2>&1 || { cat "$work/said"; fail "tests"; }
grep '^OK' "$work/said"
