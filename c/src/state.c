/* ---- state files (docs/state.md) ---- */

#if ZOFL_WITH_STATE

enum {
	MAGIC_SIZE = 13,
	PREFIX_SIZE = MAGIC_SIZE + 4,
	RECORD_HEAD = 3 + 9 + 18 + 1 + 3 /* of a kept record: most bytes before its fields */
};

/* The bytes of a file, of which only those in a window are written. */
typedef struct {
	uint64_t at, from, to;
	uint8_t *out;
	zofl_sha256 *sum; /* of all bytes, or NULL */
} window;

static void emit(window *w, const void *b, size_t n) {
	uint64_t lo = w->at > w->from ? w->at : w->from;
	uint64_t hi = w->at + n < w->to ? w->at + n : w->to;
	if (w->sum)
		zofl_sha256_add(w->sum, b, n);
	if (lo < hi)
		memcpy(w->out + (lo - w->from), (const uint8_t *)b + (lo - w->at), (size_t)(hi - lo));
	w->at += n;
}

static void emit_le(window *w, uint64_t v, unsigned n) {
	uint8_t b[8];
	for (unsigned i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	emit(w, b, n);
}

/* The bytes of a change or an end record before its body, with prev and epoch 0. */
static uint32_t kept_head(const zofl_device *d, uint8_t out[RECORD_HEAD], unsigned kind) {
	static const uint8_t zero[16] = {0};
	writer w = {out, out + RECORD_HEAD, 0};
	reader r = {kept_changes(d), kept_changes(d) + d->change_size, 0};
	kept_field f;
	uint32_t fields = 0;
	w_array(&w, 6);
	w_uint(&w, 1);
	w_uint(&w, kind);
	w_uint(&w, d->r.n);
	w_bin(&w, zero, 16);
	w_uint(&w, 0);
	if (kind == END)
		return (uint32_t)(w.p - out);
	while (next_field(&r, &f))
		fields++;
	if (fields < 16)
		w_be(&w, 0x80 + fields, 0, 0);
	else
		w_be(&w, 0xde, fields, 2);
	return (uint32_t)(w.p - out);
}

/* Length and bytes of a kept record: the changes, or the end; an empty one is left out. */
static void emit_kept(window *w, const zofl_device *d, unsigned kind) {
	uint8_t head_[RECORD_HEAD];
	const uint8_t *body = kept_changes(d);
	uint32_t n = d->change_size, size;
	if (kind == END) {
		body += d->change_size;
		n = d->end_size;
	}
	if (n == 0) {
		emit_le(w, 0, 4);
		return;
	}
	size = kept_head(d, head_, kind);
	if (kind == END) { /* the map's head is the fixed form of one or two entries */
		uint8_t entries = (uint8_t)(0x80 + (n > 2 ? 2 : 1));
		head_[size++] = entries;
	}
	emit_le(w, size + n, 4);
	emit(w, head_, size);
	emit(w, body, n);
}

/* The head, from n to the registers. */
static void emit_head(window *w, const zofl_device *d) {
	const zofl_replica *r = &d->r;
	uint64_t registers[3];
	int n = replica_registers(r, registers);
	emit_le(w, r->n, 8);
	emit(w, r->hash, 16);
	emit_le(w, r->epoch, 8);
	emit_le(w, r->rounds, 8);
	emit_le(w, d->snapshot, 8);
	emit_le(w, r->plan.dim, 8);
	emit_le(w, replica_vectors(r), 4);
	emit_le(w, d->first_size, 4);
	emit(w, kept_first(d), d->first_size);
	emit_kept(w, d, CHANGE);
	emit_kept(w, d, END);
	emit_le(w, r->nback, 4);
	for (int i = 0; i < r->nback; i++) {
		emit_le(w, r->back[i].n, 8);
		emit_le(w, r->back[i].to, 8);
	}
	if (n == 0)
		return;
	emit_le(w, (uint64_t)n, 4);
	for (int i = 0; i < n; i++)
		emit_le(w, registers[i], 8);
}

static uint64_t head_size(const zofl_device *d) {
	window w = {0, 0, 0, NULL, NULL};
	emit_head(&w, d);
	return w.at;
}

static int can_save(const zofl_device *d) {
	return d->r.n > 0 && !d->unsaved && !d->scanning && !d->failed && d->load != LOADING;
}

uint64_t zofl_state_size(const zofl_device *d) {
	if (!can_save(d))
		return 0;
	return PREFIX_SIZE + head_size(d) + 32 + 4 * replica_vectors(&d->r) * d->r.plan.dim + 32;
}

/* Elements of the vectors, a NaN always with the same bits. */
static void emit_vector(window *w, const float *v, uint64_t n) {
	uint64_t i = w->from > w->at ? (w->from - w->at) / 4 : 0;
	uint64_t end = w->to > w->at ? (w->to - w->at + 3) / 4 : 0, begin = w->at;
	if (end > n)
		end = n;
	for (; i < end; i++) {
		uint32_t u = bits(v[i]);
		w->at = begin + 4 * i;
		emit_le(w, (u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : u, 4);
	}
	w->at = begin + 4 * n;
}

int zofl_save(const zofl_device *d, uint64_t off, uint8_t *out, size_t n) {
	window w = {0, off, off + n, out, NULL};
	uint64_t size = zofl_state_size(d), registers[3];
	uint8_t sum[32];
	zofl_sha256 c;
	if (size == 0 || off > size || n > size - off)
		return ZOFL_STATE;
	zofl_sha256_init(&c);
	w.sum = &c;
	emit(&w, replica_registers(&d->r, registers) ? "zofl state 2\n" : "zofl state 1\n", MAGIC_SIZE);
	emit_le(&w, head_size(d), 4);
	emit_head(&w, d);
	zofl_sha256_end(&c, sum);
	w.sum = NULL;
	emit(&w, sum, 32);
	for (uint32_t i = 0; i < replica_vectors(&d->r); i++)
		emit_vector(&w, replica_vector(&d->r, i), d->r.plan.dim);
	if (w.at < w.to) {
		replica_digest(&d->r, sum);
		emit(&w, sum, 32);
	}
	return ZOFL_OK;
}

/* ---- reading ---- */

static uint64_t take_le(reader *r, unsigned n) {
	const uint8_t *p = take(r, n);
	uint64_t v = 0;
	for (unsigned i = n; p && i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* A length and so many bytes. */
static const uint8_t *take_part(reader *r, uint32_t *n) {
	*n = (uint32_t)take_le(r, 4);
	return take(r, *n);
}

/* The parts of a head that lie in the file. */
typedef struct {
	const uint8_t *first, *change, *end, *back;
	uint32_t first_size, change_size, end_size, nback, vectors;
	uint64_t n, epoch, rounds, snapshot, dim, registers[3];
	const uint8_t *hash;
	int nregisters;
} state_head;

static int read_head(state_head *h, const uint8_t *b, size_t n, int second) {
	reader r = {b, b + n, 0};
	memset(h, 0, sizeof *h);
	h->n = take_le(&r, 8);
	h->hash = take(&r, 16);
	h->epoch = take_le(&r, 8);
	h->rounds = take_le(&r, 8);
	h->snapshot = take_le(&r, 8);
	h->dim = take_le(&r, 8);
	h->vectors = (uint32_t)take_le(&r, 4);
	h->first = take_part(&r, &h->first_size);
	h->change = take_part(&r, &h->change_size);
	h->end = take_part(&r, &h->end_size);
	h->nback = (uint32_t)take_le(&r, 4);
	h->back = take(&r, 16 * (uint64_t)h->nback);
	if (second) {
		h->nregisters = (int)(take_le(&r, 4) & 0xFF);
		for (int i = 0; i < h->nregisters && i < 3 && !r.err; i++)
			h->registers[i] = take_le(&r, 8);
	}
	if (r.err || r.p != r.end || h->n == 0 || h->n > MAX63 || h->epoch > MAX63 ||
	    h->rounds > MAX63 || h->snapshot > MAX63)
		return ZOFL_DAMAGED;
	return ZOFL_OK;
}

static int restore_rollbacks(zofl_device *d, const state_head *h) {
	reader r = {h->back, h->back + 16 * (size_t)h->nback, 0};
	uint64_t last = 0;
	d->r.nback = 0;
	for (uint32_t i = 0; i < h->nback; i++) {
		uint64_t n = take_le(&r, 8), to = take_le(&r, 8);
		if (n <= last || to == 0 || to >= n || n > MAX63)
			return ZOFL_DAMAGED;
		if (note_rollback(&d->r, n, to) != ZOFL_OK)
			return ZOFL_ROOM;
		last = n;
	}
	return ZOFL_OK;
}

/* Keeps the changes and the end of the file. */
static int restore_kept(zofl_device *d, const state_head *h) {
	record o;
	int err = ZOFL_OK;
	keep_first(d, h->first, h->first_size);
	if (h->change_size) {
		err = parse(&o, NULL, h->change, h->change_size);
		if (!err)
			keep_change(d, &o, h->change, h->change_size);
	}
	if (h->end_size && !err) {
		err = parse(&o, NULL, h->end, h->end_size);
		if (!err && o.kind != END)
			err = ZOFL_DAMAGED;
		if (!err) {
			keep_change(d, &o, h->end, h->end_size);
			d->r.ended = o.reason;
		}
	}
	return err ? ZOFL_DAMAGED : ZOFL_OK;
}

/* Takes the head, of n bytes behind the prefix. ZOFL_MEMORY: the caller must give memory. */
static int load_head(zofl_device *d, const uint8_t *b, size_t n, int second) {
	state_head h;
	uint64_t registers[3];
	int err = read_head(&h, b, n, second);
	if (err)
		return err;
	err = replica_restore(&d->r, h.first, h.first_size, h.change, h.change_size);
	if (strcmp(d->r.plan.run, d->run) != 0)
		return ZOFL_REFUSED;
	if (err && err != ZOFL_MEMORY)
		return err;
	note_plan(d, h.first, h.first_size);
	if (!reply_fits(d))
		return ZOFL_ROOM;
	if ((err = provide_memory(d)) != ZOFL_OK) /* also where the first call had another file */
		return err;
	err = replica_restore(&d->r, h.first, h.first_size, h.change, h.change_size);
	if (err)
		return err;
	d->r.n = h.n;
	d->r.epoch = h.epoch;
	d->r.rounds = h.rounds;
	d->r.ended = 0;
	memcpy(d->r.hash, h.hash, 16);
	if (h.dim != d->r.plan.dim || h.vectors != replica_vectors(&d->r) ||
	    h.nregisters != replica_registers(&d->r, registers))
		return ZOFL_DAMAGED;
	replica_set_registers(&d->r, h.registers);
	if ((err = restore_kept(d, &h)) == ZOFL_OK)
		err = restore_rollbacks(d, &h);
	d->snapshot = h.snapshot;
	d->load_at = 0;
	return err;
}

/* The first piece: all up to the vectors. The number of its bytes, or an error. */
static int load_first(zofl_device *d, const uint8_t *b, size_t n) {
	uint8_t sum[32];
	zofl_sha256 c;
	uint64_t size;
	int second, err;
	if (n < PREFIX_SIZE)
		return ZOFL_TRUNCATED;
	second = memcmp(b, "zofl state 2\n", MAGIC_SIZE) == 0;
	if (!second && memcmp(b, "zofl state 1\n", MAGIC_SIZE) != 0)
		return ZOFL_DAMAGED;
	size = le32(b + MAGIC_SIZE);
	if (size > 4u << 20)
		return ZOFL_DAMAGED;
	if (n < PREFIX_SIZE + size + 32)
		return ZOFL_TRUNCATED;
	zofl_sha256_init(&c);
	zofl_sha256_add(&c, b, PREFIX_SIZE + (size_t)size);
	zofl_sha256_end(&c, sum);
	if (memcmp(sum, b + PREFIX_SIZE + size, 32) != 0)
		return ZOFL_DAMAGED;
	err = load_head(d, b + PREFIX_SIZE, (size_t)size, second);
	return err ? err : (int)(PREFIX_SIZE + size + 32);
}

/* The bytes of the vectors lie in them as they came, until the last one is there. */
static size_t load_vectors(zofl_device *d, const uint8_t *b, size_t n) {
	uint64_t each = 4 * d->r.plan.dim, all = replica_vectors(&d->r) * each;
	size_t used = 0;
	while (used < n && d->load_at < all) {
		uint32_t i = (uint32_t)(d->load_at / each);
		uint64_t at = d->load_at % each, left = each - at;
		size_t k = n - used < left ? n - used : (size_t)left;
		memcpy((uint8_t *)replica_vector(&d->r, i) + at, b + used, k);
		used += k;
		d->load_at += k;
	}
	return used;
}

static void settle_vectors(zofl_device *d) {
	for (uint32_t i = 0; i < replica_vectors(&d->r); i++) {
		float *v = replica_vector(&d->r, i);
		for (uint64_t j = 0; j < d->r.plan.dim; j++) {
			uint8_t b[4];
			memcpy(b, v + j, 4);
			v[j] = unbits(le32(b));
		}
	}
}

/* The digest at the end; it may come in pieces. */
static int load_digest(zofl_device *d, const uint8_t *b, size_t n, int last) {
	uint64_t all = 4 * replica_vectors(&d->r) * d->r.plan.dim;
	uint8_t own[32];
	if (n > 0) { /* so the vectors are whole */
		uint64_t at = d->load_at - all;
		if (n > 32 - at)
			return ZOFL_DAMAGED;
		memcpy(d->load_sum + at, b, n);
		d->load_at += n;
	}
	if (!last)
		return ZOFL_WAIT;
	if (d->load_at != all + 32)
		return ZOFL_DAMAGED;
	settle_vectors(d);
	replica_digest(&d->r, own);
	return memcmp(own, d->load_sum, 32) ? ZOFL_DAMAGED : ZOFL_OK;
}

/* Forgets what a bad file left. */
static int load_failed(zofl_device *d, int err) {
	start_over(d);
	d->ask_at = 0;
	d->load = WHOLE;
	return err;
}

int zofl_load(zofl_device *d, const uint8_t *b, size_t n, int last) {
	size_t used;
	int err;
	if (d->failed || d->load > LOADING)
		return ZOFL_STATE;
	if (d->load == NOT_LOADED) {
		err = load_first(d, b, n);
		if (err == ZOFL_MEMORY || (err == ZOFL_TRUNCATED && !last))
			return err;
		if (err < 0)
			return load_failed(d, err == ZOFL_TRUNCATED ? ZOFL_DAMAGED : err);
		d->load = LOADING;
		b += err;
		n -= (size_t)err;
	}
	used = load_vectors(d, b, n);
	err = load_digest(d, b + used, n - used, last);
	if (err == ZOFL_WAIT && !last)
		return ZOFL_WAIT;
	if (err)
		return load_failed(d, err);
	d->load = WHOLE;
	d->epoch = 0;
	if (d->r.ended) /* a log that goes on without that end would be another one */
		d->want = CONFIRM;
	return ZOFL_OK;
}

size_t zofl_need(const zofl_device *d) {
	return d->need;
}

#endif
