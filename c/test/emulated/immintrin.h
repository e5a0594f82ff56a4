/* AVX2, F16C and AVX-512 in plain C, for processors that lack them: SIMDe, and what it lacks of
   the intrinsics that src/kernels.c uses. With -Ic/test/emulated and the flags of c/test/run.sh,
   zofl.c takes every set for present. */
#define SIMDE_ENABLE_NATIVE_ALIASES
#define SIMDE_NO_NATIVE
#include <simde/x86/avx512.h>
#include <simde/x86/avx2.h>
#include <simde/x86/f16c.h>

typedef simde__mmask16 __mmask16;

static __m512 _mm512_cvtph_ps(__m256i h) {
	uint16_t a[16];
	float b[16];
	memcpy(a, &h, sizeof a);
	for (int i = 0; i < 16; i += 8) {
		__m128i part;
		__m256 wide;
		memcpy(&part, a + i, sizeof part);
		wide = _mm256_cvtph_ps(part);
		memcpy(b + i, &wide, sizeof wide);
	}
	return _mm512_loadu_ps(b);
}

static __m256i emulated_cvtps_ph(__m512 v) {
	uint16_t b[16];
	float a[16];
	memcpy(a, &v, sizeof a);
	for (int i = 0; i < 16; i += 8) {
		__m128i part = _mm256_cvtps_ph(_mm256_loadu_ps(a + i), 0);
		memcpy(b + i, &part, sizeof part);
	}
	return _mm256_loadu_si256((const void *)b);
}
#define _mm512_cvtps_ph(v, rounding) emulated_cvtps_ph(v)

static __m512i _mm512_cvtepu16_epi32(__m256i h) {
	uint16_t a[16];
	uint32_t b[16];
	memcpy(a, &h, sizeof a);
	for (int i = 0; i < 16; i++)
		b[i] = a[i];
	return _mm512_loadu_si512(b);
}

static __m256i _mm512_cvtepi32_epi16(__m512i v) {
	uint32_t a[16];
	uint16_t b[16];
	memcpy(a, &v, sizeof a);
	for (int i = 0; i < 16; i++)
		b[i] = (uint16_t)a[i];
	return _mm256_loadu_si256((const void *)b);
}

static __m512 _mm512_cvtepi32_ps(__m512i v) {
	int32_t a[16];
	float b[16];
	memcpy(a, &v, sizeof a);
	for (int i = 0; i < 16; i++)
		b[i] = (float)a[i];
	return _mm512_loadu_ps(b);
}

static __m512i emulated_i32gather_epi64(__m256i index, const char *base, int scale) {
	int32_t a[8];
	uint64_t b[8];
	memcpy(a, &index, sizeof a);
	for (int i = 0; i < 8; i++)
		memcpy(b + i, base + (int64_t)a[i] * scale, 8);
	return _mm512_loadu_si512(b);
}
#define _mm512_i32gather_epi64(index, base, scale)                                                 \
	emulated_i32gather_epi64(index, (const char *)(base), scale)
