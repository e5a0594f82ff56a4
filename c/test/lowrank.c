/* Directions of rank 1: every vector of prng/lowrank/testdata, by each instruction set of this
   machine, in parts and into every type. Argument: the vectors. */
#define ZOFL_WITH_LOWRANK 1 /* on 32 bits too */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 16, MOST = 1 << 16 };

static struct { char name[16], value[1024]; } fields[FIELDS];
static unsigned count, equal, differ;
static float start[MOST], got[MOST];
static uint16_t halves[MOST];
static zofl_plan plan;

static const char *named(const char *name) {
	for (unsigned i = 0; i < count; i++)
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value;
	return "";
}

static uint64_t number(const char *name) {
	return strtoull(named(name), NULL, 0);
}

static void expect(int ok, const char *what) {
	if (ok) {
		equal++;
		return;
	}
	differ++;
	printf("differs: %s of %s, a %s\n", what, named("op"), named("a"));
}

/* "17x33 5": a matrix, and a segment that is none. */
static void read_shapes(const char *s) {
	char *end;
	memset(&plan, 0, sizeof plan);
	plan.distribution = LOWRANK;
	for (; *s; s = end + (*end == ' ')) {
		zofl_segment *g = &plan.seg[plan.nseg++];
		g->len = strtoull(s, &end, 10);
		if (*end == 'x') {
			g->rows = g->len;
			g->len *= strtoull(end + 1, &end, 10);
		}
		plan.dim += g->len;
	}
}

static void read_start(uint64_t off, uint64_t n) {
	const zofl_addr at = {1, 0, 0, 0, 2};
	const char kind = named("x")[0];
	zofl_fill(start, n, off, &at, ZOFL_UNIFORM);
	for (uint64_t i = 0; i < n; i++)
		if (kind != 'u')
			start[i] = unbits(bits(start[i]) & (kind == 's' ? 0x807FFFFFu : 0x80000000u));
}

static float coefficient(unsigned i) {
	const char *s = named("a");
	while (i-- > 0)
		s = strchr(s, ' ') + 1;
	return unbits((uint32_t)strtoul(s, NULL, 16));
}

static unsigned terms(void) {
	unsigned n = 1;
	for (const char *s = named("a"); (s = strchr(s, ' ')); s++)
		n++;
	return n;
}

static void check_digest(uint64_t n, const char *what) {
	zofl_sha256 c;
	uint8_t d[32];
	char text[65];
	zofl_sha256_init(&c);
	for (uint64_t i = 0; i < n; i++)
		add_le(&c, bits(got[i]), 4);
	zofl_sha256_end(&c, d);
	for (int i = 0; i < 32; i++)
		sprintf(text + 2 * i, "%02x", d[i]);
	expect(strcmp(text, named("sha256")) == 0, what);
}

/* By tiles within blocks, as replay does, and in unequal parts. slots: of terms whose factors stay
   from one part to the next. */
static void sum_parts(uint64_t off, uint64_t n, const zofl_addr *first, isa level,
                      uint32_t slots) {
	static uint64_t memory[1 << 14];
	kept_factors *kept = slots ? (kept_factors *)(void *)memory : NULL;
	if (kept_size(slots) > sizeof memory) {
		expect(0, "slots");
		return;
	}
	if (kept)
		kept_begin(kept, slots);
	memcpy(got, start, n * sizeof got[0]);
	for (uint64_t i = 0, part; i < n; i += part) {
		uint32_t from = (uint32_t)((off + i) % ZOFL_BLOCK);
		zofl_addr at = *first;
		sum s;
		part = ZOFL_BLOCK - from < 1500 ? ZOFL_BLOCK - from : 1500;
		part = n - i < part ? n - i : part;
		sum_begin(&s, got + i, (uint32_t)part, (uint32_t)((off + i) / ZOFL_BLOCK), from,
		          (zofl_dist)LOWRANK);
		s.level = level;
		s.plan = &plan;
		if ((s.kept = kept))
			kept->next = 0;
		for (unsigned j = 0; j < terms(); j++, at.pert++)
			sum_add(&s, &at, coefficient(j));
		sum_end(&s);
	}
	check_digest(n, "sum");
	if (kept && n > 0)
		expect(kept->next == (slots < terms() ? slots : terms()) &&
		           slot_of(kept, 0)->block[1] + slot_of(kept, 0)->block[2] != 2 * NO_BLOCK,
		       "kept factors");
}

static void put_parts(uint64_t off, uint64_t n, const zofl_addr *at, isa level) {
	int fill = named("op")[0] == 'f', half = ZOFL_F16;
	target t = {got, fill ? NULL : start, fill ? FILL : ZOFL_F32, fill ? 1 : 0, level}, u;
	uint64_t cut = n / 3;
	if (!fill)
		t.a = coefficient(0);
	u = behind(&t, cut);
	put_lowrank(&t, &plan, cut, off, at);
	put_lowrank(&u, &plan, n - cut, off + cut, at);
	check_digest(n, "parts");
	for (; !fill && half <= ZOFL_BF16; half++) {
		target h = {halves, start, half, t.a, level};
		uint64_t i = 0;
		put_lowrank(&h, &plan, n, off, at);
		while (i < n && halves[i] == (half == ZOFL_F16 ? to_half(got[i]) : to_bf16(got[i])))
			i++;
		expect(i == n, "halves");
	}
}

static void test_vector(isa level) {
	zofl_addr at = {number("key"), (uint16_t)number("step"), (uint16_t)number("perturbation"),
	                (uint32_t)number("source"), 0};
	uint64_t off = number("at"), n = number("length");
	read_shapes(named("shapes"));
	if (n > MOST || off + n > plan.dim) {
		expect(0, "length");
		return;
	}
	read_start(off, n);
	if (strcmp(named("op"), "sum") == 0)
		for (uint32_t slots = 0; slots <= 80; slots = 5 * slots + 3)
			sum_parts(off, n, &at, level, slots);
	else
		put_parts(off, n, &at, level);
}

/* Reads a vector, after an empty line. Whether there is one. */
static int read_vector(FILE *f) {
	char line[1100], *value;
	count = 0;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (!*line && count)
			return 1;
		value = strstr(line, ": ");
		if (line[0] == '#' || !value || count == FIELDS)
			continue;
		*value = 0;
		if (strlen(line) < sizeof fields[0].name && strlen(value + 2) < sizeof fields[0].value) {
			strcpy(fields[count].name, line);
			strcpy(fields[count++].value, value + 2);
		}
	}
	return count > 0;
}

int main(int argc, char **argv) {
	FILE *f = fopen(argc > 1 ? argv[1] : "", "r");
	isa best = best_isa();
	unsigned n = 0;
	if (!f)
		return 1;
	for (; read_vector(f); n++)
		for (int level = PLAIN; level <= (int)best; level++)
			if (best != NEON || level == PLAIN || level == NEON)
				test_vector((isa)level);
	fclose(f);
	printf("lowrank: %u vectors, %u checks equal, %u differ\n", n, equal, differ);
	return differ > 0 || n == 0;
}
