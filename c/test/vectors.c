/* Runs the repository's vectors through zofl.c: vectors prng/testdata/scheme1.txt
 * client/replica/testdata/logs.txt */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char line[1 << 20];
static uint8_t buf[1 << 19];
static size_t unhex(const char *s, uint8_t *b) {
	size_t n = 0;
	unsigned v;
	while (sscanf(s, "%2x", &v) == 1) {
		b[n++] = (uint8_t)v;
		s += 2;
	}
	return n;
}
static uint64_t lcg;
static void numbers(const char *s, float *x) {
	unsigned long long n;
	sscanf(s, "%llu from %llu", &n, (unsigned long long *)&lcg);
	for (unsigned long long i = 0; i < n; i++) {
		lcg = lcg * 6364136223846793005ull + 1442695040888963407ull;
		x[i] = (float)(int32_t)(lcg >> 32) / 268435456.0f;
	}
}
static float *x, *m, *tile, *given;
static int scheme(const char *path) {
	FILE *f = fopen(path, "r");
	int ok = 0, bad = 0, other = 0;
	char op[32] = "", dist[32] = "", runkey[200] = "", want[80] = "", wkey[40] = "",
	     first[100] = "", pattern[100] = "", norm[40] = "";
	unsigned long long key = 0, n = 0, len = 0;
	unsigned st = 0, pe = 0, so = 0, dom = 0, bl = 0, a[64] = {0}, na = 0;
	for (;;) {
		char *g = fgets(line, sizeof line, f);
		if (!g || line[0] == '\n') {
			if (*op) {
				int r = -1;
				char got[80] = "";
				uint8_t h[32];
				zofl_sha256 c;
				zofl_addr at = {key, (uint16_t)st, (uint16_t)pe, so, dom};
				zofl_dist d = !strcmp(dist, "rademacher") ? ZOFL_RADEMACHER : ZOFL_NORMAL;
				float av;
				memcpy(&av, a, 4);
				zofl_addr xa = {1, 0, 0, 0, 2};
				if (!strcmp(op, "recordkey")) {
					char k[40];
					sprintf(
					    k, "0x%016llx",
					    (unsigned long long)zofl_record_key((uint8_t *)runkey, strlen(runkey), n));
					r = !strcmp(k, wkey);
				} else if (!strcmp(op, "fill") || !strcmp(op, "uniform") || !strcmp(op, "axpy") ||
				           !strcmp(op, "perturb")) {
					uint64_t off = (uint64_t)bl * 4096;
					float *o = calloc(len + 1, 4), *xx = calloc(len + 1, 4);
					if (!strcmp(op, "fill"))
						zofl_fill(o, len, off, &at, d);
					else if (!strcmp(op, "uniform"))
						zofl_fill(o, len, off, &at, ZOFL_UNIFORM);
					else {
						zofl_fill(xx, len, off, &xa, ZOFL_UNIFORM);
						if (*op == 'p') {
							uint64_t cut = len / 3;
							zofl_perturb(o, ZOFL_F32, xx, cut, off, &at, d, av);
							zofl_perturb(o + cut, ZOFL_F32, xx + cut, len - cut, off + cut, &at, d,
							             av);
						} else {
							memcpy(o, xx, 4 * len);
							zofl_perturb(o, ZOFL_F32, NULL, len, off, &at, d, av);
						}
					}
					zofl_sha256_init(&c);
					zofl_sha256_add(&c, o, 4 * len);
					zofl_sha256_end(&c, h);
					for (int i = 0; i < 32; i++)
						sprintf(got + 2 * i, "%02x", h[i]);
					r = !strcmp(got, want);
					free(o);
					free(xx);
				}
				if (r < 0)
					other++;
				else if (r)
					ok++;
				else {
					bad++;
					printf("bad %s %s key %llx\n", op, dist, key);
				}
			}
			*op = 0;
			*dist = 0;
			if (!g)
				break;
			continue;
		}
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = 0;
		char *v = strchr(line, ':');
		*v = 0;
		v += 2;
		if (!strcmp(line, "op"))
			strcpy(op, v);
		else if (!strcmp(line, "distribution"))
			strcpy(dist, v);
		else if (!strcmp(line, "runkey"))
			strcpy(runkey, v);
		else if (!strcmp(line, "n"))
			n = strtoull(v, 0, 0);
		else if (!strcmp(line, "key")) {
			key = strtoull(v, 0, 0);
			strcpy(wkey, v);
		} else if (!strcmp(line, "step"))
			st = strtoul(v, 0, 0);
		else if (!strcmp(line, "perturbation"))
			pe = strtoul(v, 0, 0);
		else if (!strcmp(line, "source"))
			so = strtoul(v, 0, 0);
		else if (!strcmp(line, "domain"))
			dom = strtoul(v, 0, 0);
		else if (!strcmp(line, "block"))
			bl = strtoul(v, 0, 0);
		else if (!strcmp(line, "length"))
			len = strtoull(v, 0, 0);
		else if (!strcmp(line, "sha256"))
			strcpy(want, v);
		else if (!strcmp(line, "a"))
			a[0] = strtoul(v, 0, 16);
	}
	(void)na;
	(void)norm;
	(void)first;
	(void)pattern;
	printf("scheme1: %d equal, %d differ, %d not asked (table, sum, squarednorm)\n", ok, bad,
	       other);
	return bad;
}
static int logs(const char *path) {
	FILE *f = fopen(path, "r");
	static zofl_replica r;
	char run[200] = "";
	int state = 0, okruns = 0, bad = 0, uns = 0, digests = 0;
	static uint8_t *recs[4096];
	static size_t lens[4096];
	int nrec = 0;
	long held = 0;
	char where[300] = "";
	while (1) {
		char *g = fgets(line, sizeof line, f);
		if (!g || line[0] == '\n') {
			if (*run) {
				if (state == 0)
					okruns++;
				else if (state == ZOFL_UNSUPPORTED) {
					uns++;
				} else {
					bad++;
					printf("  %s: %s\n", run, where);
				}
			}
			*run = 0;
			for (int i = 0; i < nrec; i++)
				free(recs[i]);
			nrec = 0;
			state = 0;
			if (!g)
				break;
			continue;
		}
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = 0;
		char *v = strchr(line, ':');
		*v = 0;
		v += 2;
		if (!strcmp(line, "run")) {
			strcpy(run, v);
			zofl_replica_init(&r, x, m, tile, 1 << 20, "golden");
			r.given = given;
			held++;
		} else if (state)
			continue;
		else if (!strcmp(line, "given"))
			numbers(v, given);
		else if (!strcmp(line, "secret"))
			state = ZOFL_UNSUPPORTED;
		else if (!strcmp(line, "record")) {
			size_t n = unhex(v, buf);
			if (nrec == 0) {
				uint8_t *q = buf;
				while (!(q[0] == 0x01 && (q[1] & 0xe0) == 0xa0))
					q++;
				char name[33] = "";
				memcpy(name, q + 2, q[1] & 31);
				zofl_replica_init(&r, x, m, tile, 1 << 20, name);
				r.given = given;
			}
			recs[nrec] = malloc(n);
			memcpy(recs[nrec], buf, n);
			lens[nrec++] = n;
			state = zofl_apply(&r, buf, n);
			if (state == 0 && r.n == 0)
				for (int i = 0; i < nrec && !state; i++)
					state = zofl_apply(&r, recs[i], lens[i]);
			if (state && state != ZOFL_UNSUPPORTED)
				sprintf(where, "record %d: error %d", nrec, state);
			if (state == ZOFL_UNSUPPORTED)
				printf("  unsupported (field %d): %s\n", r.plan.unsupported, run);
		} else if (!strcmp(line, "digest")) {
			uint8_t d[32];
			char got[80];
			replica_digest(&r, d);
			for (int i = 0; i < 32; i++)
				sprintf(got + 2 * i, "%02x", d[i]);
			digests++;
			if (strcmp(got, v)) {
				state = 1;
				sprintf(where, "digest after record %d differs", nrec);
			}
		}
	}
	printf("logs: %d runs equal (%d digests), %d differ, %d unsupported\n", okruns, digests, bad,
	       uns);
	return bad;
}
int main(int c, char **v) {
	(void)c;
	x = calloc(1 << 20, 4);
	m = calloc(1 << 20, 4);
	tile = calloc(4096, 4);
	given = calloc(1 << 20, 4);
	return scheme(v[1]) + logs(v[2]);
}
