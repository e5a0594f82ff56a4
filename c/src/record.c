/* ---- records: docs/wire.md, section 3 ---- */

enum { PLAN = 1, ROUND = 2, CHANGE = 3, ROLLBACK = 4, END = 5 };

/* A record, as far as it was read. Terms and weights stay where they are in its bytes. */
typedef struct {
	uint64_t kind, n, epoch, to, round, reason;
	const uint8_t *prev, *end;
	const uint8_t *terms, *weights; /* behind the heads of their arrays */
	uint32_t nterms, nweights, perts, contributors, phase;
	float step;
	uint8_t object, population, factor; /* whether a round has one */
	uint8_t names_step;                 /* whether a change sets the step */
} record;

/* A number of at most 255 whose values up to known this version knows. */
static uint64_t known(reader *r, uint64_t known) {
	uint64_t v = upto(r, 255);
	if (v > known)
		fail(r, ZOFL_UPGRADE);
	return v;
}

static const uint8_t *scalars(reader *r, uint32_t *bytes) {
	const uint8_t *p = bin(r, 4 * MAX_SCALARS, bytes);
	if (!r->err && *bytes % 2)
		fail(r, ZOFL_FORM);
	return r->err ? NULL : p;
}

static void read_slots(reader *r) {
	uint32_t n = array_of(r, MAX_SLOTS, 1), before = 0;
	nonzero(r, n);
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint32_t slot = upto32(r, MAX_MEMBERS - 1);
		if (i > 0 && slot <= before)
			fail(r, ZOFL_FORM);
		before = slot;
	}
}

/* Terms ascend by (back, source). Record 1 is the plan, so n - back is at least 2. */
static void read_terms(reader *r, record *o) {
	uint64_t back = 0, source = 0;
	uint32_t bytes;
	o->nterms = array_of(r, MAX_TERMS, 5);
	o->terms = r->p;
	for (uint32_t i = 0; i < o->nterms && !r->err; i++) {
		uint64_t b, s;
		tuple(r, 3);
		b = upto(r, MAX63);
		s = upto(r, MAX_MEMBERS);
		scalars(r, &bytes);
		if (!r->err && b > 0 && b + 2 > o->n)
			fail(r, ZOFL_VALUE);
		if (i > 0 && (b < back || (b == back && s <= source)))
			fail(r, ZOFL_FORM);
		back = b;
		source = s;
	}
}

static void read_weights(reader *r, record *o) {
	o->nweights = array_of(r, MAX_TERMS, 1);
	nonzero(r, o->nweights);
	o->weights = r->p;
	for (uint32_t i = 0; i < o->nweights && !r->err; i++)
		above0(r, MAX_WEIGHT);
}

static void read_factor(reader *r, record *o) {
	float f = finite_(r);
	if (!r->err && (f == 0 || f == 1))
		fail(r, ZOFL_FORM);
	o->factor = 1;
}

/* Key by key. has_step: a round names it even if it is 0. */
static void read_round_field(reader *r, record *o, uint64_t key, int *has_step) {
	switch (key) {
	case 1:
		o->round = nonzero(r, upto(r, MAX63));
		break;
	case 2:
		nonzero(r, upto(r, 0xFFFFFFFFu)); /* the attempt, for people */
		break;
	case 3:
		o->step = finite_(r);
		*has_step = 1;
		break;
	case 4:
		o->perts = (uint32_t)nonzero(r, upto(r, 65535));
		break;
	case 5:
		o->contributors = (uint32_t)nonzero(r, upto(r, 0xFFFFFFFFu));
		break;
	case 6:
		read_slots(r);
		break;
	case 7:
		read_terms(r, o);
		break;
	case 9:
		binof(r, 32);
		o->object = 1;
		break;
	case 10:
		o->phase = (uint32_t)nonzero(r, known(r, 2));
		break;
	case 11:
		read_weights(r, o);
		break;
	case 12:
		nonzero(r, upto(r, MAX_MEMBERS));
		o->population = 1;
		break;
	case 14:
		read_factor(r, o);
		break;
	default:
		fail(r, ZOFL_UPGRADE);
	}
}

static void read_round(reader *r, record *o, uint32_t n) {
	uint64_t last = 0;
	int has_step = 0;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint64_t key = next_key(r, &last);
		if (!r->err)
			read_round_field(r, o, key, &has_step);
	}
	if (!has_step || !o->terms)
		fail(r, ZOFL_FORM);
}

static void read_rollback(reader *r, record *o, uint32_t n) {
	uint64_t last = 0;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		if (next_key(r, &last) != 1)
			fail(r, ZOFL_UPGRADE);
		o->to = upto(r, MAX63);
	}
	if (o->to == 0 || o->to >= o->n)
		fail(r, ZOFL_VALUE);
}

static void read_end(reader *r, record *o, uint32_t n) {
	uint64_t last = 0;
	uint32_t size;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint64_t key = next_key(r, &last);
		if (key == 1) {
			o->reason = nonzero(r, known(r, 6));
			if (o->reason == 5) /* never assigned */
				fail(r, ZOFL_UPGRADE);
		} else if (key == 2) {
			str(r, MAX_TEXT, &size);
			nonzero(r, size);
		} else
			fail(r, ZOFL_UPGRADE);
	}
	nonzero(r, o->reason);
}

static void read_change(reader *r, record *o, uint32_t n, zofl_plan *plan) {
	if (n == 0)
		fail(r, ZOFL_VALUE);
	o->names_step = (uint8_t)read_fields(r, n, plan, 1);
}

static void read_body(reader *r, record *o, zofl_plan *plan) {
	uint32_t n = length(r, &of_map);
	if (!r->err && n > MAX_KEYS)
		fail(r, ZOFL_LIMIT);
	if (!r->err && 2 * (size_t)n > left(r))
		fail(r, ZOFL_TRUNCATED);
	if (r->err)
		return;
	switch (o->kind) {
	case PLAN:
		if (plan)
			clear_plan(plan);
		read_fields(r, n, plan, 0);
		break;
	case ROUND:
		read_round(r, o, n);
		break;
	case CHANGE:
		read_change(r, o, n, plan);
		break;
	case ROLLBACK:
		read_rollback(r, o, n);
		break;
	default:
		read_end(r, o, n);
	}
}

/* Reads a record. The fields of a plan or a change go to plan, unless that is NULL; after an error
   some of them may have gone there. */
static int parse(record *o, zofl_plan *plan, const uint8_t *rec, size_t len) {
	reader r = {rec, rec + len, 0};
	memset(o, 0, sizeof *o);
	if (len > MAX_RECORD)
		return ZOFL_LIMIT;
	head(&r, 6);
	o->kind = known(&r, END);
	o->n = upto(&r, MAX63);
	o->prev = binof(&r, 16);
	o->epoch = upto(&r, MAX63);
	if (o->n == 0 || o->kind == 0 || (o->kind == PLAN) != (o->n == 1))
		fail(&r, ZOFL_VALUE);
	if (!r.err)
		read_body(&r, o, plan);
	if (!r.err && r.p != r.end)
		fail(&r, ZOFL_FORM);
	o->end = r.p;
	return r.err;
}

/* ---- scalars: docs/wire.md, section 1 ---- */

enum { MOST_BITS = 8 };

/* The bits of a code, and the step between two codes, in roots of the mean square. */
static uint32_t code_bits(int precision) {
	return 8u >> (precision - INT8);
}

static double code_step(int precision) {
	return precision == INT8 ? 1.0 / 32 : precision == INT4 ? 5.0 / 16 : 255.0 / 256;
}

/* Bytes of a block of perts scalars of one local step. */
static uint64_t block_bytes(int precision, uint64_t perts) {
	if (precision == SINGLE)
		return 4 * perts;
	if (precision == HALF)
		return 2 * perts;
	return 2 + 2 * ((perts * code_bits(precision) + 15) / 16);
}

static uint64_t term_bytes(int precision, uint64_t steps, uint64_t perts) {
	return steps * block_bytes(precision, perts);
}

static uint16_t le16(const uint8_t *p) {
	return (uint16_t)(p[0] | p[1] << 8);
}

/* Scalar q of local step k, of a term with perts scalars for each step. */
static float scalar(const uint8_t *b, int precision, uint32_t perts, uint32_t k, uint32_t q) {
	uint32_t nbits, at;
	int32_t code;
	uint16_t root;
	if (precision == SINGLE)
		return unbits(le32(b + 4 * ((size_t)k * perts + q)));
	if (precision == HALF)
		return from_half(le16(b + 2 * ((size_t)k * perts + q)));
	b += k * block_bytes(precision, perts);
	root = le16(b);
	if (root == 0)
		return 0;
	nbits = code_bits(precision);
	at = q * nbits;
	code = le16(b + 2 + at / 16 * 2) >> at % 16 & ((1 << nbits) - 1);
	if (code >> (nbits - 1))
		code -= 1 << nbits;
	return (float)(code_step(precision) * (code + 0.5) * (double)from_half(root));
}

/* Whether a block of codes is one that a device writes: its root is finite and not negative, codes
   are 0 where the root is, and unused bits are 0. */
static int block_ok(const uint8_t *b, int precision, uint32_t perts) {
	uint32_t used = perts * code_bits(precision), all = (used + 15) / 16 * 16;
	uint16_t root = le16(b);
	if (root >= 0x7C00)
		return 0;
	for (uint32_t i = root == 0 ? 0 : used; i < all; i++)
		if (b[2 + i / 8] >> i % 8 & 1)
			return 0;
	return 1;
}

/* A term of a round. */
typedef struct {
	uint64_t back;
	uint32_t source, weight, perts, size;
	const uint8_t *b; /* its scalars */
} term;

/* Goes through the terms of a round that parse has read. */
typedef struct {
	reader terms, weights;
	const record *o;
	uint32_t steps;
	int precision;
} walk;

static walk walk_terms(const zofl_plan *p, const record *o) {
	walk w = {{o->terms, o->end, 0}, {o->weights, o->end, 0}, o, p->steps, term_precision(p)};
	return w;
}

/* The scalars that an older term has for each step: 0 if its bytes are not whole steps. */
static uint32_t older_perts(const walk *w, uint32_t size) {
	uint64_t each = block_bytes(w->precision, 1) * w->steps;
	return w->precision > HALF || size % each ? 0 : (uint32_t)(size / each);
}

static void next_term(walk *w, term *t) {
	tuple(&w->terms, 3);
	t->back = uint_(&w->terms);
	t->source = (uint32_t)uint_(&w->terms);
	t->b = bin(&w->terms, 65536, &t->size);
	t->weight = w->o->nweights ? (uint32_t)uint_(&w->weights) : 1;
	t->perts = t->back ? older_perts(w, t->size) : w->o->perts;
}
