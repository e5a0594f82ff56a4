/* ---- the state of a run, and what records do to it: docs/replay.md ---- */

/* ---- memory ----

   One workspace holds all vectors. What the state keeps comes first, at places that no change of
   the plan moves: so a caller who must give more memory later may use realloc. */

enum {
	PART_X,
	PART_M,
	PART_U,
	PART_PATH,
	PART_ROWS,
	PART_Y, /* scratch from here on */
	PART_YM,
	PART_BASE,
	PART_TILE,
	PART_DRAWN,
	PART_ZW,
	PART_YW,
	PART_WIDE,
	PART_Z,
	PART_ORDER,
	PART_G,
	PARTS
};

enum { FEWEST_SCALARS = 64 }; /* of an answer to a survey */

static uint64_t scalars_of(const zofl_plan *p) {
	uint64_t most = (uint64_t)p->steps * most_perts(p);
	return most > FEWEST_SCALARS ? most : FEWEST_SCALARS;
}

static uint64_t tile_of(const zofl_plan *p) {
	return p->dim < ZOFL_TILE ? p->dim : ZOFL_TILE;
}

#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
static uint64_t cma_part(const zofl_plan *p, int part) {
	switch (part) {
	case PART_U:
		return p->nboxes ? 4 * p->dim : 0;
	case PART_PATH:
		return 4 * p->dim;
	case PART_ROWS:
		return 4 * p->dim * cma_rows(p);
	case PART_DRAWN:
		return 2 * sizeof(uint64_t);
	case PART_ZW:
		return 8 * p->dim;
	case PART_YW:
		return p->covariance == LIMITED ? 8 * p->dim : 0;
	case PART_WIDE:
		return 8 * cma_wide(p);
	case PART_Z:
		return p->covariance == FULL ? 4 * p->dim : 0;
	case PART_ORDER:
		return 2 * (uint64_t)most_perts(p);
	}
	return 0;
}
#endif

/* The bytes of a part. */
static uint64_t part_size(const zofl_plan *p, int part) {
	switch (part) {
	case PART_X:
		return 4 * p->dim;
	case PART_M:
		return has_m(p) ? 4 * p->dim : 0;
	case PART_Y:
		return p->steps > 1 ? 4 * p->dim : 0;
	case PART_YM:
		return p->steps > 1 && has_m(p) ? 4 * p->dim : 0;
	case PART_BASE:
		return p->steps > 1 ? 4 * tile_of(p) : 0;
	case PART_TILE:
		return 4 * tile_of(p);
	case PART_G: /* of candidates the losses, as doubles */
		return (is_cma(p) ? 8 : 4) * scalars_of(p);
	}
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(p))
		return cma_part(p, part);
#endif
	return 0;
}

/* Doubles may follow floats. */
static uint64_t aligned(uint64_t bytes) {
	return (bytes + 7) / 8 * 8;
}

static uint64_t plan_need(const zofl_plan *p) {
	uint64_t sum = 0;
	for (int i = 0; i < PARTS; i++)
		sum += aligned(part_size(p, i));
	return sum;
}

/* Cuts the workspace for a plan that it is large enough for. */
static void cut(zofl_replica *r, const zofl_plan *p) {
	uint8_t *at = r->memory;
	void *part[PARTS];
	for (int i = 0; i < PARTS; i++) {
		uint64_t size = part_size(p, i);
		part[i] = size ? at : NULL;
		at += aligned(size);
	}
	r->x = part[PART_X];
	r->m = part[PART_M];
	r->y = part[PART_Y];
	r->ym = part[PART_YM];
	r->base = part[PART_BASE];
	r->tile = part[PART_TILE];
	r->g = part[PART_G];
	r->scalars = (uint32_t)scalars_of(p);
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	r->u = part[PART_U];
	r->path = part[PART_PATH];
	r->rows = part[PART_ROWS];
	r->drawn = part[PART_DRAWN];
	r->zw = part[PART_ZW];
	r->yw = part[PART_YW];
	r->wide = part[PART_WIDE];
	r->z = part[PART_Z];
	r->order = part[PART_ORDER];
	r->nrows = is_cma(p) ? cma_rows(p) : 0;
#endif
}

/* The bytes that replica_apply last asked for. */
static uint64_t replica_need(const zofl_replica *r) {
	return r->need;
}

static int replica_give(zofl_replica *r, void *memory, size_t size) {
	if (!memory || size < r->need || (uintptr_t)memory % 8)
		return ZOFL_ROOM;
	r->memory = memory;
	r->room = size;
	if (r->n > 0)
		cut(r, &r->plan);
	return ZOFL_OK;
}

/* Cuts the memory at hand for a plan, or returns ZOFL_MEMORY. */
static int provide(zofl_replica *r, const zofl_plan *p) {
	r->need = plan_need(p);
	if (r->need > r->room)
		return ZOFL_MEMORY;
	cut(r, p);
	return ZOFL_OK;
}

/* ---- hashes of the chain ---- */

static void zofl_genesis(const char *run, uint8_t out[16]) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 run");
	add_str(&c, run);
	zofl_sha256_end(&c, d);
	memcpy(out, d, 16);
}

static void record_hash(const uint8_t *rec, size_t len, uint8_t out[16]) {
	zofl_sha256 c;
	uint8_t d[32];
	zofl_sha256_init(&c);
	zofl_sha256_add(&c, rec, len);
	zofl_sha256_end(&c, d);
	memcpy(out, d, 16);
}

/* ---- the run key ---- */

/* The key from which directions derive: the plan's, or in a private run one of the secret. */
static int set_key(zofl_replica *r, const zofl_plan *p) {
	static const char check_tag[] = "zofl/1 run key"; /* its 0 counts */
	uint8_t check[32];
	hmac h;
	if (!is_private(p)) {
		memcpy(r->key, p->run_key, 32);
		return ZOFL_OK;
	}
	if (!r->secret)
		return ZOFL_KEY;
	if (p->key_scheme == 0) {
		if (r->secret_size != 32)
			return ZOFL_KEY;
		memcpy(r->key, r->secret, 32);
		hmac_begin(&h, r->secret, r->secret_size);
		zofl_sha256_add(&h.c, check_tag, sizeof check_tag);
		hmac_end(&h, check);
	} else {
		derive(r->secret, r->secret_size, "directions", p->run, r->key);
		derive(r->secret, r->secret_size, "key check", p->run, check);
	}
	return memcmp(check, p->key_check, 32) ? ZOFL_KEY : ZOFL_OK;
}

/* The key of record n's directions. */
static uint64_t replica_key(const zofl_replica *r, uint64_t n) {
	return zofl_record_key(r->key, 32, n);
}

/* ---- digest: docs/wire.md, section 8 ---- */

/* Adds the hash of each block of v. */
static void digest_vector(zofl_sha256 *root, const float *v, uint64_t d) {
	uint8_t b[64], h[32];
	for (uint64_t i = 0; i < d;) {
		zofl_sha256 c;
		uint64_t end = i + ZOFL_BLOCK < d ? i + ZOFL_BLOCK : d;
		zofl_sha256_init(&c);
		while (i < end) {
			size_t size = 0;
			for (; i < end && size < sizeof b; i++, size += 4)
				put_le32(b + size,
				         (bits(v[i]) & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : bits(v[i]));
			zofl_sha256_add(&c, b, size);
		}
		zofl_sha256_end(&c, h);
		zofl_sha256_add(root, h, 32);
	}
}

static uint64_t double_bits(double v) {
	uint64_t u;
	memcpy(&u, &v, 8);
	return v != v ? 0x7FF8000000000000u : u;
}

static double bits_double(uint64_t u) {
	double v;
	memcpy(&v, &u, 8);
	return v;
}

static int has_registers(const zofl_plan *p) {
	return is_normalized(p) || is_cma(p);
}

/* The numbers of the state that no vector holds, and how many there are. */
static int replica_registers(const zofl_replica *r, uint64_t out[3]) {
	if (is_normalized(&r->plan)) {
		out[0] = double_bits(r->V);
		out[1] = double_bits(r->p1);
		out[2] = double_bits(r->p2);
		return 3;
	}
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(&r->plan)) {
		out[0] = double_bits(r->sigma);
		out[1] = r->records;
		return r->plan.covariance == LIMITED ? 2 : 1;
	}
#endif
	return 0;
}

/* Sets what replica_registers returned. */
static void replica_set_registers(zofl_replica *r, const uint64_t *in) {
	if (is_normalized(&r->plan)) {
		r->V = bits_double(in[0]);
		r->p1 = bits_double(in[1]);
		r->p2 = bits_double(in[2]);
	}
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(&r->plan)) {
		r->sigma = bits_double(in[0]);
		r->records = r->plan.covariance == LIMITED ? in[1] : 0;
		r->drawn[0] = 0;
	}
#endif
}

/* The vectors of the state, of d elements each, in the order of its digest. */
static float *replica_vector(const zofl_replica *r, uint32_t i) {
	if (i == 0)
		return r->x;
	i--;
	if (r->m && i-- == 0)
		return r->m;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (!is_cma(&r->plan))
		return NULL;
	if (r->u && i-- == 0)
		return r->u;
	if (i-- == 0)
		return r->path;
	if (i < r->nrows)
		return r->rows + i * r->plan.dim;
#endif
	return NULL;
}

static uint32_t replica_vectors(const zofl_replica *r) {
	uint32_t n = r->m ? 2 : 1;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(&r->plan))
		n += (r->u ? 2 : 1) + r->nrows;
#endif
	return n;
}

static void digest_head(zofl_sha256 *root, uint64_t d, uint32_t vectors) {
	add_tag(root, "zofl/1 state");
	add_le(root, d, 8);
	add_le(root, vectors, 4);
}

/* initial_digest of parameters. */
static void initial_digest(const float *x, uint64_t d, uint8_t out[32]) {
	zofl_sha256 root;
	digest_head(&root, d, 1);
	digest_vector(&root, x, d);
	zofl_sha256_end(&root, out);
}

static void seal_digest(const zofl_replica *r, uint8_t sum[32]) {
	static const char tag[] = "zofl/1 digest"; /* its 0 counts */
	hmac h;
	if (!is_private(&r->plan))
		return;
	hmac_begin(&h, r->key, 32);
	zofl_sha256_add(&h.c, tag, sizeof tag);
	zofl_sha256_add(&h.c, sum, 32);
	hmac_end(&h, sum);
}

static void replica_digest(const zofl_replica *r, uint8_t out[32]) {
	zofl_sha256 root;
	uint64_t registers[3];
	uint32_t vectors = replica_vectors(r);
	digest_head(&root, r->plan.dim, vectors);
	for (uint32_t i = 0; i < vectors; i++)
		digest_vector(&root, replica_vector(r, i), r->plan.dim);
	if (has_registers(&r->plan)) {
		int n = replica_registers(r, registers);
		add_le(&root, (uint64_t)n, 4);
		for (int i = 0; i < n; i++)
			add_le(&root, registers[i], 8);
	}
	zofl_sha256_end(&root, out);
	seal_digest(r, out);
}

/* ---- record 1 ---- */

static void replica_init(zofl_replica *r, const char *run, const uint8_t *secret,
                         size_t secret_size, const float *initial) {
	memset(r, 0, sizeof *r);
	for (int i = 0; i < MAX_NAME && run[i]; i++)
		r->plan.run[i] = run[i];
	r->secret = secret;
	r->secret_size = secret_size;
	r->given = initial;
	zofl_genesis(r->plan.run, r->hash);
}

static float clipped(const zofl_segment *s, float x) {
	if (s->low == s->high) /* no box */
		return x;
	return x < s->low ? s->low : x > s->high ? s->high : x;
}

static void seed_segment(zofl_replica *r, const zofl_segment *s, uint64_t i, uint64_t end) {
	zofl_addr at = {replica_key(r, 0), 0, 0, 0, 2};
	if (s->fill == FILL_ZERO)
		memset(r->x + i, 0, (size_t)(4 * (end - i)));
	else
		zofl_fill(r->x + i, end - i, i, &at, s->fill == FILL_UNIFORM ? ZOFL_UNIFORM : ZOFL_NORMAL);
	for (; i < end; i++) {
		if (s->fill != FILL_ZERO)
			r->x[i] = s->scale * r->x[i];
		r->x[i] = clipped(s, r->x[i]);
	}
}

static int take_given(zofl_replica *r) {
	uint64_t end;
	for (uint64_t i = 0; i < r->plan.dim; i++) {
		if (clipped(segment(&r->plan, i, &end), r->given[i]) != r->given[i])
			return ZOFL_REFUSED;
		r->x[i] = r->given[i];
	}
	return ZOFL_OK;
}

/* Whether the caller's parameters are those of the plan. */
static int check_given(const zofl_replica *r, zofl_plan *p) {
	uint8_t is[32];
	if (!p->initial)
		return ZOFL_OK;
	if (r->given)
		initial_digest(r->given, p->dim, is);
	if (r->given && memcmp(is, p->initial_digest, 32) == 0)
		return ZOFL_OK;
	p->refused = F_INITIAL_DIGEST;
	return ZOFL_REFUSED;
}

/* The first state. */
static int begin(zofl_replica *r) {
	const zofl_plan *p = &r->plan;
	uint64_t end;
	int err = p->initial ? take_given(r) : ZOFL_OK;
	for (uint64_t i = 0; i < p->dim && !p->initial; i = end) {
		const zofl_segment *s = segment(p, i, &end);
		seed_segment(r, s, i, end);
	}
	if (r->m)
		memset(r->m, 0, (size_t)(4 * p->dim));
	r->rounds = 0;
	r->V = 0;
	r->p1 = r->p2 = 1;
	r->ended = 0;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(p))
		cma_begin(r);
#endif
	return err;
}

/* Whether the plan just read is one that this replica can run. */
static int accept(zofl_replica *r) {
	int err = judge(&r->plan, 1);
	if (!err)
		err = check_given(r, &r->plan);
	return err ? err : set_key(r, &r->plan);
}

static int apply_plan(zofl_replica *r) {
	int err = accept(r);
	if (!err)
		err = provide(r, &r->plan);
	if (err)
		return err;
	if ((err = begin(r)) != ZOFL_OK)
		r->plan.refused = F_BOXES;
	return err;
}

static int apply_change(zofl_replica *r, const record *o) {
	int err = judge(&r->plan, 0);
	if (!err)
		err = provide(r, &r->plan);
	if (err)
		return err;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(&r->plan) && o->names_step && r->plan.step > 0)
		r->sigma = (double)r->plan.step;
#else
	(void)o;
#endif
	return ZOFL_OK;
}

/* ---- rounds ---- */

/* Whether a term is one that the plan's rounds have. first: it is the record's first. */
static int check_term(const zofl_plan *p, const walk *w, const term *t, int first) {
	int relay = p->transport == RELAY;
	if ((t->source != 0) != relay)
		return 0;
	if (t->back && (!p->late || (first && !relay)))
		return 0;
	if (!t->perts || t->size != term_bytes(w->precision, w->steps, t->perts))
		return 0;
	for (uint32_t k = 0; k < w->steps && w->precision > HALF; k++)
		if (!block_ok(t->b + k * block_bytes(w->precision, t->perts), w->precision, t->perts))
			return 0;
	return 1;
}

static int check_step(const zofl_plan *p, const record *o) {
	if (is_cma(p))
		return o->step > 0 && o->step == p->step && o->perts >= 4 && o->perts <= most_perts(p);
	return o->step > 0 || (o->step == 0 && is_normalized(p));
}

/* Refuses a round that no coordinator of a run with this plan can have made. */
static int check_round(const zofl_plan *p, const record *o) {
	int relay = p->transport == RELAY;
	walk w = walk_terms(p, o);
	term t;
	if (!check_step(p, o) || o->perts == 0 || o->object || o->phase || o->population || o->factor)
		return ZOFL_REFUSED;
	if (o->nterms == 0 || (!relay && !p->late && o->nterms > 1))
		return ZOFL_REFUSED;
	if (o->nweights != (relay && p->weights ? o->nterms : 0))
		return ZOFL_REFUSED;
	for (uint32_t i = 0; i < o->nterms; i++) {
		next_term(&w, &t);
		if (!check_term(p, &w, &t, i == 0))
			return ZOFL_REFUSED;
	}
	return ZOFL_OK;
}

/* The weights of all terms, and the weighted mean square of the record's own scalars. */
static uint64_t weigh(const zofl_plan *p, const record *o, double *square) {
	walk w = walk_terms(p, o);
	uint64_t all = 0, own = 0;
	double sum = 0;
	term t;
	for (uint32_t i = 0; i < o->nterms; i++) {
		double s = 0, weighted;
		next_term(&w, &t);
		all += t.weight;
		if (t.back || !is_normalized(p))
			continue;
		for (uint32_t q = 0; q < t.perts; q++) {
			double g = (double)scalar(t.b, w.precision, t.perts, 0, q), f = g * g;
			s += f;
		}
		weighted = (double)t.weight * s;
		sum += weighted;
		own += (uint64_t)t.weight * t.perts;
	}
	*square = own ? sum / (double)own : 0;
	return all;
}

/* The factor of m in a step of server_rule=normalized, or 0 without one. */
static double inverse_root(const zofl_replica *r) {
	double root;
	if (!(r->V > 0))
		return 0;
	root = (1 - r->p1) * sqrt(r->V / (1 - r->p2));
	return 1 / root;
}

/* Counts a round with the mean square u. With u = 0 it shows nothing of how large slopes are. */
static void count_round(zofl_replica *r, double u) {
	double beta = (double)r->plan.beta2, kept, added;
	r->p1 = r->p1 * (double)r->plan.beta1;
	if (u == 0)
		return;
	kept = beta * r->V;
	added = (1 - beta) * u;
	r->V = kept + added;
	r->p2 = r->p2 * beta;
}

/* v = sum of the terms of local step k, for elements [i, i+n) of one block. weight: of all terms.
 */
static void sum_terms(const zofl_replica *r, const record *o, uint64_t weight, uint32_t k,
                      uint64_t i, uint32_t n) {
	const zofl_plan *p = &r->plan;
	walk w = walk_terms(p, o);
	uint64_t of = 0, key = 0;
	term t;
	sum s;
	sum_begin(&s, r->tile, n, (uint32_t)(i / ZOFL_BLOCK), (uint32_t)(i % ZOFL_BLOCK),
	          (zofl_dist)p->distribution);
	memset(r->tile, 0, 4 * (size_t)n);
	for (uint32_t j = 0; j < o->nterms; j++) {
		double whole;
		next_term(&w, &t);
		if (o->n - t.back != of)
			key = replica_key(r, of = o->n - t.back);
		whole = (double)(weight * t.perts);
		for (uint32_t q = 0; q < t.perts; q++) {
			zofl_addr at = {key, (uint16_t)k, (uint16_t)q, t.source, 0};
			float g = scalar(t.b, w.precision, t.perts, k, q);
			double weighted = (double)g * (double)t.weight;
			sum_add(&s, &at,
			        p->transport == RELAY ? (float)(weighted / whole) : g / (float)t.perts);
		}
	}
	sum_end(&s);
}

/* m = beta m + gain v */
static void move_m(float *m, float beta, float gain, const float *v, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		float kept = beta * m[i], added = gain * v[i];
		m[i] = kept + added;
	}
}

/* x = x - eta v */
static void descend(float *x, float eta, const float *v, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		float f = eta * v[i];
		x[i] = x[i] - f;
	}
}

/* v = v + a u */
static void add_product(float *v, float a, const float *u, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		float f = a * u[i];
		v[i] = v[i] + f;
	}
}

/* One local step of n elements of a segment along the estimate v, which it changes. base: x before
   the round, if the plan has prox. */
static void step_rule(const zofl_plan *p, float eta, float *x, float *m, float *v,
                      const float *base, uint32_t n) {
	if (p->prox != 0)
		for (uint32_t i = 0; i < n; i++) {
			float drift = x[i] - base[i], f = p->prox * drift;
			v[i] = v[i] + f;
		}
	if (p->decay != 0)
		add_product(v, p->decay, x, n);
	if (p->rule != SGD) {
		move_m(m, p->beta, p->rule == MOMENTUM ? 1 - p->beta : 1, v, n);
		v = m;
	}
	descend(x, eta, v, n);
}

/* The server's step of n elements of a segment along the estimate v. a: step times step scale. */
static void step_normalized(const zofl_plan *p, double a, double inverse, float *x, float *m,
                            const float *v, uint32_t n) {
	double decay = (double)p->server_decay * a;
	float keep = (float)(1 - decay), rate = (float)(a * inverse);
	move_m(m, p->beta1, 1 - p->beta1, v, n);
	if (keep != 1)
		for (uint32_t i = 0; i < n; i++)
			x[i] = keep * x[i];
	if (rate > 0 && rate <= FLT_MAX)
		descend(x, rate, m, n);
}

/* A step, local or the server's, of elements [i, i+n), whose estimate is in the tile. */
static void step_tile(zofl_replica *r, const record *o, double inverse, uint64_t i, uint32_t n) {
	const zofl_plan *p = &r->plan;
	uint64_t from = i, end;
	for (; i < from + n; i = end) {
		const zofl_segment *s = segment(p, i, &end);
		float *v = r->tile + (i - from), *m = r->m ? r->m + i : NULL;
		if (end > from + n)
			end = from + n;
		if (is_normalized(p))
			step_normalized(p, (double)o->step * (double)s->step, inverse, r->x + i, m, v,
			                (uint32_t)(end - i));
		else
			step_rule(p, o->step * s->step, r->x + i, m, v, r->base ? r->base + (i - from) : NULL,
			          (uint32_t)(end - i));
	}
}

/* The elements of a tile that begins at i: it lies within one block. */
static uint32_t tile_at(const zofl_plan *p, uint64_t i) {
	uint64_t n = ZOFL_BLOCK - i % ZOFL_BLOCK;
	if (n > ZOFL_TILE)
		n = ZOFL_TILE;
	return (uint32_t)(n < p->dim - i ? n : p->dim - i);
}

static int apply_round(zofl_replica *r, const record *o) {
	const zofl_plan *p = &r->plan;
	double square, inverse = 0;
	uint64_t weight;
	uint32_t n;
	int err = check_round(p, o);
	if (err)
		return err;
	r->rounds = o->round;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	if (is_cma(p)) {
		cma_round(r, o);
		return ZOFL_OK;
	}
#endif
	weight = weigh(p, o, &square);
	if (is_normalized(p)) {
		count_round(r, square);
		inverse = inverse_root(r);
	}
	for (uint64_t i = 0; i < p->dim; i += n) {
		n = tile_at(p, i);
		if (r->base)
			memcpy(r->base, r->x + i, 4 * (size_t)n);
		for (uint32_t k = 0; k < p->steps; k++) {
			sum_terms(r, o, weight, k, i, n);
			step_tile(r, o, inverse, i, n);
		}
	}
	return ZOFL_OK;
}

/* tile = sum of (g/P) z: a device's own estimate, of elements [i, i+n) of one block, n <=
 * ZOFL_TILE. */
static void estimate(const zofl_replica *r, uint64_t i, uint32_t n, uint64_t record, uint32_t k,
                     const float *g, uint32_t perts, uint32_t source) {
	uint64_t key = replica_key(r, record);
	sum s;
	sum_begin(&s, r->tile, n, (uint32_t)(i / ZOFL_BLOCK), (uint32_t)(i % ZOFL_BLOCK),
	          (zofl_dist)r->plan.distribution);
	memset(r->tile, 0, 4 * (size_t)n);
	for (uint32_t q = 0; q < perts; q++) {
		zofl_addr at = {key, (uint16_t)k, (uint16_t)q, source, 0};
		sum_add(&s, &at, g[q] / (float)perts);
	}
	sum_end(&s);
}

/* A device's own local step k of record n, along its own scalars: y and ym move as x and m do. */
static void local_step(const zofl_replica *r, float *y, float *ym, float eta, uint64_t n,
                       uint32_t k, const float *g, uint32_t perts, uint32_t source) {
	const zofl_plan *p = &r->plan;
	uint64_t end;
	uint32_t size;
	for (uint64_t i = 0; i < p->dim; i += size) {
		size = tile_at(p, i);
		estimate(r, i, size, n, k, g, perts, source);
		for (uint64_t e = i; e < i + size; e = end) {
			const zofl_segment *seg = segment(p, e, &end);
			if (end > i + size)
				end = i + size;
			step_rule(p, eta * seg->step, y + e, ym ? ym + e : NULL, r->tile + (e - i), r->x + e,
			          (uint32_t)(end - e));
		}
	}
}

/* ---- rollbacks ---- */

/* Whether record n is not on the path to the last known rollback, or is a known rollback: then the
   state before it is already the state after it. */
static int dropped(const zofl_replica *r, uint64_t n) {
	uint64_t path = MAX63; /* records up to it may be on the path */
	for (int i = r->nback - 1; i >= 0; i--) {
		if (r->back[i].n > path)
			continue;
		if (n > r->back[i].n)
			return 0;
		path = r->back[i].to;
		if (n > path)
			return 1;
	}
	return 0;
}

/* Notes a rollback at its place among the known ones. Those that it undid are forgotten: a later
   return to their branch finds them again in the log. */
static int note_rollback(zofl_replica *r, uint64_t n, uint64_t to) {
	int kept = 0, at;
	for (int i = 0; i < r->nback; i++)
		if (r->back[i].n <= to || r->back[i].n > n)
			r->back[kept++] = r->back[i];
	r->nback = (uint8_t)kept;
	if (kept == ZOFL_ROLLBACKS)
		return ZOFL_ROOM;
	for (at = kept; at > 0 && r->back[at - 1].n > n; at--)
		r->back[at] = r->back[at - 1];
	r->back[at].n = n;
	r->back[at].to = to;
	r->nback++;
	return ZOFL_OK;
}

/* Back to before record 1. The known rollbacks say what replay leaves out this time. */
static void replica_restart(zofl_replica *r) {
	r->n = r->epoch = r->rounds = r->ended = 0;
	zofl_genesis(r->plan.run, r->hash);
}

/* ---- records ---- */

/* Whether o is the next record of the chain. */
static int follows(const zofl_replica *r, const record *o) {
	if (r->ended || o->n != r->n + 1 || o->epoch < r->epoch)
		return ZOFL_CHAIN;
	return memcmp(o->prev, r->hash, 16) ? ZOFL_CHAIN : ZOFL_OK;
}

static int apply_body(zofl_replica *r, const record *o) {
	switch (o->kind) {
	case PLAN:
		return apply_plan(r);
	case ROUND:
		return apply_round(r, o);
	case CHANGE:
		return apply_change(r, o);
	case END:
		r->ended = o->reason;
	}
	return ZOFL_OK;
}

/* Reads a record, and the fields of a plan or a change into r's own plan: it was read before
   without an error, and a copy of a plan would double the stack. */
static void read_plan(zofl_replica *r, const uint8_t *rec, size_t len) {
	record o;
	parse(&o, &r->plan, rec, len);
}

/* Applies a record that parse has read, and that is the next one. */
static int apply_next(zofl_replica *r, const record *o, const uint8_t *rec, size_t len) {
	int err;
	if (r->n > 0 && (r->plan.unsupported || r->plan.refused))
		return r->plan.unsupported ? ZOFL_UNSUPPORTED : ZOFL_REFUSED;
	if (!dropped(r, o->n)) {
		if (o->kind == ROLLBACK) {
			if ((err = note_rollback(r, o->n, o->to)) == ZOFL_OK)
				replica_restart(r);
			return err;
		}
		if (o->kind == PLAN || o->kind == CHANGE)
			read_plan(r, rec, len);
		if ((err = apply_body(r, o)) != ZOFL_OK)
			return err;
	}
	record_hash(rec, len, r->hash);
	if (o->n == 1)
		memcpy(r->plan_tip, r->hash, 8);
	r->n = o->n;
	r->epoch = o->epoch;
	return ZOFL_OK;
}

/* Applies the next record of the log. ZOFL_OK; with n = 0 a rollback asks for the log anew, from
   record 1. ZOFL_MEMORY: give replica_need bytes, and the record again. After ZOFL_REFUSED or
   ZOFL_UNSUPPORTED for a plan or a change the replica takes no record more; after another error the
   state is as before. */
static int replica_apply(zofl_replica *r, const uint8_t *rec, size_t len) {
	record o;
	int err = parse(&o, NULL, rec, len);
	if (!err)
		err = follows(r, &o);
	return err ? err : apply_next(r, &o, rec, len);
}

#if ZOFL_WITH_STATE
/* Accepts the plan of a state file: record 1, and a change record or nothing. ZOFL_OK: the memory
   is cut, and the vectors, the registers, n, hash, epoch, rounds and ended are the caller's to set.
   ZOFL_MEMORY: give it, and call again. */
static int replica_restore(zofl_replica *r, const uint8_t *first, size_t first_len,
                           const uint8_t *change, size_t change_len) {
	record o;
	uint8_t hash[16];
	int err = parse(&o, &r->plan, first, first_len);
	if (!err && o.kind != PLAN)
		err = ZOFL_DAMAGED;
	if (!err)
		err = accept(r);
	if (!err && change_len) {
		err = parse(&o, &r->plan, change, change_len);
		if (!err)
			err = o.kind == CHANGE ? judge(&r->plan, 0) : ZOFL_DAMAGED;
	}
	if (!err)
		err = provide(r, &r->plan);
	if (err)
		return err;
	record_hash(first, first_len, hash);
	memcpy(r->plan_tip, hash, 8);
	return ZOFL_OK;
}
#endif

/* ---- what a device draws ---- */

static uint64_t zofl_batch_seed(const char *run, const char *id, uint64_t n, uint32_t step) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 batch");
	zofl_sha256_add(&c, run, strlen(run) + 1);
	zofl_sha256_add(&c, id, strlen(id) + 1);
	add_le(&c, n, 8);
	add_le(&c, step, 4);
	zofl_sha256_end(&c, d);
	return le64(d);
}

static uint32_t zofl_shard(const char *id, uint32_t shards) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 shard");
	add_str(&c, id);
	zofl_sha256_end(&c, d);
	return le32(d) % shards;
}
