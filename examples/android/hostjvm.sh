#!/usr/bin/env bash
# Binds client/mobile for the Java of this machine, without Google's SDK or NDK:
# the classes and the native library that bind.sh makes for Android, to test with.
#
#   ./hostjvm.sh [OUT [PACKAGE...]]
#
# OUT is a folder here, named _something, by default _hostjvm. Packages are bound
# beside client/mobile: an app can have one library of gomobile's, with all it binds.
# The script makes OUT/gobind.jar (classes), OUT/libgojni.so (Go) and OUT/java
# (sources). Use them:
#
#   java -Djava.library.path=OUT -cp OUT/gobind.jar:YOURS Main
#
# Main must end with System.exit: Go's threads keep a JVM alive. It fails where
# gobind skips a declaration, as that would be missing for an app. Tests with it:
#
#   ZOFL_JVM=$PWD/OUT go -C ../../testing test ./mobile
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

fail() { printf 'hostjvm.sh: %s\n' "$*" >&2; exit 1; }
# need TOOL PACKAGE: fails with the apt line where the tool is missing.
need() { command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"; }

out=${1:-_hostjvm}
shift $(($# > 0))
[[ $out == _* && $out != */* ]] ||
	fail "OUT is \"$out\": give a folder of this one whose name begins with _, which Go and git ignore"
need go golang
need gcc "gcc libc6-dev"
need javac default-jdk-headless
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
[ -f "$home/include/jni.h" ] || fail "$home has no include/jni.h: apt-get install -y default-jdk-headless, or set JAVA_HOME to a JDK"

# stubs: the two things of Android that gobind's output names.
stubs() {
	mkdir -p "$out/stub/android" "$out/java/android/content"
	cat >"$out/stub/android/log.h" <<-'EOF'
		#pragma once
		#include <stdarg.h>
		#include <stdio.h>
		enum { ANDROID_LOG_INFO = 4, ANDROID_LOG_WARN, ANDROID_LOG_ERROR, ANDROID_LOG_FATAL };
		static inline int __android_log_print(int level, const char *tag, const char *format, ...) {
			va_list rest;
			va_start(rest, format);
			fprintf(stderr, "[%d] %s: ", level, tag);
			vfprintf(stderr, format, rest);
			fputc('\n', stderr);
			va_end(rest);
			return 0;
		}
	EOF
	echo 'package android.content; public abstract class Context {}' >"$out/java/android/content/Context.java"
}

# generate PACKAGE...: Java, C and Go.
generate() {
	go tool gobind -lang=java,go -javapkg=zofl -outdir="$out" github.com/zofl/zofl/client/mobile "$@"
	if grep -rn skipped "$out/java"; then
		fail "gobind skips these declarations of client/mobile: keep to types that it binds, or do not export them"
	fi
}

# port makes of Android's C what this machine compiles: file names that are not
# for GOOS=android, no liblog, and AttachCurrentThread as the JDK declares it.
port() {
	local f
	for f in "$glue"/*_android.c "$glue"/*_android.go; do mv "$f" "${f/_android./_jvm.}"; done
	sed -i 's|^//#cgo LDFLAGS: -llog$||' "$glue/seq_jvm.go"
	sed -i 's|AttachCurrentThread(jvm, &env, NULL)|AttachCurrentThread(jvm, (void **)\&env, NULL)|' "$glue/seq_jvm.c"
}

rm -rf "./$out"
glue=$out/src/gobind
stubs
generate "$@"
port
export CGO_ENABLED=1
export CGO_CFLAGS="-O2 -g0 -D__GOBIND_ANDROID__ -I$home/include -I$home/include/linux -I$PWD/$out/stub"
go build -trimpath -buildmode=c-shared -ldflags="-s -w" -o "$out/libgojni.so" "./$glue"
find "$out/java" -name '*.java' >"$out/sources"
mkdir "$out/classes"
javac --release 8 -Xlint:-options -d "$out/classes" @"$out/sources"
jar cf "$out/gobind.jar" -C "$out/classes" .
printf '%s/%s: %s bytes of libgojni.so, %s of gobind.jar\n' "$PWD" "$out" \
	"$(stat -c %s "$out/libgojni.so")" "$(stat -c %s "$out/gobind.jar")"
