/* ---- msgpack of docs/wire.md, section 1; the first error stays ---- */

typedef struct {
	const uint8_t *p, *end;
	int err;
} reader;

static int fail(reader *r, int e) {
	if (!r->err)
		r->err = e;
	return r->err;
}
static const uint8_t *take(reader *r, uint64_t n) {
	const uint8_t *p = r->p;
	if (r->err)
		return NULL;
	if ((uint64_t)(r->end - r->p) < n) {
		fail(r, ZOFL_TRUNCATED);
		return NULL;
	}
	r->p += n;
	return p;
}
static uint64_t big(reader *r, int n) {
	const uint8_t *p = take(r, n);
	uint64_t v = 0;
	while (p && n-- > 0)
		v = v << 8 | *p++;
	return v;
}
static uint64_t uint_(reader *r) {
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
	if (!r->err && v < (*p == 0xcc   ? 0x80u
	                    : *p == 0xcd ? 0x100u
	                    : *p == 0xce ? 0x10000u
	                                 : 0x100000000u))
		fail(r, ZOFL_FORM);
	return r->err ? 0 : v;
}
static uint64_t upto(reader *r, uint64_t most) {
	uint64_t v = uint_(r);
	if (v > most) {
		fail(r, ZOFL_LIMIT);
		return 0;
	}
	return v;
}
#define MAX63 0x7FFFFFFFFFFFFFFFu
static uint32_t rawfloat(reader *r) {
	const uint8_t *p = take(r, 1);
	if (p && *p != 0xca)
		fail(r, ZOFL_FORM);
	return (uint32_t)big(r, 4);
}
static float finite_(reader *r) {
	uint32_t u = rawfloat(r);
	if ((u & 0x7F800000u) == 0x7F800000u || u == 0x80000000u)
		fail(r, ZOFL_VALUE);
	return r->err ? 0 : unbits(u);
}
/* the length of a bin (c4), str (a0, d9), array (90, dc) or map (80, de) */
static uint32_t length(reader *r, uint8_t fix, uint32_t fixmax, uint8_t first, int sizes) {
	const uint8_t *p = take(r, 1);
	uint64_t v;
	int s;
	if (!p)
		return 0;
	if (fixmax && *p >= fix && *p <= fix + fixmax)
		return *p - fix;
	if (*p < first || *p >= first + sizes) {
		fail(r, ZOFL_FORM);
		return 0;
	}
	s = *p - first + (sizes == 2); /* 0: 1 byte, 1: 2, 2: 4 */
	v = big(r, 1 << s);
	if (!r->err && sizes == 2 && v > 65536)
		fail(r, ZOFL_LIMIT); /* no array or map has more */
	if (!r->err && v < (s == 2   ? 0x10000u
	                    : s == 1 ? (sizes == 2 ? fixmax + 1 : 0x100u)
	                    : fixmax ? fixmax + 1
	                             : 0))
		fail(r, ZOFL_FORM);
	return r->err ? 0 : (uint32_t)v;
}
static uint32_t array(reader *r) {
	return length(r, 0x90, 15, 0xdc, 2);
}
static const uint8_t *bin(reader *r, uint32_t most, uint32_t *n) {
	*n = length(r, 0, 0, 0xc4, 3);
	if (!r->err && *n > most)
		fail(r, ZOFL_LIMIT);
	return take(r, *n);
}
static const uint8_t *binof(reader *r, uint32_t want) {
	uint32_t n = length(r, 0, 0, 0xc4, 3);
	if (!r->err && n > 65536)
		fail(r, ZOFL_LIMIT);
	if (!r->err && n != want)
		fail(r, ZOFL_FORM);
	return take(r, want);
}
static int utf8(const uint8_t *p, uint32_t n) {
	for (uint32_t i = 0; i < n;) {
		uint32_t c = p[i++],
		         more = c < 0x80       ? 0
		                : c >> 5 == 6  ? 1
		                : c >> 4 == 14 ? 2
		                : c >> 3 == 30 ? 3
		                               : 9,
		         v = c & (0x3F >> more);
		if (more == 9 || i + more > n)
			return 0;
		for (uint32_t j = 0; j < more; j++) {
			if (p[i] >> 6 != 2)
				return 0;
			v = v << 6 | (p[i++] & 63);
		}
		if ((more == 1 && v < 0x80) || (more == 2 && (v < 0x800 || (v >= 0xD800 && v < 0xE000))) ||
		    (more == 3 && (v < 0x10000 || v > 0x10FFFF)))
			return 0;
	}
	return 1;
}
static const uint8_t *str(reader *r, uint32_t most, uint32_t *n) {
	const uint8_t *p;
	*n = length(r, 0xa0, 31, 0xd9, 3);
	if (!r->err && *n > most)
		fail(r, ZOFL_LIMIT);
	p = take(r, *n);
	if (p && !utf8(p, *n))
		fail(r, ZOFL_VALUE);
	return p;
}
static uint32_t head(reader *r, uint32_t fields) { /* version first, then the number of fields */
	uint32_t n = array(r);
	uint64_t v;
	if (!r->err && n == 0)
		return (uint32_t)fail(r, ZOFL_FORM);
	v = uint_(r);
	if (!r->err && v != 1)
		fail(r, ZOFL_UPGRADE);
	if (!r->err && n != fields)
		fail(r, ZOFL_FORM);
	return n;
}
static uint64_t above0(reader *r, uint64_t most) {
	uint64_t v = upto(r, most);
	if (v == 0)
		fail(r, ZOFL_VALUE);
	return v;
}
