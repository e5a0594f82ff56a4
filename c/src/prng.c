/* ---- directions, docs/prng.md: any part of a vector, of any length ---- */

/* Where a times a direction goes: dst, of a type, in place or from x; FILL writes it alone. */
typedef struct {
	void *dst;
	const float *x; /* NULL: in place */
	int type;       /* zofl_type or FILL */
	float a;
	isa level;
} target;

/* The target from element i on. */
static target behind(const target *t, uint64_t i) {
	target u = *t;
	size_t size = t->type == ZOFL_F16 || t->type == ZOFL_BF16 ? 2 : 4;
	u.dst = (char *)t->dst + size * (size_t)i;
	u.x = t->x ? t->x + (size_t)i : NULL;
	return u;
}

/* Puts n elements z into the target, in plain C. One loop for each type: none has a branch. */
static void put(const target *t, const float *z, uint32_t n) {
	uint16_t *h = t->dst;
	float *d = t->dst, a = t->a;
	const float *x = t->x;
	uint32_t j;
	if (t->type == FILL)
		for (j = 0; j < n; j++)
			d[j] = a * z[j];
	else if (t->type == ZOFL_F32 && x)
		for (j = 0; j < n; j++)
			d[j] = x[j] + a * z[j];
	else if (t->type == ZOFL_F32)
		for (j = 0; j < n; j++)
			d[j] = d[j] + a * z[j];
	else if (t->type == ZOFL_F16 && x)
		for (j = 0; j < n; j++)
			h[j] = to_half(x[j] + a * z[j]);
	else if (t->type == ZOFL_F16)
		for (j = 0; j < n; j++)
			h[j] = to_half(from_half(h[j]) + a * z[j]);
	else if (x)
		for (j = 0; j < n; j++)
			h[j] = to_bf16(x[j] + a * z[j]);
	else
		for (j = 0; j < n; j++)
			h[j] = to_bf16(from_bf16(h[j]) + a * z[j]);
}

static void seed(lanes *g, const zofl_addr *at, uint32_t block, isa level) {
#if HAVE_X86
	if (level == AVX512) {
		avx512_seed(g, at, block);
		return;
	}
	if (level == AVX2) {
		avx2_seed(g, at, block);
		return;
	}
#endif
	(void)level;
	plain_seed(g, at, block);
}

/* -- normals and uniforms: 256 rows of 16 in a block -- */

enum { ROWS = 8 }; /* that plain C makes at a time */

static void plain_rows(const target *t, uint32_t rows, lanes *g, zofl_dist dist) {
	float z[16 * ROWS];
	for (uint32_t r = 0, n; r < rows; r += n) {
		target u = behind(t, 16 * (uint64_t)r);
		n = rows - r < ROWS ? rows - r : ROWS;
		if (dist == ZOFL_NORMAL)
			plain_normals(z, n, g);
		else
			plain_uniforms(z, n, g);
		put(&u, z, 16 * n);
	}
}

/* Puts the next rows of the lanes into the target. */
static void put_rows(const target *t, uint32_t rows, lanes *g, zofl_dist dist) {
	const float *x = t->x ? t->x : t->dst;
	if (dist != ZOFL_NORMAL) {
		plain_rows(t, rows, g, dist);
		return;
	}
#if HAVE_X86 && ZOFL_WITH_NORMAL
	if (t->level == AVX512) {
		avx512_normals(t->dst, t->type == ZOFL_F32 ? x : t->x, rows, t->a, g, t->type);
		return;
	}
	if (t->level == AVX2) {
		avx2_normals(t->dst, t->type == ZOFL_F32 ? x : t->x, rows, t->a, g, t->type);
		return;
	}
#elif HAVE_NEON && ZOFL_WITH_NORMAL
	if (t->level == NEON) {
		neon_normals(t->dst, t->type == ZOFL_F32 ? x : t->x, rows, t->a, g, t->type);
		return;
	}
#endif
	if (t->type != ZOFL_F32) {
		plain_rows(t, rows, g, dist);
		return;
	}
	for (uint32_t r = 0, n; r < rows; r += n) { /* 64 rows stay in a small cache */
		n = rows - r < 64 ? rows - r : 64;
		plain_normal_axpy((float *)t->dst + 16 * (size_t)r, x + 16 * (size_t)r, n, t->a, g);
	}
}

/* Puts elements [from, to) of a block into the target. */
static void block_of_words(const target *t, const zofl_addr *at, zofl_dist dist, uint32_t block,
                           uint32_t from, uint32_t to) {
	lanes g;
	float z[16];
	target row = {NULL, NULL, FILL, 1, PLAIN}, u;
	uint32_t n;
	row.dst = z;
	row.level = t->level;
	seed(&g, at, block, t->level);
	skip(&g, from / 16);
	for (uint32_t i = from; i < to; i += n) {
		u = behind(t, i - from);
		if (i % 16 == 0 && to - i >= 16) {
			n = (to - i) / 16 * 16;
			put_rows(&u, n / 16, &g, dist);
		} else { /* a part of a row */
			n = 16 - i % 16 < to - i ? 16 - i % 16 : to - i;
			put_rows(&row, 1, &g, dist);
			put(&u, z + i % 16, n);
		}
	}
}

/* -- signs: 64 words of 64 in a block; 1 is minus -- */

static void signs(uint64_t w[64], const zofl_addr *at, uint32_t block, isa level) {
	lanes g;
#if HAVE_X86
	if (level == AVX512) {
		avx512_signs(w, at, block);
		return;
	}
	if (level == AVX2) {
		avx2_signs(w, at, block);
		return;
	}
#endif
	seed(&g, at, block, level);
	for (int r = 0; r < 8; r++)
		outputs(&g, w + 8 * r);
}

static inline float with_sign(float a, uint64_t bit) {
	return unbits(bits(a) ^ (uint32_t)bit << 31);
}

/* d = x + or - a. Four signs at a time choose four numbers. */
static void plain_axpy_signs(float *d, const float *x, uint32_t words, float a, const uint64_t *s) {
	float four[16][4];
	for (uint32_t i = 0; i < 64; i++)
		four[i / 4][i % 4] = with_sign(a, i / 4 >> i % 4 & 1);
	for (uint32_t i = 0; i < words; i++) {
		uint64_t w = s[i];
		for (uint32_t k = 0; k < 16; k++, d += 4, x += 4, w >>= 4) {
			const float *p = four[w & 15];
			float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
			d[0] = x0 + p[0];
			d[1] = x1 + p[1];
			d[2] = x2 + p[2];
			d[3] = x3 + p[3];
		}
	}
}

/* Puts elements [from, to) of a word into the target. */
static void put_part(const target *t, uint64_t word, uint32_t from, uint32_t to) {
	float z[64];
	for (uint32_t i = from; i < to; i++)
		z[i - from] = with_sign(1, word >> i & 1);
	put(t, z, to - from);
}

static void put_words(const target *t, uint32_t words, const uint64_t *s) {
	const float *x = t->x ? t->x : t->dst;
#if HAVE_X86
	if (t->level == AVX512) {
		avx512_add_signs(t->dst, t->type == ZOFL_F32 ? x : t->x, words, t->a, s, t->type);
		return;
	}
	if (t->level == AVX2) {
		avx2_add_signs(t->dst, t->type == ZOFL_F32 ? x : t->x, words, t->a, s, t->type);
		return;
	}
#elif HAVE_NEON
	if (t->level == NEON) {
		neon_add_signs(t->dst, t->type == ZOFL_F32 ? x : t->x, words, t->a, s, t->type);
		return;
	}
#endif
	if (t->type == ZOFL_F32) {
		plain_axpy_signs(t->dst, x, words, t->a, s);
		return;
	}
	for (uint32_t i = 0; i < words; i++) {
		target u = behind(t, 64 * (uint64_t)i);
		put_part(&u, s[i], 0, 64);
	}
}

/* Puts elements [from, to) of the words into the target. */
static void put_signs(const target *t, const uint64_t *w, uint32_t from, uint32_t to) {
	uint32_t n;
	for (uint32_t i = from; i < to; i += n) {
		target u = behind(t, i - from);
		if (i % 64 == 0 && to - i >= 64) {
			n = (to - i) / 64 * 64;
			put_words(&u, n / 64, w + i / 64);
		} else {
			n = 64 - i % 64 < to - i ? 64 - i % 64 : to - i;
			put_part(&u, w[i / 64], i % 64, i % 64 + n);
		}
	}
}

static void block_of_signs(const target *t, const zofl_addr *at, uint32_t block, uint32_t from,
                           uint32_t to) {
	uint64_t w[64];
	signs(w, at, block, t->level);
	put_signs(t, w, from, to);
}

/* -- vectors -- */

/* Puts elements [off, off+n) of a times a direction into the target. */
static void put_direction(const target *t, uint64_t n, uint64_t off, const zofl_addr *at,
                          zofl_dist dist) {
	for (uint64_t i = 0, m; i < n; i += m) {
		target u = behind(t, i);
		uint32_t block = (uint32_t)((off + i) / ZOFL_BLOCK);
		uint32_t from = (uint32_t)((off + i) % ZOFL_BLOCK);
		m = ZOFL_BLOCK - from < n - i ? ZOFL_BLOCK - from : n - i;
		if (dist == ZOFL_RADEMACHER)
			block_of_signs(&u, at, block, from, from + (uint32_t)m);
		else
			block_of_words(&u, at, dist, block, from, from + (uint32_t)m);
	}
}

void zofl_perturb(void *dst, zofl_type type, const float *x, uint64_t n, uint64_t off,
                  const zofl_addr *at, zofl_dist dist, float a) {
	target t = {dst, x, (int)type, a, best_isa()};
	put_direction(&t, n, off, at, dist);
}

void zofl_fill(float *dst, uint64_t n, uint64_t off, const zofl_addr *at, zofl_dist dist) {
	target t = {dst, NULL, FILL, 1, best_isa()};
	put_direction(&t, n, off, at, dist);
}

/* -- the terms of a step, over elements [from, from+n) of one block -- */

#if ZOFL_WITH_LOWRANK
struct kept_factors;
#endif

typedef struct {
	float *v; /* the sums */
	uint32_t n, block, from, held;
	zofl_dist dist;
	isa level;
	zofl_addr at[8]; /* signs, until there are eight */
	float a[8];
#if ZOFL_WITH_LOWRANK
	const zofl_plan *plan; /* of directions of rank 1, which its segments shape; else NULL */
	struct kept_factors *kept; /* or NULL */
#endif
} sum;

#if ZOFL_WITH_LOWRANK
static void sum_lowrank(sum *s);
#endif

static void sum_begin(sum *s, float *v, uint32_t n, uint32_t block, uint32_t from, zofl_dist dist) {
	memset(s, 0, sizeof *s);
	s->v = v;
	s->n = n;
	s->block = block;
	s->from = from;
	s->dist = dist;
	s->level = best_isa();
}

static void sum_one(sum *s, const zofl_addr *at, float a) {
	target t = {NULL, NULL, ZOFL_F32, 0, PLAIN};
	t.dst = s->v;
	t.a = a;
	t.level = s->level;
	if (s->dist == ZOFL_RADEMACHER)
		block_of_signs(&t, at, s->block, s->from, s->from + s->n);
	else
		block_of_words(&t, at, s->dist, s->block, s->from, s->from + s->n);
}

/* A group of eight signs adds one of 256 numbers. */
#if UINTPTR_MAX > 0xFFFFFFFFu || ZOFL_WITH_LOWRANK
/* Exchanges the bits of hi under mask with those of lo under mask << shift. */
static inline void exchange(uint64_t *lo, uint64_t *hi, int shift, uint64_t mask) {
	uint64_t t = (*lo >> shift ^ *hi) & mask;
	*lo ^= t << shift;
	*hi ^= t;
}

static inline void exchange_all(uint64_t w[8], uint64_t mask4, int shift4, uint64_t mask2,
                                int shift2, uint64_t mask1, int shift1) {
	exchange(w + 0, w + 4, shift4, mask4);
	exchange(w + 1, w + 5, shift4, mask4);
	exchange(w + 2, w + 6, shift4, mask4);
	exchange(w + 3, w + 7, shift4, mask4);
	exchange(w + 0, w + 2, shift2, mask2);
	exchange(w + 1, w + 3, shift2, mask2);
	exchange(w + 4, w + 6, shift2, mask2);
	exchange(w + 5, w + 7, shift2, mask2);
	exchange(w + 0, w + 1, shift1, mask1);
	exchange(w + 2, w + 3, shift1, mask1);
	exchange(w + 4, w + 5, shift1, mask1);
	exchange(w + 6, w + 7, shift1, mask1);
}

/* Before, w[j] has the signs of term j for 64 elements; after, byte j of w[k] has the signs of all
   terms for element 8k+j. */
static inline void transpose(uint64_t w[8]) {
	const uint64_t every = UINT64_MAX / 0xFF;                           /* 1 in each byte */
	exchange_all(w, every * 0x0F, 4, every * 0x33, 2, every * 0x55, 1); /* the bits of bytes */
	exchange_all(w, 0x00000000FFFFFFFFu, 32, 0x0000FFFF0000FFFFu, 16, 0x00FF00FF00FF00FFu, 8);
}

/* Adds the sums to 64 elements. */
static inline void plain_add_sums(float *v, const float sums[256], const uint64_t index[8]) {
	for (int k = 0; k < 8; k++, v += 8) {
		uint64_t u = index[k];
		for (int j = 0; j < 8; j++, u >>= 8)
			v[j] += sums[u & 255];
	}
}

/* Adds to n elements of v the sums that the signs choose, from bit `from` of each direction on. */
static void add_chosen(float *v, uint32_t n, uint32_t from, const float sums[256],
                       uint64_t w[8][64], isa level) {
	uint64_t index[8];
	(void)level;
	for (uint32_t i = from, to = from + n; i < to; i += n, v += n) {
		for (int j = 0; j < 8; j++)
			index[j] = w[j][i / 64];
		transpose(index);
		n = 64 - i % 64 < to - i ? 64 - i % 64 : to - i;
		if (n < 64) {
			for (uint32_t e = 0, bit = i % 64; e < n; e++, bit++)
				v[e] += sums[index[bit / 8] >> 8 * (bit % 8) & 255];
			continue;
		}
#if HAVE_X86
		if (level >= AVX2) {
			avx2_add_sums(v, sums, index);
			continue;
		}
#endif
		plain_add_sums(v, sums, index);
	}
}
#endif

#if UINTPTR_MAX > 0xFFFFFFFFu
/* The numbers; bit j is the sign of term j. */
static void group_sums(float sums[256], const float a[8]) {
	sums[0] = a[0];
	sums[1] = -a[0];
	for (size_t j = 1, n = 2; j < 8; j++, n *= 2)
		for (size_t i = 0; i < n; i++) {
			sums[n + i] = sums[i] - a[j];
			sums[i] += a[j];
		}
}

static void sum_group(sum *s) {
	float sums[256];
	uint64_t w[8][64];
	for (int j = 0; j < 8; j++)
		signs(w[j], &s->at[j], s->block, s->level);
	group_sums(sums, s->a);
	add_chosen(s->v, s->n, s->from, sums, w, s->level);
}

#else /* without a table: a small stack */
static NOINLINE void sum_group(sum *s) {
	lanes g[8];
	uint64_t o[8][8];
	uint32_t to = s->from + s->n;
	for (int j = 0; j < 8; j++)
		seed(&g[j], &s->at[j], s->block, s->level);
	for (uint32_t first = 0; first < to; first += 512) {
		uint32_t i = first < s->from ? s->from : first;
		for (int j = 0; j < 8; j++)
			outputs(&g[j], o[j]);
		for (; i < first + 512 && i < to; i++) {
			float q = with_sign(s->a[0], o[0][i / 64 % 8] >> i % 64 & 1);
			for (int j = 1; j < 8; j++)
				q += with_sign(s->a[j], o[j][i / 64 % 8] >> i % 64 & 1);
			s->v[i - s->from] += q;
		}
	}
}
#endif

/* Adds a times a direction, after all terms that were added before. */
static void sum_add(sum *s, const zofl_addr *at, float a) {
	if (s->dist == ZOFL_NORMAL) {
		sum_one(s, at, a);
		return;
	}
	s->at[s->held] = *at;
	s->a[s->held++] = a;
	if (s->held < 8)
		return;
#if ZOFL_WITH_LOWRANK
	if (s->plan)
		sum_lowrank(s);
	else
#endif
		sum_group(s);
	s->held = 0;
}

/* The last terms: fewer than eight signs are no group, but of rank 1 zeros fill it. */
static void sum_end(sum *s) {
#if ZOFL_WITH_LOWRANK
	if (s->plan && s->held) {
		memset(s->a + s->held, 0, (8 - s->held) * sizeof s->a[0]);
		sum_lowrank(s);
		s->held = 0;
	}
#endif
	for (uint32_t j = 0; j < s->held; j++)
		sum_one(s, &s->at[j], s->a[j]);
	s->held = 0;
}
