#include <stdint.h>
#include <string.h>

// A fused is what the two convolutions have in common: the images' rows, of 28 pixels, and the
// kernels' sides and padding.
struct fused {
	int rows, kernel, pad;
};

// fused_frame puts an image into the middle of a frame.
static inline void fused_frame(const struct fused *f, float *frame, const float *image) {
	for (int y = 0; y < f->rows; y++)
		memcpy(frame + (y + f->pad) * (28 + 2 * f->pad) + f->pad, image + y * 28,
		       28 * sizeof(float));
}

// A fused_hit is an output of the second convolution that a loss depends on: its gradient, and
// the patch of the input that it was made of.
struct fused_hit {
	float d;
	int at;
};

// fused_hits lists those of a channel.
static inline int fused_hits(const struct fused *f, struct fused_hit *list, const float *flat,
                             const float *d, const uint8_t *top) {
	int n = 0, line = (14 + 2 * f->pad) * 16;
	for (int y = 0; y < f->rows / 4; y++)
		for (int x = 0; x < 7; x++, flat++, d++, top += 32)
			if (*flat > 0)
				list[n++] = (struct fused_hit){*d,
					(2 * y + *top / 2) * line + (2 * x + *top % 2) * 16};
	return n;
}

// fused_avx512_supported reports whether the processor has what fused_forward and fused_backward
// take, fused_avx2_supported whether it has what fused_avx2_forward and fused_avx2_backward take.
int fused_avx512_supported(void);
int fused_avx2_supported(void);

// fused_avx2_forward is fused_forward with weights2 [2][kernel][kernel][16][16].
int fused_avx2_forward(struct fused f, int n, const float *images, const float *weights1,
                       const float *bias1, const float *weights2, const float *bias2,
                       float *scratch, float *frames, int frame, float *flats, uint8_t *tops1,
                       uint8_t *tops2);

// fused_forward takes n images through both convolutions, into flats [n][32][rows/4][7], and
// returns whether a number on the way was NaN. weights1 is [kernel][kernel][16], weights2
// [kernel][kernel][16][32]. scratch is a framed image, frames framed inputs of the second
// convolution, frame apart, which may be 0; all their padding is 0. tops1 and tops2, unless
// null, get which of each square of 2x2 was pooled: [n][rows/2][14][16] and [n][rows/4][7][32].
// tiles, unless null, are of fused_tiles_pack, and planes two planes of size bfloat16, of which
// 16 pixels are to spare.
int fused_forward(struct fused f, int n, const float *images, const float *weights1,
                  const float *bias1, const float *weights2, const float *bias2, float *scratch,
                  float *frames, int frame, uint16_t *planes, int size, const uint16_t *tiles,
                  float *flats, uint8_t *tops1, uint8_t *tops2);

// fused_backward adds the gradients of n images that fused_forward just took, given dFlats,
// those by flats. packed is [32][kernel][kernel][16], as is dPacked; dWeights1 is
// [kernel][kernel][16]. dFrame is overwritten.
void fused_backward(struct fused f, int n, const float *images, const float *packed,
                    float *scratch, const float *frames, int frame, const float *flats,
                    const float *dFlats, const uint8_t *tops1, const uint8_t *tops2,
                    float *dFrame, float *dWeights1, float *dBias1, float *dPacked,
                    float *dBias2);

// fused_avx2_backward is fused_backward.
void fused_avx2_backward(struct fused f, int n, const float *images, const float *packed,
                         float *scratch, const float *frames, int frame, const float *flats,
                         const float *dFlats, const uint8_t *tops1, const uint8_t *tops2,
                         float *dFrame, float *dWeights1, float *dBias1, float *dPacked,
                         float *dBias2);

// fused_tiles_supported reports whether the processor has tiles, and asks Linux for them.
int fused_tiles_supported(void);

// A thread multiplies tiles between fused_tiles_begin and fused_tiles_end.
void fused_tiles_begin(void);
void fused_tiles_end(void);

// fused_tiles_pack makes tiles [pair of taps][half of the outputs][part] of packed.
void fused_tiles_pack(int kernel, const float *packed, uint16_t *tiles);

// fused_tiles_split splits a framed input into planes, each of size bfloat16.
void fused_tiles_split(const float *frame, int pixels, uint16_t *planes, int size);

// fused_tiles_rows computes n rows, 2 or 4, of the convolution before rectifier and pooling:
// dst is [n][16][32], of which the last two positions mean nothing. planes begin at the first
// of these rows, and line is the length of theirs.
void fused_tiles_rows(float *dst, const uint16_t *planes, int size, int line, int kernel,
                      const uint16_t *tiles, const float *bias, int n);
