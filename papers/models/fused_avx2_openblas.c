//go:build openblas && amd64

// The forward pass of fused_openblas.c for processors with AVX2 alone, which have half as many
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

// pool writes the maxima of squares of 2x2 and 0 of 16 channels, of which two rows lie at wide,
// apart. It sets bits of *nan where one of the four is NaN.
INLINE void pool(float *dst, const float *wide, int apart, __m256 *nan) {
#pragma GCC unroll 2
	for (int v = 0; v < 16; v += 8) {
		const float *below = wide + apart + v;
		__m256 a = _mm256_loadu_ps(wide + v), b = _mm256_loadu_ps(wide + v + 16);
		__m256 c = _mm256_loadu_ps(below), d = _mm256_loadu_ps(below + 16);
		*nan = _mm256_or_ps(*nan, _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q),
		                                       _mm256_cmp_ps(c, d, _CMP_UNORD_Q)));
		__m256 most = _mm256_max_ps(_mm256_max_ps(a, b), _mm256_max_ps(c, d));
		_mm256_storeu_ps(dst + v, _mm256_max_ps(most, _mm256_setzero_ps()));
	}
}

AVX2 static void first(const struct fused *f, const float *scratch, const float *weights,
                       const float *bias, float *frame2, __m256 *nan) {
	int line = 28 + 2 * f->pad, line2 = (14 + 2 * f->pad) * 16;
	float wide[2][28 * 16];
	for (int y = 0; y < f->rows / 2; y++) {
		for (int k = 0; k < 2; k++)
			row(wide[k], scratch + (2 * y + k) * line, line, f->kernel, weights, bias, 4, 2, 1);
		float *to = frame2 + (y + f->pad) * line2 + f->pad * 16;
		for (int x = 0; x < 14; x++)
			pool(to + 16 * x, wide[0] + 32 * x, 28 * 16, nan);
	}
}

// second computes 16 of the outputs: flat is [16][rows/4][7].
AVX2 static void second(const struct fused *f, const float *frame, const float *weights,
                        const float *bias, float *flat, __m256 *nan) {
	int line = (14 + 2 * f->pad) * 16, area = f->rows / 4 * 7;
	float wide[2][14 * 16], pooled[16];
	for (int y = 0; y < f->rows / 4; y++) {
		for (int k = 0; k < 2; k++)
			row(wide[k], frame + (2 * y + k) * line, line, f->kernel, weights, bias, 2, 1, 16);
		for (int x = 0; x < 7; x++, flat++) {
			pool(pooled, wide[0] + 32 * x, 14 * 16, nan);
			for (int c = 0; c < 16; c++)
				flat[c * area] = pooled[c];
		}
	}
}

AVX2 int fused_avx2_forward(struct fused f, int n, const float *images, const float *weights1,
                            const float *bias1, const float *weights2, const float *bias2,
                            float *scratch, float *frame, float *flats) {
	int half = f.rows / 4 * 7 * 16;
	__m256 nan = _mm256_setzero_ps();
	for (int i = 0; i < n; i++, images += f.rows * 28, flats += 2 * half) {
		fused_frame(&f, scratch, images);
		first(&f, scratch, weights1, bias1, frame, &nan);
		for (int k = 0; k < 2; k++)
			second(&f, frame, weights2 + k * f.kernel * f.kernel * 16 * 16, bias2 + 16 * k,
			       flats + k * half, &nan);
	}
	return _mm256_movemask_ps(nan);
}
