/* ---- frames (docs/wire.md, section 2) ---- */

enum {
	MAX_FRAME = 65536,
	MAX_HEAD = 1024, /* bytes of an announcement without its records */
	STATE_OPEN = 0,
	STATE_PAUSED = 1,
	STATE_ENDED = 2
};

/* A writer never writes past its end: it keeps an error instead. */
typedef struct {
	uint8_t *p, *end;
	int err;
} writer;

static void w_raw(writer *w, const void *b, size_t n) {
	if (w->err || (size_t)(w->end - w->p) < n) {
		w->err = ZOFL_ROOM;
		return;
	}
	memcpy(w->p, b, n);
	w->p += n;
}

/* A byte, and after it the n lowest bytes of v, the highest first. */
static void w_be(writer *w, unsigned byte, uint64_t v, unsigned n) {
	uint8_t b[9];
	b[0] = (uint8_t)byte;
	for (unsigned i = 0; i < n; i++)
		b[1 + i] = (uint8_t)(v >> 8 * (n - 1 - i));
	w_raw(w, b, n + 1);
}

static void w_le(writer *w, uint64_t v, unsigned n) {
	uint8_t b[8];
	for (unsigned i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	w_raw(w, b, n);
}

static void w_uint(writer *w, uint64_t v) {
	if (v < 0x80)
		w_be(w, (unsigned)v, 0, 0);
	else if (v < 0x100)
		w_be(w, 0xcc, v, 1);
	else if (v < 0x10000)
		w_be(w, 0xcd, v, 2);
	else if (v < 0x100000000u)
		w_be(w, 0xce, v, 4);
	else
		w_be(w, 0xcf, v, 8);
}

static void w_float(writer *w, float f) {
	w_be(w, 0xca, bits(f), 4);
}

static void w_array(writer *w, uint32_t n) {
	if (n < 16)
		w_be(w, 0x90 + n, 0, 0);
	else
		w_be(w, 0xdc, n, 2); /* no array here has more than 4096 elements */
}

static void w_binhead(writer *w, uint32_t n) {
	if (n < 0x100)
		w_be(w, 0xc4, n, 1);
	else
		w_be(w, n < 0x10000 ? 0xc5 : 0xc6, n, n < 0x10000 ? 2 : 4);
}

static void w_bin(writer *w, const void *b, uint32_t n) {
	w_binhead(w, n);
	w_raw(w, b, n);
}

/* ---- requests and short replies ---- */

/* What a device knows when it joins: the array after the request is zeros before it has a plan. */
typedef struct {
	uint8_t key[8], plan[8], tip[8];
	uint64_t n;
} knowledge;

static void write_join(writer *w, const knowledge *k) {
	w_array(w, 1);
	w_uint(w, 1);
	w_array(w, 4);
	w_bin(w, k->key, 8);
	w_bin(w, k->plan, 8);
	w_uint(w, k->n);
	w_bin(w, k->tip, 8);
}

static void write_catch_up(writer *w, uint64_t from, uint32_t most) {
	w_array(w, 3);
	w_uint(w, 1);
	w_uint(w, from);
	w_uint(w, most);
}

enum { CONTRIBUTION = 1, EVALUATION = 2, DECLINE = 3, DIGEST = 4 };

/* The first fields of a reply of a kind, which has so many fields. */
static void write_reply(writer *w, uint32_t fields, unsigned kind, uint64_t n,
                        const uint8_t tip[8]) {
	w_array(w, fields);
	w_uint(w, 1);
	w_uint(w, kind);
	w_uint(w, n);
	w_bin(w, tip, 8);
}

/* away: milliseconds for which the device expects to decline, or 0. */
static void write_decline(writer *w, uint64_t n, const uint8_t tip[8], uint8_t reason,
                          uint32_t away) {
	write_reply(w, 5, DECLINE, n, tip);
	w_uint(w, reason);
	if (away) {
		w_array(w, 1);
		w_uint(w, away);
	}
}

static void write_digest(writer *w, uint64_t n, const uint8_t tip[8], const uint8_t digest[8]) {
	write_reply(w, 5, DIGEST, n, tip);
	w_bin(w, digest, 8);
}

static void write_evaluation(writer *w, uint64_t n, const uint8_t tip[8], uint32_t weight,
                             float value) {
	write_reply(w, 6, EVALUATION, n, tip);
	w_uint(w, weight);
	w_binhead(w, 4);
	w_le(w, bits(value), 4);
}

/* ---- announcements ---- */

typedef struct {
	uint64_t state, n, attempt, epoch, left, sampled, members, perts;
	float step;
	reader records; /* the bins of nrecords records */
	uint32_t nrecords;
	/* the short form (docs/wire.md, "Short announcement"): the bytes of its record, and its tip */
	const uint8_t *body, *body_end, *tip;
	/* the tail; NULL: not there */
	const uint8_t *missing, *groups, *reference_tip, *reference;
	uint64_t reference_n;
	uint32_t nmissing, ngroups, survey;
} announcement;

/* An unsigned LEB128 number in its shortest form. */
static uint64_t leb(reader *r, uint64_t most) {
	uint64_t v = 0;
	unsigned s = 0;
	const uint8_t *p;
	do {
		if ((p = take(r, 1)) == NULL)
			return 0;
		if (s > 56 && *p) /* no number here has more than 63 bits */
			fail(r, ZOFL_LIMIT);
		v |= (uint64_t)(*p & 127) << s;
		s += 7;
	} while (*p > 127 && !r->err);
	if (v > most)
		fail(r, ZOFL_LIMIT);
	if (s > 7 && !*p)
		fail(r, ZOFL_FORM);
	return r->err ? 0 : v;
}

/* The same of a number that is left out where it is 0. */
static uint64_t leb_above0(reader *r, uint64_t most) {
	uint64_t v = leb(r, most);
	if (v == 0)
		fail(r, ZOFL_FORM);
	return v;
}

/* A float that is not NaN, infinite or -0, little-endian. */
static float le_float(reader *r) {
	const uint8_t *p = take(r, 4);
	uint32_t u = p ? le32(p) : 0;
	if ((u & 0x7F800000u) == 0x7F800000u || u == 0x80000000u)
		fail(r, ZOFL_VALUE);
	return r->err ? 0 : unbits(u);
}

static void tail_reference(announcement *a, reader *r) {
	uint32_t tip = 0, digest = 0;
	uint64_t n = upto(r, MAX63);
	const uint8_t *t = bin(r, MAX_HEAD, &tip), *g = bin(r, MAX_HEAD, &digest);
	if (r->err || n == 0 || tip != 8 || digest != 8)
		return;
	a->reference_n = n;
	a->reference_tip = t;
	a->reference = g;
}

static void tail_missing(announcement *a, reader *r) {
	uint32_t n = 0;
	const uint8_t *b = bin(r, 256, &n);
	if (!r->err) {
		a->missing = b;
		a->nmissing = n;
	}
}

/* One place, two things: a survey is a uint, groups are a bin. */
static void tail_asked(announcement *a, reader *r) {
	uint32_t n = 0;
	if (r->p < r->end && *r->p >= 0xc4 && *r->p <= 0xc6) {
		const uint8_t *b = bin(r, 640, &n);
		if (!r->err) {
			a->groups = b;
			a->ngroups = n;
		}
		return;
	}
	n = (uint32_t)upto(r, 255);
	if (!r->err)
		a->survey = n;
}

/* What follows an announcement, each in its place. A tail of another form is none. */
static void read_tail(announcement *a, const uint8_t *p, const uint8_t *end) {
	reader r = {p, end, 0};
	for (int place = 0; place < 3 && r.p < r.end; place++) {
		uint32_t n = array(&r);
		if (r.err)
			return;
		if (n == 0)
			continue;
		if (place == 0 && n == 3)
			tail_reference(a, &r);
		else if (place == 1 && n == 1)
			tail_missing(a, &r);
		else if (place == 2 && n == 1)
			tail_asked(a, &r);
		else
			return;
		if (r.err)
			return;
	}
}

static void read_short(announcement *a, reader *r) {
	const uint8_t *p = take(r, 1);
	uint32_t flags = p ? *p : 0;
	if (flags > 3)
		fail(r, ZOFL_UPGRADE);
	a->n = leb(r, MAX63);
	a->epoch = leb(r, MAX63);
	if (flags & 1)
		a->attempt = leb_above0(r, 0xFFFFFFFFu);
	a->left = leb(r, 0xFFFFFFFFu);
	a->sampled = leb(r, 4294967296u);
	a->members = leb(r, MAX_MEMBERS);
	a->step = le_float(r);
	a->perts = leb(r, 65535);
	a->tip = take(r, 8);
	if (flags & 2) {
		uint64_t n = leb_above0(r, MAX_FRAME);
		if ((p = take(r, n)) != NULL)
			read_tail(a, p, p + n);
	}
	if (!r->err && a->n < 3) /* record 1 is the plan */
		fail(r, ZOFL_VALUE);
	if (!r->err && r->p == r->end)
		fail(r, ZOFL_TRUNCATED);
	a->body = r->p;
	a->body_end = r->end;
}

/* A list of records. Its elements are read later. */
static void read_records(reader *r, reader *records, uint32_t *n) {
	uint32_t k = 0;
	*n = array_of(r, MAX_FRAME, 2);
	*records = *r;
	for (uint32_t i = 0; i < *n && !r->err; i++)
		bin(r, MAX_RECORD, &k);
	records->end = r->p;
	records->err = r->err;
}

static void read_long(announcement *a, reader *r) {
	uint32_t k = 0;
	head(r, 12);
	a->state = uint_(r);
	if (!r->err && a->state > STATE_ENDED)
		fail(r, ZOFL_UPGRADE);
	a->n = upto(r, MAX63);
	a->attempt = upto(r, 0xFFFFFFFFu);
	a->epoch = upto(r, MAX63);
	a->left = upto(r, 0xFFFFFFFFu);
	a->sampled = upto(r, 4294967296u);
	a->members = upto(r, MAX_MEMBERS);
	a->step = finite_(r);
	a->perts = upto(r, 65535);
	str(r, 256, &k);
	read_records(r, &a->records, &a->nrecords);
	if (!r->err && a->n == 0)
		fail(r, ZOFL_VALUE);
	if (!r->err)
		read_tail(a, r->p, r->end);
}

static int read_announcement(announcement *a, const uint8_t *b, size_t n) {
	reader r = {b, b + n, 0};
	memset(a, 0, sizeof *a);
	if (n > MAX_FRAME)
		return ZOFL_LIMIT;
	if (n >= 2 && b[0] == 0x91 && b[1] == 3) {
		r.p += 2;
		read_short(a, &r);
	} else
		read_long(a, &r);
	return r.err;
}

/* The next slot of a list: each number is the difference from the slot before, less 1. */
static uint64_t next_slot(reader *r, uint64_t *next) {
	uint64_t slot = *next + leb(r, MAX_MEMBERS);
	if (slot > MAX_MEMBERS)
		fail(r, ZOFL_LIMIT);
	*next = slot + 1;
	return slot;
}

static int is_missing(const announcement *a, uint64_t slot) {
	reader r = {a->missing, a->missing + a->nmissing, 0};
	uint64_t next = 0;
	int found = 0;
	while (r.p < r.end && !r.err && !found)
		found = next_slot(&r, &next) == slot && !r.err;
	return found;
}

/* The group in which an announcement names the slot, or -1. */
static int32_t group_of(const announcement *a, uint64_t slot) {
	reader r = {a->groups, a->groups, 0};
	int32_t found = -1;
	if (!a->groups)
		return -1;
	r.end += a->ngroups;
	for (int32_t g = 0; r.p < r.end && !r.err; g++) {
		uint64_t n = leb(&r, MAX_MEMBERS), next = 0;
		for (uint64_t i = 0; i < n && !r.err; i++)
			if (next_slot(&r, &next) == slot && found < 0)
				found = g;
	}
	return r.err ? -1 : found;
}

/* ---- answers ---- */

typedef struct {
	uint64_t status, slot, last;
	const uint8_t *plan, *reason, *announcement;
	uint32_t plan_size, reason_size, announcement_size;
} join_reply;

enum { JOIN_OK = 0, JOIN_PLAN = 3, JOIN_LATER = 4 };

static int read_join_reply(join_reply *j, const uint8_t *b, size_t n) {
	reader r = {b, b + n, 0};
	head(&r, 7);
	j->status = upto(&r, 255);
	j->slot = upto(&r, MAX_MEMBERS - 1);
	j->last = upto(&r, MAX63);
	j->plan = bin(&r, MAX_RECORD, &j->plan_size);
	j->reason = str(&r, 256, &j->reason_size);
	j->announcement = bin(&r, MAX_HEAD, &j->announcement_size);
	return r.err;
}

typedef struct {
	uint64_t from, last;
	reader records;
	uint32_t nrecords;
	/* where the log begins, if not with record 1 */
	uint64_t start;
	const uint8_t *start_hash;
} catch_up_reply;

static int read_catch_up(catch_up_reply *c, const uint8_t *b, size_t n) {
	reader r = {b, b + n, 0};
	memset(c, 0, sizeof *c);
	head(&r, 4);
	c->from = upto(&r, MAX63);
	c->last = upto(&r, MAX63);
	read_records(&r, &c->records, &c->nrecords);
	if (!r.err && c->from == 0)
		fail(&r, ZOFL_VALUE);
	if (!r.err && r.p < r.end) { /* a tail of another form is none */
		reader t = r;
		uint32_t k = 0;
		if (array(&t) == 2 && !t.err) {
			uint64_t start = upto(&t, MAX63);
			const uint8_t *hash = bin(&t, MAX_HEAD, &k);
			if (!t.err && start && k == 16) {
				c->start = start;
				c->start_hash = hash;
			}
		}
	}
	return r.err;
}
