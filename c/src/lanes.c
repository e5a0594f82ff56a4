/* ---- scheme 1, docs/prng.md sections 2 and 3: words and elements, in plain C ---- */

#if ZOFL_WITH_NORMAL
static const uint32_t table[1985][2] = {
#include "table.inc"
};
#endif

/* The states of the eight generators of a block. */
typedef struct {
	uint64_t s0[8], s1[8];
} lanes;

/* One round of Philox4x32. */
static inline void philox_round(uint32_t c[4], uint32_t k0, uint32_t k1) {
	uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
	c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
	c[1] = (uint32_t)q;
	c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
	c[3] = (uint32_t)p;
}

/* Philox4x32-10 of c under key. */
static void philox(uint32_t c[4], uint64_t key) {
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
		philox_round(c, k0, k1);
}

/* The states at the start of a block. Two lanes at a time, because one alone would wait for its
   multiplications. */
static void plain_seed(lanes *g, const zofl_addr *at, uint32_t block) {
	for (uint32_t l = 0; l < 8; l += 2) {
		uint32_t k0 = (uint32_t)at->key, k1 = (uint32_t)(at->key >> 32);
		uint32_t position = (uint32_t)at->step << 16 | at->pert;
		uint32_t c[4] = {8 * block + l, position, at->source, at->domain};
		uint32_t d[4] = {8 * block + l + 1, position, at->source, at->domain};
		for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
			philox_round(c, k0, k1);
			philox_round(d, k0, k1);
		}
		g->s0[l] = c[0] | (uint64_t)c[1] << 32;
		g->s1[l] = c[2] | (uint64_t)c[3] << 32;
		g->s0[l + 1] = d[0] | (uint64_t)d[1] << 32;
		g->s1[l + 1] = d[2] | (uint64_t)d[3] << 32;
	}
}

static inline uint64_t rol(uint64_t v, int k) {
	return v << k | v >> (64 - k);
}

/* xoroshiro128++: the output of a state, which becomes the next one. */
static inline uint64_t next(uint64_t *s0, uint64_t *s1) {
	uint64_t u = *s0, v = *s1, out = rol(u + v, 17) + u;
	v ^= u;
	*s0 = rol(u, 49) ^ v ^ v << 21;
	*s1 = rol(v, 28);
	return out;
}

static void outputs(lanes *g, uint64_t out[8]) {
	for (int l = 0; l < 8; l++)
		out[l] = next(&g->s0[l], &g->s1[l]);
}

static void skip(lanes *g, uint32_t rows) {
	for (int l = 0; l < 8; l++) {
		uint64_t s0 = g->s0[l], s1 = g->s1[l];
		for (uint32_t r = 0; r < rows; r++)
			next(&s0, &s1);
		g->s0[l] = s0;
		g->s1[l] = s1;
	}
}

static inline float uniform(uint32_t w) {
	return (float)(int32_t)w * 4.656612873077392578125e-10f; /* 2^-31 */
}

#if ZOFL_WITH_NORMAL
/* The normal of a word. No c0 is negative, nor a sum of the map, so c0 takes the sign of f. */
static inline float normal(uint32_t w) {
	float f = (float)(int32_t)(w | 1);
	uint32_t u = bits(f);
	size_t k = (size_t)(u << 1 >> 18) - 8128;
	float p = unbits(table[k][0]) * f;
	ROUNDED(p);
	return p + unbits(table[k][1] | (u & 0x80000000u));
}
#else
static inline float normal(uint32_t w) {
	(void)w;
	return 0;
}
#endif

/* The elements of so many rows of 16. Two lanes at a time: their states stay in registers, and
   neither waits for the other. */
static void plain_normals(float *z, uint32_t rows, lanes *g) {
	for (int l = 0; l < 8; l += 2) {
		uint64_t s0 = g->s0[l], s1 = g->s1[l], t0 = g->s0[l + 1], t1 = g->s1[l + 1];
		float *d = z + 2 * l;
		for (uint32_t r = 0; r < rows; r++, d += 16) {
			uint64_t v = next(&s0, &s1), w = next(&t0, &t1);
			d[0] = normal((uint32_t)v);
			d[1] = normal((uint32_t)(v >> 32));
			d[2] = normal((uint32_t)w);
			d[3] = normal((uint32_t)(w >> 32));
		}
		g->s0[l] = s0, g->s1[l] = s1, g->s0[l + 1] = t0, g->s1[l + 1] = t1;
	}
}

/* d = x + a z over so many rows; d may be x. */
static void plain_normal_axpy(float *dst, const float *src, uint32_t rows, float a, lanes *g) {
	for (int l = 0; l < 8; l += 2) {
		uint64_t s0 = g->s0[l], s1 = g->s1[l], t0 = g->s0[l + 1], t1 = g->s1[l + 1];
		float *d = dst + 2 * l;
		const float *x = src + 2 * l;
		for (uint32_t r = 0; r < rows; r++, d += 16, x += 16) {
			uint64_t v = next(&s0, &s1), w = next(&t0, &t1);
			float p0 = a * normal((uint32_t)v), p1 = a * normal((uint32_t)(v >> 32));
			float p2 = a * normal((uint32_t)w), p3 = a * normal((uint32_t)(w >> 32));
			ROUNDED(p0);
			ROUNDED(p1);
			ROUNDED(p2);
			ROUNDED(p3);
			float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
			d[0] = x0 + p0;
			d[1] = x1 + p1;
			d[2] = x2 + p2;
			d[3] = x3 + p3;
		}
		g->s0[l] = s0, g->s1[l] = s1, g->s0[l + 1] = t0, g->s1[l + 1] = t1;
	}
}

static void plain_uniforms(float *z, uint32_t rows, lanes *g) {
	for (int l = 0; l < 8; l++) {
		float *d = z + 2 * l;
		for (uint32_t r = 0; r < rows; r++, d += 16) {
			uint64_t v = next(&g->s0[l], &g->s1[l]);
			d[0] = uniform((uint32_t)v);
			d[1] = uniform((uint32_t)(v >> 32));
		}
	}
}
