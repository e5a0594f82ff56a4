#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>
static uint8_t hex(const char *s) {
	unsigned v;
	sscanf(s, "%2x", &v);
	return (uint8_t)v;
}
int main(int c, char **v) {
	(void)c;
	FILE *f = fopen(v[1], "r");
	static char l[65536];
	int ok = 0, bad = 0, rok = 0, rbad = 0;
	while (fgets(l, sizeof l, f)) {
		if (l[0] == '#' || l[0] == '\n')
			continue;
		l[strcspn(l, "\n")] = 0;
		if (!strncmp(l, "refused", 7)) {
			char pr[10];
			unsigned n;
			char hx[4096];
			if (sscanf(l + 7, "%*[: |]%9s%*[ |]%u%*[ |]%4095[0-9a-f]", pr, &n, hx) != 3 &&
			    sscanf(l + 7, "%9s %u %4095s", pr, &n, hx) != 3) {
				printf("? %s\n", l);
				continue;
			}
			int p = !strcmp(pr, "int8") ? 3 : !strcmp(pr, "int4") ? 4 : 5;
			uint8_t b[4096];
			size_t k = strlen(hx) / 2;
			for (size_t i = 0; i < k; i++)
				b[i] = hex(hx + 2 * i);
			int good = k == term_bytes(p, 1, n) && block_ok(b, p, n);
			if (good) {
				rbad++;
				printf("accepted %s\n", l);
			} else
				rok++;
			continue;
		}
		char *pr = strtok(l, "|"), *ss = strtok(NULL, "|"), *bl = strtok(NULL, "|"),
		     *cs = strtok(NULL, "|");
		if (!cs) {
			printf("? %s\n", l);
			continue;
		}
		zofl_plan p = {0};
		p.precision = strstr(pr, "int8") ? 3 : strstr(pr, "int4") ? 4 : 5;
		float g[2000];
		uint32_t n = 0;
		char *e = ss;
		for (;;) {
			char *q;
			unsigned long u = strtoul(e, &q, 16);
			if (q == e)
				break;
			g[n++] = unbits((uint32_t)u);
			e = q;
		}
		uint8_t out[8192];
		writer w = {out, out + sizeof out, 0};
		write_block(&w, p.precision, g, n);
		int good = 1;
		while (*bl == ' ')
			bl++;
		size_t k = strspn(bl, "0123456789abcdef") / 2;
		if ((size_t)(w.p - out) != k)
			good = 0;
		for (size_t i = 0; i < k && good; i++)
			good = hex(bl + 2 * i) == out[i];
		e = cs;
		for (uint32_t i = 0; i < n && good; i++) {
			char *q;
			unsigned long u = strtoul(e, &q, 16);
			if (bits(g[i]) != (uint32_t)u || bits(scalar(out, p.precision, n, 0, i)) != (uint32_t)u)
				good = 0;
			e = q;
		}
		if (good)
			ok++;
		else {
			bad++;
			printf("bad %s %u\n", pr, n);
		}
	}
	printf("blocks: %d equal, %d differ; refused %d, accepted %d\n", ok, bad, rok, rbad);
	return bad > 0 || rbad > 0 || ok == 0 || rok == 0;
}
