/* Directions: every vector of prng/testdata, by each instruction set of this machine; that each
   set gives plain C's bits into every type, at any offset and length, also of numbers that are
   not finite or subnormal; that parts equal the whole; and the halves. Argument: the vectors. */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

static unsigned equal, differ;

static int expect(int ok, const char *what, unsigned long long of) {
	if (ok)
		equal++;
	else if (differ++ < 20)
		printf("differs: %s, %llu\n", what, of);
	return ok;
}

/* ---- vectors ---- */

enum { FIELDS = 16, MOST = 1 << 20 };

static struct { char name[16], value[1024]; } fields[FIELDS];
static unsigned count;
static float first[MOST], second[MOST];

static const char *named(const char *name) {
	for (unsigned i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value;
	return "";
}

static unsigned long long named_number(const char *name) {
	return strtoull(named(name), NULL, 0);
}

static void hex_of(char *out, const uint8_t *p, size_t n) {
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", p[i]);
}

/* The digest of so many words as little-endian bytes is the vector's. */
static int digest_is(const uint32_t *words, size_t n) {
	zofl_sha256 c;
	uint8_t d[32];
	char text[65];
	zofl_sha256_init(&c);
	for (size_t i = 0; i < n; i++)
		add_le(&c, words[i], 4);
	zofl_sha256_end(&c, d);
	hex_of(text, d, 32);
	return strcmp(text, named("sha256")) == 0;
}

static uint32_t coefficient(unsigned i) {
	const char *s = named("a");
	while (i-- > 0 && s)
		s = strchr(s, ' ') ? strchr(s, ' ') + 1 : "";
	return (uint32_t)strtoul(s, NULL, 16);
}

static void test_terms(uint32_t n, uint64_t block, zofl_addr at, isa level) {
	const char *pattern = named("pattern");
	for (uint32_t i = 0; i < n; i += ZOFL_BLOCK) {
		uint32_t to = n - i < ZOFL_BLOCK ? n - i : ZOFL_BLOCK;
		for (uint32_t from = 0, part; from < to; from += part) { /* in unequal parts */
			zofl_addr z = at;
			sum s;
			part = to - from < 1500 ? to - from : 1500;
			sum_begin(&s, first + i + from, part, (uint32_t)block + i / ZOFL_BLOCK, from,
			          ZOFL_NORMAL);
			s.level = level;
			for (unsigned j = 0; pattern[j]; j++, z.pert++) {
				zofl_dist dist = pattern[j] == 'n' ? ZOFL_NORMAL : ZOFL_RADEMACHER;
				if (dist != s.dist)
					sum_end(&s);
				s.dist = dist;
				sum_add(&s, &z, unbits(coefficient(j)));
			}
			sum_end(&s);
		}
	}
}

static int test_elements(const char *op, isa level) {
	zofl_addr at = {named_number("key"), (uint16_t)named_number("step"),
	                (uint16_t)named_number("perturbation"), (uint32_t)named_number("source"),
	                (uint32_t)named_number("domain")};
	zofl_addr start = {1, 0, 0, 0, 2};
	zofl_dist dist = named("distribution")[0] == 'r' ? ZOFL_RADEMACHER : ZOFL_NORMAL;
	uint64_t n = named_number("length"), off = named_number("block") * ZOFL_BLOCK, cut = n / 3;
	target t = {NULL, NULL, FILL, 1, PLAIN};
	if (n > MOST)
		return 0;
	t.dst = first;
	t.level = level;
	put_direction(&t, n, off, &start, ZOFL_UNIFORM);
	t.a = unbits(coefficient(0));
	if (strcmp(op, "fill") == 0 || strcmp(op, "uniform") == 0) {
		t.a = 1;
		put_direction(&t, n, off, &at, op[0] == 'u' ? ZOFL_UNIFORM : dist);
	} else if (strcmp(op, "axpy") == 0) {
		t.type = ZOFL_F32;
		put_direction(&t, n, off, &at, dist);
	} else if (strcmp(op, "perturb") == 0) { /* in two parts, into another vector */
		target u = {NULL, first + cut, ZOFL_F32, 0, PLAIN};
		t.type = ZOFL_F32;
		t.x = first;
		t.dst = second;
		u.dst = second + cut;
		u.a = t.a;
		u.level = level;
		put_direction(&t, cut, off, &at, dist);
		put_direction(&u, n - cut, off + cut, &at, dist);
		memcpy(first, second, 4 * (size_t)n);
	} else if (strcmp(op, "sum") == 0)
		test_terms((uint32_t)n, named_number("block"), at, level);
	else
		return 0;
	{
		static uint32_t words[MOST];
		memcpy(words, first, 4 * (size_t)n);
		return digest_is(words, (size_t)n);
	}
}

/* The sum of m z over elements [from, to) of a block, of which m[0] is the first, in ascending
   order; m NULL: of z z. Products of floats are exact in float64. */
static double block_dot(const float *m, const zofl_addr *at, zofl_dist dist, uint32_t block,
                        uint32_t from, uint32_t to, isa level) {
	lanes g;
	uint64_t w[64];
	float z[16 * ROWS];
	target t = {NULL, NULL, FILL, 1, PLAIN};
	double total = 0;
	uint32_t i = from;
	t.dst = z;
	t.level = level;
	if (dist == ZOFL_RADEMACHER) {
		signs(w, at, block, level);
		for (; i < to; i++)
			total += m ? (double)with_sign(m[i - from], w[i / 64] >> i % 64 & 1) : 1;
		return total;
	}
	seed(&g, at, block, level);
	skip(&g, from / 16);
	while (i < to) {
		uint32_t first = i / 16 * 16;
		put_rows(&t, ROWS, &g, dist);
		for (; i < to && i < first + 16 * ROWS; i++)
			total += (double)z[i - first] * (double)(m ? m[i - from] : z[i - first]);
	}
	return total;
}

/* <z, m> over elements [off, off+n), or for m NULL the squared norm of z: block by block, and then
   the sum of the blocks, ascending. */
static double direction_dot(const float *m, uint64_t n, uint64_t off, const zofl_addr *at,
                            zofl_dist dist) {
	isa level = best_isa();
	double total = 0;
	for (uint64_t i = 0, k; i < n; i += k) {
		uint32_t block = (uint32_t)((off + i) / ZOFL_BLOCK);
		uint32_t from = (uint32_t)((off + i) % ZOFL_BLOCK);
		k = ZOFL_BLOCK - from < n - i ? ZOFL_BLOCK - from : n - i;
		total +=
		    block_dot(m ? m + (size_t)i : NULL, at, dist, block, from, from + (uint32_t)k, level);
	}
	return total;
}

static int test_norm(void) {
	zofl_addr at = {named_number("key"), (uint16_t)named_number("step"),
	                (uint16_t)named_number("perturbation"), (uint32_t)named_number("source"),
	                (uint32_t)named_number("domain")};
	zofl_dist dist = named("distribution")[0] == 'r' ? ZOFL_RADEMACHER : ZOFL_NORMAL;
	double v = direction_dot(NULL, named_number("length"), 0, &at, dist);
	float scale = v == 0 ? 0 : (float)((double)unbits(coefficient(0)) / sqrt(v));
	uint64_t u;
	memcpy(&u, &v, 8);
	return u == named_number("norm") && bits(scale) == named_number("scale");
}

static void test_vector(unsigned i, isa level) {
	const char *op = named("op");
	int ok;
	if (strcmp(op, "table") == 0)
		ok = digest_is(table[0], 2 * 1985);
	else if (strcmp(op, "recordkey") == 0)
		ok = zofl_record_key((const uint8_t *)named("runkey"), strlen(named("runkey")),
		                     named_number("n")) == named_number("key");
	else if (strcmp(op, "squarednorm") == 0)
		ok = test_norm();
	else
		ok = test_elements(op, level);
	expect(ok, op, i);
}

static unsigned test_vectors(const char *path, isa level) {
	FILE *f = fopen(path, "r");
	char line[1100];
	unsigned n = 0;
	count = 0;
	while (f) {
		char *more = fgets(line, sizeof line, f), *v;
		if (!more || line[0] == '\n') {
			if (count > 0)
				test_vector(++n, level);
			count = 0;
			if (!more)
				break;
			continue;
		}
		line[strcspn(line, "\n")] = 0;
		v = strstr(line, ": ");
		if (line[0] == '#' || !v || count == FIELDS)
			continue;
		*v = 0;
		if (strlen(line) < sizeof fields[0].name && strlen(v + 2) < sizeof fields[0].value) {
			strcpy(fields[count].name, line);
			strcpy(fields[count++].value, v + 2);
		}
	}
	if (f)
		fclose(f);
	return n;
}

/* ---- instruction sets against plain C ---- */

static uint64_t draws = 1;

static uint32_t random32(void) {
	draws = draws * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(draws >> 32);
}

/* A float32 whose like a model may hold; and one in eight of any bits. A NaN has no payload: which
   of two is kept is not defined. */
static uint32_t any_float(void) {
	uint32_t u = random32();
	switch (random32() % 8) {
	case 0:
		return (u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u | (u & 0x80000000u) : u;
	case 1:
		return u & 0x807FFFFFu; /* subnormal */
	case 2:
		return (u & 0x80001FFFu) | 0x38000000u; /* a subnormal half */
	case 3:
		return (u & 0x80001FFFu) | 0x477FE000u; /* about the largest half */
	default:
		return (u & 0x81FFFFFFu) | 0x3E000000u;
	}
}

static uint32_t any_scale(void) {
	static const uint32_t scales[] = {0,           0x80000000u, 0x3F800000u, 0xBA83126Fu,
	                                  0x00400000u, 0x80000001u, 0x0DA24260u, 0x7F000000u,
	                                  0x47000000u, 0x33800000u};
	return random32() % 3 ? (random32() & 0x83FFFFFFu) | 0x3A000000u
	                      : scales[random32() % (sizeof scales / sizeof *scales)];
}

enum { SPAN = 9000 };

static void compare_set(isa level, unsigned round) {
	static uint32_t from[SPAN], plain[SPAN], fast[SPAN];
	static float source[SPAN];
	static const zofl_dist dists[] = {ZOFL_NORMAL, ZOFL_RADEMACHER, ZOFL_UNIFORM};
	zofl_addr at = {random32() | (uint64_t)random32() << 32, (uint16_t)random32(),
	                (uint16_t)random32(), random32(), random32() % 5};
	zofl_dist dist = dists[round % 3];
	int type = (int)(round / 3 % 4), other = round / 12 % 2 == 0;
	uint64_t n = random32() % (round % 5 ? 200 : SPAN - 64), off = random32() % 20000,
	         lead = random32() % 8;
	size_t size = type == ZOFL_F16 || type == ZOFL_BF16 ? 2 : 4;
	target t = {NULL, NULL, type, unbits(any_scale()), PLAIN};
	for (size_t i = 0; i < SPAN; i++) {
		uint32_t u = any_float(), v = any_float();
		source[i] = unbits(any_float());
		from[i] = u;
		if (type == ZOFL_F16)
			from[i] = to_half(unbits(u)) | (uint32_t)to_half(unbits(v)) << 16;
		if (type == ZOFL_BF16)
			from[i] = to_bf16(unbits(u)) | (uint32_t)to_bf16(unbits(v)) << 16;
	}
	memcpy(plain, from, sizeof from);
	memcpy(fast, from, sizeof from);
	if (other)
		t.x = source;
	t.dst = (char *)plain + size * lead;
	put_direction(&t, n, off, &at, dist);
	t.level = level;
	t.dst = (char *)fast + size * lead;
	put_direction(&t, n, off, &at, dist);
	expect(memcmp(plain, fast, sizeof fast) == 0, "a set's bits", round);
	/* nothing beside the n elements; and parts make the whole */
	expect(memcmp(fast, from, size * lead) == 0 &&
	           memcmp((char *)fast + size * (lead + n), (char *)from + size * (lead + n),
	                  sizeof from - size * (lead + n)) == 0,
	       "what lies beside", round);
	memcpy(fast, from, sizeof from);
	for (uint64_t i = 0, part; i < n; i += part) {
		target u = t;
		part = 1 + random32() % 700;
		part = n - i < part ? n - i : part;
		u.dst = (char *)fast + size * (lead + i);
		u.x = t.x ? t.x + i : NULL;
		put_direction(&u, part, off + i, &at, dist);
	}
	expect(memcmp(plain, fast, sizeof fast) == 0, "parts", round);
}

/* ---- halves, against a search that does nothing clever ---- */

static double half_value(uint32_t h) {
	double v = h & 1023;
	int e = (int)(h >> 10 & 31);
	if (e > 0)
		v += 1024;
	else
		e = 1;
	for (; e > 25; e--)
		v *= 2;
	for (; e < 25; e++)
		v /= 2;
	return h & 0x8000 ? -v : v;
}

static uint16_t nearest_half(float f) {
	double v = fabs((double)f), below, above;
	uint32_t low = 0, high = 0x7C00, sign = bits(f) >> 16 & 0x8000;
	if (f != f)
		return (uint16_t)(sign | 0x7E00);
	if (v >= 65520)
		return (uint16_t)(sign | 0x7C00);
	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;
		if (half_value(mid) <= v)
			low = mid;
		else
			high = mid;
	}
	below = v - half_value(low);
	above = half_value(high) - v;
	return (uint16_t)(sign | (above < below || (above == below && low & 1) ? high : low));
}

static void halves(void) {
	static const uint32_t ends[] = {0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF};
	for (uint32_t h = 0; h < 0x10000; h++) {
		float f = from_half((uint16_t)h);
		uint32_t nan = (h & 0x7C00) == 0x7C00 && h & 1023;
		if ((h & 0x7FFF) == 0x7C00)
			expect(bits(f) == (h == 0x7C00 ? 0x7F800000u : 0xFF800000u), "infinity", h);
		else if (!nan)
			expect((double)f == half_value(h), "from_half", h);
		expect(to_half(f) == (nan ? (h & 0x8000) | 0x7E00 : h), "to_half of a half", h);
		for (unsigned i = 0; i < 6; i++) {
			float g = unbits((h << 16 & 0x80000000u) | (h & 0x7FFF) << 13 | ends[i]);
			float k = unbits(bits(g) + (100u << 23) < 0x80000000u ? bits(g) + (100u << 23) : 0);
			expect(to_half(g) == nearest_half(g), "to_half, small", h);
			expect(to_half(k) == nearest_half(k), "to_half", h);
		}
		f = from_bf16((uint16_t)h);
		expect(to_bf16(f) == h || f != f, "to_bf16 of a bfloat16", h);
	}
	for (int i = 0; i < 300000; i++) {
		float f = unbits(random32()), g = from_bf16(to_bf16(f)), up, down;
		expect(to_half(f) == nearest_half(f), "to_half of any float", bits(f));
		if (f != f) {
			expect(g != g, "to_bf16 of a NaN", bits(f));
			continue;
		}
		down = unbits(bits(f) & 0xFFFF0000u);
		up = unbits((bits(f) & 0xFFFF0000u) + 0x10000);
		expect(up != up || up - up != 0 ||
		           fabs((double)f - (double)g) <= fabs((double)f - (double)down),
		       "to_bf16, down", bits(f));
		expect(up != up || up - up != 0 ||
		           fabs((double)f - (double)g) <= fabs((double)f - (double)up),
		       "to_bf16, up", bits(f));
	}
}

int main(int argc, char **argv) {
	static const char *const names[] = {"plain C", "AVX2", "AVX-512", "NEON"};
	isa best = best_isa();
	unsigned n = 0;
	for (int level = PLAIN; level <= (int)best; level++) {
		if (best == NEON && level != PLAIN && level != NEON)
			continue;
		for (int i = 1; i < argc; i++)
			n = test_vectors(argv[i], (isa)level);
		for (unsigned round = 0; round < 2400; round++)
			compare_set((isa)level, round);
	}
	halves();
	printf("directions: %u vectors up to %s; %u checks equal, %u differ\n", n, names[best], equal,
	       differ);
	return differ > 0 || n == 0;
}
