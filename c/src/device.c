/* ---- a device (docs/device.md) ---- */

/* Times in milliseconds. */
#define TIMEOUT 5000u /* of a request */
#define LONGEST_PAUSE                                                                              \
	30000u            /* between attempts to reach a coordinator; the first is a 32nd of it */
#define CROSSING 250u /* a repetition so soon after the reply crossed it on the way */
#define LEAST_INTERVAL 1000u /* between announcements */
#define BELIEVE_AFTER 180000u

enum {
	INBOX = 1,     /* subscribed */
	NEWS = 2,      /* subscribed to announcements */
	JOIN = 1,      /* kinds of requests */
	RECORDS = 2,   /* catch-up */
	CONFIRM = 4,   /* catch-up of the last record alone: is it the log's? */
	REPLY_DUE = 1, /* what to publish */
	DECLINE_DUE = 2,
	DIGEST_DUE = 4,
	METRIC_DUE = 8,
	FETCH_TRIES = 4, /* requests for records, without an answer */
	IGNORE_FOR = 3,  /* announcements of an earlier record, before the device asks */
	BELIEVE_TIMES = 10,
	BELIEVE_FRESH = 3,   /* refusals of a device that has no part in the run yet */
	DECLINES_BEFORE = 3, /* in a row, before a device says for how long it is away */
	BACKOFF_DEADLINES = 16,
	SHORTER = 4,      /* a part of the answer to ask for, if long ones do not come */
	REST_DIGESTS = 8, /* between references for which a device rebuilds its state */
};

enum { NOT_LOADED = 0, LOADING = 1, WHOLE = 2, LOADED = 3 }; /* of a state file */

/* ---- time and chance ---- */

/* Uniform below most: SplitMix64. */
static uint64_t jitter(zofl_device *d, uint64_t most) {
	uint64_t z = d->random += 0x9E3779B97F4A7C15u;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return most ? (z ^ z >> 31) % most : 0;
}

static uint32_t longer(uint32_t pause) {
	return pause == 0 ? LONGEST_PAUSE / 32 : pause > LONGEST_PAUSE / 2 ? LONGEST_PAUSE : 2 * pause;
}

/* The shortest time between two announcements, and between two questions. */
static uint64_t interval(const zofl_device *d) {
	uint32_t every = d->plan_known ? d->r.plan.reannounce : 0;
	return every < LEAST_INTERVAL ? LEAST_INTERVAL : every;
}

static uint64_t question_interval(const zofl_device *d) {
	return interval(d) < TIMEOUT ? TIMEOUT : interval(d);
}

/* How long after the last announcement the next one comes at the latest. */
static uint64_t repeat_after(const zofl_device *d) {
	const zofl_plan *p = &d->r.plan;
	uint64_t every = p->reannounce, lasted, works = d->before + d->before / 2, after;
	if (d->seen_state != STATE_OPEN)
		return every;
	lasted = p->deadline > d->seen_left ? p->deadline - d->seen_left : 0;
	after = works > lasted ? works - lasted : 0;
	if (after < 2 * lasted)
		after = 2 * lasted;
	if (after < every)
		after = every;
	return after > 12 * every ? 12 * every : after;
}

/* When the device asks how far the run is, if nothing is announced until then. */
static void watch(zofl_device *d) {
	uint64_t every = interval(d), quiet = every + every / 2 + jitter(d, every * 2 / 5 + 1);
	uint64_t overdue = repeat_after(d) + every / 2 + 1;
	d->quiet_at = d->now + (quiet > overdue ? quiet : overdue);
}

/* ---- text ---- */

static void add_text(char *to, size_t room, const char *s, size_t n) {
	size_t at = strlen(to);
	for (size_t i = 0; i < n && at + 1 < room; i++)
		to[at++] = s[i];
	to[at] = 0;
}

static void add_string(char *to, size_t room, const char *s) {
	add_text(to, room, s, strlen(s));
}

static void add_number(char *to, size_t room, uint64_t v, uint32_t base) {
	char digits[20];
	size_t at = sizeof digits;
	do {
		uint32_t c = (uint32_t)(v % base);
		digits[--at] = (char)(c < 10 ? '0' + c : 'a' + c - 10);
		v /= base;
	} while (v && at);
	add_text(to, room, digits + at, sizeof digits - at);
}

static void note_text(zofl_device *d, const char *what) {
	d->said[0] = 0;
	add_string(d->said, sizeof d->said, what);
}

static void note_number(zofl_device *d, const char *what, uint64_t v) {
	note_text(d, what);
	add_number(d->said, sizeof d->said, v, 10);
}

/* An error that no message cures. */
static int give_up(zofl_device *d, int err) {
	d->failed = err;
	d->work.on = 0;
	return err;
}

/* ---- subjects ---- */

static void write_subject(const zofl_device *d, char what, char out[ZOFL_SUBJECT]) {
	char kind[4] = {'.', what, '.', 0};
	out[0] = 0;
	add_string(out, ZOFL_SUBJECT, "zo.");
	add_string(out, ZOFL_SUBJECT, d->run);
	add_string(out, ZOFL_SUBJECT, kind);
	if (what == 'a' || what == 'p')
		add_number(out, ZOFL_SUBJECT, d->shard, 36);
	if (what == 'p')
		add_string(out, ZOFL_SUBJECT, ".");
	if (what != 'a')
		add_string(out, ZOFL_SUBJECT, d->id);
}

/* The inbox of all requests, or of the last one. */
static void write_inbox(const zofl_device *d, int last, char out[ZOFL_SUBJECT]) {
	out[0] = 0;
	add_string(out, ZOFL_SUBJECT, "_INBOX_");
	add_string(out, ZOFL_SUBJECT, d->id);
	add_string(out, ZOFL_SUBJECT, last ? "." : ".*");
	if (last)
		add_number(out, ZOFL_SUBJECT, d->request, 36);
}

static int subject_is(const zofl_device *d, const char *subject, int answer) {
	char own[ZOFL_SUBJECT];
	if (answer)
		write_inbox(d, 1, own);
	else
		write_subject(d, 'a', own);
	return strcmp(subject, own) == 0;
}

static int is_name(const char *s) {
	size_t n = s ? strlen(s) : 0;
	for (size_t i = 0; i < n; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", s[i]))
			return 0;
	return n >= 1 && n <= ZOFL_ID;
}

/* ---- life ---- */

int zofl_open(zofl_device *d, const zofl_config *c) {
	int err = zofl_selftest();
	memset(d, 0, sizeof *d);
	if (err)
		return give_up(d, err);
	if (!is_name(c->run) || !is_name(c->id)) {
		note_text(d, "run and id have 1 to 32 of the characters a-z A-Z 0-9 - _");
		return give_up(d, ZOFL_VALUE);
	}
	if (!c->frame || c->frame_size < REPLY_AT + 64) {
		note_text(d, "frame_size: give 256 bytes and those of the longest frame sent");
		return give_up(d, ZOFL_ROOM);
	}
	add_string(d->run, sizeof d->run, c->run);
	add_string(d->id, sizeof d->id, c->id);
	d->frame = c->frame;
	d->frame_size = c->frame_size;
	d->memory = c->memory;
	d->memory_size = c->memory ? c->memory_size : 0;
	d->fixed_memory = c->memory != NULL;
	d->weight = c->weight ? c->weight : 1;
	d->max_receive = c->max_receive ? c->max_receive : MAX_FRAME;
	d->random = c->random;
	for (const char *s = c->id; *s; s++) /* FNV-1a: devices differ by their names at least */
		d->random = (d->random ^ (uint8_t)*s) * 0x100000001B3u;
	d->want = JOIN;
	replica_init(&d->r, d->run, c->secret, c->secret_size, c->initial);
	return ZOFL_OK;
}

void zofl_connected(zofl_device *d) {
	d->subscribed = 0;
	d->flight = 0;
	d->pause = 0;
	d->ask_at = d->now;
	d->want |= JOIN;
}

/* ---- memory ---- */

/* The device's own part of the memory, before that of the replica. */
static uint32_t own_size(uint32_t first) {
#if ZOFL_WITH_STATE
	return (first + ZOFL_CHANGES + 15) / 16 * 16;
#else
	(void)first;
	return 0;
#endif
}

static int place(zofl_device *d) {
	return replica_give(&d->r, d->memory + d->own, d->memory_size - d->own);
}

static int is_aligned(const void *memory) {
	return (uintptr_t)memory % 8 == 0;
}

/* The replica needs memory. ZOFL_OK: it has it. ZOFL_MEMORY: the caller must give it. */
static int provide_memory(zofl_device *d) {
	uint64_t need = d->own + replica_need(&d->r);
	if (d->memory && is_aligned(d->memory) && d->memory_size >= need)
		return place(d);
	if (!d->fixed_memory && (size_t)need == need) {
		d->need = (size_t)need;
		return ZOFL_MEMORY;
	}
	note_number(d, "memory, aligned as malloc's: the plan needs bytes: ", need);
	return give_up(d, ZOFL_ROOM);
}

int zofl_give(zofl_device *d, void *memory, size_t size) {
	if (!d->need || d->fixed_memory)
		return ZOFL_STATE;
	if (!memory || size < d->need || !is_aligned(memory))
		return ZOFL_ROOM;
	d->memory = memory;
	d->memory_size = size;
	d->need = 0;
	if (place(d) != ZOFL_OK)
		return ZOFL_ROOM;
	d->want |= d->r.n ? 0 : JOIN;
	d->ask_at = d->now;
	return ZOFL_OK;
}

/* ---- the plan ---- */

static void note_plan(zofl_device *d, const uint8_t *rec, uint32_t n) {
	const zofl_plan *p = &d->r.plan;
	zofl_sha256 c;
	uint8_t hash[32];
	uint32_t shard = zofl_shard(d->id, p->shards ? p->shards : 1);
	record_hash(rec, n, hash);
	memcpy(d->plan_tip, hash, 8);
	add_tag(&c, "zofl/1 key");
	if (is_private(p))
		zofl_sha256_add(&c, p->key_check, p->key_check_len);
	else
		zofl_sha256_add(&c, p->run_key, p->run_key_len);
	zofl_sha256_end(&c, hash);
	memcpy(d->key_tip, hash, 8);
	if (shard != d->shard)
		d->subscribed &= (uint8_t)~NEWS; /* they come on another subject */
	d->shard = shard;
	d->own = own_size(n);
	d->first_size = n;
	d->plan_known = 1;
}

/* Whether the longest reply of a plan fits into the caller's frame. */
static int reply_fits(zofl_device *d) {
	const zofl_plan *p = &d->r.plan;
	uint64_t scalars = term_bytes(p->precision, p->steps, p->perts), need;
	if ((p->step_auto || p->mu_auto) && scalars < 4 * (1 + 2 * DISTANCES))
		scalars = 4 * (1 + 2 * DISTANCES);
	if (p->groups == GROUPS_SKETCH && scalars < 4 * SKETCHED)
		scalars = 4 * SKETCHED;
	need = REPLY_AT + 56 + scalars;
	if (d->frame_size >= need)
		return 1;
	note_number(d, "frame_size: the plan needs ", need);
	return 0;
}

/* Takes record 1. ZOFL_MEMORY: the caller must give memory, and the device asks again for it. */
static int begin_run(zofl_device *d, const uint8_t *rec, uint32_t n) {
	int err = replica_apply(&d->r, rec, n);
	if (err == ZOFL_MEMORY) {
		note_plan(d, rec, n);
		if (!reply_fits(d))
			return give_up(d, ZOFL_ROOM);
		if ((err = provide_memory(d)) != ZOFL_OK)
			return err;
		err = replica_apply(&d->r, rec, n);
	}
	if (err == ZOFL_OK)
		keep_first(d, rec, n);
	return err;
}

/* Back to before the run: another log has its name. */
static void start_over(zofl_device *d) {
	uint64_t rest = d->r.n < 2 ? jitter(d, LONGEST_PAUSE) : 0;
	const uint8_t *secret = d->r.secret;
	replica_init(&d->r, d->run, secret, d->r.secret_size, d->r.given);
	d->joined = d->plan_known = d->scanning = d->ask_open = d->ask_new = 0;
	d->need = 0;
	d->work.on = 0;
	d->epoch = d->ignored = 0;
	d->digest_n = d->reference_n = d->rebuilt = d->eval_n = d->snapshot = 0;
	d->flight = 0;
	d->want = JOIN;
	d->ask_at = d->now + rest;
}

/* Back to record 1 of this log, to replay it. */
static void replay_again(zofl_device *d) {
	d->scanning = 0;
	d->work.on = 0;
	d->digest_n = d->snapshot = 0;
	replica_restart(&d->r);
	apply_first(d);
}

/* Whether the state after record n is one of the path to the log's last record. */
static int on_path(const zofl_replica *r, uint64_t n) {
	uint64_t path = MAX63;
	for (int i = r->nback - 1; i >= 0; i--) {
		if (r->back[i].n > path)
			continue;
		if (n >= r->back[i].n)
			return 1;
		path = r->back[i].to;
		if (n > path)
			return 0;
	}
	return 1;
}

/* ---- doubt: without a key anybody may have sent what would end the run for this device ---- */

/* Notes a claim of a kind. It returns err, and gives up once the claim came often enough. */
static int doubt(zofl_device *d, int err) {
	int fresh = d->r.n == 0 && err != ZOFL_UPGRADE;
	if (d->doubt != (uint8_t)-err) {
		d->doubt = (uint8_t)-err;
		d->doubts = 0;
		d->doubt_since = d->now;
	}
	d->doubts++;
	if ((fresh && d->doubts >= BELIEVE_FRESH) ||
	    (d->doubts >= BELIEVE_TIMES && d->now - d->doubt_since >= BELIEVE_AFTER))
		return give_up(d, err);
	return err;
}

/* ---- records ---- */

static int digest_due(const zofl_device *d) {
	uint32_t every = d->r.plan.digest_every;
	return every && d->r.n % every == 0;
}

/* Computes the digest of the present state, unless no reference will name it. */
static void note_digest(zofl_device *d, uint64_t last) {
	uint8_t digest[32];
	if (!digest_due(d) || d->r.n + 4 * (uint64_t)d->r.plan.digest_every <= last)
		return;
	replica_digest(&d->r, digest);
	memcpy(d->digest, digest, 8);
	memcpy(d->digest_tip, d->r.hash, 8);
	d->digest_n = d->r.n;
	d->digest_told = 0;
}

/* Passes a record that is only read for its rollbacks. */
static int scan_record(zofl_device *d, const record *o, const uint8_t *rec, uint32_t n) {
	int err = ZOFL_OK;
	if (o->n != d->scan_n + 1 || o->epoch < d->scan_epoch || memcmp(o->prev, d->scan_hash, 16))
		return ZOFL_CHAIN;
	if (o->kind == ROLLBACK)
		err = note_rollback(&d->r, o->n, o->to);
	if (err)
		return err;
	d->scan_n = o->n;
	d->scan_epoch = o->epoch;
	record_hash(rec, n, d->scan_hash);
	return ZOFL_OK;
}

static void begin_scan(zofl_device *d) {
	d->scanning = 1;
	d->scan_n = d->r.n;
	d->scan_epoch = d->r.epoch;
	memcpy(d->scan_hash, d->r.hash, 16);
}

/* Whether a record after the replica's last, up to the scan's, belongs to the path. */
static int skipped_live(const zofl_device *d) {
	uint64_t at = d->scan_n;
	for (int i = d->r.nback - 1; i >= 0 && at > d->r.n; i--) {
		if (d->r.back[i].n > at)
			continue;
		if (at > d->r.back[i].n)
			return 1;
		at = d->r.back[i].to;
	}
	return at > d->r.n;
}

/* The scan is at the log's end: goes back to record 1 if the state is not on the path. */
static void end_scan(zofl_device *d) {
	d->scanning = 0;
	if (!on_path(&d->r, d->r.n)) {
		replay_again(d);
	} else if (!skipped_live(d)) {
		d->r.n = d->scan_n;
		d->r.epoch = d->scan_epoch;
		memcpy(d->r.hash, d->scan_hash, 16);
		note_digest(d, d->ask.n - 1);
	}
}

/* Whether a record is the plan that the coordinator sent, by which memory was given. */
static int is_plan(const zofl_device *d, const uint8_t *rec, uint32_t n) {
	uint8_t hash[16];
	record_hash(rec, n, hash);
	return memcmp(hash, d->plan_tip, 8) == 0;
}

/* Takes the next record of the log; last is where the log ends. */
static int take_record(zofl_device *d, const record *o, const uint8_t *rec, uint32_t n,
                       uint64_t last) {
	int err, live;
	if (o->kind == ROLLBACK && !d->scanning && follows(&d->r, o) == ZOFL_OK &&
	    !dropped(&d->r, o->n))
		begin_scan(d);
	if (d->scanning)
		return scan_record(d, o, rec, n);
	if (o->n == 1 && !is_plan(d, rec, n))
		return ZOFL_CHAIN;
	live = on_path(&d->r, o->n);
	err = replica_apply(&d->r, rec, n);
	if (err == ZOFL_MEMORY && (err = provide_memory(d)) == ZOFL_OK)
		err = replica_apply(&d->r, rec, n);
	if (o->kind == CHANGE && (err == ZOFL_REFUSED || err == ZOFL_UNSUPPORTED) && !forget_change(d))
		replay_again(d);
	if (err)
		return err;
	d->work.on = 0;
	if (o->n == 1)
		keep_first(d, rec, n);
	if (live) {
		keep_change(d, o, rec, n);
		note_digest(d, last);
	}
	return ZOFL_OK;
}

/* The last record that the device has read. */
static uint64_t position(const zofl_device *d) {
	return d->scanning ? d->scan_n : d->r.n;
}

static const uint8_t *position_hash(const zofl_device *d) {
	return d->scanning ? d->scan_hash : d->r.hash;
}

/* Takes records of a list up to record last. The first of them has the index first. */
static int take_records(zofl_device *d, reader *list, uint32_t count, uint64_t first,
                        uint64_t last) {
	record o;
	for (uint32_t i = 0; i < count && first + i <= last; i++) {
		uint32_t n = 0;
		const uint8_t *rec = bin(list, MAX_RECORD, &n);
		uint8_t hash[16];
		int err = list->err;
		if (!err && first + i > position(d))
			err = parse(&o, NULL, rec, n);
		if (err)
			return err;
		if (first + i == position(d)) {
			record_hash(rec, n, hash);
			if (memcmp(hash, position_hash(d), 16))
				return ZOFL_CHAIN;
		}
		if (first + i <= position(d))
			continue;
		if (o.n != first + i)
			return ZOFL_REFUSED;
		if (o.n > position(d) + 1)
			return ZOFL_OK; /* a gap: the device asks for it */
		if ((err = take_record(d, &o, rec, n, last)) != ZOFL_OK)
			return err;
	}
	return ZOFL_OK;
}

/* The room for the record of a short announcement: what is left of the memory, or of the frame
   behind its requests. What lies there is a reply to the round of that record. */
static uint8_t *record_room(const zofl_device *d, size_t *room) {
	size_t spare = d->memory_size - d->own - (size_t)d->r.need;
	if (d->memory_size > d->own + d->r.need && spare > d->frame_size - REPLY_AT) {
		*room = spare;
		return d->memory + d->own + (size_t)d->r.need;
	}
	*room = d->frame_size - REPLY_AT;
	return d->frame + REPLY_AT;
}

static int take_short(zofl_device *d, const announcement *a) {
	record o;
	size_t room;
	uint8_t *out = record_room(d, &room);
	int n, err;
	if (position(d) == a->n - 1)
		return memcmp(position_hash(d), a->tip, 8) ? ZOFL_CHAIN : ZOFL_OK;
	if (position(d) + 1 != a->n - 1)
		return ZOFL_OK;
	if (out == d->frame + REPLY_AT) {
		d->work.on = d->answer.known = 0;
		d->due &= (uint8_t)~REPLY_DUE;
	}
	n = lean_record(a, position_hash(d), out, room);
	if (n < 0) /* the log decides: the device asks for the record */
		return n == ZOFL_ROOM || n == ZOFL_VALUE ? ZOFL_OK : n;
	if ((err = parse(&o, NULL, out, (size_t)n)) != ZOFL_OK)
		return err;
	return take_record(d, &o, out, (uint32_t)n, a->n - 1);
}

/* ---- announcements ---- */

/* Whether the work in hand goes on although a later record is announced: late contributions count,
   and so does an evaluation. The device then asks for the records. */
static int works_on(const zofl_device *d, const announcement *a) {
	const zofl_work *w = &d->work;
	if (!w->on)
		return 0;
	if (w->held_out)
		return 1;
	return d->r.plan.late && a->n > w->n && a->n - w->n <= d->r.plan.late &&
	       a->epoch == d->answer.epoch;
}

/* Keeps what the device needs of an announcement. */
static void keep_ask(zofl_device *d, const announcement *a, int asked) {
	zofl_ask *k = &d->ask;
	int32_t group = group_of(a, d->slot);
	memset(k, 0, sizeof *k);
	k->n = a->n;
	k->epoch = a->epoch;
	k->left = a->left;
	k->sampled = a->sampled;
	k->attempt = (uint32_t)a->attempt;
	k->members = (uint32_t)a->members;
	k->perts = (uint32_t)a->perts;
	k->group = (uint32_t)(group + 1);
	k->step = a->step;
	k->state = (uint8_t)a->state;
	k->survey = (uint8_t)a->survey;
	k->named = a->missing != NULL;
	k->missing = (uint8_t)(a->missing && is_missing(a, d->slot));
	k->asked = (uint8_t)asked;
	d->ask_new = d->ask_open = 1;
}

/* Whether the device ignores an announcement that is older than what it knows. After some of them
   it asks whether the log lost its end. */
static int is_old(zofl_device *d, const announcement *a) {
	int behind = a->n - 1 < position(d), lost = behind && a->epoch > d->r.epoch;
	if (!behind && a->epoch >= d->epoch)
		return 0;
	if (a->state == STATE_PAUSED && behind) {
		d->paused = 1; /* the log may have lost records: an operator decides */
		return 1;
	}
	if (++d->ignored >= IGNORE_FOR || lost) {
		d->ignored = 0;
		d->want |= CONFIRM;
	}
	return 1;
}

static void note_reference(zofl_device *d, const announcement *a) {
	if (!a->reference)
		return;
	d->reference_n = a->reference_n;
	memcpy(d->reference, a->reference, 8);
	memcpy(d->reference_tip, a->reference_tip, 8);
}

static void note_heard(zofl_device *d, const announcement *a) {
	if (a->n != d->seen_n || a->epoch != d->seen_epoch || a->attempt != d->seen_attempt) {
		int next = a->n > d->seen_n && a->attempt == 0 && d->seen_state == STATE_OPEN;
		d->before = next && d->seen_n ? d->now - d->began : 0;
		d->seen_n = a->n;
		d->seen_epoch = a->epoch;
		d->seen_attempt = (uint32_t)a->attempt;
		d->began = d->now;
	}
	d->seen_state = (uint8_t)a->state;
	d->seen_left = (uint32_t)a->left;
	d->heard_new = 1;
}

/* A record that does not follow the device's own: one of both is not of the log. */
static int contradicted(zofl_device *d, int err) {
	if (err == ZOFL_CHAIN)
		d->want |= d->r.n ? CONFIRM : JOIN;
	if (err == ZOFL_UNSUPPORTED || err == ZOFL_UPGRADE)
		return doubt(d, err);
	return err;
}

static int hear(zofl_device *d, const uint8_t *data, size_t size, int asked) {
	announcement a;
	int err = read_announcement(&a, data, size);
	if (err)
		return contradicted(d, err);
	if (a.n < 2 || a.nrecords >= a.n)
		return ZOFL_REFUSED;
	if (!d->plan_known || d->need)
		return ZOFL_STATE;
	note_heard(d, &a);
	if (d->r.n && is_old(d, &a))
		return ZOFL_OK;
	if (!works_on(d, &a)) {
		d->work.on = d->work.on && a.n <= d->work.n;
		if (a.body)
			err = take_short(d, &a);
		else
			err = take_records(d, &a.records, a.nrecords, a.n - a.nrecords, a.n - 1);
	}
	if (err && err != ZOFL_MEMORY)
		return contradicted(d, err);
	note_reference(d, &a);
	keep_ask(d, &a, asked);
	return ZOFL_OK;
}

/* ---- answers ---- */

/* What the coordinator says, for a log: without the bytes that steer a terminal. */
static void add_reason(zofl_device *d, const join_reply *j) {
	for (uint32_t i = 0; i < j->reason_size; i++) {
		char c = (char)j->reason[i];
		if (j->reason[i] < 0x20 || j->reason[i] == 0x7F)
			c = '?';
		add_text(d->said, sizeof d->said, &c, 1);
	}
}

static int refuse_join(zofl_device *d, const join_reply *j) {
	note_text(d, j->status == 1 ? "roster full: " : j->status == 2 ? "denied: " : "join refused: ");
	add_reason(d, j);
	return doubt(d, ZOFL_REFUSED);
}

/* The run takes no device now. */
static int wait_later(zofl_device *d, const join_reply *j) {
	note_text(d, "");
	add_reason(d, j);
	d->later = 1;
	if (!d->joined) {
		d->want |= JOIN;
		d->pause = longer(d->pause);
		d->ask_at = d->now + jitter(d, d->pause);
	}
	return ZOFL_OK;
}

static int on_refusal(zofl_device *d, const join_reply *j) {
	if (j->status == JOIN_LATER)
		return wait_later(d, j);
	d->want |= JOIN;
	d->pause = longer(d->pause);
	d->ask_at = d->now + jitter(d, d->pause);
	return refuse_join(d, j);
}

static int on_plan(zofl_device *d, const join_reply *j) {
	int err;
	if (d->plan_known && (j->status == JOIN_PLAN || !is_plan(d, j->plan, j->plan_size))) {
		start_over(d);
		return ZOFL_CHAIN;
	}
	if (d->r.n)
		return ZOFL_OK;
	err = begin_run(d, j->plan, j->plan_size);
	if (err && err != ZOFL_MEMORY) {
		d->want |= JOIN;
		d->pause = longer(d->pause);
		d->ask_at = d->now + jitter(d, d->pause);
		return doubt(d, err);
	}
	if (j->status == JOIN_PLAN)
		d->want |= JOIN;
	return err;
}

static int on_join(zofl_device *d, const uint8_t *data, size_t size) {
	join_reply j;
	int err = read_join_reply(&j, data, size);
	if (err) { /* nonsense: the answer may still come, or no_answer asks again */
		d->flight = JOIN;
		return contradicted(d, err);
	}
	d->later = 0;
	if (j.status != JOIN_OK && j.status != JOIN_PLAN)
		return on_refusal(d, &j);
	if (d->claiming) { /* the coordinator knows what the device has, and lets it go */
		d->claiming = 0;
		start_over(d);
		return ZOFL_CHAIN;
	}
	err = on_plan(d, &j);
	if (err || j.status == JOIN_PLAN)
		return err == ZOFL_MEMORY ? ZOFL_OK : err;
	d->slot = (uint32_t)j.slot;
	d->doubts = 0;
	d->doubt = 0;
	d->pause = 0;
	if (!d->joined) {
		d->joined = 1;
		if (!(d->subscribed & NEWS)) /* it asks again once it is subscribed */
			return ZOFL_OK;
	}
	return j.announcement_size ? hear(d, j.announcement, j.announcement_size, 1) : ZOFL_OK;
}

/* Whether the log has the device's last record: the answer to a CONFIRM. */
static int on_confirm(zofl_device *d, catch_up_reply *c) {
	uint8_t hash[16];
	uint32_t n = 0;
	int has;
	const uint8_t *rec = c->nrecords ? bin(&c->records, MAX_RECORD, &n) : NULL;
	if (rec) {
		record_hash(rec, n, hash);
		has = memcmp(hash, d->r.hash, 16) == 0;
	} else /* a log that begins later has nothing to compare */
		has = c->start > d->r.n ||
		      (c->start == d->r.n && c->start_hash && !memcmp(c->start_hash, d->r.hash, 16));
	if (has) {
		d->over |= d->r.ended && !d->joined;
		return ZOFL_OK;
	}
	d->claiming = 1;
	d->want |= JOIN;
	return ZOFL_CHAIN;
}

static int on_records(zofl_device *d, const uint8_t *data, size_t size, int confirm) {
	catch_up_reply c;
	int err = read_catch_up(&c, data, size);
	if (!err && c.from != d->flight_from)
		err = ZOFL_VALUE;
	if (err && confirm)
		d->flight = CONFIRM; /* nonsense: as in on_join */
	if (err)
		return err;
	d->silent = 0;
	if (confirm)
		return on_confirm(d, &c);
	if (c.nrecords == 0 && c.start >= c.from) {
		note_number(d, "the log begins with the state after record ", c.start);
		return doubt(d, ZOFL_UNSUPPORTED);
	}
	if (c.nrecords == 0)
		return ZOFL_VALUE;
	err = take_records(d, &c.records, c.nrecords, c.from, d->ask.n - 1);
	if (err && err != ZOFL_MEMORY)
		return contradicted(d, err);
	if (position(d) < c.from)
		return ZOFL_VALUE; /* it brought nothing */
	d->tries = 0;
	d->ask_new = 1;
	return ZOFL_OK;
}

/* A request for records failed: the device asks again some times, and then waits for the next
   announcement. */
static void fetch_failed(zofl_device *d) {
	if (++d->tries >= FETCH_TRIES) {
		d->tries = 0;
		d->ask_open = 0;
		return;
	}
	d->want |= RECORDS;
	d->pause = longer(d->pause);
	d->ask_at = d->now + jitter(d, d->pause);
}

int zofl_receive(zofl_device *d, const char *subject, const uint8_t *data, size_t size) {
	uint8_t kind = d->flight;
	int err;
	if (d->failed || d->over)
		return ZOFL_STATE;
	if (subject_is(d, subject, 0) && d->plan_known)
		return hear(d, data, size, 0);
	if (!kind || !subject_is(d, subject, 1))
		return ZOFL_STATE;
	d->flight = 0;
	d->ask_at = 0;
	if (kind == JOIN)
		return on_join(d, data, size);
	err = on_records(d, data, size, kind == CONFIRM);
	if (err && kind == RECORDS)
		fetch_failed(d);
	return err;
}

/* ---- requests ---- */

static void write_known(const zofl_device *d, knowledge *k) {
	memset(k, 0, sizeof *k);
	if (!d->plan_known)
		return;
	memcpy(k->key, d->key_tip, 8);
	memcpy(k->plan, d->plan_tip, 8);
	k->n = d->r.n ? d->r.n : 1; /* record 1 comes once more with the answer */
	memcpy(k->tip, d->r.n ? d->r.hash : d->plan_tip, 8);
}

/* The length of a reply to ask for. */
static uint32_t room_of_reply(const zofl_device *d) {
	uint32_t room = d->max_receive < 1024 ? 768 : d->max_receive - 256;
	uint32_t divisor = d->divisor ? d->divisor : 1;
	return room / divisor < 256 ? 256 : room / divisor;
}

static int send_request(zofl_device *d, zofl_task *t, uint8_t kind) {
	writer w = {d->frame, d->frame + REPLY_AT, 0};
	knowledge k;
	d->want &= (uint8_t)~kind;
	d->flight = kind;
	d->flight_until = d->now + TIMEOUT;
	d->request++;
	if (kind == JOIN) {
		write_known(d, &k);
		write_join(&w, &k);
	} else {
		d->flight_from = kind == CONFIRM ? d->r.n : position(d) + 1;
		write_catch_up(&w, d->flight_from, kind == CONFIRM ? 1 : room_of_reply(d));
	}
	write_subject(d, kind == JOIN ? 'j' : 'c', d->subject);
	write_inbox(d, 1, d->inbox);
	t->subject = d->subject;
	t->reply = d->inbox;
	t->data = d->frame;
	t->size = (size_t)(w.p - d->frame);
	return ZOFL_SEND;
}

/* No answer came in time. */
static void no_answer(zofl_device *d) {
	uint8_t kind = d->flight;
	d->flight = 0;
	if (kind == CONFIRM) { /* of an end that nobody denies, or until the next announcement */
		d->over |= d->r.ended && !d->joined;
		return;
	}
	if (kind == JOIN && d->joined) {
		d->rejoin_at = d->now + jitter(d, 3 * question_interval(d));
		return;
	}
	if (kind == RECORDS) { /* a broker in between may drop long answers */
		if (d->now - d->heard < TIMEOUT + interval(d) && ++d->silent % 2 == 0 && d->divisor < 256)
			d->divisor = (d->divisor ? d->divisor : 1) * SHORTER;
		fetch_failed(d);
		return;
	}
	d->want |= kind;
	d->pause = longer(d->pause);
	d->ask_at = d->now + jitter(d, d->pause);
}

/* ---- work ---- */

static uint32_t source_of(const zofl_device *d, const zofl_ask *a) {
	const zofl_plan *p = &d->r.plan;
	if (a->perts == 0 && a->survey == SURVEY_SKETCH)
		return 0;
	if (p->sharing == PER_CLIENT)
		return d->slot + 1;
	if (p->sharing != GROUPS)
		return 0;
	if (draws_groups(p))
		return drawn_group(p, a->n, d->id) + 1;
	return a->group ? a->group : 1;
}

/* Whether an announcement asks this device. */
static int asks(const zofl_device *d, const zofl_ask *a) {
	const zofl_plan *p = &d->r.plan;
	if (a->perts && p->sharing == GROUPS && !draws_groups(p))
		return a->group != 0;
	return in_cohort("round", d->run, a->n, a->attempt, a->sampled, a->members, d->slot, d->id);
}

/* Whether the plan may have such a survey. */
static int may_survey(const zofl_plan *p, uint8_t kind) {
	int evolution = p->server_rule == SERVER_CMA;
	switch (kind) {
	case SURVEY_MU:
		return (p->mu_auto && p->mu == 0) ||
		       (evolution && p->step_auto && p->step == 0 && !p->nboxes);
	case SURVEY_STEP:
		return p->step_auto && p->step == 0 && !evolution;
	case SURVEY_SKETCH:
		return p->groups == GROUPS_SKETCH;
	}
	return 0;
}

/* Whether the plan may have such a round. */
static int may_round(const zofl_plan *p, const zofl_ask *a) {
	if ((uint64_t)p->steps * a->perts > MAX_SCALARS)
		return 0;
	return a->step > 0 || (a->step == 0 && p->server_rule == SERVER_NORMALIZED);
}

static int answers(const zofl_answer *r, const zofl_ask *a, const uint8_t tip[8]) {
	return r->known && r->n == a->n && !memcmp(r->tip, tip, 8) && bits(r->step) == bits(a->step) &&
	       r->perts == a->perts && r->survey == (a->perts ? 0 : a->survey);
}

static void note_answer(zofl_device *d) {
	const zofl_ask *a = &d->ask;
	zofl_answer *r = &d->answer;
	r->n = a->n;
	r->epoch = a->epoch;
	r->attempt = a->attempt;
	r->perts = a->perts;
	r->group = a->perts ? a->group : 0;
	r->step = a->step;
	r->survey = a->perts ? 0 : a->survey;
	memcpy(r->tip, d->r.hash, 8);
	r->known = 0;
}

/* Whether an announcement asks again for what the device sent. The answer to a join may have named
   the attempt before; its first announcement, on the way at the same time, is no repetition. */
static int repeats(zofl_device *d, const zofl_ask *a) {
	int known = d->told_n == a->n && d->told_epoch == a->epoch && d->told_attempt == a->attempt;
	d->told_n = a->asked ? a->n : 0;
	d->told_epoch = a->epoch;
	d->told_attempt = a->attempt;
	return a->asked || !known;
}

/* Whether the device has replied already. It sends the reply again if the coordinator lacks it. */
static int replied(zofl_device *d, const zofl_ask *a) {
	int again = repeats(d, a), declined = 0;
	if (!(answers(&d->answer, a, d->r.hash) && d->answer.group == (a->perts ? a->group : 0))) {
		declined = answers(&d->declined, a, d->r.hash) && d->declined.epoch == a->epoch &&
		           d->declined.attempt == a->attempt;
		if (!declined)
			return 0;
	}
	if (a->named ? !a->missing : !again)
		return 1;
	if (d->now - d->reply_sent < CROSSING && d->answer.epoch == a->epoch &&
	    d->answer.attempt == a->attempt)
		return 1;
	d->answer.epoch = a->epoch;
	d->answer.attempt = a->attempt;
	d->due |= declined ? DECLINE_DUE : REPLY_DUE;
	return 1;
}

/* Declines the round in hand. A device that goes on declining says for how long. */
static void decline(zofl_device *d, uint8_t reason) {
	uint64_t most = BACKOFF_DEADLINES * (uint64_t)d->r.plan.deadline;
	d->work.on = 0;
	d->away = 0;
	d->reason = reason;
	d->due |= DECLINE_DUE;
	if (reason != DECLINE_BUSY && ++d->declines > DECLINES_BEFORE) {
		d->backoff = longer(d->declines == DECLINES_BEFORE + 1 ? 0 : d->backoff);
		if (d->backoff > most)
			d->backoff = (uint32_t)most;
		d->away = d->backoff / 2 + (uint32_t)jitter(d, d->backoff / 2 + 1);
		d->back_at = d->now + d->away;
	}
	d->declined = d->answer;
	d->declined.known = reason != DECLINE_BUSY; /* a busy device may soon be free */
}

/* Begins the work that the announcement in hand asks for. */
static void begin_work(zofl_device *d) {
	const zofl_ask *a = &d->ask;
	const zofl_plan *p = &d->r.plan;
	zofl_work *w = &d->work;
	uint8_t survey = a->perts ? 0 : a->survey;
	uint64_t scalars;
	memset(w, 0, sizeof *w);
	w->n = a->n;
	w->survey = survey;
	w->perts = survey == SURVEY_SKETCH ? SKETCHED : survey ? 1 : a->perts;
	w->source = source_of(d, a);
	w->group = a->perts && p->sharing == GROUPS && !draws_groups(p) ? a->group : 0;
	w->step = a->step;
	w->closes = d->heard + a->left + (survey ? 0 : (uint64_t)p->late * p->deadline);
	w->points = count_points(d);
	note_answer(d);
	d->due &= (uint8_t) ~(REPLY_DUE | DECLINE_DUE);
	scalars = survey ? 1 + 2 * DISTANCES : (uint64_t)p->steps * w->perts;
	if (w->closes <= d->now)
		decline(d, DECLINE_TIME);
	else if ((survey != SURVEY_SKETCH && scalars > d->r.scalars) || !begin_reply(d, d->r.hash)) {
		note_number(d, "no room for the scalars of a round of perturbations ", w->perts);
		decline(d, DECLINE_POLICY);
	} else
		w->on = 1;
}

static void work(zofl_device *d) {
	const zofl_ask *a = &d->ask;
	const zofl_plan *p = &d->r.plan;
	if (a->perts ? !may_round(p, a) : !may_survey(p, a->survey))
		return;
	if (replied(d, a) || d->now < d->back_at)
		return;
	begin_work(d);
}

/* ---- state reports ---- */

/* Whether the device is drawn to evaluate the state after record n. */
static int is_evaluator(const zofl_device *d, const zofl_ask *a) {
	const zofl_plan *p = &d->r.plan;
	uint64_t share = p->eval_count, all = asked(p);
	if (p->metrics != 1 || p->eval_every == 0 || d->eval_n == d->r.n)
		return 0;
	if (d->r.n % p->eval_every && !d->r.ended)
		return 0;
	if (a->members == 0) {
		share = a->sampled * p->eval_count / (all ? all : 1);
		if (share > 4294967296u)
			share = 4294967296u;
	}
	return in_cohort("eval", d->run, d->r.n, 0, share, a->members, d->slot, d->id);
}

static void report_state(zofl_device *d, int wanted) {
	if (wanted && digest_due(d) && d->digest_n == d->r.n && !d->digest_told)
		d->due |= DIGEST_DUE;
	d->evaluates = (uint8_t)is_evaluator(d, &d->ask);
}

static void begin_evaluation(zofl_device *d) {
	d->evaluates = 0;
	d->eval_n = d->r.n;
	memset(&d->work, 0, sizeof d->work);
	d->work.n = d->r.n;
	d->work.points = 1;
	d->work.held_out = 1;
	d->work.on = 1;
	d->work.closes = d->now + 300000;
}

/* ---- what an announcement leads to ---- */

/* Compares the state with the digest that the run trusts. After a difference the device replays
   the log, but not for each of many references in a row. */
static int state_differs(zofl_device *d) {
	uint64_t rest = REST_DIGESTS * (uint64_t)d->r.plan.digest_every;
	if (!d->reference_n || d->digest_n != d->reference_n ||
	    memcmp(d->digest_tip, d->reference_tip, 8))
		return 0;
	if (memcmp(d->digest, d->reference, 8) == 0) {
		if (d->reference_n > d->snapshot)
			d->snapshot = 0;
		return 0;
	}
	if (d->rebuilt && d->reference_n < d->rebuilt + rest)
		return 0;
	note_number(d, "the state differs from the run's after record ", d->reference_n);
	d->rebuilt = d->reference_n;
	replay_again(d);
	return 1;
}

/* The device is at the head of the announcement in hand. */
static void act(zofl_device *d) {
	const zofl_ask *a = &d->ask;
	int wanted = 0;
	if (d->doubt == (uint8_t)-ZOFL_UPGRADE || d->doubt == (uint8_t)-ZOFL_UNSUPPORTED)
		d->doubt = 0; /* the log goes on: whatever came was not the run's */
	if (d->epoch && a->epoch > d->epoch && !d->rejoin_at) /* a new coordinator may not know it */
		d->rejoin_at = d->now + jitter(d, 3 * question_interval(d)) + 1;
	if (a->epoch > d->epoch)
		d->epoch = a->epoch;
	d->ignored = 0;
	d->paused = a->state == STATE_PAUSED && !d->r.ended;
	if (a->state == STATE_OPEN && !d->r.ended && d->joined && asks(d, a)) {
		wanted = 1;
		work(d);
	}
	report_state(d, wanted);
	d->at_end = d->r.ended != 0;
}

/* Goes on towards the head of the announcement in hand. */
static void follow(zofl_device *d) {
	if (d->ask_open && position(d) >= d->ask.n - 1)
		d->want &= (uint8_t)~RECORDS; /* a later announcement brought them */
	if (!d->ask_open || d->work.on || d->flight || d->want & (RECORDS | CONFIRM))
		return;
	if (d->scanning && position(d) >= d->ask.n - 1)
		end_scan(d);
	if (position(d) < d->ask.n - 1) {
		d->want |= RECORDS;
		return;
	}
	if (!d->ask_new)
		return;
	d->ask_new = 0;
	d->tries = 0;
	if (state_differs(d))
		d->ask_new = 1;
	else if (d->r.n == d->ask.n - 1)
		act(d);
}

/* ---- poll ---- */

static int task_subject(zofl_device *d, zofl_task *t, int next) {
	t->subject = d->subject;
	return next;
}

static int subscribe(zofl_device *d, zofl_task *t) {
	if (!(d->subscribed & INBOX)) {
		d->subscribed |= INBOX;
		write_inbox(d, 0, d->subject);
		return task_subject(d, t, ZOFL_SUBSCRIBE);
	}
	if (d->joined && !(d->subscribed & NEWS)) {
		d->subscribed |= NEWS;
		d->want |= JOIN;
		d->ask_at = d->now;
		watch(d);
		write_subject(d, 'a', d->subject);
		return task_subject(d, t, ZOFL_SUBSCRIBE);
	}
	return ZOFL_WAIT;
}

static int send_reply(zofl_device *d, zofl_task *t) {
	writer w = {d->frame, d->frame + REPLY_AT, 0};
	write_subject(d, 'p', d->subject);
	t->data = d->frame;
	if (d->due & REPLY_DUE) {
		d->due &= (uint8_t)~REPLY_DUE;
		d->reply_sent = d->now;
		t->data = d->frame + REPLY_AT;
		t->size = d->reply_size;
		return task_subject(d, t, ZOFL_SEND);
	}
	if (d->due & DECLINE_DUE) {
		d->due &= (uint8_t)~DECLINE_DUE;
		d->reply_sent = d->now;
		write_decline(&w, d->declined.n, d->declined.tip, d->reason, d->away);
	} else if (d->due & DIGEST_DUE) {
		d->due &= (uint8_t)~DIGEST_DUE;
		if (d->digest_n != d->r.n || d->digest_told)
			return ZOFL_WAIT;
		d->digest_told = 1;
		write_digest(&w, d->digest_n, d->digest_tip, d->digest);
	} else {
		d->due &= (uint8_t)~METRIC_DUE;
		write_evaluation(&w, d->eval_n, d->r.hash, d->weight, d->metric);
	}
	t->size = (size_t)(w.p - d->frame);
	return task_subject(d, t, ZOFL_SEND);
}

static int ask_loss(zofl_device *d, zofl_task *t) {
	const zofl_work *w = &d->work;
	uint32_t step = w->survey ? SURVEY_BATCH : w->k;
	t->size = (size_t)d->r.plan.dim;
	t->record = w->n;
	t->held_out = w->held_out;
	t->metric = w->held_out ? d->r.plan.metric : NULL;
	t->point = w->got;
	t->points = w->points;
	t->until_ms = w->closes;
	if (w->held_out)
		return ZOFL_EVALUATE;
	t->batch = d->r.plan.batch;
	t->step = w->k;
	t->seed = zofl_batch_seed(d->run, d->id, w->n, step);
	return ZOFL_EVALUATE;
}

/* Takes in what came since the last poll, now that the time is known. */
static void settle_time(zofl_device *d) {
	if (d->heard_new) {
		d->heard_new = 0;
		d->heard = d->now;
		watch(d);
	}
	if (d->flight && d->now >= d->flight_until)
		no_answer(d);
	if (d->work.held_out && d->ask_new && d->now - d->heard > d->ask.left / 2)
		d->work.on = 0; /* the round needs the other half of its time */
	if (d->work.on && d->now >= d->work.closes) {
		if (d->work.held_out)
			d->work.on = 0;
		else
			decline(d, DECLINE_TIME);
	}
	follow(d);
}

/* Asks how far the run is, if it is time to. */
static void look(zofl_device *d) {
	if (!(d->subscribed & NEWS) || d->flight || d->want)
		return;
	if (d->rejoin_at && d->now >= d->rejoin_at) {
		d->rejoin_at = 0;
		d->want |= JOIN;
	} else if (d->now >= d->quiet_at) {
		uint64_t often = question_interval(d);
		d->quiet_at = d->now + 3 * often + jitter(d, often);
		d->want |= JOIN;
	}
}

static uint64_t earlier(uint64_t a, uint64_t b) {
	return a < b ? a : b;
}

static int idle(const zofl_device *d, zofl_task *t) {
	uint64_t until = d->now + 3600000;
	if (d->flight)
		until = earlier(until, d->flight_until);
	else if (d->want)
		until = earlier(until, d->ask_at);
	else if (d->subscribed & NEWS)
		until = earlier(until, d->quiet_at);
	if (d->rejoin_at && !d->flight && !d->want)
		until = earlier(until, d->rejoin_at);
	t->until_ms = until > d->now ? until : d->now + 1;
	return d->paused || d->later ? ZOFL_PAUSED : ZOFL_WAIT;
}

/* Whether the run is over for the device: its end is known, and nothing is left to send. */
static int is_over(zofl_device *d) {
	if (d->at_end && !d->due && !d->evaluates && !d->work.on)
		d->over = 1;
	return d->over;
}

int zofl_poll(zofl_device *d, uint64_t now_ms, zofl_task *t) {
	int next;
	memset(t, 0, sizeof *t);
	if (now_ms > d->now)
		d->now = now_ms;
	if (d->load == LOADING) { /* the state file never became whole */
		start_over(d);
		d->ask_at = 0;
	}
	d->load = LOADED;
	if (d->failed)
		return d->failed;
	if (d->over)
		return ZOFL_ENDED;
	settle_time(d);
	if (d->failed)
		return d->failed;
	if (d->need) {
		t->size = d->need;
		return ZOFL_MEMORY;
	}
	if ((next = subscribe(d, t)) != ZOFL_WAIT)
		return next;
	if (d->due & (REPLY_DUE | DECLINE_DUE) && (next = send_reply(d, t)) != ZOFL_WAIT)
		return next;
	if (d->work.on)
		return ask_loss(d, t);
	while (d->due)
		if ((next = send_reply(d, t)) != ZOFL_WAIT)
			return next;
	if (d->evaluates) {
		begin_evaluation(d);
		return ask_loss(d, t);
	}
	if (is_over(d))
		return ZOFL_ENDED;
	look(d);
	if (!d->flight && d->want && d->now >= d->ask_at)
		return send_request(d, t, d->want & CONFIRM ? CONFIRM : d->want & RECORDS ? RECORDS : JOIN);
	return idle(d, t);
}

/* ---- the caller's answers ---- */

static int is_asked(const zofl_device *d) {
	return d->work.on && !d->failed && !d->over;
}

int zofl_point_at(const zofl_device *d, uint32_t i, zofl_type type, void *dst, uint64_t off,
                  uint64_t n) {
	const zofl_work *w = &d->work;
	uint64_t dim = d->r.plan.dim;
	if (!is_asked(d) || i >= w->points || off > dim || n > dim - off)
		return ZOFL_STATE;
	if (is_evolution(d) && !w->held_out && i >= w->perts && w->got < w->perts)
		return ZOFL_STATE;
	point_range(d, i, type, dst, off, n);
	return ZOFL_OK;
}

int zofl_point(const zofl_device *d, zofl_type type, void *dst, uint64_t off, uint64_t n) {
	return zofl_point_at(d, d->work.got, type, dst, off, n);
}

static int metric_loss(zofl_device *d, double v) {
	d->work.on = 0;
	if (!is_bounded(v))
		return ZOFL_OK;
	d->metric = (float)v;
	d->due |= METRIC_DUE;
	return ZOFL_OK;
}

int zofl_loss(zofl_device *d, double loss) {
	int next;
	if (!is_asked(d))
		return ZOFL_STATE;
	if (d->work.held_out)
		return metric_loss(d, loss);
	next = take_loss(d, loss);
	if (next == NEXT_POINT)
		return ZOFL_OK;
	if (next == REPLY_READY) {
		d->work.on = 0;
		d->answer.known = 1;
		d->declines = 0;
		d->due |= REPLY_DUE;
	} else
		decline(d, (uint8_t)next);
	return ZOFL_OK;
}

/* No round waits for a device that has said goodbye, until it joins or replies again. */
static int leave(zofl_device *d) {
	if (!d->joined || d->r.ended || d->failed)
		return ZOFL_STATE;
	d->work.on = 0;
	d->away = 0;
	d->reason = DECLINE_LEAVING;
	memset(&d->declined, 0, sizeof d->declined);
	d->declined.n = d->r.n + 1;
	memcpy(d->declined.tip, d->r.hash, 8);
	d->due = DECLINE_DUE;
	return ZOFL_OK;
}

int zofl_decline(zofl_device *d, uint8_t reason) {
	if (reason == DECLINE_LEAVING)
		return leave(d);
	if (!is_asked(d))
		return ZOFL_STATE;
	if (d->work.held_out)
		d->work.on = 0;
	else
		decline(d, reason ? reason : DECLINE_POLICY);
	return ZOFL_OK;
}

/* ---- the model ---- */

int zofl_model(const zofl_device *d, zofl_type type, void *dst, uint64_t off, uint64_t n) {
	uint64_t dim = d->r.plan.dim;
	if (d->r.n == 0 || off > dim || n > dim - off)
		return ZOFL_STATE;
	copy_range(dst, type, d->r.x + off, n);
	return ZOFL_OK;
}

uint64_t zofl_records(const zofl_device *d) {
	return d->r.n;
}

uint64_t zofl_rounds(const zofl_device *d) {
	return d->r.rounds;
}

int zofl_digest(const zofl_device *d, uint8_t out[32]) {
	if (d->r.n == 0)
		return ZOFL_STATE;
	replica_digest(&d->r, out);
	return ZOFL_OK;
}
