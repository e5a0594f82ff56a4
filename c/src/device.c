/* ---- a device ---- */
enum { ZOFL_CATCH_UP = 20, ZOFL_JOIN = 21 };
void proto_point(const zofl_device *d, float *dst);
int proto_loss(zofl_device *d, double f);
int proto_decline(const zofl_device *d, uint8_t reason, uint8_t *out, size_t room);

void zofl_device_init(zofl_device *, const char *run, const char *id, uint32_t weight, float *x,
                      float *m, float *tile, uint64_t room, float *scalars, uint32_t scalar_room);
int zofl_subject(const zofl_device *, char what, char *out, size_t room); /* 'a','p','j','c' */
int zofl_join(const zofl_device *, uint8_t *out, size_t room);            /* length or error */
int zofl_on_join(zofl_device *, const uint8_t *, size_t);                 /* zofl_next or error */
int zofl_catch_up(const zofl_device *, uint32_t max, uint8_t *out, size_t room);
int zofl_on_catch_up(zofl_device *, const uint8_t *, size_t);
int zofl_on_announcement(zofl_device *, const uint8_t *, size_t);
uint64_t zofl_seed(const zofl_device *); /* of the task's minibatch */
int zofl_reply(zofl_device *, uint8_t *out, size_t room);
int zofl_digest_reply(const zofl_device *, uint8_t *out, size_t room);
int zofl_check_announcement(const uint8_t *, size_t);
int zofl_check_join_reply(const uint8_t *, size_t);
int zofl_check_catch_up(const uint8_t *, size_t);

typedef struct {
	uint8_t *p, *end;
	int err;
} writer;
static void w_raw(writer *w, const void *b, size_t n) {
	if ((size_t)(w->end - w->p) < n)
		w->err = ZOFL_ROOM;
	else {
		memcpy(w->p, b, n);
		w->p += n;
	}
}
static void w_be(writer *w, uint8_t tag, uint64_t v, int n) {
	uint8_t b[9];
	b[0] = tag;
	for (int i = 0; i < n; i++)
		b[1 + i] = (uint8_t)(v >> 8 * (n - 1 - i));
	w_raw(w, b, (size_t)n + 1);
}
static void w_uint(writer *w, uint64_t v) {
	if (v < 0x80)
		w_be(w, (uint8_t)v, 0, 0);
	else if (v < 0x100)
		w_be(w, 0xcc, v, 1);
	else if (v < 0x10000)
		w_be(w, 0xcd, v, 2);
	else if (v < 0x100000000u)
		w_be(w, 0xce, v, 4);
	else
		w_be(w, 0xcf, v, 8);
}
static void w_float(writer *w, float f) {
	w_be(w, 0xca, f == 0 ? 0 : bits(f), 4);
}
static void w_bin(writer *w, const void *b, size_t n) {
	if (n < 256)
		w_be(w, 0xc4, n, 1);
	else
		w_be(w, 0xc5, n, 2);
	if (b)
		w_raw(w, b, n);
}
static void w_array(writer *w, int n) {
	w_be(w, (uint8_t)(0x90 + n), 0, 0);
}
static int w_done(const writer *w, const uint8_t *out) {
	return w->err ? w->err : (int)(w->p - out);
}

void zofl_device_init(zofl_device *d, const char *run, const char *id, uint32_t weight, float *x,
                      float *m, float *tile, uint64_t room, float *g, uint32_t groom) {
	memset(d, 0, sizeof *d);
	replica_init(&d->r, run, NULL, 0, NULL);
	(void)x;
	(void)m;
	(void)tile;
	(void)room;
	strncpy(d->id, id, 32);
	d->weight = weight ? weight : 1;
	d->g = g;
	d->groom = groom;
}

int zofl_subject(const zofl_device *d, char what, char *out, size_t room) {
	char shard[4] = "0";
	size_t n;
	if (what == 'a' || what == 'p') {
		uint32_t s = zofl_shard(d->id, d->r.plan.shards ? d->r.plan.shards : 1);
		const char *dig = "0123456789abcdefghijklmnopqrstuvwxyz";
		if (s < 36) {
			shard[0] = dig[s];
			shard[1] = 0;
		} else {
			shard[0] = dig[s / 36];
			shard[1] = dig[s % 36];
			shard[2] = 0;
		}
	}
	n = 3 + strlen(d->r.plan.run) + 3 + strlen(shard) + 1 + strlen(d->id) + 1;
	if (room < n)
		return ZOFL_ROOM;
	strcpy(out, "zo.");
	strcat(out, d->r.plan.run);
	n = strlen(out);
	out[n] = '.';
	out[n + 1] = what;
	out[n + 2] = '.';
	out[n + 3] = 0;
	if (what == 'a' || what == 'p')
		strcat(out, shard);
	if (what == 'p')
		strcat(out, ".");
	if (what != 'a')
		strcat(out, d->id);
	return (int)strlen(out);
}

int zofl_join(const zofl_device *d, uint8_t *out, size_t room) {
	writer w = {out, out + room, 0};
	zofl_sha256 c;
	uint8_t k[32] = {0}, zero[8] = {0};
	w_array(&w, 1);
	w_uint(&w, 1);
	w_array(&w, 4);
	if (d->r.n) {
		add_tag(&c, "zofl/1 key");
		zofl_sha256_add(&c, d->r.plan.run_key, 32);
		zofl_sha256_end(&c, k);
	}
	w_bin(&w, k, 8);
	w_bin(&w, d->r.n ? d->r.plan_tip : zero, 8);
	w_uint(&w, d->r.n);
	w_bin(&w, d->r.n ? d->r.hash : zero, 8);
	return w_done(&w, out);
}

int zofl_catch_up(const zofl_device *d, uint32_t max, uint8_t *out, size_t room) {
	writer w = {out, out + room, 0};
	w_array(&w, 3);
	w_uint(&w, 1);
	w_uint(&w, d->r.n + 1);
	w_uint(&w, max);
	return w_done(&w, out);
}

typedef struct {
	uint64_t state, n, attempt, epoch, left, sampled, members, perts;
	float step;
	reader records;
	uint32_t nrecords;
	const uint8_t *missing, *groups, *tip;
	uint32_t nmissing, ngroups, survey;
	uint8_t lean;
} announcement;

static uint64_t leb(reader *r) {
	uint64_t v = 0;
	for (int s = 0; s < 63; s += 7) {
		const uint8_t *p = take(r, 1);
		if (!p)
			return 0;
		v |= (uint64_t)(*p & 127) << s;
		if (*p < 128) {
			if (s && !*p)
				fail(r, ZOFL_FORM);
			return v;
		}
	}
	fail(r, ZOFL_LIMIT);
	return 0;
}

static void tail(announcement *a, const uint8_t *p,
                 const uint8_t *end) { /* a tail of another form is none */
	reader r = {p, end, 0};
	for (int place = 0; place < 4; place++) {
		uint32_t n, k;
		if (r.p == r.end || *r.p < 0x90 || *r.p > 0x9f)
			return;
		n = array(&r);
		if (n == 0)
			continue;
		if (place == 0 && n == 3) {
			uint64_t at = uint_(&r);
			const uint8_t *t = binof(&r, 8);
			binof(&r, 8);
			(void)at;
			(void)t;
		} else if (place == 1 && n == 1) {
			const uint8_t *b = bin(&r, 256, &k);
			if (!r.err) {
				a->missing = b;
				a->nmissing = k;
			}
		} else if (place == 2 && n == 1 && r.p < r.end && *r.p < 0x80) {
			a->survey = (uint32_t)upto(&r, 255);
		} else if (place == 2 && n == 1) {
			const uint8_t *b = bin(&r, 640, &k);
			if (!r.err) {
				a->groups = b;
				a->ngroups = k;
			}
		} else
			return;
		if (r.err)
			return;
	}
}

static int read_announcement(announcement *a, const uint8_t *b, size_t len) {
	reader r = {b, b + len, 0};
	uint32_t k;
	memset(a, 0, sizeof *a);
	if (len > 65536)
		return ZOFL_LIMIT;
	if (len >= 2 && b[0] == 0x91 &&
	    b[1] == 3) { /* lean: its head alone; the record comes by catch-up */
		const uint8_t *p;
		uint32_t flags;
		uint64_t rest = 0;
		r.p += 2;
		p = take(&r, 1);
		flags = p ? *p : 0;
		if (flags > 3)
			return ZOFL_UPGRADE;
		a->lean = 1;
		a->n = leb(&r);
		a->epoch = leb(&r);
		if (flags & 1)
			a->attempt = leb(&r);
		a->left = leb(&r);
		a->sampled = leb(&r);
		a->members = leb(&r);
		if ((p = take(&r, 4)) != NULL)
			a->step = unbits(le32(p));
		a->perts = leb(&r);
		a->tip = take(&r, 8);
		if (flags & 2) {
			rest = leb(&r);
			if ((p = take(&r, rest)) != NULL)
				tail(a, p, p + rest);
		}
		return r.err;
	}
	head(&r, 12);
	a->state = uint_(&r);
	if (!r.err && a->state > 2)
		fail(&r, ZOFL_UPGRADE);
	a->n = above0(&r, MAX63);
	a->attempt = upto(&r, 0xFFFFFFFFu);
	a->epoch = upto(&r, MAX63);
	a->left = upto(&r, 0xFFFFFFFFu);
	a->sampled = upto(&r, 4294967296u);
	a->members = upto(&r, 16777216);
	a->step = finite_(&r);
	a->perts = upto(&r, 65535);
	str(&r, 256, &k);
	a->nrecords = array(&r);
	if (!r.err && (uint64_t)a->nrecords * 2 > (uint64_t)(r.end - r.p))
		fail(&r, ZOFL_TRUNCATED);
	a->records = r;
	for (uint32_t i = 0; i < a->nrecords && !r.err; i++) {
		const uint8_t *p = bin(&r, 61440, &k);
		if (p && k == 0)
			fail(&r, ZOFL_FORM);
	}
	a->records.end = r.p;
	if (!r.err)
		tail(a, r.p, r.end);
	return r.err;
}
int zofl_check_announcement(const uint8_t *b, size_t n) {
	announcement a;
	return read_announcement(&a, b, n);
}

static int feed(zofl_device *d, const uint8_t *p, uint32_t n) {
	int err = replica_apply(&d->r, p, n);
	return err;
}

int zofl_check_join_reply(const uint8_t *b, size_t len) {
	reader r = {b, b + len, 0};
	uint32_t k, n;
	const uint8_t *p;
	record o;
	announcement a;
	head(&r, 7);
	upto(&r, 255);
	upto(&r, 16777215);
	upto(&r, MAX63);
	p = bin(&r, 61440, &n);
	str(&r, 256, &k);
	if (!r.err && n) {
		int e = parse(&o, NULL, p, n);
		if (e)
			return e;
	}
	p = bin(&r, 1024, &k);
	if (!r.err && k) {
		int e = read_announcement(&a, p, k);
		if (e)
			return e;
	}
	return r.err;
}
int zofl_check_catch_up(const uint8_t *b, size_t len) {
	reader r = {b, b + len, 0};
	uint32_t k, n, i;
	head(&r, 4);
	above0(&r, MAX63);
	upto(&r, MAX63);
	n = array(&r);
	if (!r.err && (uint64_t)n * 2 > (uint64_t)(r.end - r.p))
		fail(&r, ZOFL_TRUNCATED);
	for (i = 0; i < n && !r.err; i++)
		bin(&r, 61440, &k);
	return r.err;
}

static int consider(zofl_device *d, announcement *a) {
	const zofl_plan *p = &d->r.plan;
	int in = 0;
	if (a->epoch < d->epoch)
		return ZOFL_WAIT;
	d->epoch = a->epoch;
	if (d->r.n + 1 < a->n)
		return ZOFL_CATCH_UP;
	if (a->lean && a->tip && d->r.n + 1 == a->n && memcmp(a->tip, d->r.hash, 8))
		return ZOFL_CHAIN;
	if (d->r.ended || a->state == 2)
		return d->r.ended ? ZOFL_ENDED : ZOFL_CATCH_UP;
	if (a->state == 1)
		return ZOFL_PAUSED;
	if (d->r.n + 1 != a->n || !d->joined)
		return ZOFL_WAIT;
	if (p->steps != 1)
		return ZOFL_UNSUPPORTED; /* local steps need an iterate of the device's own */
	d->has_group = 0;
	if (p->sharing == 3 &&
	    !(p->groups == 1 && (p->roster == 1 || p->target * (double)p->over_sample > 128))) {
		reader r = {a->groups, a->groups + a->ngroups, 0};
		for (uint32_t g = 0; r.p && r.p < r.end && !r.err; g++) {
			uint64_t n = leb(&r), s = 0;
			for (uint64_t i = 0; i < n && !r.err; i++) {
				s = i ? s + 1 + leb(&r) : leb(&r);
				if (!r.err && s == d->slot && !in) {
					in = 1;
					d->group = g;
					d->has_group = 1;
				}
			}
		}
		if (a->survey && !a->groups)
			in = in_cohort("round", p->run, a->n, (uint32_t)a->attempt, a->sampled,
			                    p->roster ? 0 : a->members, d->slot, d->id);
	} else
		in = in_cohort("round", p->run, a->n, (uint32_t)a->attempt, a->sampled,
		                    p->roster ? 0 : a->members, d->slot, d->id);
	if (!in)
		return ZOFL_WAIT;
	if (d->answered && d->answered_n == a->n && !memcmp(d->answered_tip, d->r.hash, 8)) {
		if (a->missing) {
			reader r = {a->missing, a->missing + a->nmissing, 0};
			uint64_t s = 0;
			int first = 1, found = 0;
			while (r.p < r.end && !r.err) {
				s = first ? leb(&r) : s + 1 + leb(&r);
				first = 0;
				found |= s == d->slot;
			}
			if (!found)
				return ZOFL_WAIT;
		}
	}
	d->n = a->n;
	memcpy(d->tip, d->r.hash, 8);
	d->survey = (uint8_t)a->survey;
	d->perts = a->survey == 3 ? 64 : a->survey == 2 ? 1 : (uint32_t)a->perts;
	d->source = a->survey         ? 0
	            : p->sharing == 1 ? (uint32_t)d->slot + 1
	            : d->has_group    ? d->group + 1
	                              : 0;
	d->mu = p->mu;
	d->points = a->survey == 1       ? 17
	            : a->survey == 2     ? 19
	            : p->difference == 2 ? 2 * d->perts
	                                 : 1 + d->perts;
	d->got = 0;
	d->sum = 0;
	d->direction = 0;
	if (a->survey > 3)
		return ZOFL_WAIT;
	if ((a->survey == 1 ? 17 : a->survey == 2 ? 19 : d->perts) > d->groom)
		return ZOFL_ROOM;
	return ZOFL_EVALUATE;
}

int zofl_on_announcement(zofl_device *d, const uint8_t *b, size_t len) {
	announcement a;
	int err = read_announcement(&a, b, len);
	if (err)
		return err;
	while (a.nrecords-- > 0) {
		uint32_t k;
		const uint8_t *p = bin(&a.records, 61440, &k);
		record o;
		if ((err = parse(&o, NULL, p, k)) != 0)
			return err;
		if (o.n <= d->r.n)
			continue;
		if (o.n > d->r.n + 1)
			return ZOFL_CATCH_UP;
		if ((err = feed(d, p, k)) != 0)
			return err;
	}
	return consider(d, &a);
}

int zofl_on_catch_up(zofl_device *d, const uint8_t *b, size_t len) {
	reader r = {b, b + len, 0};
	uint32_t k, n, i;
	int err;
	uint64_t last;
	head(&r, 4);
	above0(&r, MAX63);
	last = upto(&r, MAX63);
	n = array(&r);
	for (i = 0; i < n && !r.err; i++) {
		const uint8_t *p = bin(&r, 61440, &k);
		record o;
		if (r.err)
			break;
		if ((err = parse(&o, NULL, p, k)) != 0)
			return err;
		if (o.n != d->r.n + 1)
			continue;
		if ((err = feed(d, p, k)) != 0)
			return err;
		if (d->r.n == 0)
			return ZOFL_CATCH_UP; /* a rollback: the log anew */
	}
	if (r.err)
		return r.err;
	if (d->r.ended)
		return ZOFL_ENDED;
	return d->r.n < last && n ? ZOFL_CATCH_UP : ZOFL_WAIT;
}

int zofl_on_join(zofl_device *d, const uint8_t *b, size_t len) {
	reader r = {b, b + len, 0};
	uint32_t k, n;
	const uint8_t *p;
	uint64_t status, slot;
	int err;
	if ((err = zofl_check_join_reply(b, len)) != 0)
		return err;
	head(&r, 7);
	status = uint_(&r);
	slot = uint_(&r);
	d->last = uint_(&r);
	p = bin(&r, 61440, &n);
	if (status != 0 && status != 3)
		return status == 4 ? ZOFL_JOIN : ZOFL_REFUSED;
	if (d->r.n == 0) { /* the plan: accept it, subscribe, and join again */
		if ((err = feed(d, p, n)) != 0)
			return err;
		return ZOFL_JOIN;
	}
	if (status == 3)
		return ZOFL_CHAIN;
	d->slot = slot;
	d->joined = 1;
	str(&r, 256, &k);
	if (d->last > d->r.n)
		return ZOFL_CATCH_UP;
	p = bin(&r, 1024, &k);
	return k ? zofl_on_announcement(d, p, k) : ZOFL_WAIT;
}

uint64_t zofl_seed(const zofl_device *d) {
	return zofl_batch_seed(d->r.plan.run, d->id, d->n, d->survey ? 65535 : 0);
}

static zofl_addr direction(const zofl_device *d, uint32_t p) {
	zofl_addr at = {replica_key(&d->r, d->n), 0, (uint16_t)p, d->source, 0};
	return at;
}
static double tenth(int e) {
	double v = 1;
	while (e < 0) {
		v /= 10;
		e++;
	}
	while (e-- > 0)
		v *= 10;
	return v;
}
static float distance(uint32_t i) {
	return (float)tenth((int)i - 6);
}
static float lengths(uint32_t i) {
	float v = 1;
	int e = (int)i - 10;
	while (e < 0) {
		v /= 4;
		e++;
	}
	while (e-- > 0)
		v *= 4;
	return v;
}

void proto_point(const zofl_device *d, float *dst) {
	const zofl_plan *p = &d->r.plan;
	uint32_t i = d->got, q;
	float mu = d->mu;
	uint64_t j, end;
	int central = p->difference == 2 && d->survey != 2;
	if (d->survey == 1) {
		double r = 1 / ((1 - d->r.p1) * sqrt(d->r.V / (1 - d->r.p2)));
		for (j = 0; j < p->dim; j++) {
			const zofl_segment *s = segment(p, j, &end);
			float f = i == 0 || d->r.V == 0
			              ? 0
			              : (float)((double)lengths(i - 1) * (s->step == 0 ? 1 : s->step) * r);
			float h = f * d->r.m[j];
			dst[j] = f == 0 ? d->r.x[j] : d->r.x[j] - h;
		}
		return;
	}
	if (!central && i == 0) {
		memcpy(dst, d->r.x, 4 * p->dim);
		return;
	}
	if (d->survey == 2) {
		q = d->direction;
		mu = distance((i - 1) / 2);
		if (i % 2 == 0)
			mu = -mu;
	} else if (central) {
		q = i / 2;
		if (i % 2)
			mu = -mu;
	} else
		q = i - 1;
	zofl_addr at = direction(d, q);
	for (j = 0; j < p->dim; j = end) {
		const zofl_segment *s = segment(p, j, &end);
		zofl_perturb(dst + j, ZOFL_F32, d->r.x + j, end - j, j, &at, (zofl_dist)p->distribution,
		             mu * (s->mu == 0 ? 1 : s->mu));
	}
}

static float single(double v) {
	float f = (float)v;
	return f - f == 0 ? f : INFINITY;
}

int proto_loss(zofl_device *d, double f) {
	const zofl_plan *p = &d->r.plan;
	uint32_t i = d->got++, q;
	double unit = p->loss_unit > 0 ? p->loss_unit : 1, mu = d->mu;
	if (d->survey == 1) {
		if (i == 0) {
			d->base = f;
			d->g[0] = (float)f;
		} else
			d->g[i] = single(f - d->base);
	} else if (d->survey == 2) {
		if (i == 0) {
			d->base = f;
			d->g[0] = (float)f;
			d->level = 1;
		} else if (i % 2)
			d->lost = f;
		else {
			d->g[i / 2] = single((d->lost - f) / 2);
			d->g[9 + i / 2] = single((d->lost - d->base) / 2 + (f - d->base) / 2);
			if (!(fabs(d->lost - f) <= 9.5367431640625e-07 * (fabs(d->lost) + fabs(f))))
				d->level = 0;
		}
		if (d->got == 19 && d->level && d->direction < 7) {
			d->direction++;
			d->got = 1;
			d->level = 1;
		}
	} else if (p->difference == 2) {
		q = i / 2;
		if (i % 2 == 0)
			d->lost = f;
		else {
			d->g[q] = (float)((d->lost - f) / (2 * mu) / unit);
			d->sum += (d->lost + f) / 2;
		}
		if (d->got == d->points)
			d->base = d->sum / d->perts;
	} else if (i == 0)
		d->base = f;
	else
		d->g[i - 1] = (float)((f - d->base) / mu / unit);
	return d->got < d->points ? ZOFL_EVALUATE : ZOFL_WAIT;
}

/* <z_p, m> */
static double dot(const zofl_device *d, uint32_t p) {
	zofl_addr at = direction(d, p);
	return direction_dot(d->r.m, d->r.plan.dim, 0, &at, (zofl_dist)d->r.plan.distribution);
}

static float quantize(writer *w, const zofl_plan *p, float *g,
                      uint32_t P) { /* one block; g becomes c */
	static const double steps[] = {0, 0, 0, 1.0 / 32, 5.0 / 16, 255.0 / 256};
	uint32_t nb = 8u >> (p->precision - 3), words = (P * nb + 15) / 16, i, acc = 0, held = 0;
	double s = 0, step = steps[p->precision];
	float most = 0;
	uint16_t h;
	double r;
	for (i = 0; i < P; i++)
		s += (double)g[i] * (double)g[i];
	h = to_half((float)sqrt(s / P));
	{ /* binary16 of a binary64: the float in between rounds twice only if it is a tie; nudge it */
		double v = sqrt(s / P);
		float f = (float)v;
		if ((bits(f) & 0x1FFF) == 0x1000 && (double)f != v)
			f = unbits(bits(f) + ((double)f < v ? 1u : (uint32_t)-1));
		h = to_half(f);
	}
	r = from_half(h);
	{
		uint8_t b[2] = {(uint8_t)h, (uint8_t)(h >> 8)};
		w_raw(w, b, 2);
	}
	for (i = 0; i < words * 16 / nb; i++) {
		int32_t q = 0, lim = 1 << (nb - 1);
		if (i < P && r > 0) {
			double v = floor((double)g[i] / (step * r));
			q = v < -lim ? -lim : v > lim - 1 ? lim - 1 : (int32_t)v;
			g[i] = (float)(step * (q + 0.5) * r);
		} else if (i < P)
			g[i] = 0;
		if (i < P && fabsf(g[i]) > most)
			most = fabsf(g[i]);
		acc |= ((uint32_t)q & ((1u << nb) - 1)) << held;
		held += nb;
		if (held == 16) {
			uint8_t b[2] = {(uint8_t)acc, (uint8_t)(acc >> 8)};
			w_raw(w, b, 2);
			acc = held = 0;
		}
	}
	return r > most ? (float)r : most;
}

int proto_decline(const zofl_device *d, uint8_t reason, uint8_t *out, size_t room) {
	writer w = {out, out + room, 0};
	w_array(&w, 5);
	w_uint(&w, 1);
	w_uint(&w, 3);
	w_uint(&w, d->n);
	w_bin(&w, d->tip, 8);
	w_uint(&w, reason);
	return w_done(&w, out);
}

int zofl_reply(zofl_device *d, uint8_t *out, size_t room) {
	const zofl_plan *p = &d->r.plan;
	writer w = {out, out + room, 0};
	uint32_t i, n = d->survey == 1 ? 17 : d->survey == 2 ? 19 : d->perts;
	float most = 0;
	if (d->got < d->points)
		return ZOFL_STATE;
	w_array(&w, 7);
	w_uint(&w, 1);
	w_uint(&w, 1);
	w_uint(&w, d->n);
	w_bin(&w, d->tip, 8);
	w_uint(&w, d->weight);
	w_be(&w, 0xca, bits((float)d->base), 4);
	if (d->survey || p->precision == 0) {
		w_bin(&w, NULL, 4 * n);
		for (i = 0; i < n; i++) {
			uint32_t u = bits(d->g[i]);
			uint8_t b[4] = {(uint8_t)u, (uint8_t)(u >> 8), (uint8_t)(u >> 16), (uint8_t)(u >> 24)};
			w_raw(&w, b, 4);
			if (!(fabsf(d->g[i]) <= most))
				most = fabsf(d->g[i]);
		}
	} else if (p->precision == 1) {
		w_bin(&w, NULL, 2 * n);
		for (i = 0; i < n; i++) {
			uint16_t u = to_half(d->g[i]);
			uint8_t b[2] = {(uint8_t)u, (uint8_t)(u >> 8)};
			d->g[i] = from_half(u);
			w_raw(&w, b, 2);
			if (!(fabsf(d->g[i]) <= most))
				most = fabsf(d->g[i]);
		}
	} else {
		w_bin(&w, NULL, term_bytes(p->precision, 1, n));
		most = quantize(&w, p, d->g, n);
	}
	if (!d->survey && !(most <= p->max_scalar))
		return proto_decline(d, 5, out, room);
	if (d->survey) {
		w_array(&w, 0);
		w_array(&w, 1);
		w_uint(&w, d->survey);
	} else {
		if (p->step_auto) {
			double s = 0, mm = 0;
			for (uint64_t j = 0; j < p->dim; j++)
				mm += (double)d->r.m[j] * (double)d->r.m[j];
			if (mm > 0) {
				for (i = 0; i < n; i++)
					s += (double)d->g[i] * dot(d, i);
				s = s / n / sqrt(mm);
			}
			w_array(&w, 0);
			w_array(&w, 2);
			w_uint(&w, 0);
			w_float(&w, (float)s);
		}
		if (d->has_group) {
			w_array(&w, 1);
			w_uint(&w, d->group);
		}
	}
	if (w.err)
		return w.err;
	d->answered = 1;
	d->answered_n = d->n;
	memcpy(d->answered_tip, d->tip, 8);
	return w_done(&w, out);
}

int zofl_digest_reply(const zofl_device *d, uint8_t *out, size_t room) {
	writer w = {out, out + room, 0};
	uint8_t h[32];
	replica_digest(&d->r, h);
	w_array(&w, 5);
	w_uint(&w, 1);
	w_uint(&w, 4);
	w_uint(&w, d->r.n);
	w_bin(&w, d->r.hash, 8);
	w_bin(&w, h, 8);
	return w_done(&w, out);
}
