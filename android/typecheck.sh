#!/usr/bin/env bash
# Compiles all of the library and of its example without an Android SDK, to find mistakes;
# it makes no app. Instead of android.jar it uses Robolectric's jar of the same API level.
# androidx and the Compose compiler are those that the app is built with.
#
#   ./typecheck.sh [GOBIND.JAR]    default _hostjvm/gobind.jar, which hostjvm.sh makes
#
# It does not check resources, the manifest, R8's work, or calls that minSdk lacks. MVN
# holds options for Maven, such as -o for offline.
set -euo pipefail
cd "$(dirname "$0")"

fail() { printf 'typecheck.sh: %s\n' "$*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"; }

gobind=$(realpath "${1:-_hostjvm/gobind.jar}")
[ -f "$gobind" ] || fail "$gobind does not exist: run ./hostjvm.sh, or give another"
need java default-jdk-headless
need mvn maven
need unzip unzip

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086 # options
mvn -q -B ${MVN:-} -f check/pom.xml package -Dzofl.build="$work/maven"
for aar in "$work"/maven/libs/*.aar; do
	unzip -q -p "$aar" classes.jar >"${aar%.aar}.jar"
done
libs=$(printf '%s:' "$work"/maven/libs/*.jar)
plugin=$(ls "$work"/maven/compiler/kotlin-compose-compiler-plugin-embeddable-*.jar)
target=$(sed -n "s|.*<jvmTarget>\([0-9]*\)</jvmTarget>.*|\1|p" pom.xml)

# compile OUT CLASSPATH OPTION-OR-SOURCE...
compile() {
	java -Xmx1g -cp "$(printf '%s:' "$work"/maven/compiler/*.jar)" \
		org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
		-Werror -no-stdlib -no-reflect -jvm-target "$target" -cp "$libs$gobind$2" -d "$1" "${@:3}"
	printf 'typecheck.sh: %s classes in %s\n' "$(find "$1" -name '*.class' | wc -l)" "${1##*/}"
}

app=../examples/android/app/src
compile "$work/library" "" library/src/core library/src/bridge library/src/system
compile "$work/app" ":$work/library" -Xplugin="$plugin" "$app/digits" "$app/main" "$app/check"
