#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c, char **v) {
	(void)c;
	FILE *f = fopen(v[1], "r");
	static char l[4096];
	int ok = 0, bad = 0, other = 0;
	while (fgets(l, sizeof l, f)) {
		char got[4096] = "", *eq = strstr(l, " = "), a[40], b[40];
		unsigned long long n, st, sa, me;
		unsigned k;
		if (l[0] == '#' || !eq)
			continue;
		l[strcspn(l, "\n")] = 0;
		char *want = eq + 3;
		*eq = 0;
		if (sscanf(l, "genesis %39s", a) == 1) {
			uint8_t h[16];
			zofl_genesis(a, h);
			for (int i = 0; i < 16; i++)
				sprintf(got + 2 * i, "%02x", h[i]);
		} else if (sscanf(l, "shard %39s %u", a, &k) == 2)
			sprintf(got, "%u", zofl_shard(a, k));
		else if (sscanf(l, "batch-seed %39s %39s %llu %llu", a, b, &n, &st) == 4)
			sprintf(got, "%016llx", (unsigned long long)zofl_batch_seed(a, b, n, (uint32_t)st));
		else if (sscanf(l, "cohort %39s %llu %llu %llu %llu", a, &n, &st, &sa, &me) == 5) {
			for (unsigned long long s = 0; s < me; s++)
				if (in_cohort("round", a, n, (uint32_t)st, sa, me, s, ""))
					sprintf(got + strlen(got), "%s%llu", *got ? " " : "", s);
		} else if (sscanf(l, "open %39s %llu %llu %llu of phone-0..phone-%u", a, &n, &st, &sa,
		                  &k) == 5) {
			for (unsigned i = 0; i <= k; i++) {
				char id[40];
				sprintf(id, "phone-%u", i);
				if (in_cohort("round", a, n, (uint32_t)st, sa, 0, 0, id))
					sprintf(got + strlen(got), "%s%s", *got ? " " : "", id);
			}
		} else {
			other++;
			continue;
		}
		if (!strcmp(got, want))
			ok++;
		else {
			bad++;
			printf("%s: got %s want %s\n", l, got, want);
		}
	}
	printf("golden: %d equal, %d differ, %d not asked\n", ok, bad, other);
	return bad > 0 || ok == 0;
}
