/* ---- scheme 1 in vectors: AVX2, AVX-512 and NEON, with the bits of plain C ---- */

/* The instruction sets. Each x86 set includes the one before it. */
typedef enum { PLAIN, AVX2, AVX512, NEON } isa;

/* How a kernel stores: as one of zofl_type, or only a times the element, to float32. */
enum { FILL = 3 };

#if ZOFL_WITH_SIMD && defined(__x86_64__)
#include <immintrin.h>

#define HAVE_X86 1
/* APART keeps a product apart from the addition that follows. */
#ifdef ZOFL_EMULATED /* by c/test/emulated, in plain C */
#define TARGET_AVX2
#define TARGET_AVX512
#define APART(v) (void)(v)
#define APART512(v) (void)(v)
#define __builtin_cpu_supports(name) 1
#else
#define TARGET_AVX2 __attribute__((target("avx2,f16c")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define APART(v) __asm__("" : "+x"(v))
#define APART512(v) __asm__("" : "+v"(v))
#endif
#define ALWAYS static inline __attribute__((always_inline))

/* The best set of this processor and its system. Every processor with AVX2 and FMA has F16C, and
   clang before 15 cannot ask for that. No kernel fuses: see APART. */
static isa best_isa(void) {
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return PLAIN;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		return AVX512;
	return AVX2;
}

/* -- AVX2: the lanes in two registers of four -- */

typedef struct {
	__m256i s0[2], s1[2];
} avx2_lanes;

#if ZOFL_WITH_NORMAL
ALWAYS TARGET_AVX2 avx2_lanes avx2_load(const lanes *g) {
	avx2_lanes v;
	for (int h = 0; h < 2; h++) {
		v.s0[h] = _mm256_loadu_si256((const __m256i *)(g->s0 + 4 * h));
		v.s1[h] = _mm256_loadu_si256((const __m256i *)(g->s1 + 4 * h));
	}
	return v;
}
#endif

ALWAYS TARGET_AVX2 void avx2_save(lanes *g, const avx2_lanes *v) {
	for (int h = 0; h < 2; h++) {
		_mm256_storeu_si256((__m256i *)(g->s0 + 4 * h), v->s0[h]);
		_mm256_storeu_si256((__m256i *)(g->s1 + 4 * h), v->s1[h]);
	}
}

/* rol(v, k), where 64-k is n. */
#define AVX2_ROL(v, k, n) _mm256_or_si256(_mm256_slli_epi64(v, k), _mm256_srli_epi64(v, n))

/* The next output of four lanes. */
ALWAYS TARGET_AVX2 __m256i avx2_next(__m256i *s0, __m256i *s1) {
	__m256i u = *s0, v = *s1, t = _mm256_add_epi64(u, v);
	__m256i out = _mm256_add_epi64(AVX2_ROL(t, 17, 47), u);
	v = _mm256_xor_si256(v, u);
	t = _mm256_xor_si256(v, _mm256_slli_epi64(v, 21));
	*s0 = _mm256_xor_si256(AVX2_ROL(u, 49, 15), t);
	*s1 = AVX2_ROL(v, 28, 36);
	return out;
}

/* Four lanes at the start of a block, from lane first on: philox of four counters, one in each 64
   bits, the high halves unused. */
ALWAYS TARGET_AVX2 void avx2_philox(__m256i *s0, __m256i *s1, const zofl_addr *at, uint32_t first) {
	__m256i m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
	__m256i w0 = _mm256_set1_epi64x(0x9E3779B9), w1 = _mm256_set1_epi64x(0xBB67AE85);
	__m256i k0 = _mm256_set1_epi64x((long long)at->key);
	__m256i k1 = _mm256_set1_epi64x((long long)(at->key >> 32));
	__m256i c0 = _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_set_epi64x(3, 2, 1, 0));
	__m256i c1 = _mm256_set1_epi64x((long long)((uint32_t)at->step << 16 | at->pert));
	__m256i c2 = _mm256_set1_epi64x(at->source), c3 = _mm256_set1_epi64x(at->domain);
	for (int r = 0; r < 10; r++) {
		__m256i p = _mm256_mul_epu32(c0, m0), q = _mm256_mul_epu32(c2, m1);
		c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(q, 32), c1), k0);
		c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p, 32), c3), k1);
		c1 = q;
		c3 = p;
		k0 = _mm256_add_epi64(k0, w0);
		k1 = _mm256_add_epi64(k1, w1);
	}
	*s0 = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xAA);
	*s1 = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xAA);
}

TARGET_AVX2 static void avx2_seed(lanes *g, const zofl_addr *at, uint32_t block) {
	avx2_lanes v;
	for (uint32_t h = 0; h < 2; h++)
		avx2_philox(&v.s0[h], &v.s1[h], at, 8 * block + 4 * h);
	avx2_save(g, &v);
}

/* The 64 words of signs of a block. */
TARGET_AVX2 static void avx2_signs(uint64_t *w, const zofl_addr *at, uint32_t block) {
	for (uint32_t h = 0; h < 2; h++) {
		__m256i s0, s1;
		avx2_philox(&s0, &s1, at, 8 * block + 4 * h);
		for (uint32_t r = 0; r < 8; r++)
			_mm256_storeu_si256((__m256i *)(w + 8 * r + 4 * h), avx2_next(&s0, &s1));
	}
}

/* What is at d, as floats; for float32 what is at x. */
ALWAYS TARGET_AVX2 __m256 avx2_get(const void *d, const float *x, size_t j, int type) {
	__m128i h;
	if (type == ZOFL_F32 || x)
		return _mm256_loadu_ps(x + j);
	h = _mm_loadu_si128((const __m128i *)((const uint16_t *)d + j));
	if (type == ZOFL_F16)
		return _mm256_cvtph_ps(h);
	return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

ALWAYS TARGET_AVX2 void avx2_put(void *d, size_t j, __m256 v, int type) {
	__m256 sign = _mm256_set1_ps(-0.0f), nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
	__m256i u = _mm256_castps_si256(v), h;
	__m128i out;
	if (type == ZOFL_F32 || type == FILL) {
		_mm256_storeu_ps((float *)d + j, v);
		return;
	}
	if (type == ZOFL_F16) { /* every NaN is 7e00 with its sign */
		__m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
		v = _mm256_blendv_ps(v, _mm256_or_ps(_mm256_and_ps(v, sign), quiet), nan);
		out = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
	} else { /* to_bf16 */
		h = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
		h = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), h);
		u = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
		h = _mm256_castps_si256(
		    _mm256_blendv_ps(_mm256_castsi256_ps(h), _mm256_castsi256_ps(u), nan));
		h = _mm256_srli_epi32(h, 16);
		h = _mm256_permute4x64_epi64(_mm256_packus_epi32(h, h), 0xD8);
		out = _mm256_castsi256_si128(h);
	}
	_mm_storeu_si128((__m128i *)((uint16_t *)d + j), out);
}

#if ZOFL_WITH_NORMAL
/* The pairs (c1, c0) of k[0] and k[1]. */
ALWAYS TARGET_AVX2 __m128 avx2_pairs(size_t k0, size_t k1) {
	__m128 v = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)table[k0 - 8128]));
	return _mm_loadh_pi(v, (const __m64 *)table[k1 - 8128]);
}

/* The normals of eight words, as in normal. */
ALWAYS TARGET_AVX2 __m256 avx2_normal(__m256i w) {
	__m256 f = _mm256_cvtepi32_ps(_mm256_or_si256(w, _mm256_set1_epi32(1)));
	__m256i u = _mm256_castps_si256(f);
	__m256 even, odd, c1, c0;
	uint32_t k[8] __attribute__((aligned(32)));
	/* Through memory: loads cost less here than taking indices out of a register. */
	_mm256_store_si256((__m256i *)k, _mm256_srli_epi32(_mm256_slli_epi32(u, 1), 18));
	even = _mm256_castps128_ps256(avx2_pairs(k[0], k[1]));
	even = _mm256_insertf128_ps(even, avx2_pairs(k[4], k[5]), 1);
	odd = _mm256_castps128_ps256(avx2_pairs(k[2], k[3]));
	odd = _mm256_insertf128_ps(odd, avx2_pairs(k[6], k[7]), 1);
	c1 = _mm256_shuffle_ps(even, odd, 0x88);
	c0 = _mm256_shuffle_ps(even, odd, 0xDD);
	c0 = _mm256_or_ps(c0, _mm256_and_ps(f, _mm256_set1_ps(-0.0f)));
	c1 = _mm256_mul_ps(c1, f);
	APART(c1);
	return _mm256_add_ps(c1, c0);
}

ALWAYS TARGET_AVX2 void avx2_rows(void *d, const float *x, uint32_t rows, float by, lanes *g,
                                  int type) {
	avx2_lanes v = avx2_load(g);
	__m256 a = _mm256_set1_ps(by);
	for (size_t j = 0; j < 16 * (size_t)rows; j += 16) {
		__m256i w[2] = {avx2_next(&v.s0[0], &v.s1[0]), avx2_next(&v.s0[1], &v.s1[1])};
		for (size_t h = 0; h < 2; h++) {
			__m256 p = _mm256_mul_ps(avx2_normal(w[h]), a);
			APART(p);
			if (type != FILL)
				p = _mm256_add_ps(avx2_get(d, x, j + 8 * h, type), p);
			avx2_put(d, j + 8 * h, p, type);
		}
	}
	avx2_save(g, &v);
}

TARGET_AVX2 static void avx2_normals(void *d, const float *x, uint32_t rows, float a, lanes *g,
                                     int type) {
	if (type == ZOFL_F32)
		avx2_rows(d, x, rows, a, g, ZOFL_F32);
	else if (type == ZOFL_F16)
		avx2_rows(d, x, rows, a, g, ZOFL_F16);
	else if (type == ZOFL_BF16)
		avx2_rows(d, x, rows, a, g, ZOFL_BF16);
	else
		avx2_rows(d, x, rows, a, g, FILL);
}
#endif

/* The signs of words 32 of elements: bit 31 of each element becomes its sign. */
ALWAYS TARGET_AVX2 void avx2_words(void *d, const float *x, uint32_t words, float by,
                                   const uint64_t *s, int type) {
	__m256 a = _mm256_set1_ps(by);
	__m256i top = _mm256_set1_epi32(INT32_MIN);
	__m256i shift = _mm256_set_epi32(24, 25, 26, 27, 28, 29, 30, 31);
	for (uint32_t i = 0; i < words; i++) {
		for (size_t h = 0; h < 8; h++) {
			size_t j = 64 * (size_t)i + 8 * h;
			__m256i w = _mm256_set1_epi32((int32_t)(uint32_t)(s[i] >> 8 * h));
			__m256 p;
			w = _mm256_and_si256(_mm256_sllv_epi32(w, shift), top);
			p = _mm256_xor_ps(a, _mm256_castsi256_ps(w));
			if (type != FILL)
				p = _mm256_add_ps(avx2_get(d, x, j, type), p);
			avx2_put(d, j, p, type);
		}
	}
}

TARGET_AVX2 static void avx2_add_signs(void *d, const float *x, uint32_t words, float a,
                                       const uint64_t *s, int type) {
	if (type == ZOFL_F32)
		avx2_words(d, x, words, a, s, ZOFL_F32);
	else if (type == ZOFL_F16)
		avx2_words(d, x, words, a, s, ZOFL_F16);
	else if (type == ZOFL_BF16)
		avx2_words(d, x, words, a, s, ZOFL_BF16);
	else
		avx2_words(d, x, words, a, s, FILL);
}

/* Adds to 64 elements the sums that the bytes of index select. */
TARGET_AVX2 static void avx2_add_sums(float *v, const float sums[256], const uint64_t index[8]) {
	for (int k = 0; k < 8; k++) {
		__m256i at = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)index[k]));
		__m256 q = _mm256_i32gather_ps(sums, at, 4);
		_mm256_storeu_ps(v + 8 * k, _mm256_add_ps(_mm256_loadu_ps(v + 8 * k), q));
	}
}

/* -- AVX-512: the lanes in one register -- */

ALWAYS TARGET_AVX512 __m512i avx512_next(__m512i *s0, __m512i *s1) {
	__m512i u = *s0, v = *s1;
	__m512i out = _mm512_add_epi64(_mm512_rol_epi64(_mm512_add_epi64(u, v), 17), u);
	v = _mm512_xor_si512(v, u);
	*s0 = _mm512_ternarylogic_epi64(_mm512_rol_epi64(u, 49), v, _mm512_slli_epi64(v, 21), 0x96);
	*s1 = _mm512_rol_epi64(v, 28);
	return out;
}

ALWAYS TARGET_AVX512 void avx512_philox(__m512i *s0, __m512i *s1, const zofl_addr *at,
                                        uint32_t block) {
	__m512i m0 = _mm512_set1_epi64(0xD2511F53), m1 = _mm512_set1_epi64(0xCD9E8D57);
	__m512i w0 = _mm512_set1_epi64(0x9E3779B9), w1 = _mm512_set1_epi64(0xBB67AE85);
	__m512i k0 = _mm512_set1_epi64((long long)at->key);
	__m512i k1 = _mm512_set1_epi64((long long)(at->key >> 32));
	__m512i c0 = _mm512_set1_epi64((long long)(8 * block));
	__m512i c1 = _mm512_set1_epi64((long long)((uint32_t)at->step << 16 | at->pert));
	__m512i c2 = _mm512_set1_epi64(at->source), c3 = _mm512_set1_epi64(at->domain);
	c0 = _mm512_add_epi64(c0, _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
	for (int r = 0; r < 10; r++) {
		__m512i p = _mm512_mul_epu32(c0, m0), q = _mm512_mul_epu32(c2, m1);
		c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), c1, k0, 0x96);
		c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), c3, k1, 0x96);
		c1 = q;
		c3 = p;
		k0 = _mm512_add_epi64(k0, w0);
		k1 = _mm512_add_epi64(k1, w1);
	}
	*s0 = _mm512_mask_mov_epi32(c0, 0xAAAA, _mm512_slli_epi64(c1, 32));
	*s1 = _mm512_mask_mov_epi32(c2, 0xAAAA, _mm512_slli_epi64(c3, 32));
}

TARGET_AVX512 static void avx512_seed(lanes *g, const zofl_addr *at, uint32_t block) {
	__m512i s0, s1;
	avx512_philox(&s0, &s1, at, block);
	_mm512_storeu_si512(g->s0, s0);
	_mm512_storeu_si512(g->s1, s1);
}

TARGET_AVX512 static void avx512_signs(uint64_t *w, const zofl_addr *at, uint32_t block) {
	__m512i s0, s1;
	avx512_philox(&s0, &s1, at, block);
	for (uint32_t r = 0; r < 8; r++)
		_mm512_storeu_si512(w + 8 * r, avx512_next(&s0, &s1));
}

ALWAYS TARGET_AVX512 __m512 avx512_get(const void *d, const float *x, size_t j, int type) {
	__m256i h;
	if (type == ZOFL_F32 || x)
		return _mm512_loadu_ps(x + j);
	h = _mm256_loadu_si256((const __m256i *)((const uint16_t *)d + j));
	if (type == ZOFL_F16)
		return _mm512_cvtph_ps(h);
	return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

ALWAYS TARGET_AVX512 void avx512_put(void *d, size_t j, __m512 v, int type) {
	__mmask16 nan;
	__m512i u = _mm512_castps_si512(v), h;
	__m256i out;
	if (type == ZOFL_F32 || type == FILL) {
		_mm512_storeu_ps((float *)d + j, v);
		return;
	}
	nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
	if (type == ZOFL_F16) { /* every NaN is 7e00 with its sign */
		h = _mm512_and_si512(u, _mm512_set1_epi32(INT32_MIN));
		h = _mm512_or_si512(h, _mm512_set1_epi32(0x7FC00000));
		v = _mm512_castsi512_ps(_mm512_mask_mov_epi32(u, nan, h));
		out = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
	} else { /* to_bf16 */
		h = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
		h = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7FFF)), h);
		h = _mm512_mask_or_epi32(h, nan, u, _mm512_set1_epi32(0x400000));
		out = _mm512_cvtepi32_epi16(_mm512_srli_epi32(h, 16));
	}
	_mm256_storeu_si256((__m256i *)((uint16_t *)d + j), out);
}

#if ZOFL_WITH_NORMAL
/* The normals of sixteen words, as in normal. */
ALWAYS TARGET_AVX512 __m512 avx512_normal(__m512i w) {
	const __m512i even =
	    _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
	const __m512i odd = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
	__m512 f = _mm512_cvtepi32_ps(_mm512_or_si512(w, _mm512_set1_epi32(1)));
	__m512i u = _mm512_castps_si512(f);
	__m512i k = _mm512_srli_epi32(_mm512_slli_epi32(u, 1), 18);
	/* The gathers start before the table: their smallest index is 8128. */
	const void *origin = (const void *)((uintptr_t)table - 8128 * sizeof table[0]);
	__m512 low, high, c1, c0;
	low = _mm512_castsi512_ps(_mm512_i32gather_epi64(_mm512_castsi512_si256(k), origin, 8));
	high = _mm512_castsi512_ps(_mm512_i32gather_epi64(_mm512_extracti64x4_epi64(k, 1), origin, 8));
	c1 = _mm512_permutex2var_ps(low, even, high);
	c0 = _mm512_permutex2var_ps(low, odd, high);
	/* c0, or the sign of f */
	c0 = _mm512_castsi512_ps(
	    _mm512_ternarylogic_epi32(_mm512_castps_si512(c0), u, _mm512_set1_epi32(INT32_MIN), 0xF8));
	c1 = _mm512_mul_ps(c1, f);
	APART512(c1);
	return _mm512_add_ps(c1, c0);
}

ALWAYS TARGET_AVX512 void avx512_rows(void *d, const float *x, uint32_t rows, float by, lanes *g,
                                      int type) {
	__m512i s0 = _mm512_loadu_si512(g->s0), s1 = _mm512_loadu_si512(g->s1);
	__m512 a = _mm512_set1_ps(by);
	for (size_t j = 0; j < 16 * (size_t)rows; j += 16) {
		__m512 p = _mm512_mul_ps(avx512_normal(avx512_next(&s0, &s1)), a);
		APART512(p);
		if (type != FILL)
			p = _mm512_add_ps(avx512_get(d, x, j, type), p);
		avx512_put(d, j, p, type);
	}
	_mm512_storeu_si512(g->s0, s0);
	_mm512_storeu_si512(g->s1, s1);
}

TARGET_AVX512 static void avx512_normals(void *d, const float *x, uint32_t rows, float a, lanes *g,
                                         int type) {
	if (type == ZOFL_F32)
		avx512_rows(d, x, rows, a, g, ZOFL_F32);
	else if (type == ZOFL_F16)
		avx512_rows(d, x, rows, a, g, ZOFL_F16);
	else if (type == ZOFL_BF16)
		avx512_rows(d, x, rows, a, g, ZOFL_BF16);
	else
		avx512_rows(d, x, rows, a, g, FILL);
}
#endif

ALWAYS TARGET_AVX512 void avx512_words(void *d, const float *x, uint32_t words, float a,
                                       const uint64_t *s, int type) {
	__m512 plus = _mm512_set1_ps(a), minus = _mm512_set1_ps(-a);
	for (uint32_t i = 0; i < words; i++) {
		for (size_t h = 0; h < 4; h++) {
			size_t j = 64 * (size_t)i + 16 * h;
			__m512 p = _mm512_mask_blend_ps((__mmask16)(s[i] >> 16 * h), plus, minus);
			if (type != FILL)
				p = _mm512_add_ps(avx512_get(d, x, j, type), p);
			avx512_put(d, j, p, type);
		}
	}
}

TARGET_AVX512 static void avx512_add_signs(void *d, const float *x, uint32_t words, float a,
                                           const uint64_t *s, int type) {
	if (type == ZOFL_F32)
		avx512_words(d, x, words, a, s, ZOFL_F32);
	else if (type == ZOFL_F16)
		avx512_words(d, x, words, a, s, ZOFL_F16);
	else if (type == ZOFL_BF16)
		avx512_words(d, x, words, a, s, ZOFL_BF16);
	else
		avx512_words(d, x, words, a, s, FILL);
}

#elif ZOFL_WITH_SIMD && defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>

#define HAVE_NEON 1
#define ALWAYS static inline __attribute__((always_inline))

static isa best_isa(void) {
	return NEON;
}

/* Keeps a product apart from the addition that follows. */
#define APART(v) __asm__("" : "+w"(v))

/* -- NEON: two lanes in a register -- */

#define NEON_ROL(v, k) vsliq_n_u64(vshrq_n_u64(v, 64 - (k)), v, k)

ALWAYS uint64x2_t neon_next(uint64x2_t *s0, uint64x2_t *s1) {
	uint64x2_t u = *s0, v = *s1, t = vaddq_u64(u, v);
	uint64x2_t out = vaddq_u64(NEON_ROL(t, 17), u);
	v = veorq_u64(v, u);
	*s0 = veorq_u64(NEON_ROL(u, 49), veorq_u64(v, vshlq_n_u64(v, 21)));
	*s1 = NEON_ROL(v, 28);
	return out;
}

ALWAYS float32x4_t neon_get(const void *d, const float *x, size_t j, int type) {
	uint16x4_t h;
	if (type == ZOFL_F32 || x)
		return vld1q_f32(x + j);
	h = vld1_u16((const uint16_t *)d + j);
	if (type == ZOFL_F16)
		return vcvt_f32_f16(vreinterpret_f16_u16(h));
	return vreinterpretq_f32_u32(vshll_n_u16(h, 16));
}

ALWAYS void neon_put(void *d, size_t j, float32x4_t v, int type) {
	uint32x4_t u = vreinterpretq_u32_f32(v), number = vceqq_f32(v, v), h;
	uint16x4_t out;
	if (type == ZOFL_F32 || type == FILL) {
		vst1q_f32((float *)d + j, v);
		return;
	}
	if (type == ZOFL_F16) { /* every NaN is 7e00 with its sign */
		h = vorrq_u32(vandq_u32(u, vdupq_n_u32(0x80000000u)), vdupq_n_u32(0x7FC00000u));
		v = vreinterpretq_f32_u32(vbslq_u32(number, u, h));
		out = vreinterpret_u16_f16(vcvt_f16_f32(v));
	} else { /* to_bf16 */
		h = vandq_u32(vshrq_n_u32(u, 16), vdupq_n_u32(1));
		h = vaddq_u32(vaddq_u32(u, vdupq_n_u32(0x7FFF)), h);
		h = vbslq_u32(number, h, vorrq_u32(u, vdupq_n_u32(0x400000)));
		out = vshrn_n_u32(h, 16);
	}
	vst1_u16((uint16_t *)d + j, out);
}

#if ZOFL_WITH_NORMAL
/* The pair (c1, c0) of an index. */
ALWAYS float32x2_t neon_pair(size_t k) {
	return vreinterpret_f32_u32(vld1_u32(table[k - 8128]));
}

/* The normals of four words, as in normal. */
ALWAYS float32x4_t neon_normal(uint64x2_t w) {
	uint32x4_t m = vorrq_u32(vreinterpretq_u32_u64(w), vdupq_n_u32(1));
	float32x4_t f = vcvtq_f32_s32(vreinterpretq_s32_u32(m)), c1, c0, low, high;
	uint32x4_t u = vreinterpretq_u32_f32(f), k = vshrq_n_u32(vshlq_n_u32(u, 1), 18);
	low = vcombine_f32(neon_pair(vgetq_lane_u32(k, 0)), neon_pair(vgetq_lane_u32(k, 1)));
	high = vcombine_f32(neon_pair(vgetq_lane_u32(k, 2)), neon_pair(vgetq_lane_u32(k, 3)));
	c1 = vmulq_f32(vuzp1q_f32(low, high), f);
	APART(c1);
	c0 = vuzp2q_f32(low, high);
	u = vandq_u32(u, vdupq_n_u32(0x80000000u));
	c0 = vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(c0), u));
	return vaddq_f32(c1, c0);
}

ALWAYS void neon_rows(void *d, const float *x, uint32_t rows, float by, lanes *g, int type) {
	uint64x2_t s0[4], s1[4];
	float32x4_t a = vdupq_n_f32(by);
	for (size_t h = 0; h < 4; h++) {
		s0[h] = vld1q_u64(g->s0 + 2 * h);
		s1[h] = vld1q_u64(g->s1 + 2 * h);
	}
	for (size_t j = 0; j < 16 * (size_t)rows; j += 16) {
		for (size_t h = 0; h < 4; h++) {
			float32x4_t p = vmulq_f32(neon_normal(neon_next(&s0[h], &s1[h])), a);
			APART(p);
			if (type != FILL)
				p = vaddq_f32(neon_get(d, x, j + 4 * h, type), p);
			neon_put(d, j + 4 * h, p, type);
		}
	}
	for (size_t h = 0; h < 4; h++) {
		vst1q_u64(g->s0 + 2 * h, s0[h]);
		vst1q_u64(g->s1 + 2 * h, s1[h]);
	}
}

static void neon_normals(void *d, const float *x, uint32_t rows, float a, lanes *g, int type) {
	if (type == ZOFL_F32)
		neon_rows(d, x, rows, a, g, ZOFL_F32);
	else if (type == ZOFL_F16)
		neon_rows(d, x, rows, a, g, ZOFL_F16);
	else if (type == ZOFL_BF16)
		neon_rows(d, x, rows, a, g, ZOFL_BF16);
	else
		neon_rows(d, x, rows, a, g, FILL);
}
#endif

ALWAYS void neon_words(void *d, const float *x, uint32_t words, float by, const uint64_t *s,
                       int type) {
	static const int32_t left[4] = {31, 30, 29, 28};
	int32x4_t shift = vld1q_s32(left);
	uint32x4_t a = vreinterpretq_u32_f32(vdupq_n_f32(by));
	for (uint32_t i = 0; i < words; i++) {
		for (size_t h = 0; h < 16; h++) {
			size_t j = 64 * (size_t)i + 4 * h;
			uint32x4_t w = vshlq_u32(vdupq_n_u32((uint32_t)(s[i] >> 4 * h)), shift);
			float32x4_t p;
			w = veorq_u32(a, vandq_u32(w, vdupq_n_u32(0x80000000u)));
			p = vreinterpretq_f32_u32(w);
			if (type != FILL)
				p = vaddq_f32(neon_get(d, x, j, type), p);
			neon_put(d, j, p, type);
		}
	}
}

static void neon_add_signs(void *d, const float *x, uint32_t words, float a, const uint64_t *s,
                           int type) {
	if (type == ZOFL_F32)
		neon_words(d, x, words, a, s, ZOFL_F32);
	else if (type == ZOFL_F16)
		neon_words(d, x, words, a, s, ZOFL_F16);
	else if (type == ZOFL_BF16)
		neon_words(d, x, words, a, s, ZOFL_BF16);
	else
		neon_words(d, x, words, a, s, FILL);
}

#else
static isa best_isa(void) {
	return PLAIN;
}
#endif
