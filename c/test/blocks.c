/* Makes and reads blocks of few bits, and refuses others: blocks plan/testdata/blocks.txt */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>

static int equal, refused, bad;

static int precision_of(const char *name) {
	return strncmp(name, "int8", 4) == 0 ? INT8 : strncmp(name, "int4", 4) == 0 ? INT4 : INT2;
}

static size_t unhex(const char *s, uint8_t *b, size_t room) {
	size_t n = 0;
	unsigned v;
	for (; n < room && sscanf(s, "%2x", &v) == 1; s += 2)
		b[n++] = (uint8_t)v;
	return n;
}

/* Numbers as the bits of float32, in hex. */
static uint32_t floats(const char *s, float *g, uint32_t room) {
	uint32_t n = 0;
	char *end;
	for (unsigned long u = strtoul(s, &end, 16); end != s && n < room; u = strtoul(s, &end, 16)) {
		g[n++] = unbits((uint32_t)u);
		s = end;
	}
	return n;
}

static void differs(const char *line) {
	bad++;
	printf("differs: %s\n", line);
}

/* "refused PRECISION COUNT BLOCK: why" */
static void check_refused(const char *line) {
	char precision[10];
	unsigned n;
	static char hex[8192];
	static uint8_t block[4096];
	size_t size;
	if (sscanf(line, "refused %9s %u %8191[0-9a-f]", precision, &n, hex) != 3) {
		differs(line);
		return;
	}
	size = unhex(hex, block, sizeof block);
	if (size == term_bytes(precision_of(precision), 1, n) &&
	    block_ok(block, precision_of(precision), n))
		differs(line);
	else
		refused++;
}

/* "PRECISION | scalars | block | what a replica reads" */
static void check_block(char *line) {
	static float g[2048], c[2048];
	static uint8_t made[8192], want[8192];
	writer w = {made, made + sizeof made, 0};
	int precision = precision_of(line);
	char *scalars = strchr(line, '|'), *block = scalars ? strchr(scalars + 1, '|') : NULL,
	     *read = block ? strchr(block + 1, '|') : NULL;
	uint32_t n, same = 0;
	size_t size;
	if (!read) {
		differs(line);
		return;
	}
	n = floats(scalars + 1, g, 2048);
	size = unhex(block + 2, want, sizeof want);
	write_block(&w, precision, g, n);
	if (floats(read + 1, c, 2048) == n && block_ok(want, precision, n))
		for (uint32_t i = 0; i < n; i++)
			same +=
			    bits(g[i]) == bits(c[i]) && bits(scalar(want, precision, n, 0, i)) == bits(c[i]);
	if (same != n || n == 0 || (size_t)(w.p - made) != size || memcmp(made, want, size) != 0)
		differs(line);
	else
		equal++;
}

int main(int argc, char **argv) {
	static char line[65536];
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (strncmp(line, "refused", 7) == 0)
			check_refused(line);
		else
			check_block(line);
	}
	printf("blocks: %d equal, %d refused, %d differ\n", equal, refused, bad);
	return bad > 0 || equal < 30 || refused < 10;
}
