#!/usr/bin/env bash
# Changes the code that gobind generated for Java in a folder:
#
#   ./glue.sh OUT
#
#   - Go gets class, message and stack of what an app throws, not its message alone.
#   - Where Java's heap has no room for an array, the app gets null instead of the end of its
#     process.
#   - Parameters can be read into direct buffers, see direct/Direct.java.
#
# hostjvm.sh and bind.sh call it after gobind. It fails if gobind generates other code than this
# script knows.
set -euo pipefail
here=$(dirname "$0")
glue=$1/src/gobind

# change FILE OLD NEW: replaces a line's part that must be there once.
change() {
	[ "$(grep -cF -- "$2" "$glue/$1")" = 1 ] || {
		printf 'glue.sh: %s does not have once: %s: this gobind is another than the script knows\n' \
			"$glue/$1" "$2" >&2
		exit 1
	}
	OLD=$2 NEW=$3 perl -i -pe 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$glue/$1"
}

change universe_android.c \
	'clazz = (*env)->FindClass(env, "java/lang/Throwable");' \
	'thrown_class = (*env)->NewGlobalRef(env, (*env)->FindClass(env, "go/Thrown"));'
change universe_android.c \
	'mid_error_Error = (*env)->GetMethodID(env, clazz, "getMessage", "()Ljava/lang/String;");' \
	'mid_error_Error = (*env)->GetStaticMethodID(env, thrown_class, "text", "(Ljava/lang/Throwable;)Ljava/lang/String;");'
change universe_android.c \
	'static jmethodID mid_error_Error;' \
	'static jclass thrown_class; static jmethodID mid_error_Error;'
change universe_android.c \
	'(*env)->CallObjectMethod(env, o, mid_error_Error);' \
	'(*env)->CallStaticObjectMethod(env, thrown_class, mid_error_Error, o); (*env)->ExceptionClear(env);'
change seq_android.c \
	'LOG_FATAL("NewByteArray failed");' \
	'(*env)->ExceptionClear(env); if (copy) { free(s.ptr); } return NULL;'
cp "$here/Thrown.java" "$1/java/go/"
cp "$here/direct/Direct.java" "$1/java/zofl/mobile/"
cp "$here/direct/direct_android.c" "$glue/"
