//go:build jni

#include <jni.h>
#include <stdint.h>

// Bench.direct of ../../testing/mobile/bench: the memory at an address, as Java sees it.
JNIEXPORT jobject JNICALL Java_Bench_direct(JNIEnv *env, jclass bench, jlong address, jlong bytes) {
	(void)bench;
	return (*env)->NewDirectByteBuffer(env, (void *)(intptr_t)address, bytes);
}
