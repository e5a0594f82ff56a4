/* ---- directions of rank 1: docs/prng.md, section 7 ---- */

#if ZOFL_WITH_LOWRANK

enum { FACTORS = 5 };
#define NO_BLOCK 0xFFFFFFFFu

/* The factors of a direction: a block of those of rows, and two of those of columns, as a row of a
   matrix often lies in two. */
typedef struct {
	zofl_addr at;
	isa level;
	uint32_t block[3];
	uint64_t w[3][64];
} factors;

/* Factors that stay from one tile to the next, where the same blocks often come again: those of the
   first terms of a round. The slots follow it. */
typedef struct kept_factors {
	uint32_t slots, next;
} kept_factors;

static void factors_begin(factors *f, const zofl_addr *at, isa level) {
	f->at = *at;
	f->at.domain = FACTORS;
	f->level = level;
	f->block[0] = f->block[1] = f->block[2] = NO_BLOCK;
}

/* The bytes that hold the factors of n terms. */
static uint64_t kept_size(uint32_t n) {
	return n ? sizeof(kept_factors) + (uint64_t)n * sizeof(factors) : 0;
}

static factors *slot_of(kept_factors *k, uint32_t i) {
	return (factors *)(void *)(k + 1) + i;
}

/* Readies memory for the factors of n terms. */
static void kept_begin(kept_factors *k, uint32_t n) {
	const zofl_addr none = {0, 0, 0, 0, 0};
	k->slots = n;
	k->next = 0;
	for (uint32_t i = 0; i < n; i++)
		factors_begin(slot_of(k, i), &none, PLAIN);
}

/* The factors of the next term: kept ones, or, without a slot for them, those of other. */
static factors *next_factors(kept_factors *k, const zofl_addr *at, isa level, factors *other) {
	factors *f = k && k->next < k->slots ? slot_of(k, k->next++) : other;
	if (f == other || f->at.key != at->key || f->at.step != at->step || f->at.pert != at->pert ||
	    f->at.source != at->source)
		factors_begin(f, at, level);
	return f;
}

/* The word of factor e. place: of its block among those at hand. */
static uint64_t factor_word(factors *f, int place, uint64_t e) {
	uint32_t block = (uint32_t)(e / ZOFL_BLOCK);
	if (f->block[place] != block) {
		signs(f->w[place], &f->at, block, f->level);
		f->block[place] = block;
	}
	return f->w[place][e % ZOFL_BLOCK / 64];
}

/* All ones where the factor e of a row is -1. */
static uint64_t factor_of_row(factors *f, uint64_t e) {
	return 0 - (factor_word(f, 0, e) >> e % 64 & 1);
}

/* Sets bits [to, to+n) of w to factors e to e+n-1, exclusive or flip. The bits behind them, in the
   last word, may be anything. */
static void copy_factors(uint64_t *w, uint32_t to, uint32_t n, factors *f, uint64_t e,
                         uint64_t flip) {
	uint32_t end = to + n, k;
	for (; to < end; to += k, e += k) {
		uint32_t from = (uint32_t)(e % 64), shift = to % 64;
		uint64_t word = factor_word(f, 1 + (int)(e / ZOFL_BLOCK % 2), e) ^ flip;
		uint64_t before = ((uint64_t)1 << shift) - 1;
		w[to / 64] = (w[to / 64] & before) | word >> from << shift;
		k = 64 - (from > shift ? from : shift);
		k = end - to < k ? end - to : k;
	}
}

/* Where an element lies: a segment, its first element, and its first factor. */
typedef struct {
	const zofl_segment *s;
	uint64_t start, factor;
} layout;

static void layout_to(layout *l, uint64_t i) {
	for (; i - l->start >= l->s->len; l->s++) {
		l->start += l->s->len;
		l->factor += l->s->rows ? l->s->rows + l->s->len / l->s->rows : l->s->len;
	}
}

/* The signs of elements [i, i+n), n <= ZOFL_BLOCK, of a direction. */
static void lowrank_signs(uint64_t w[64], const zofl_plan *p, factors *f, uint64_t i, uint32_t n) {
	layout l = {p->seg, 0, 0};
	uint32_t k;
	for (uint32_t to = 0; to < n; to += k, i += k) {
		uint64_t rows, columns, row, from, flip = 0;
		layout_to(&l, i);
		rows = l.s->rows;
		columns = rows ? l.s->len / rows : l.s->len;
		row = (i - l.start) / columns;
		from = (i - l.start) % columns;
		k = columns - from < n - to ? (uint32_t)(columns - from) : n - to;
		if (rows)
			flip = factor_of_row(f, l.factor + row);
		copy_factors(w, to, k, f, l.factor + rows + from, flip);
	}
}

/* Puts elements [off, off+n) of a times a direction into the target. */
static void put_lowrank(const target *t, const zofl_plan *p, uint64_t n, uint64_t off,
                        const zofl_addr *at) {
	uint64_t w[64];
	factors f;
	uint32_t m;
	factors_begin(&f, at, t->level);
	for (uint64_t i = 0; i < n; i += m) {
		target u = behind(t, i);
		m = n - i < ZOFL_BLOCK ? (uint32_t)(n - i) : ZOFL_BLOCK;
		lowrank_signs(w, p, &f, off + i, m);
		put_signs(&u, w, 0, m);
	}
}

/* ((+-c0 +- c1) +- c2) +- c3 for each four signs. */
static void half_sums(float sums[16], const float c[4]) {
	for (uint32_t i = 0; i < 16; i++) {
		float h = with_sign(c[0], i & 1);
		h += with_sign(c[1], i >> 1 & 1);
		h += with_sign(c[2], i >> 2 & 1);
		h += with_sign(c[3], i >> 3 & 1);
		sums[i] = h;
	}
}

/* Adds the terms held as a group. Those that it lacks are +0. */
static NOINLINE void sum_lowrank(sum *s) {
	float low[16], high[16], sums[256];
	uint64_t w[8][64];
	factors other, *f;
	half_sums(low, s->a);
	half_sums(high, s->a + 4);
	for (uint32_t i = 0; i < 256; i++)
		sums[i] = low[i & 15] + high[i >> 4];
	memset(w[s->held & 7], 0, (8 - s->held) * sizeof w[0]);
	for (uint32_t j = 0; j < s->held; j++) {
		f = next_factors(s->kept, &s->at[j], s->level, &other);
		lowrank_signs(w[j], s->plan, f, (uint64_t)s->block * ZOFL_BLOCK + s->from, s->n);
	}
	add_chosen(s->v, s->n, 0, sums, w, s->level);
}
#endif
