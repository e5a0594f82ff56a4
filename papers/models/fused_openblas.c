//go:build openblas && amd64

// The convolutions of NewCNNMNIST on images 28 pixels wide, image by image, for processors
// with AVX-512. A general matrix product has to lay out 25 copies of its input and cannot pool
// what is still in registers.
//
// Numbers have their channels innermost, 16 in a register. A row of outputs is one block of
// registers: 28 positions of 16 channels, or 14 of 32.

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "fused_openblas.h"

#define WIDE __attribute__((target("avx512f")))
#define INLINE static inline __attribute__((always_inline)) WIDE

int fused_avx512_supported(void) { return __builtin_cpu_supports("avx512f") != 0; }

// row computes a row of a convolution before rectifier and pooling: dst is
// [positions][16*vectors]. line is the length of a row of frame.
INLINE void row(float *dst, const float *frame, int line, int kernel, const float *weights,
                const float *bias, const int positions, const int vectors, const int in) {
	__m512 sum[28];
#pragma GCC unroll 28
	for (int i = 0; i < positions; i++)
#pragma GCC unroll 2
		for (int v = 0; v < vectors; v++)
			sum[i * vectors + v] = _mm512_loadu_ps(bias + 16 * v);
	for (int ky = 0; ky < kernel; ky++) {
		const float *from = frame + ky * line;
		for (int t = 0; t < kernel * in; t++, from++, weights += 16 * vectors) {
			__m512 w[2];
			// Hides that the next tap reads many of the same inputs: there is no register for them.
			__asm__("" : "+r"(from));
#pragma GCC unroll 2
			for (int v = 0; v < vectors; v++)
				w[v] = _mm512_loadu_ps(weights + 16 * v);
#pragma GCC unroll 28
			for (int i = 0; i < positions; i++) {
				__m512 x = _mm512_set1_ps(from[i * in]);
#pragma GCC unroll 2
				for (int v = 0; v < vectors; v++)
					sum[i * vectors + v] = _mm512_fmadd_ps(x, w[v], sum[i * vectors + v]);
			}
		}
	}
#pragma GCC unroll 28
	for (int i = 0; i < positions * vectors; i++)
		_mm512_storeu_ps(dst + 16 * i, sum[i]);
}

// pool returns the maximum of a square of 2x2 and 0. It notes which of the four is the first
// of the largest, and sets *nan where one is NaN.
INLINE __m512 pool(const float *above, const float *below, int next, uint8_t *top, int *nan) {
	__m512 a[4] = {_mm512_loadu_ps(above), _mm512_loadu_ps(above + next),
	               _mm512_loadu_ps(below), _mm512_loadu_ps(below + next)};
	*nan |= _mm512_cmp_ps_mask(a[0], a[1], _CMP_UNORD_Q) |
		_mm512_cmp_ps_mask(a[2], a[3], _CMP_UNORD_Q);
	__m512 most = a[0];
	__m512i at = _mm512_setzero_si512();
#pragma GCC unroll 3
	for (int k = 1; k < 4; k++) {
		__mmask16 more = _mm512_cmp_ps_mask(a[k], most, _CMP_GT_OQ);
		most = _mm512_mask_mov_ps(most, more, a[k]);
		at = _mm512_mask_mov_epi32(at, more, _mm512_set1_epi32(k));
	}
	if (top)
		_mm_storeu_si128((__m128i *)top, _mm512_cvtepi32_epi8(at));
	return _mm512_max_ps(most, _mm512_setzero_ps());
}

WIDE static void first(const struct fused *f, const float *image, const float *weights,
                       const float *bias, float *scratch, float *frame2, uint8_t *top, int *nan) {
	int line = 28 + 2 * f->pad, line2 = (14 + 2 * f->pad) * 16;
	float wide[2][28 * 16];
	fused_frame(f, scratch, image);
	for (int y = 0; y < f->rows / 2; y++) {
		for (int k = 0; k < 2; k++)
			row(wide[k], scratch + (2 * y + k) * line, line, f->kernel, weights, bias, 28, 1, 1);
		float *to = frame2 + (y + f->pad) * line2 + f->pad * 16;
		for (int x = 0; x < 14; x++, to += 16) {
			_mm512_storeu_ps(to, pool(wide[0] + 32 * x, wide[1] + 32 * x, 16, top, nan));
			top += top ? 16 : 0;
		}
	}
}

// Tiles of bfloat16 for the second convolution, as fused_forward gets them.
struct tiled {
	uint16_t *planes;
	int size;
	const uint16_t *tiles; // null: none
};

// wideRows computes two rows of the second convolution from an even one on, or finds them where
// tiles computed four: see fused_tiles_rows. It returns the first; the second is *below.
WIDE static const float *wideRows(const struct fused *f, float *wide, const float *frame,
                                  const float *weights, const float *bias,
                                  const struct tiled *t, int y, const float **below) {
	int line = (14 + 2 * f->pad) * 16, left = f->rows / 2 / 2 * 2 - y;
	if (!t->tiles) {
		for (int k = 0; k < 2; k++)
			row(wide + k * 512, frame + (y + k) * line, line, f->kernel, weights, bias, 14, 2, 16);
	} else if (y % 4 == 0)
		fused_tiles_rows(wide, t->planes + y * line, t->size, line, f->kernel, t->tiles, bias,
		                 left < 4 ? 2 : 4);
	else
		wide += 2 * 512;
	*below = wide + 512;
	return wide;
}

WIDE static void second(const struct fused *f, const float *frame, const float *weights,
                        const float *bias, const struct tiled *t, float *flat,
                        uint8_t *top, int *nan) {
	int rows = f->rows / 2, area = rows / 2 * 7;
	float wide[4 * 512];
	__m512i channels = _mm512_mullo_epi32(_mm512_set1_epi32(area),
		_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
	if (t->tiles)
		fused_tiles_split(frame, (rows + 2 * f->pad) * (14 + 2 * f->pad), t->planes, t->size);
	for (int y = 0; y < rows / 2; y++) {
		const float *below, *above = wideRows(f, wide, frame, weights, bias, t, 2 * y, &below);
		for (int x = 0; x < 7; x++)
			for (int v = 0; v < 2; v++) {
				int from = 64 * x + 16 * v;
				__m512 most = pool(above + from, below + from, 32, top, nan);
				top += top ? 16 : 0;
				_mm512_i32scatter_ps(flat + y * 7 + x + 16 * v * area, channels, most, 4);
			}
	}
}

WIDE int fused_forward(struct fused f, int n, const float *images, const float *weights1,
                       const float *bias1, const float *weights2, const float *bias2,
                       float *scratch, float *frames, int frame, uint16_t *planes,
                       int size, const uint16_t *tiles, float *flats, uint8_t *tops1,
                       uint8_t *tops2) {
	struct tiled t = {planes, size, tiles};
	if (tiles)
		fused_tiles_begin();
	int nan = 0, area = f.rows / 2 * 14, flat = f.rows / 4 * 7 * 32;
	for (int i = 0; i < n; i++) {
		float *frame2 = frames + (size_t)i * frame;
		first(&f, images + (size_t)i * f.rows * 28, weights1, bias1, scratch, frame2,
		      tops1 ? tops1 + (size_t)i * area * 16 : 0, &nan);
		second(&f, frame2, weights2, bias2, &t, flats + (size_t)i * flat,
		       tops2 ? tops2 + (size_t)i * flat : 0, &nan);
	}
	if (tiles)
		fused_tiles_end();
	return nan;
}

// backSecond adds the gradient of an image to that by the weights and biases of the second
// convolution, and writes that by its framed input to dFrame.
WIDE static void backSecond(const struct fused *f, const float *frame, const float *flat,
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
			for (int kx = 0; kx < kernel; kx++) {
				int tap = ky * line + kx * 16, at = ((o * kernel + ky) * kernel + kx) * 16;
				__m512 w = _mm512_loadu_ps(packed + at), sum = _mm512_loadu_ps(dPacked + at);
				for (int h = 0; h < n; h++) {
					float *to = dFrame + list[h].at + tap;
					__m512 g = _mm512_set1_ps(list[h].d);
					sum = _mm512_fmadd_ps(g, _mm512_loadu_ps(frame + list[h].at + tap), sum);
					_mm512_storeu_ps(to, _mm512_fmadd_ps(g, w, _mm512_loadu_ps(to)));
				}
				_mm512_storeu_ps(dPacked + at, sum);
			}
	}
}

// backFirst adds the gradient of an image to that by the weights, [kernel][kernel][16], and
// biases of the first convolution.
WIDE static void backFirst(const struct fused *f, const float *scratch, const float *frame,
                           const float *dFrame, const uint8_t *tops, float *dWeights,
                           float *dBias) {
	const int line = 28 + 2 * f->pad, line2 = (14 + 2 * f->pad) * 16, kernel = f->kernel;
	__m512 bias = _mm512_loadu_ps(dBias);
	for (int y = 0; y < f->rows / 2; y++)
		for (int x = 0; x < 14; x++, tops += 16) {
			int at = (y + f->pad) * line2 + (x + f->pad) * 16;
			__mmask16 on = _mm512_cmp_ps_mask(_mm512_loadu_ps(frame + at),
				_mm512_setzero_ps(), _CMP_GT_OQ);
			__m512 d = _mm512_maskz_loadu_ps(on, dFrame + at), part[4];
			__m512i top = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)tops));
			bias = _mm512_add_ps(bias, d);
			for (int k = 0; k < 4; k++)
				part[k] = _mm512_maskz_mov_ps(
					_mm512_cmpeq_epi32_mask(top, _mm512_set1_epi32(k)), d);
			const float *from = scratch + 2 * y * line + 2 * x;
			for (int ky = 0; ky < kernel; ky++, from += line)
				for (int kx = 0; kx < kernel; kx++) {
					float *to = dWeights + (ky * kernel + kx) * 16;
					__m512 sum = _mm512_loadu_ps(to);
					sum = _mm512_fmadd_ps(_mm512_set1_ps(from[kx]), part[0], sum);
					sum = _mm512_fmadd_ps(_mm512_set1_ps(from[kx + 1]), part[1], sum);
					sum = _mm512_fmadd_ps(_mm512_set1_ps(from[kx + line]), part[2], sum);
					sum = _mm512_fmadd_ps(_mm512_set1_ps(from[kx + line + 1]), part[3], sum);
					_mm512_storeu_ps(to, sum);
				}
		}
	_mm512_storeu_ps(dBias, bias);
}

WIDE void fused_backward(struct fused f, int n, const float *images, const float *packed,
                         float *scratch, const float *frames, int frame, const float *flats,
                         const float *dFlats, const uint8_t *tops1, const uint8_t *tops2,
                         float *dFrame, float *dWeights1, float *dBias1, float *dPacked,
                         float *dBias2) {
	int area = f.rows / 2 * 14, flat = f.rows / 4 * 7 * 32;
	for (int i = 0; i < n; i++) {
		const float *frame2 = frames + (size_t)i * frame;
		fused_frame(&f, scratch, images + (size_t)i * f.rows * 28);
		backSecond(&f, frame2, flats + (size_t)i * flat, dFlats + (size_t)i * flat,
		           tops2 + (size_t)i * flat, packed, dPacked, dBias2, dFrame);
		backFirst(&f, scratch, frame2, dFrame, tops1 + (size_t)i * area * 16, dWeights1, dBias1);
	}
}
