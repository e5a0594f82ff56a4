/* ---- the state of a run, its memory and its first record ---- */

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
	PART_FACTORS,
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

#if ZOFL_WITH_LOWRANK
/* The terms of a round whose factors are kept. */
static uint32_t kept_terms(const zofl_plan *p) {
	uint64_t most = (uint64_t)p->steps * most_perts(p);
	if (p->distribution != LOWRANK)
		return 0;
	if (p->transport == RELAY && most < ZOFL_FACTORS)
		most *= p->target;
	return (uint32_t)(most < ZOFL_FACTORS ? most : ZOFL_FACTORS);
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
#if ZOFL_WITH_LOWRANK
	case PART_FACTORS:
		return kept_size(kept_terms(p));
#endif
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
#if ZOFL_WITH_LOWRANK
	r->factors = part[PART_FACTORS];
	if (r->factors)
		kept_begin(r->factors, kept_terms(p));
#endif
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

#if ZOFL_WITH_STATE
static double bits_double(uint64_t u) {
	double v;
	memcpy(&v, &u, 8);
	return v;
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
#endif

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
