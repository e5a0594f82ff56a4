// The natives of zofl.mobile.Direct. They give Go the memory of a direct buffer where those that
// gobind generates give it a copy of an array. glue.sh puts this file beside them.

#include <jni.h>
#include <stdint.h>
#include "seq.h"
#include "_cgo_export.h"
#include "mobile.h"

// room finds bytes at, at+1, ... of a direct buffer. Unless it has so many, it throws, and
// returns 0.
static int room(JNIEnv *env, jobject dst, jint at, jint bytes, nbyteslice *to) {
	char *start = (*env)->GetDirectBufferAddress(env, dst);
	jlong most = (*env)->GetDirectBufferCapacity(env, dst);
	if (start == NULL || at < 0 || bytes < 0 || (jlong)at + bytes > most) {
		jclass exception = (*env)->FindClass(env, "java/lang/Exception");
		if (exception != NULL) {
			(*env)->ThrowNew(env, exception, "config: dst is no direct buffer of so many bytes, "
					"or changed during the call: let one thread use it");
		}
		return 0;
	}
	to->ptr = bytes == 0 ? NULL : start + at;
	to->len = bytes;
	return 1;
}

// result is what a native returns: the number that Go read, or an exception of its error.
static jlong result(JNIEnv *env, jlong n, int32_t error) {
	go_seq_maybe_throw_exception(
		env, go_seq_from_refnum(env, error, proxy_class__error, proxy_class__error_cons));
	return n;
}

// While a native runs it has a reference to dst, so nobody frees the memory. from is not null, see
// Direct.java.
#define READ(name, method, takes, gives) \
	JNIEXPORT jlong JNICALL Java_zofl_mobile_Direct_##name( \
			JNIEnv *env, jclass direct, jobject from, takes jobject dst, jint at, jint bytes) { \
		(void)direct; \
		nbyteslice to; \
		if (!room(env, dst, at, bytes, &to)) { \
			return 0; \
		} \
		struct proxymobile_##method##_return read = \
			proxymobile_##method(go_seq_to_refnum_go(env, from), gives to); \
		return result(env, read.r0, read.r1); \
	}
#define AND ,

READ(round, Round_ReadParams, jlong off AND, off AND)
READ(roundHalf, Round_ReadHalf, jlong off AND, off AND)
READ(roundInt8, Round_ReadInt8, jlong off AND jdouble scale AND, off AND scale AND)
READ(evaluation, Evaluation_ReadParams, jlong off AND, off AND)
READ(evaluationHalf, Evaluation_ReadHalf, jlong off AND, off AND)
READ(evaluationInt8, Evaluation_ReadInt8, jlong off AND jdouble scale AND, off AND scale AND)
READ(probe, Probes_ReadParams, jlong probe AND jlong off AND, probe AND off AND)
READ(probeHalf, Probes_ReadHalf, jlong probe AND jlong off AND, probe AND off AND)
READ(probeInt8, Probes_ReadInt8, jlong probe AND jlong off AND jdouble scale AND,
	probe AND off AND scale AND)
READ(all, Probes_ReadAll, jlong off AND jlong count AND, off AND count AND)
