//go:build openblas && amd64

// The second convolution of fused_openblas.c for processors that multiply tiles of bfloat16
// (AMX). Each factor is the sum of two bfloat16, to 17 bits, and a product is that of the large
// parts and those of a large and a small one. With float32 throughout, a loss differs by 1e-7
// and a forward difference, of mu 1e-3, by 1e-4 of slopes near 1: noise of minibatches and of
// scalars of few bits is a thousand times as large.
//
// A tile of inputs is 16 positions of a row by two taps beside each other by 16 channels, which
// lie in memory as they are needed. A fifth tap is paired with a weight of 0.

#include <cpuid.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fused_openblas.h"

#define WIDE __attribute__((target("avx512f,avx512bf16,avx512vl,amx-tile,amx-bf16")))
#define PARTS 2
#define TILE 512 // bfloat16 of a tile

int fused_tiles_supported(void) {
	unsigned a, b, c, d;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1))
		return 0;
	// Linux gives tiles to those who ask: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA.
	return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
}

// take returns the bfloat16 nearest to each of *rest and leaves what is missing there.
static inline __attribute__((always_inline)) WIDE __m256i take(__m512 *rest) {
	__m256i part = (__m256i)_mm512_cvtneps_pbh(*rest);
	__m512 taken = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(part), 16));
	*rest = _mm512_sub_ps(*rest, taken);
	return part;
}

WIDE void fused_tiles_pack(int kernel, const float *packed, uint16_t *tiles) {
	int pairs = (kernel + 1) / 2;
	for (int ky = 0; ky < kernel; ky++)
		for (int kx = 0; kx < 2 * pairs; kx++)
			for (int o = 0; o < 32; o++) {
				uint16_t *to = tiles + ((ky * pairs + kx / 2) * 2 + o / 16) * PARTS * TILE;
				__m512 w = kx < kernel
					? _mm512_loadu_ps(packed + ((o * kernel + ky) * kernel + kx) * 16)
					: _mm512_setzero_ps();
				for (int p = 0; p < PARTS; p++) {
					uint16_t part[16];
					_mm256_storeu_si256((__m256i *)part, take(&w));
					// Rows are pairs of channels, of one tap and then of the other.
					for (int i = 0; i < 16; i++)
						to[p * TILE + (kx % 2 * 8 + i / 2) * 32 + o % 16 * 2 + i % 2] = part[i];
				}
			}
}

WIDE void fused_tiles_split(const float *frame, int pixels, uint16_t *planes, int size) {
	for (int i = 0; i < pixels; i++) {
		__m512 x = _mm512_loadu_ps(frame + 16 * i);
		for (int p = 0; p < PARTS; p++)
			_mm256_storeu_si256((__m256i *)(planes + p * size + 16 * i), take(&x));
	}
}

// ADD adds the products of a row's inputs, their large parts and then the small ones, with the
// weights' large and small parts, which are tiles 4 and 5.
#define ADD(sum, row) \
	_tile_loadd(7, from + (row) * line, 32); \
	_tile_dpbf16ps(sum, 7, 5); \
	_tile_dpbf16ps(sum, 7, 4); \
	_tile_loadd(7, from + (row) * line + size, 32); \
	_tile_dpbf16ps(sum, 7, 4);

WIDE void fused_tiles_rows(float *dst, const uint16_t *planes, int size, int line, int kernel,
                           const uint16_t *tiles, const float *bias, int n) {
	int pairs = (kernel + 1) / 2;
	for (int half = 0; half < 2; half++, dst += 16, bias += 16) {
		_tile_loadd(0, bias, 0);
		_tile_loadd(1, bias, 0);
		_tile_loadd(2, bias, 0);
		_tile_loadd(3, bias, 0);
		for (int k = 0; k < kernel * pairs; k++) {
			const uint16_t *weights = tiles + (2 * k + half) * PARTS * TILE;
			const uint16_t *from = planes + k / pairs * line + k % pairs * 32;
			_tile_loadd(4, weights, 64);
			_tile_loadd(5, weights + TILE, 64);
			ADD(0, 0)
			ADD(1, 1)
			if (n == 2)
				continue;
			ADD(2, 2)
			ADD(3, 3)
		}
		_tile_stored(0, dst, 128);
		_tile_stored(1, dst + 512, 128);
		if (n == 2)
			continue;
		_tile_stored(2, dst + 2 * 512, 128);
		_tile_stored(3, dst + 3 * 512, 128);
	}
}

// Eight tiles of 16 rows of 64 bytes. It is a constant since compilers do not know that
// _tile_loadconfig reads it, and that _tile_loadd reads memory: that is why the functions here
// are apart from those that write what they read.
static const struct {
	uint8_t palette, start, reserved[14];
	uint16_t bytes[16];
	uint8_t rows[16];
} config = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

WIDE void fused_tiles_begin(void) { _tile_loadconfig(&config); }

WIDE void fused_tiles_end(void) { _tile_release(); }
