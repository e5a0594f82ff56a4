/* Compares what a party hashes and draws: golden wire/testdata/golden.txt wire/testdata/vectors */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>

static int equal, bad, other;
static char got[4096];

static void add(const char *format, unsigned long long v) {
	size_t n = strlen(got);
	snprintf(got + n, sizeof got - n, format, v);
}

static void add_hex(const uint8_t *b, size_t n) {
	for (size_t i = 0; i < n; i++)
		add("%02llx", b[i]);
}

/* The hash of a frame of the vectors: its bytes follow an empty line, in hex. */
static void hash_vector(const char *folder, const char *name, size_t bytes) {
	static char line[1 << 17];
	static uint8_t frame[1 << 16];
	char path[300];
	uint8_t hash[16];
	size_t n = 0;
	int body = 0;
	FILE *f;
	snprintf(path, sizeof path, "%s/%s.txt", folder, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned v;
		for (const char *p = line; body && n < sizeof frame && sscanf(p, "%2x", &v) == 1; p += 2)
			frame[n++] = (uint8_t)v;
		body |= line[0] == '\n';
	}
	if (f)
		fclose(f);
	record_hash(frame, n, hash);
	add_hex(hash, bytes);
}

/* "cohort RUN N ATTEMPT SAMPLED MEMBERS", "evaluators RUN N SAMPLED MEMBERS" */
static void add_slots(const char *purpose, const char *run, unsigned long long n, unsigned attempt,
                      unsigned long long sampled, unsigned long long members) {
	for (unsigned long long s = 0; s < members; s++)
		if (in_cohort(purpose, run, n, attempt, sampled, members, s, ""))
			add(*got ? " %llu" : "%llu", s);
}

static void add_phones(const char *run, unsigned long long n, unsigned attempt,
                       unsigned long long sampled, unsigned last) {
	for (unsigned i = 0; i <= last; i++) {
		char id[40];
		snprintf(id, sizeof id, "phone-%u", i);
		if (in_cohort("round", run, n, attempt, sampled, 0, 0, id))
			add(*got ? " phone-%llu" : "phone-%llu", i);
	}
}

static void add_group(const char *run, unsigned long long n, unsigned target, float over,
                      unsigned size, unsigned regroup, const char *id) {
	static zofl_plan p;
	snprintf(p.run, sizeof p.run, "%.32s", run);
	p.sharing = GROUPS;
	p.groups = GROUPS_RANDOM;
	p.roster = 1;
	p.target = target;
	p.over_sample = over;
	p.group_size = size;
	p.regroup = regroup;
	if (draws_groups(&p))
		add("%llu", drawn_group(&p, n, id));
}

/* Sets got to the core's value of a line's left side, or returns 0 where the core has none. */
static int evaluate(const char *what, const char *folder) {
	char a[40], b[40];
	unsigned long long n, m, sampled;
	unsigned k, size, regroup;
	float over;
	uint8_t genesis[16];
	got[0] = 0;
	if (sscanf(what, "genesis %39s", a) == 1) {
		zofl_genesis(a, genesis);
		add_hex(genesis, 16);
	} else if (sscanf(what, "hash %39s", a) == 1)
		hash_vector(folder, a, 16);
	else if (sscanf(what, "tip %39s", a) == 1)
		hash_vector(folder, a, 8);
	else if (sscanf(what, "shard %39s %u", a, &k) == 2)
		add("%llu", zofl_shard(a, k));
	else if (sscanf(what, "batch-seed %39s %39s %llu %llu", a, b, &n, &m) == 4)
		add("%016llx", zofl_batch_seed(a, b, n, (uint32_t)m));
	else if (sscanf(what, "cohort %39s %llu %u %llu %llu", a, &n, &k, &sampled, &m) == 5)
		add_slots("round", a, n, k, sampled, m);
	else if (sscanf(what, "evaluators %39s %llu %llu %llu", a, &n, &sampled, &m) == 4)
		add_slots("eval", a, n, 0, sampled, m);
	else if (sscanf(what, "open %39s %llu %u %llu of phone-0..phone-%u", a, &n, &k, &sampled,
	                &size) == 5)
		add_phones(a, n, k, sampled, size);
	else if (sscanf(what,
	                "group %39s %llu of target %u over_sample %f group_size %u regroup %u, %39s", a,
	                &n, &k, &over, &size, &regroup, b) == 7)
		add_group(a, n, k, over, size, regroup, b);
	else
		return 0;
	return 1;
}

int main(int argc, char **argv) {
	static char line[4096];
	FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		char *value = strstr(line, " = ");
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#' || !value)
			continue;
		*value = 0;
		if (!evaluate(line, argv[2]))
			other++;
		else if (strcmp(got, value + 3) == 0)
			equal++;
		else {
			bad++;
			printf("%s: got %s, want %s\n", line, got, value + 3);
		}
	}
	printf("golden: %d equal, %d differ, %d that no device of the core has\n", equal, bad, other);
	return bad > 0 || equal < 20;
}
