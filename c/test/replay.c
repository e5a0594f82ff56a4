/* Replays logs through the core: replay client/replica/testdata/logs.txt .../refused.txt
   Every digest must be equal. A run outside the profile must be refused because of the field that
   the table below names: a run that is newly refused, or newly replayed, fails. */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>

/* The field that no run of the profile has, by what is in the run's name. */
static const struct {
	const char *run;
	int field;
} outside[] = {
    {"relay by samples, sphere, segments: fedzo", 10},
    {"relay, prox, torch momentum, adam by samples", 54},
    {"sphere, K=3, P=2, amsgrad: zo-adafl", 10},
    {"sphere of one parameter, momentum", 10},
    {"server sgd", 54},
    {"rank 1: scaffold-1, K=2", 53},
    {"rank 1: scaffold-2, K=2", 53},
    {"rank 1: a secret run key, server adam", 54},
    {"server momentum, torch momentum, segments", 54},
    {"server adam, rademacher", 54},
    {"server yogi, prox", 54},
    {"server sign, momentum", 54},
    {"scaffold-1, K=3, P=2, momentum", 53},
    {"scaffold-1, sphere, halves, prox, segments", 10},
    {"scaffold-1, subspace of 2, decay, schedule of P", 10},
    {"scaffold-1, rademacher, yogi", 53},
    {"scaffold-2, K=2, P=3, momentum and decay", 53},
    {"scaffold-2, rademacher, adam, prox, segments", 53},
    {"scaffold-2, sphere of halves, schedule of P", 10},
    {"subspace of 1, K=2, given start", 10},
    {"subspace of 2, P=3, torch momentum", 10},
    {"subspace of 3, relay by samples, yogi, segments", 10},
    {"subspace of 4, momentum, prox, halves", 10},
    {"subspace of 5, relay: zofedht", 10},
    {"subspace of more moves than parameters", 10},
    {"pool of 37, rebase 3", 50},
    {"pool of 71 signs, momentum, decay, at a rebase", 50},
    {"pool of 5 spheres, torch momentum, prox, seeded", 10},
    {"pool of 1000, step scales, halves, private", 50},
    {"private, scaffold-2, amsgrad", 53},
    {"pool that diverges beyond float64", 50},
    {"dense, of many spheres", 10},
    {"dense, in boxes of a start outside", 22},
    {"dense, adam in a box for all", 15},
    {"dense, scaffold-1", 22},
    {"dense, scaffold-2 of a given start", 22},
    {"surrogate", 15},
    {"surrogate before its first record", 22},
    {"late means along spheres, P changes, AMSGrad", 10},
    {"late means along a pool", 50},
    {"late relay along spheres, halves, segments", 10},
    {"normalized on the sphere", 10},
    {"adam decayed", 54},
    {"momentum decayed", 54},
    {"sign decayed", 54},
    {"relay of spheres, 8 bits, P changes, samples, adam", 10},
    {"relay in a subspace, 2 bits", 10},
    {"adagrad, prox", 54},
    {"adagrad without a first moment, own directions on the sphere", 10},
    {"svrg, K=3, P=2, momentum", 53},
    {"svrg on the sphere, prox and decay, AMSGrad, halves", 10},
    {"svrg in a subspace, P changes", 10},
    {"svrg, whole vectors", 22},
    {"subnormal squares of adam", 54},
    {"preset decomfl-adam", 54},
    {"preset fedzo", 10},
    {"preset fedzo-dense", 10},
    {"preset fzoos", 15},
    {"preset scaffold-1", 53},
    {"preset scaffold-2", 53},
    {"preset zo-adafl", 10},
    {"preset zofedht", 10},
    {"preset zofedht-shared", 10},
    {"preset zo-adafl-shared", 10},
    {"preset zo-svrg", 53},
    {"samples:", 10},
    {"point:", 53},
    {"variates:", 53},
    {"subspace:", 10},
    {"pool:", 50},
    {"server:", 54},
    {"dense:", 10},
    {"dense1:", 22},
    {"dense2:", 22},
    {"surrogate:", 22},
    {"preset fedkseed", 50},
    {"rollbacks, changes and an end", 10},
};

static int equal, digests, refused, hostile, local, candidates, bad;
static char line[1 << 20];
static uint8_t record_bytes[MAX_RECORD];

typedef struct {
	char name[200], why[300];
	zofl_replica r;
	uint8_t secret[32], *memory;
	float *given;
	uint8_t *log[4096];
	size_t size[4096];
	int records, digests, state, no_record;
} golden;

static size_t unhex(const char *s, uint8_t *b, size_t room) {
	size_t n = 0;
	unsigned v;
	for (; n < room && sscanf(s, "%2x", &v) == 1; s += 2)
		b[n++] = (uint8_t)v;
	return n;
}

/* COUNT from STATE, as docs/replay.md says. */
static float *numbers(const char *s) {
	char *end;
	unsigned long n = strtoul(s, &end, 10);
	uint64_t state = strtoull(end + 6, NULL, 10);
	float *x = malloc(4 * n);
	for (unsigned long i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		x[i] = (float)(int32_t)(state >> 32) / 268435456.0f;
	}
	return x;
}

/* A device whose own scalars are a record's means moves as the record does: y and ym go ahead of x
   and m. Returns whether they did, once the record was applied. */
static int steps_ahead(golden *g, const uint8_t *rec, size_t n) {
	const zofl_plan *p = &g->r.plan;
	record o;
	term t;
	walk w;
	parse(&o, NULL, rec, n);
	w = walk_terms(p, &o);
	if (o.kind != ROUND || g->r.n == 0 || !g->r.y || p->transport != MEAN || o.nterms != 1)
		return 0;
	memcpy(g->r.y, g->r.x, 4 * (size_t)p->dim);
	if (g->r.ym)
		memcpy(g->r.ym, g->r.m, 4 * (size_t)p->dim);
	next_term(&w, &t);
	for (uint32_t k = 0; k < p->steps; k++) {
		for (uint32_t q = 0; q < o.perts; q++)
			g->r.g[q] = scalar(t.b, w.precision, o.perts, k, q);
		local_step(&g->r, g->r.y, g->r.ym, o.step, o.n, k, g->r.g, o.perts, 0);
	}
	return 1;
}

static int apply(golden *g, const uint8_t *rec, size_t n);

static int apply_ahead(golden *g, const uint8_t *rec, size_t n) {
	int ahead = steps_ahead(g, rec, n), state = apply(g, rec, n);
	size_t bytes = 4 * (size_t)g->r.plan.dim;
	if (!ahead || state || g->r.n == 0)
		return state;
	local++;
	if (memcmp(g->r.x, g->r.y, bytes) != 0 || (g->r.ym && memcmp(g->r.m, g->r.ym, bytes) != 0))
		return 103; /* another local step than the record's */
	return 0;
}

/* The run's name is in record 1, and the replica needs it before. */
static void name_of(const uint8_t *rec, size_t n, char run[33]) {
	reader r = {rec, rec + n, 0};
	const uint8_t *name;
	uint64_t key = 0;
	uint32_t size;
	head(&r, 6);
	uint_(&r);
	uint_(&r);
	binof(&r, 16);
	uint_(&r);
	length(&r, &of_map);
	next_key(&r, &key);
	name = str(&r, MAX_NAME, &size);
	memcpy(run, name, size);
	run[size] = 0;
}

static int apply(golden *g, const uint8_t *rec, size_t n) {
	int state = replica_apply(&g->r, rec, n);
	if (state != ZOFL_MEMORY)
		return state;
	if (replica_give(&g->r, g->memory, (size_t)replica_need(&g->r) - 1) != ZOFL_ROOM)
		return 100; /* too little memory was taken */
	g->memory = realloc(g->memory, (size_t)replica_need(&g->r));
	state = replica_give(&g->r, g->memory, (size_t)replica_need(&g->r));
	return state ? state : replica_apply(&g->r, rec, n);
}

static void add_record(golden *g, const uint8_t *rec, size_t n) {
	if (g->records == 0) {
		char run[33];
		name_of(rec, n, run);
		replica_init(&g->r, run, g->secret, 32, g->given);
	}
	g->log[g->records] = malloc(n);
	memcpy(g->log[g->records], rec, n);
	g->size[g->records++] = n;
	g->state = apply_ahead(g, rec, n);
	for (int i = 0; g->state == 0 && g->r.n < (uint64_t)g->records && i < g->records; i++)
		if (g->r.n == (uint64_t)i) {
			g->state = apply(g, g->log[i], g->size[i]);
			if (g->r.n == 0)
				i = -1; /* another rollback, met on the way */
		}
	if (g->state)
		sprintf(g->why, "record %d: error %d, field %d", g->records, g->state,
		        g->r.plan.unsupported ? g->r.plan.unsupported : g->r.plan.refused);
}

static void check_digest(golden *g, const char *want) {
	uint8_t d[32];
	char got[65];
	replica_digest(&g->r, d);
	for (int i = 0; i < 32; i++)
		sprintf(got + 2 * i, "%02x", d[i]);
	g->digests++;
	if (strcmp(got, want) != 0) {
		g->state = 101;
		sprintf(g->why, "the digest after record %d differs", g->records);
	}
}

/* "K SHA256": of candidate K of the next record, in pieces that end anywhere. */
static void check_candidate(golden *g, const char *value) {
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	char *want, got[65];
	uint32_t k = (uint32_t)strtoul(value, &want, 10);
	uint64_t d = g->r.plan.dim, n;
	uint8_t b[4], h[32];
	zofl_sha256 c;
	zofl_sha256_init(&c);
	for (uint64_t i = 0; i < d; i += n) {
		float piece[37];
		n = d - i < 37 ? d - i : 37;
		candidate(&g->r, k, ZOFL_F32, piece, i, n);
		for (uint64_t e = 0; e < n; e++) {
			put_le32(b, bits(piece[e]));
			zofl_sha256_add(&c, b, 4);
		}
	}
	zofl_sha256_end(&c, h);
	for (int i = 0; i < 32; i++)
		sprintf(got + 2 * i, "%02x", h[i]);
	candidates++;
	if (strcmp(got, want + 1) != 0) {
		g->state = 104;
		sprintf(g->why, "candidate %u differs", (unsigned)k);
	}
#else
	(void)g;
	(void)value;
#endif
}

/* A record that no coordinator of the run makes: it changes nothing. */
static void check_refused(golden *g, const uint8_t *rec, size_t n) {
	uint8_t before[32], after[32];
	record o;
	int state;
	replica_digest(&g->r, before);
	state = replica_apply(&g->r, rec, n);
	replica_digest(&g->r, after);
	hostile++;
	if (parse(&o, NULL, rec, n) != ZOFL_OK || state >= 0 || memcmp(before, after, 32) != 0) {
		g->state = 102;
		sprintf(g->why, "a record to refuse: %d", state);
	}
}

static void read_line(golden *g, const char *name, const char *value) {
	if (strcmp(name, "run") == 0)
		strcpy(g->name, value);
	else if (g->state)
		return;
	else if (strcmp(name, "given") == 0)
		g->given = numbers(value);
	else if (strcmp(name, "secret") == 0)
		unhex(value, g->secret, 32);
	else if (strcmp(name, "record") == 0)
		add_record(g, record_bytes, unhex(value, record_bytes, sizeof record_bytes));
	else if (strcmp(name, "digest") == 0)
		check_digest(g, value);
	else if (strcmp(name, "candidate") == 0)
		check_candidate(g, value);
	else if (strcmp(name, "refused") == 0)
		check_refused(g, record_bytes, unhex(value, record_bytes, sizeof record_bytes));
}

/* A line of the table is of one run, or of all that begin with it, if it ends with a colon. */
static int expected(const char *run) {
	for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
		size_t n = strlen(outside[i].run);
		if (strncmp(run, outside[i].run, n) == 0 && (run[n] == 0 || run[n - 1] == ':'))
			return outside[i].field;
	}
	return 0;
}

/* Whether a build without some part refuses a run because of this field, if it is none that every
   build refuses. */
static int lacks(const char *run, int field) {
#if !ZOFL_WITH_NORMAL
	if (field == F_DISTRIBUTION || field == F_SEGMENTS)
		return 1;
#endif
#if !ZOFL_WITH_LOWRANK
	if (field == F_DISTRIBUTION && strstr(run, "rank 1"))
		return 1;
#endif
#if !ZOFL_WITH_CMA
	if (field == F_SERVER_RULE && (strstr(run, "cma") || strstr(run, "sigma")))
		return 1;
#endif
	(void)run;
	(void)field;
	return 0;
}

static void judge_run(golden *g) {
	int want = expected(g->name), is = g->state == ZOFL_UNSUPPORTED ? g->r.plan.unsupported : 0;
	char text[200] = "";
	if (!g->name[0])
		return;
	if (lacks(g->name, is))
		want = is;
	plan_explain(&g->r.plan, text, sizeof text);
	if (want != is || (g->state && !is)) {
		bad++;
		printf("%s: field %d, want %d; %s (%s)\n", g->name, is, want, g->why, text);
	} else if (is) {
		refused++;
		if (getenv("EXPLAIN"))
			printf("%s\n", text);
	} else {
		equal++;
		digests += g->digests;
	}
}

static void clear(golden *g) {
	for (int i = 0; i < g->records; i++)
		free(g->log[i]);
	free(g->memory);
	free(g->given);
	memset(g, 0, sizeof *g);
}

int main(int argc, char **argv) {
	static golden g;
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");
		if (!f) {
			printf("%s: cannot be read\n", argv[i]);
			return 1;
		}
		while (fgets(line, sizeof line, f)) {
			char *value = strstr(line, ": ");
			line[strcspn(line, "\n")] = 0;
			if (line[0] == 0) {
				judge_run(&g);
				clear(&g);
			} else if (line[0] != '#' && value) {
				*value = 0;
				read_line(&g, line, value + 2);
			}
		}
		judge_run(&g);
		clear(&g);
		fclose(f);
	}
	printf(
	    "replay: %d runs equal (%d digests, %d candidates, %d records refused, %d local rounds), "
	    "%d runs outside, %d wrong\n",
	    equal, digests, candidates, hostile, local, refused, bad);
	return bad > 0 || equal == 0;
}
