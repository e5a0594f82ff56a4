/* ---- the record of a short announcement (docs/wire.md, "Short announcement") ---- */

enum {
	LEAN_STEP = 1,
	LEAN_PERTS = 2,
	LEAN_ATTEMPT = 4,
	LEAN_EPOCH = 8,
	LEAN_CONTRIBUTORS = 16,
	LEAN_WEIGHTS = 32,
	LEAN_OLDER = 64,
	LEAN_FACTOR = 128,
	MOST_QUOTIENT = 4096
};

/* Sources of terms, as a Golomb-Rice code of their gaps. */
typedef struct {
	reader *r;
	const uint8_t *p;
	uint64_t next;
	uint32_t bit, k;
} sources;

static void sources_begin(sources *s, reader *r, uint64_t members, uint32_t terms) {
	uint64_t q = members / terms;
	s->r = r;
	s->p = r->p;
	s->next = 0;
	s->bit = 0;
	for (s->k = 0; q > 1; q >>= 1)
		s->k++;
}

static uint32_t sources_bit(sources *s) {
	uint32_t v;
	if (s->p >= s->r->end) {
		fail(s->r, ZOFL_TRUNCATED);
		return 0;
	}
	v = *s->p >> (7 - s->bit) & 1u;
	if (++s->bit == 8) {
		s->bit = 0;
		s->p++;
	}
	return v;
}

static uint32_t sources_next(sources *s) {
	uint64_t gap = 0;
	while (sources_bit(s) && !s->r->err)
		if (++gap > MOST_QUOTIENT)
			fail(s->r, ZOFL_LIMIT);
	for (uint32_t i = 0; i < s->k; i++)
		gap = gap << 1 | sources_bit(s);
	s->next += gap;
	if (s->next > MAX_MEMBERS)
		fail(s->r, ZOFL_LIMIT);
	return (uint32_t)s->next++;
}

/* Moves the reader behind the codes. Zeros fill the last byte. */
static void sources_end(sources *s) {
	while (s->bit && !s->r->err)
		if (sources_bit(s))
			fail(s->r, ZOFL_FORM);
	if (!s->r->err)
		s->r->p = s->p;
}

/* Reads the terms along the directions of one record, and writes them if there is a writer. The
   number of terms that came before is before; the result is how many there are now. */
static uint32_t lean_terms(reader *r, writer *w, uint64_t back, uint64_t members, uint32_t before) {
	uint32_t n = (uint32_t)leb_above0(r, MAX_TERMS - before), size;
	sources s, again;
	const uint8_t *scalars;
	if (!r->err && n > left(r))
		fail(r, ZOFL_TRUNCATED);
	if (r->err)
		return before;
	sources_begin(&s, r, members, n);
	again = s;
	for (uint32_t i = 0; i < n && !r->err; i++)
		sources_next(&s);
	sources_end(&s);
	size = (uint32_t)leb_above0(r, 4 * MAX_SCALARS);
	scalars = take(r, (uint64_t)n * size);
	if (!w || !scalars)
		return before + n;
	for (uint32_t i = 0; i < n; i++) {
		w_array(w, 3);
		w_uint(w, back);
		w_uint(w, sources_next(&again));
		w_bin(w, scalars + (size_t)i * size, size);
	}
	return before + n;
}

/* The same of all terms; those of older records follow where there are any. */
static uint32_t lean_all_terms(reader *r, writer *w, const announcement *a, int older) {
	uint32_t n = lean_terms(r, w, 0, a->members, 0);
	uint64_t groups = older ? leb_above0(r, MAX_TERMS) : 0, last = 0;
	for (uint64_t i = 0; i < groups && !r->err; i++) {
		uint64_t back = leb_above0(r, a->n - 3);
		if (back <= last)
			fail(r, ZOFL_FORM);
		last = back;
		n = lean_terms(r, w, back, a->members, n);
	}
	return n;
}

/* The numbers of the record before its terms. A value that is not flagged is the announcement's;
   a flagged one differs from it. */
typedef struct {
	uint64_t round, attempt, epoch, perts, contributors;
	float step, factor;
	uint32_t flags, fields;
} lean_head;

static void lean_read_head(lean_head *h, reader *r, const announcement *a) {
	const uint8_t *p = take(r, 1);
	uint64_t n = a->n - 1;
	memset(h, 0, sizeof *h);
	h->flags = p ? *p : 0;
	h->epoch = a->epoch;
	h->perts = a->perts;
	h->step = a->step;
	h->round = n - leb(r, n - 1);
	if (h->flags & LEAN_ATTEMPT)
		h->attempt = leb_above0(r, 0xFFFFFFFFu);
	if (h->flags & LEAN_EPOCH && (h->epoch = leb(r, MAX63)) == a->epoch)
		fail(r, ZOFL_FORM);
	if (h->flags & LEAN_PERTS && (h->perts = leb(r, 65535)) == a->perts)
		fail(r, ZOFL_FORM);
	if (h->flags & LEAN_CONTRIBUTORS)
		h->contributors = leb(r, 0xFFFFFFFFu);
	if (h->flags & LEAN_STEP && bits(h->step = le_float(r)) == bits(a->step))
		fail(r, ZOFL_FORM);
	if (h->flags & LEAN_FACTOR) {
		h->factor = le_float(r);
		if (h->factor == 0 || h->factor == 1)
			fail(r, ZOFL_FORM);
	}
}

/* Writes the record's fields before its terms; the map has an entry for each that is not zero. */
static void lean_write_head(const lean_head *h, writer *w, const announcement *a,
                            const uint8_t prev[16]) {
	uint32_t fields = 3u + (h->attempt > 0) + (h->perts > 0) + (h->contributors > 0) +
	                  ((h->flags & LEAN_WEIGHTS) != 0) + ((h->flags & LEAN_FACTOR) != 0);
	w_array(w, 6);
	w_uint(w, 1);
	w_uint(w, 2);
	w_uint(w, a->n - 1);
	w_bin(w, prev, 16);
	w_uint(w, h->epoch);
	w_be(w, 0x80 + fields, 0, 0);
	w_uint(w, 1);
	w_uint(w, h->round);
	if (h->attempt) {
		w_uint(w, 2);
		w_uint(w, h->attempt);
	}
	w_uint(w, 3);
	w_float(w, h->step);
	if (h->perts) {
		w_uint(w, 4);
		w_uint(w, h->perts);
	}
	if (h->contributors) {
		w_uint(w, 5);
		w_uint(w, h->contributors);
	}
}

static void lean_weights(reader *r, writer *w, uint32_t n) {
	w_uint(w, 11);
	w_array(w, n);
	for (uint32_t i = 0; i < n && !r->err; i++)
		w_uint(w, leb_above0(r, MAX_WEIGHT));
}

/* Writes record n-1 of a short announcement, as the log holds it, for a reader whose record n-2
   has the hash prev. Its length, or an error: ZOFL_ROOM where out is too short, ZOFL_VALUE where
   the record does not follow prev. */
static int lean_record(const announcement *a, const uint8_t prev[16], uint8_t *out, size_t room) {
	reader r = {a->body, a->body_end, 0}, count;
	writer w = {out, out + room, 0};
	lean_head h;
	zofl_sha256 c;
	uint8_t hash[32];
	uint32_t n;
	lean_read_head(&h, &r, a);
	count = r;
	n = lean_all_terms(&count, NULL, a, h.flags & LEAN_OLDER);
	if (!(h.flags & LEAN_CONTRIBUTORS))
		h.contributors = n;
	else if (h.contributors == n)
		fail(&r, ZOFL_FORM);
	if (count.err || r.err)
		return r.err ? r.err : count.err;
	lean_write_head(&h, &w, a, prev);
	w_uint(&w, 7);
	w_array(&w, n);
	lean_all_terms(&r, &w, a, h.flags & LEAN_OLDER);
	if (h.flags & LEAN_WEIGHTS)
		lean_weights(&r, &w, n);
	if (h.flags & LEAN_FACTOR) {
		w_uint(&w, 14);
		w_float(&w, h.factor);
	}
	if (r.err || r.p != r.end)
		return r.err ? r.err : ZOFL_FORM;
	if (w.err)
		return w.err;
	zofl_sha256_init(&c);
	zofl_sha256_add(&c, out, (size_t)(w.p - out));
	zofl_sha256_end(&c, hash);
	return memcmp(hash, a->tip, 8) ? ZOFL_VALUE : (int)(w.p - out);
}
