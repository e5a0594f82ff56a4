//go:build openblas && amd64

// The passes of fused_openblas.c for processors with AVX2 alone, which have half as many
// registers of half the length: a block of sums is up to 5 positions of 16 channels. The second
// convolution goes through one half of its outputs after the other, because the weights of all
// do not stay in the nearest cache.

#include <immintrin.h>
#include <string.h>

#include "fused_openblas.h"

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline)) AVX2

int fused_avx2_supported(void) {
	return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

// block computes positions of a row, at most 5: dst is [positions][16], weights are [taps][16].
INLINE void block(float *dst, const float *frame, int line, int kernel, const float *weights,
                  const float *bias, const int positions, const int in) {
	__m256 low[5], high[5];
#pragma GCC unroll 5
	for (int i = 0; i < positions; i++) {
		low[i] = _mm256_loadu_ps(bias);
		high[i] = _mm256_loadu_ps(bias + 8);
	}
	for (int ky = 0; ky < kernel; ky++) {
		const float *from = frame + ky * line;
		for (int t = 0; t < kernel * in; t++, from++, weights += 16) {
			__m256 w = _mm256_loadu_ps(weights), v = _mm256_loadu_ps(weights + 8);
#pragma GCC unroll 5
			for (int i = 0; i < positions; i++) {
				__m256 x = _mm256_broadcast_ss(from + i * in);
				low[i] = _mm256_fmadd_ps(x, w, low[i]);
				high[i] = _mm256_fmadd_ps(x, v, high[i]);
			}
		}
	}
#pragma GCC unroll 5
	for (int i = 0; i < positions; i++) {
		_mm256_storeu_ps(dst + 16 * i, low[i]);
		_mm256_storeu_ps(dst + 16 * i + 8, high[i]);
	}
}

// row computes a row of 5 * fives + 4 * fours positions before rectifier and pooling.
INLINE void row(float *dst, const float *frame, int line, int kernel, const float *weights,
                const float *bias, int fives, int fours, const int in) {
	for (int i = 0; i < fives; i++, dst += 5 * 16, frame += 5 * in)
		block(dst, frame, line, kernel, weights, bias, 5, in);
	for (int i = 0; i < fours; i++, dst += 4 * 16, frame += 4 * in)
		block(dst, frame, line, kernel, weights, bias, 4, in);
}

// bytes narrows eight small whole numbers.
INLINE void bytes(uint8_t *dst, __m256 v) {
	__m256i i = _mm256_cvtps_epi32(v);
	__m128i words = _mm_packs_epi32(_mm256_castsi256_si128(i), _mm256_extracti128_si256(i, 1));
	_mm_storel_epi64((__m128i *)dst, _mm_packus_epi16(words, words));
}

// pool writes the maxima of squares of 2x2 and 0 of 16 channels, of which two rows lie at wide,
// apart. Unless top is null, it notes which of the four is the first of the largest. It sets bits
// of *nan where one of the four is NaN.
INLINE void pool(float *dst, const float *wide, int apart, uint8_t *top, __m256 *nan) {
#pragma GCC unroll 2
	for (int v = 0; v < 16; v += 8) {
		const float *below = wide + apart + v;
		__m256 a[4] = {_mm256_loadu_ps(wide + v), _mm256_loadu_ps(wide + v + 16),
		               _mm256_loadu_ps(below), _mm256_loadu_ps(below + 16)};
		*nan = _mm256_or_ps(*nan, _mm256_or_ps(_mm256_cmp_ps(a[0], a[1], _CMP_UNORD_Q),
		                                       _mm256_cmp_ps(a[2], a[3], _CMP_UNORD_Q)));
		__m256 most = a[0], at = _mm256_setzero_ps();
#pragma GCC unroll 3
		for (int k = 1; k < 4; k++) {
			__m256 more = _mm256_cmp_ps(a[k], most, _CMP_GT_OQ);
			most = _mm256_max_ps(a[k], most);
			at = _mm256_blendv_ps(at, _mm256_set1_ps(k), more);
		}
		if (top)
			bytes(top + v, at);
		_mm256_storeu_ps(dst + v, _mm256_max_ps(most, _mm256_setzero_ps()));
	}
}

AVX2 static void first(const struct fused *f, const float *scratch, const float *weights,
                       const float *bias, float *frame2, uint8_t *top, __m256 *nan) {
	int line = 28 + 2 * f->pad, line2 = (14 + 2 * f->pad) * 16;
	float wide[2][28 * 16];
	for (int y = 0; y < f->rows / 2; y++) {
		for (int k = 0; k < 2; k++)
			row(wide[k], scratch + (2 * y + k) * line, line, f->kernel, weights, bias, 4, 2, 1);
		float *to = frame2 + (y + f->pad) * line2 + f->pad * 16;
		for (int x = 0; x < 14; x++, top += top ? 16 : 0)
			pool(to + 16 * x, wide[0] + 32 * x, 28 * 16, top, nan);
	}
}

// second computes 16 of the outputs: flat is [16][rows/4][7], top [rows/4][7][32].
AVX2 static void second(const struct fused *f, const float *frame, const float *weights,
                        const float *bias, float *flat, uint8_t *top, __m256 *nan) {
	int line = (14 + 2 * f->pad) * 16, area = f->rows / 4 * 7;
	float wide[2][14 * 16], pooled[16];
	for (int y = 0; y < f->rows / 4; y++) {
		for (int k = 0; k < 2; k++)
			row(wide[k], frame + (2 * y + k) * line, line, f->kernel, weights, bias, 2, 1, 16);
		for (int x = 0; x < 7; x++, flat++, top += top ? 32 : 0) {
			pool(pooled, wide[0] + 32 * x, 14 * 16, top, nan);
			for (int c = 0; c < 16; c++)
				flat[c * area] = pooled[c];
		}
	}
}

AVX2 int fused_avx2_forward(struct fused f, int n, const float *images, const float *weights1,
                            const float *bias1, const float *weights2, const float *bias2,
                            float *scratch, float *frames, int frame, float *flats,
                            uint8_t *tops1, uint8_t *tops2) {
	int area = f.rows / 2 * 14, half = f.rows / 4 * 7 * 16;
	__m256 nan = _mm256_setzero_ps();
	for (int i = 0; i < n; i++, images += f.rows * 28, frames += frame, flats += 2 * half) {
		fused_frame(&f, scratch, images);
		first(&f, scratch, weights1, bias1, frames, tops1 ? tops1 + (size_t)i * area * 16 : 0,
		      &nan);
		for (int k = 0; k < 2; k++)
			second(&f, frames, weights2 + k * f.kernel * f.kernel * 16 * 16, bias2 + 16 * k,
			       flats + k * half, tops2 ? tops2 + (size_t)i * 2 * half + 16 * k : 0, &nan);
	}
	return _mm256_movemask_ps(nan);
}

// backSecond adds the gradient of an image to that by the weights and biases of the second
// convolution, and writes that by its framed input to dFrame.
AVX2 static void backSecond(const struct fused *f, const float *frame, const float *flat,
                            const float *d, const uint8_t *tops, const float *packed,
                            float *dPacked, float *dBias, float *dFrame) {
	const int line = (14 + 2 * f->pad) * 16, area = f->rows / 4 * 7, kernel = f->kernel;
	struct fused_hit list[area];
	memset(dFrame, 0, sizeof(float) * line * (f->rows / 2 + 2 * f->pad));
	for (int o = 0; o < 32; o++) {
		int n = fused_hits(f, list, flat + o * area, d + o * area, tops + o);
		for (int h = 0; h < n; h++)
			dBias[o] += list[h].d;
		for (int ky = 0; ky < kernel; ky++)
			for (int v = 0; v < kernel * 16; v += 8) {
				int tap = ky * line + v, at = (o * kernel + ky) * kernel * 16 + v;
				__m256 w = _mm256_loadu_ps(packed + at), sum = _mm256_loadu_ps(dPacked + at);
				for (int h = 0; h < n; h++) {
					float *to = dFrame + list[h].at + tap;
					__m256 g = _mm256_set1_ps(list[h].d);
					sum = _mm256_fmadd_ps(g, _mm256_loadu_ps(frame + list[h].at + tap), sum);
					_mm256_storeu_ps(to, _mm256_fmadd_ps(g, w, _mm256_loadu_ps(to)));
				}
				_mm256_storeu_ps(dPacked + at, sum);
			}
	}
}

// backPixel adds the gradient of 8 channels of one pooled position to dWeights and dBias. from is
// the first pixel of the position's patch.
INLINE void backPixel(const float *from, int line, int kernel, __m256 d, const uint8_t *top,
                      float *dWeights, float *dBias) {
	__m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)top));
	__m256 part[4];
#pragma GCC unroll 4
	for (int k = 0; k < 4; k++)
		part[k] = _mm256_and_ps(d,
			_mm256_castsi256_ps(_mm256_cmpeq_epi32(at, _mm256_set1_epi32(k))));
	_mm256_storeu_ps(dBias, _mm256_add_ps(_mm256_loadu_ps(dBias), d));
	for (int ky = 0; ky < kernel; ky++, from += line)
		for (int kx = 0; kx < kernel; kx++) {
			float *to = dWeights + (ky * kernel + kx) * 16;
			__m256 sum = _mm256_loadu_ps(to);
			sum = _mm256_fmadd_ps(_mm256_set1_ps(from[kx]), part[0], sum);
			sum = _mm256_fmadd_ps(_mm256_set1_ps(from[kx + 1]), part[1], sum);
			sum = _mm256_fmadd_ps(_mm256_set1_ps(from[kx + line]), part[2], sum);
			sum = _mm256_fmadd_ps(_mm256_set1_ps(from[kx + line + 1]), part[3], sum);
			_mm256_storeu_ps(to, sum);
		}
}

// backFirst adds the gradient of an image to that by the weights, [kernel][kernel][16], and
// biases of the first convolution.
AVX2 static void backFirst(const struct fused *f, const float *scratch, const float *frame,
                           const float *dFrame, const uint8_t *tops, float *dWeights,
                           float *dBias) {
	const int line = 28 + 2 * f->pad, line2 = (14 + 2 * f->pad) * 16;
	for (int y = 0; y < f->rows / 2; y++)
		for (int x = 0; x < 14; x++, tops += 16)
			for (int v = 0; v < 16; v += 8) {
				int at = (y + f->pad) * line2 + (x + f->pad) * 16 + v;
				__m256 on = _mm256_cmp_ps(_mm256_loadu_ps(frame + at), _mm256_setzero_ps(),
				                          _CMP_GT_OQ);
				__m256 d = _mm256_and_ps(on, _mm256_loadu_ps(dFrame + at));
				backPixel(scratch + 2 * y * line + 2 * x, line, f->kernel, d, tops + v,
				          dWeights + v, dBias + v);
			}
}

AVX2 void fused_avx2_backward(struct fused f, int n, const float *images, const float *packed,
                              float *scratch, const float *frames, int frame,
                              const float *flats, const float *dFlats, const uint8_t *tops1,
                              const uint8_t *tops2, float *dFrame, float *dWeights1,
                              float *dBias1, float *dPacked, float *dBias2) {
	int area = f.rows / 2 * 14, flat = f.rows / 4 * 7 * 32;
	for (int i = 0; i < n; i++) {
		const float *frame2 = frames + (size_t)i * frame;
		fused_frame(&f, scratch, images + (size_t)i * f.rows * 28);
		backSecond(&f, frame2, flats + (size_t)i * flat, dFlats + (size_t)i * flat,
		           tops2 + (size_t)i * flat, packed, dPacked, dBias2, dFrame);
		backFirst(&f, scratch, frame2, dFrame, tops1 + (size_t)i * area * 16, dWeights1, dBias1);
	}
}
