/* Checks the core's table of plan fields against the page, and the keys of private runs:
   plan docs/wire.md docs/device.md plan/testdata/runkeys.txt
   A field or a choice that the page has and the core lacks fails, and one the other way round.
   docs/device.md lists the fields that a device ignores, and those that the core refuses. */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>

static int bad, fields, choices, keys, listed;

static void differs(const char *what, const char *name) {
	bad++;
	printf("%s: %s\n", name, what);
}

/* Splits a line of a table into its cells, without spaces and backticks around them. */
static int split(char *line, char *cell[8]) {
	int n = 0;
	char *p = line + 1;
	while (n < 8) {
		char *end = strchr(p, '|'), *last;
		if (!end)
			return n;
		*end = 0;
		p += strspn(p, " `");
		for (last = end; last > p && (last[-1] == ' ' || last[-1] == '`'); last--)
			;
		*last = 0;
		cell[n++] = p;
		p = end + 1;
	}
	return n;
}

static const char *form_name(char form) {
	switch (form) {
	case UINT:
	case UINT63:
		return "uint";
	case FLOAT:
		return "finite float";
	case STR:
		return "str";
	case BIN:
		return "bin";
	case CHOICE:
		return "choice";
	}
	return "array";
}

static void check_field(char *cell[8]) {
	const plan_field *f = field_of(strtoull(cell[0], NULL, 10));
	fields++;
	if (!f || strcmp(f->name, cell[1]) != 0)
		differs("the core does not know this field", cell[1]);
	else if (strcmp(form_name(f->form), cell[2]) != 0)
		differs("another form", cell[1]);
	else if ((strcmp(cell[4], "c") == 0) != f->change)
		differs("a change may name it, or not", cell[1]);
}

static const plan_field *named(const char *name) {
	for (int i = 0; i < PLAN_FIELDS; i++)
		if (strcmp(plan_fields[i].name, name) == 0)
			return &plan_fields[i];
	return NULL;
}

/* "0 mean, 1 relay": each choice is in the mask, and has the name with which plan_explain speaks.
 */
static void check_choices(const char *field, char *list) {
	const plan_field *f = named(field);
	const char *names = f ? choices_of(f->number) : NULL;
	uint32_t mask = 1;
	if (!f || f->form != CHOICE) {
		differs("no choice in the core", field);
		return;
	}
	for (char *p = strtok(list, ","); p; p = strtok(NULL, ",")) {
		size_t size;
		uint32_t v = (uint32_t)strtoul(p, &p, 10);
		const char *name = names ? nth_name(names, v, &size) : NULL;
		mask |= 1u << v;
		choices++;
		p++;
		if (name && (size != strlen(p) || strncmp(name, p, size) != 0))
			differs("a choice has another name in the core", p);
	}
	if (mask != (f->choices | 1u))
		differs("other choices in the core", field);
	if (f->here & ~f->choices & ~1u)
		differs("the build has choices that the plan has not", field);
	if (!names && f->here != f->choices)
		differs("plan_explain has no names for it", field);
}

static void check_page(FILE *f) {
	static char line[4096];
	char *cell[8];
	int in_fields = 0, in_choices = 0;
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, "<!--", 4) == 0) {
			in_fields = strstr(line, "generated: fields") != NULL;
			in_choices = strstr(line, "generated: choices") != NULL;
		}
		if (line[0] != '|' || split(line, cell) < 2)
			continue;
		if (in_fields && cell[0][0] >= '0' && cell[0][0] <= '9')
			check_field(cell);
		if (in_choices && cell[1][0] >= '0' && cell[1][0] <= '9' &&
		    strcmp(cell[0], "fill of a segment") != 0)
			check_choices(cell[0], cell[1]);
	}
	if (fields != PLAN_FIELDS)
		differs("the page has another number of fields", "plan");
	for (int i = 1; i < PLAN_FIELDS; i++)
		if (plan_fields[i].number <= plan_fields[i - 1].number)
			differs("out of order", plan_fields[i].name);
}

/* Whether the core does nothing with a field: it keeps rounds and step_after for the app alone. */
static int is_ignored(const plan_field *f) {
	switch (f->number) {
	case F_RUN:
	case F_RUN_KEY:
	case F_SEGMENTS:
	case F_INITIAL_DIGEST:
	case F_KEY_CHECK:
		return 0;
	}
	if (f->kept && strcmp(f->name, "rounds") != 0 && strcmp(f->name, "step_after") != 0)
		return 0;
	return f->form == CHOICE ? f->here == f->choices : f->here != ONLY_0;
}

static int is_refused(const plan_field *f) {
	return f->here == ONLY_0;
}

/* The names between the mark of a list and its end are those of the fields that belong to it. */
static void check_list(FILE *f, const char *mark, int (*belongs)(const plan_field *)) {
	static char line[4096];
	uint8_t has[256] = {0};
	int in = 0;
	rewind(f);
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, "<!--", 4) == 0)
			in = strstr(line, mark) != NULL;
		if (!in || line[0] != '`')
			continue;
		for (char *p = strtok(line, "` \n"); p; p = strtok(NULL, "` \n")) {
			if (!named(p) || has[named(p)->number]++)
				differs("no field, or named twice", p);
			listed++;
		}
	}
	for (int i = 0; i < PLAN_FIELDS; i++)
		if (belongs(&plan_fields[i]) != (has[plan_fields[i].number] > 0))
			differs(mark, plan_fields[i].name);
}

static void unhex(const char *s, uint8_t b[32]) {
	unsigned v;
	for (int i = 0; i < 32 && sscanf(s + 2 * i, "%2x", &v) == 1; i++)
		b[i] = (uint8_t)v;
}

/* run, scheme, secret, key_check, key */
static void check_keys_of(FILE *f) {
	static char line[512];
	char run[40], scheme[10], hex[3][80];
	while (fgets(line, sizeof line, f)) {
		static zofl_replica r;
		uint8_t secret[32], want[32];
		if (line[0] == '#' ||
		    sscanf(line, "%39s %9s %79s %79s %79s", run, scheme, hex[0], hex[1], hex[2]) != 5)
			continue;
		unhex(hex[0], secret);
		unhex(hex[2], want);
		replica_init(&r, run, secret, 32, NULL);
		r.plan.key_scheme = strcmp(scheme, "hkdf") == 0;
		unhex(hex[1], r.plan.key_check);
		r.plan.key_check_len = 32;
		keys++;
		if (set_key(&r, &r.plan) != ZOFL_OK || memcmp(r.key, want, 32) != 0)
			differs("another key", line);
		secret[5] ^= 1;
		if (set_key(&r, &r.plan) != ZOFL_KEY)
			differs("a wrong secret was taken", line);
	}
}

int main(int argc, char **argv) {
	FILE *page = argc > 3 ? fopen(argv[1], "r") : NULL;
	FILE *device = argc > 3 ? fopen(argv[2], "r") : NULL, *f = argc > 3 ? fopen(argv[3], "r") : NULL;
	if (!page || !device || !f) {
		printf("usage: plan docs/wire.md docs/device.md plan/testdata/runkeys.txt\n");
		return 1;
	}
	check_page(page);
	check_list(device, "fields: ignored", is_ignored);
	check_list(device, "fields: refused", is_refused);
	check_keys_of(f);
	fclose(page);
	fclose(device);
	fclose(f);
	printf("plan: %d fields, %d of them in lists, %d choices, %d keys, %d differ\n", fields, listed,
	       choices, keys, bad);
	return bad > 0 || fields < 100 || listed < 60 || choices < 50 || keys < 8;
}
