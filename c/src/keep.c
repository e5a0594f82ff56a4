/* ---- what a state file needs besides the state: record 1, and what changed since ---- */

#if ZOFL_WITH_STATE

/* The own part of the memory: record 1; then the fields that differ from it, as the body of a
   change record has them; then the body of the end record. */
static uint8_t *kept_first(const zofl_device *d) {
	return d->memory;
}
static uint8_t *kept_changes(const zofl_device *d) {
	return d->memory + d->first_size;
}

static void keep_first(zofl_device *d, const uint8_t *rec, uint32_t n) {
	if (n == d->first_size)
		memcpy(kept_first(d), rec, n);
	d->change_size = d->end_size = d->unsaved = 0;
}

static void apply_first(zofl_device *d) {
	d->change_size = d->end_size = d->unsaved = 0;
	replica_apply(&d->r, kept_first(d), d->first_size);
}

/* A field of a plan or a change: its number, and where its bytes lie. */
typedef struct {
	uint64_t number;
	const uint8_t *at, *value, *end;
} kept_field;

/* Reads the next field. Whether there is one. */
static int next_field(reader *r, kept_field *f) {
	const plan_field *form = NULL;
	plan_value v;
	if (r->p >= r->end || r->err)
		return 0;
	f->at = r->p;
	f->number = uint_(r);
	f->value = r->p;
	if (!r->err && (form = field_of(f->number)) != NULL)
		read_value(r, form, NULL, &v);
	f->end = r->p;
	return !r->err && form != NULL;
}

/* The body of a plan, a change or an end that parse has read: the fields behind the map's head. */
static reader body_of(const uint8_t *rec, size_t n) {
	reader r = {rec, rec + n, 0};
	head(&r, 6);
	uint_(&r);
	uint_(&r);
	binof(&r, 16);
	uint_(&r);
	length(&r, &of_map);
	return r;
}

/* Whether record 1 has the field with these bytes as its value. It leaves zeros out. */
static int is_first(const zofl_device *d, const kept_field *f) {
	reader r = body_of(kept_first(d), d->first_size);
	static const uint8_t zeros[] = {0x90, 0xa0, 0xc4, 0xca};
	kept_field g;
	size_t n = (size_t)(f->end - f->value);
	while (next_field(&r, &g))
		if (g.number == f->number)
			return (size_t)(g.end - g.value) == n && !memcmp(g.value, f->value, n);
	if (n == 1)
		return f->value[0] == 0 || f->value[0] == zeros[0] || f->value[0] == zeros[1];
	for (size_t i = 1; i < n; i++)
		if (f->value[i])
			return 0;
	return (n == 2 && f->value[0] == zeros[2]) || (n == 5 && f->value[0] == zeros[3]);
}

/* Replaces, inserts or removes a field among the changes. Whether there is room. */
static int merge_field(zofl_device *d, const kept_field *f) {
	uint8_t *begin = kept_changes(d), *at = begin, *end = begin + d->change_size;
	reader r = {begin, end, 0};
	kept_field g;
	size_t old = 0, size = is_first(d, f) ? 0 : (size_t)(f->end - f->at), rest;
	while (next_field(&r, &g) && g.number <= f->number) {
		at = begin + (g.end - begin);
		if (g.number == f->number) {
			old = (size_t)(g.end - g.at);
			at -= old;
			break;
		}
	}
	if (d->change_size - old + size > ZOFL_CHANGES)
		return 0;
	rest = (size_t)(end - at) - old;
	memmove(at + size, at + old, rest);
	memcpy(at, f->at, size);
	d->change_size += (uint32_t)size - (uint32_t)old;
	return 1;
}

static void keep_end(zofl_device *d, const uint8_t *body, size_t n) {
	if (d->change_size + n > ZOFL_CHANGES) {
		d->unsaved = 1;
		return;
	}
	memcpy(kept_changes(d) + d->change_size, body, n);
	d->end_size = (uint32_t)n;
}

/* Notes a change of the plan, or the end. */
static void keep_change(zofl_device *d, const record *o, const uint8_t *rec, size_t n) {
	reader r = body_of(rec, n);
	kept_field f;
	if (o->kind == END)
		keep_end(d, r.p, left(&r));
	if (o->kind != CHANGE)
		return;
	while (next_field(&r, &f))
		if (!merge_field(d, &f))
			d->unsaved = 1; /* no state file until a rollback */
}

/* Takes back a change that no run may have, or that this build cannot do: its fields are in the
   plan already. 0: not all earlier changes are kept, so that only the log has the plan. */
static int forget_change(zofl_device *d) {
	reader r = {kept_changes(d), kept_changes(d) + d->change_size, 0}, again = r;
	record o;
	kept_field f;
	uint32_t fields = 0;
	plan_explain(&d->r.plan, d->said, sizeof d->said);
	if (d->unsaved)
		return 0;
	while (next_field(&r, &f))
		fields++;
	parse(&o, &d->r.plan, kept_first(d), d->first_size);
	judge(&d->r.plan, 1);
	read_fields(&again, fields, &d->r.plan, 1);
	judge(&d->r.plan, 0);
	provide(&d->r, &d->r.plan);
	return 1;
}

#else

static int forget_change(zofl_device *d) {
	plan_explain(&d->r.plan, d->said, sizeof d->said);
	return 0;
}
static void keep_first(zofl_device *d, const uint8_t *rec, uint32_t n) {
	(void)d;
	(void)rec;
	(void)n;
}
static void keep_change(zofl_device *d, const record *o, const uint8_t *rec, size_t n) {
	(void)d;
	(void)o;
	(void)rec;
	(void)n;
}
static void apply_first(zofl_device *d) {
	(void)d; /* it comes with the log */
}

#endif
