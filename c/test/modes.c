/* Says whether zofl_selftest passes as it was compiled, "passed" or "failed". Where it passes it
   must refuse every mode that a thread may be set to, and pass again when the mode is as before. */
#include "zofl.c"

#include <fenv.h>
#include <stdio.h>

#if defined(__SSE__)
#include <xmmintrin.h>
typedef unsigned modes;
static const struct {
	const char *name;
	modes bits;
} flushes[] = {{"flush to zero", 0x8000}, {"denormals are zero", 0x0040}, {"both", 0x8040}};
static modes get(void) {
	return _mm_getcsr();
}
static void set(modes m) {
	_mm_setcsr(m);
}
#elif defined(__aarch64__)
typedef uint64_t modes;
static const struct {
	const char *name;
	modes bits;
} flushes[] = {{"flush to zero", 1 << 24}};
static modes get(void) {
	modes m;
	__asm__ volatile("mrs %0, fpcr" : "=r"(m));
	return m;
}
static void set(modes m) {
	__asm__ volatile("msr fpcr, %0" : : "r"(m));
}
#elif defined(__arm__) && defined(__ARM_FP)
typedef uint32_t modes;
static const struct {
	const char *name;
	modes bits;
} flushes[] = {{"flush to zero", 1 << 24}};
static modes get(void) {
	modes m;
	__asm__ volatile("vmrs %0, fpscr" : "=r"(m));
	return m;
}
static void set(modes m) {
	__asm__ volatile("vmsr fpscr, %0" : : "r"(m));
}
#else
typedef int modes;
static const struct {
	const char *name;
	modes bits;
} flushes[] = {{"", 0}};
static modes get(void) {
	return 0;
}
static void set(modes m) {
	(void)m;
}
#endif

static const struct {
	const char *name;
	int mode;
} roundings[] = {{"upward", FE_UPWARD}, {"downward", FE_DOWNWARD}, {"to zero", FE_TOWARDZERO}};

/* 1 when the self-test does not say what is wanted. */
static int differs(const char *mode, int want) {
	int got = zofl_selftest();
	if (got != want)
		printf("%s: %d, want %d\n", mode, got, want);
	return got != want;
}

int main(void) {
	const modes before = get();
	unsigned i;
	int bad = 0;
	if (zofl_selftest()) {
		puts("failed");
		return 0;
	}
	for (i = 0; i < sizeof flushes / sizeof *flushes; i++) {
		if (!flushes[i].bits)
			continue;
		set(before | flushes[i].bits);
		bad += differs(flushes[i].name, ZOFL_ARITHMETIC);
		set(before);
		bad += differs("as before", ZOFL_OK);
	}
	for (i = 0; i < sizeof roundings / sizeof *roundings; i++) {
		fesetround(roundings[i].mode);
		bad += differs(roundings[i].name, ZOFL_ARITHMETIC);
		fesetround(FE_TONEAREST);
		bad += differs("to nearest", ZOFL_OK);
	}
	if (!bad)
		puts("passed");
	return bad != 0;
}
