#!/usr/bin/env bash
# Binds client/mobile for this machine's Java, without Google's SDK or NDK: the same
# classes and native library that bind.sh makes for Android, for tests.
#
#   ./hostjvm.sh [OUT [PACKAGE...]]
#
# OUT is a folder in this one, named _something, by default _hostjvm. PACKAGEs are bound
# together with client/mobile, because an app can have only one library of gomobile's. The
# script makes OUT/gobind.jar (classes), OUT/libgojni.so (Go) and OUT/java (sources). Use
# them:
#
#   java -Djava.library.path=OUT -cp OUT/gobind.jar:YOURS Main
#
# Main must end with System.exit, because Go's threads keep a JVM alive. The script fails if
# gobind skips a declaration, which an app would then lack. Tests use the result so:
#
#   ZOFL_JVM=$PWD/OUT go -C ../testing test ./mobile
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

fail() { printf 'hostjvm.sh: %s\n' "$*" >&2; exit 1; }
# need TOOL PACKAGE: fails with the apt-get command if the tool is missing.
need() { command -v "$1" >/dev/null || fail "$1 is missing: apt-get install -y $2"; }

out=${1:-_hostjvm}
shift $(($# > 0))
[[ $out == _* && $out != */* ]] ||
	fail "OUT is \"$out\": give a folder in this one whose name begins with _, so that Go and git ignore it"
need go golang
need gcc "gcc libc6-dev"
need javac default-jdk-headless
home=${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}
[ -f "$home/include/jni.h" ] || fail "$home has no include/jni.h: apt-get install -y default-jdk-headless, or set JAVA_HOME to a JDK"

# stubs: the two Android declarations that gobind's output uses.
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

# generate PACKAGE...: makes the Java, C and Go code.
generate() {
	go tool gobind -lang=java,go -javapkg=zofl -outdir="$out" github.com/zofl/zofl/client/mobile "$@"
	if grep -rn skipped "$out/java"; then
		fail "gobind skips these declarations of client/mobile: keep to types that it binds, or do not export them"
	fi
}

# port makes the C code for Android compile on this machine: it changes file names that are
# for GOOS=android only, drops liblog, and calls AttachCurrentThread as the JDK declares it.
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
./glue.sh "$out"
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
