/* ---- scheme 1 ---- */

static const uint32_t table[1985][2] = {
#include "table.inc"
};

typedef struct {
	uint64_t s0[8], s1[8];
} lanes;

static void philox(uint32_t c[4], uint64_t key) {
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	for (int r = 0; r < 10; r++) {
		uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
		c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
		c[1] = (uint32_t)q;
		c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
		c[3] = (uint32_t)p;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

static void seed(lanes *g, const zofl_addr *at, uint32_t block) {
	for (uint32_t l = 0; l < 8; l++) {
		uint32_t c[4] = {8 * block + l, (uint32_t)at->step << 16 | at->pert, at->source,
		                 at->domain};
		philox(c, at->key);
		g->s0[l] = c[0] | (uint64_t)c[1] << 32;
		g->s1[l] = c[2] | (uint64_t)c[3] << 32;
	}
}

static inline uint64_t rol(uint64_t v, int k) {
	return v << k | v >> (64 - k);
}

static inline void outputs(lanes *g, uint64_t o[8]) {
	for (int l = 0; l < 8; l++) {
		uint64_t u = g->s0[l], v = g->s1[l];
		o[l] = rol(u + v, 17) + u;
		v ^= u;
		g->s0[l] = rol(u, 49) ^ v ^ v << 21;
		g->s1[l] = rol(v, 28);
	}
}

static inline uint32_t bits(float f) {
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}
static inline float unbits(uint32_t u) {
	float f;
	memcpy(&f, &u, 4);
	return f;
}

static inline float normal(uint32_t w) {
	int32_t m = (int32_t)(w | 1);
	uint32_t u = bits((float)m) & 0x7FFFFFFFu, k = (u >> 17) - 8128;
	float t = unbits(table[k][0]) * unbits(u);
	t = t + unbits(table[k][1]);
	return unbits(bits(t) ^ ((uint32_t)m & 0x80000000u));
}

static float from_half(uint16_t h) {
	uint32_t s = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, f = h & 1023;
	if (e == 31)
		return unbits(s | 0x7F800000u | f << 13);
	if (e > 0)
		return unbits(s | (e + 112) << 23 | f << 13);
	return unbits(bits((float)f * 5.9604644775390625e-8f) | s);
}

static uint16_t to_half(float v) { /* nearest even; a NaN is 7e00 or fe00 */
	uint32_t u = bits(v), s = u >> 16 & 0x8000, a = u & 0x7FFFFFFFu, e, shift, f, rest;
	if (a > 0x7F800000u)
		return (uint16_t)(s | 0x7E00);
	if (a >= 0x477FF000u)
		return (uint16_t)(s | 0x7C00);
	if (a < 0x33000000u)
		return (uint16_t)s;
	e = a >> 23;
	f = (a & 0x7FFFFF) | 0x800000;
	shift = e < 113 ? 126 - e : 13;
	rest = f & ((1u << shift) - 1);
	f >>= shift;
	f += rest > (1u << (shift - 1)) || (rest == (1u << (shift - 1)) && (f & 1));
	return (uint16_t)(s | (e < 113 ? f : f + ((e - 113) << 10)));
}

static uint16_t to_bf16(float v) {
	uint32_t u = bits(v);
	if ((u & 0x7FFFFFFFu) > 0x7F800000u)
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}

/* What becomes of z: elements [from, to) of one row of a block; z[0] is that of from. */
typedef struct {
	void *dst;
	const float *x;
	float a;
	zofl_type type;
	int fill;
} target;

static inline void put(const target *t, uint64_t i, const float *z, uint32_t n) {
	uint32_t j;
	float a = t->a;
	if (t->fill) {
		memcpy((float *)t->dst + i, z, 4 * n);
		return;
	}
	if (t->type == ZOFL_F32) {
		float *d = (float *)t->dst + i;
		const float *x = t->x ? t->x + i : d;
		for (j = 0; j < n; j++) {
			float p = a * z[j];
			d[j] = x[j] + p;
		}
		return;
	}
	for (j = 0; j < n; j++) {
		uint16_t *d = (uint16_t *)t->dst + i + j;
		float p = a * z[j];
		if (t->type == ZOFL_F16)
			*d = to_half((t->x ? t->x[i + j] : from_half(*d)) + p);
		else
			*d = to_bf16((t->x ? t->x[i + j] : unbits((uint32_t)*d << 16)) + p);
	}
}

static void block(const target *t, uint64_t i, const zofl_addr *at, zofl_dist dist, uint32_t b,
                  uint32_t from, uint32_t to) {
	lanes g;
	uint64_t o[8];
	float z[64];
	uint32_t r, l, j;
	seed(&g, at, b);
	if (dist == ZOFL_RADEMACHER) {
		for (r = 0; 512 * r < to; r++) {
			outputs(&g, o);
			for (l = 0; l < 8; l++) {
				uint32_t first = 512 * r + 64 * l, lo = first < from ? from : first,
				         hi = first + 64 > to ? to : first + 64;
				if (lo >= hi)
					continue;
				for (j = lo; j < hi; j++)
					z[j - lo] = o[l] >> (j - first) & 1 ? -1.0f : 1.0f;
				put(t, i + lo - from, z, hi - lo);
			}
		}
		return;
	}
	for (r = 0; 16 * r < from / 16 * 16; r++)
		outputs(&g, o);
	for (; 16 * r < to; r++) {
		uint32_t first = 16 * r, lo = first < from ? from : first,
		         hi = first + 16 > to ? to : first + 16;
		outputs(&g, o);
		for (j = 0; j < 16; j++) {
			uint32_t w = (uint32_t)(o[j / 2] >> 32 * (j % 2));
			z[j] =
			    dist == ZOFL_NORMAL ? normal(w) : (float)(int32_t)w * 4.656612873077392578125e-10f;
		}
		put(t, i + lo - from, z + lo - first, hi - lo);
	}
}

static void range(const target *t, uint64_t n, uint64_t off, const zofl_addr *at, zofl_dist dist) {
	for (uint64_t i = 0; i < n;) {
		uint32_t from = (uint32_t)((off + i) % ZOFL_BLOCK);
		uint64_t m = ZOFL_BLOCK - from < n - i ? ZOFL_BLOCK - from : n - i;
		block(t, i, at, dist, (uint32_t)((off + i) / ZOFL_BLOCK), from, (uint32_t)(from + m));
		i += m;
	}
}

void zofl_perturb(void *dst, zofl_type type, const float *x, uint64_t n, uint64_t off,
                  const zofl_addr *at, zofl_dist dist, float a) {
	target t = {dst, x, a, type, 0};
	range(&t, n, off, at, dist);
}

void zofl_fill(float *dst, uint64_t n, uint64_t off, const zofl_addr *at, zofl_dist dist) {
	target t = {dst, NULL, 0, ZOFL_F32, 1};
	range(&t, n, off, at, dist);
}

/* A sum of terms over the first n elements of one block; eight signs at a time. */
typedef struct {
	float *v;
	uint32_t n, block, held;
	zofl_dist dist;
	zofl_addr at[8];
	float a[8];
} sum;

static void sum_add(sum *s, const zofl_addr *at, float a) {
	target t = {s->v, NULL, a, ZOFL_F32, 0};
	if (s->dist == ZOFL_NORMAL) {
		block(&t, 0, at, s->dist, s->block, 0, s->n);
		return;
	}
	s->at[s->held] = *at;
	s->a[s->held++] = a;
	if (s->held < 8)
		return;
	s->held = 0;
	lanes g[8];
	for (int j = 0; j < 8; j++)
		seed(&g[j], &s->at[j], s->block);
	for (uint32_t r = 0; 512 * r < s->n; r++) {
		uint64_t o[8][8];
		for (int j = 0; j < 8; j++)
			outputs(&g[j], o[j]);
		for (uint32_t i = 0; i < 512 && 512 * r + i < s->n; i++) {
			float q = 0;
			for (int j = 0; j < 8; j++) {
				float b = o[j][i / 64] >> (i % 64) & 1 ? -s->a[j] : s->a[j];
				q = j == 0 ? b : q + b;
			}
			s->v[512 * r + i] += q;
		}
	}
}

static void sum_end(sum *s) {
	for (uint32_t j = 0; j < s->held; j++) {
		target t = {s->v, NULL, s->a[j], ZOFL_F32, 0};
		block(&t, 0, &s->at[j], s->dist, s->block, 0, s->n);
	}
	s->held = 0;
}
