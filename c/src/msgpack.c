/* ---- msgpack of docs/wire.md, section 1 ----

   A reader reads one frame from its beginning. Its first error stays: after it every call returns 0
   or NULL and moves no further, so callers look at the error once, at the end. */

#define MAX63 0x7FFFFFFFFFFFFFFFu

enum {
	MAX_RECORD = 61440, /* docs/wire.md, section 9 */
	MAX_SCALARS = 14336,
	MAX_TERMS = 4096,
	MAX_SLOTS = 16384,
	MAX_MEMBERS = 16777216,
	MAX_WEIGHT = 1048576,
	MAX_NAME = 32,
	MAX_TEXT = 256,
	MAX_KEYS = 255
};

typedef struct {
	const uint8_t *p, *end;
	int err;
} reader;

static int fail(reader *r, int error) {
	if (!r->err)
		r->err = error;
	return r->err;
}

static size_t left(const reader *r) {
	return (size_t)(r->end - r->p);
}

/* The next n bytes. */
static const uint8_t *take(reader *r, uint64_t n) {
	const uint8_t *p = r->p;
	if (r->err)
		return NULL;
	if (left(r) < n) {
		fail(r, ZOFL_TRUNCATED);
		return NULL;
	}
	r->p += n;
	return p;
}

/* n bytes as a number, big-endian. */
static uint64_t big(reader *r, int n) {
	const uint8_t *p = take(r, (uint64_t)n);
	uint64_t v = 0;
	for (int i = 0; p && i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* A number in its shortest form: a longer one than needed is of a wrong form. */
static uint64_t uint_(reader *r) {
	static const uint64_t least[4] = {0x80, 0x100, 0x10000, 0x100000000u};
	const uint8_t *p = take(r, 1);
	uint64_t v;
	if (!p)
		return 0;
	if (*p < 0x80)
		return *p;
	if (*p < 0xcc || *p > 0xcf) {
		fail(r, ZOFL_FORM);
		return 0;
	}
	v = big(r, 1 << (*p - 0xcc));
	if (!r->err && v < least[*p - 0xcc])
		fail(r, ZOFL_FORM);
	return r->err ? 0 : v;
}

static uint64_t upto(reader *r, uint64_t most) {
	uint64_t v = uint_(r);
	if (v > most)
		fail(r, ZOFL_LIMIT);
	return r->err ? 0 : v;
}

static uint32_t upto32(reader *r, uint32_t most) {
	return (uint32_t)upto(r, most);
}

/* A number that a body leaves out where it is 0. */
static uint64_t nonzero(reader *r, uint64_t v) {
	if (v == 0)
		fail(r, ZOFL_FORM);
	return v;
}

static uint64_t above0(reader *r, uint64_t most) {
	uint64_t v = upto(r, most);
	if (v == 0)
		fail(r, ZOFL_VALUE);
	return v;
}

static uint32_t rawfloat(reader *r) {
	const uint8_t *p = take(r, 1);
	if (p && *p != 0xca)
		fail(r, ZOFL_FORM);
	return (uint32_t)big(r, 4);
}

/* A float that is not NaN, infinite or -0. */
static float finite_(reader *r) {
	uint32_t u = rawfloat(r);
	if ((u & 0x7F800000u) == 0x7F800000u || u == 0x80000000u)
		fail(r, ZOFL_VALUE);
	return r->err ? 0 : unbits(u);
}

/* Passes a double of the same kind. */
static void finite_double(reader *r) {
	const uint8_t *p = take(r, 1);
	uint64_t u;
	if (p && *p != 0xcb)
		fail(r, ZOFL_FORM);
	u = big(r, 8);
	if ((u >> 52 & 0x7FF) == 0x7FF || u == (uint64_t)1 << 63)
		fail(r, ZOFL_VALUE);
}

/* The four kinds of values that begin with a length. In one byte: fix | length, up to most_fix.
   Otherwise a tag, first or one after it, says in how many bytes the length follows. */
typedef struct {
	uint8_t fix, most_fix, first, tags;
	uint8_t bytes; /* of the length behind the first tag */
} length_forms;

static const length_forms of_bin = {0, 0, 0xc4, 3, 1};
static const length_forms of_str = {0xa0, 31, 0xd9, 3, 1};
static const length_forms of_array = {0x90, 15, 0xdc, 2, 2};
static const length_forms of_map = {0x80, 15, 0xde, 2, 2};

static uint32_t length(reader *r, const length_forms *of) {
	const uint8_t *p = take(r, 1);
	uint64_t v, least;
	int bytes;
	if (!p)
		return 0;
	if (of->fix && *p >= of->fix && *p <= of->fix + of->most_fix)
		return (uint32_t)(*p - of->fix);
	if (*p < of->first || *p >= of->first + of->tags) {
		fail(r, ZOFL_FORM);
		return 0;
	}
	bytes = of->bytes << (*p - of->first);
	v = big(r, bytes);
	if (*p == of->first) /* the shortest form again */
		least = of->fix ? of->most_fix + 1u : 0;
	else
		least = bytes == 2 ? 0x100 : 0x10000;
	if (!r->err && v > 65536 && of->tags == 2)
		fail(r, ZOFL_LIMIT); /* no array and no map has more elements */
	if (!r->err && v < least)
		fail(r, ZOFL_FORM);
	return r->err ? 0 : (uint32_t)v;
}

/* An array of at most most elements, of which each takes least bytes or more. */
static uint32_t array_of(reader *r, uint32_t most, uint32_t least) {
	uint32_t n = length(r, &of_array);
	if (!r->err && n > most)
		fail(r, ZOFL_LIMIT);
	if (!r->err && (uint64_t)n * least > left(r))
		fail(r, ZOFL_TRUNCATED);
	return r->err ? 0 : n;
}

static uint32_t array(reader *r) {
	return array_of(r, 65535, 1);
}

/* An array of n elements. */
static void tuple(reader *r, uint32_t n) {
	if (array(r) != n)
		fail(r, ZOFL_FORM);
}

static const uint8_t *bin(reader *r, uint32_t most, uint32_t *n) {
	*n = length(r, &of_bin);
	if (!r->err && *n > most)
		fail(r, ZOFL_LIMIT);
	return take(r, *n);
}

/* A bin of exactly n bytes. */
static const uint8_t *binof(reader *r, uint32_t n) {
	uint32_t is;
	const uint8_t *p = bin(r, 65536, &is);
	if (!r->err && is != n)
		fail(r, ZOFL_FORM);
	return r->err ? NULL : p;
}

/* The bytes of the character at p, or 0 where it is not UTF-8. */
static uint32_t character(const uint8_t *p, uint32_t n) {
	static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
	uint32_t more = p[0] < 0x80 ? 0 : p[0] >> 5 == 6 ? 1 : p[0] >> 4 == 14 ? 2 : 3, v;
	if ((more == 3 && p[0] >> 3 != 30) || more >= n)
		return 0;
	v = p[0] & (0x7Fu >> (more ? more + 1 : 0));
	for (uint32_t i = 1; i <= more; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		v = v << 6 | (p[i] & 63u);
	}
	if (v < least[more] || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
		return 0;
	return more + 1;
}

static int utf8(const uint8_t *p, uint32_t n) {
	uint32_t step;
	for (uint32_t i = 0; i < n; i += step)
		if ((step = character(p + i, n - i)) == 0)
			return 0;
	return 1;
}

static const uint8_t *str(reader *r, uint32_t most, uint32_t *n) {
	const uint8_t *p;
	*n = length(r, &of_str);
	if (!r->err && *n > most)
		fail(r, ZOFL_LIMIT);
	p = take(r, *n);
	if (p && !utf8(p, *n))
		fail(r, ZOFL_VALUE);
	return r->err ? NULL : p;
}

/* The head of a frame's array: the version first, because another may have other fields. */
static void head(reader *r, uint32_t fields) {
	uint32_t n = array(r);
	uint64_t version;
	if (!r->err && n == 0)
		fail(r, ZOFL_FORM);
	version = uint_(r);
	if (!r->err && version != 1)
		fail(r, ZOFL_UPGRADE);
	if (!r->err && n != fields)
		fail(r, ZOFL_FORM);
}

/* The next key of a map. Keys ascend, and are above 0. */
static uint64_t next_key(reader *r, uint64_t *last) {
	uint64_t key = upto(r, MAX63);
	if (!r->err && key <= *last)
		fail(r, ZOFL_FORM);
	return *last = key;
}
