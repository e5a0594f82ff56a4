/* ---- what records do to the state: docs/replay.md ---- */

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

/* Begins a sum of terms of the plan in the tile, for elements [i, i+n) of one block. */
static void sum_tile(sum *s, const zofl_replica *r, uint64_t i, uint32_t n) {
	sum_begin(s, r->tile, n, (uint32_t)(i / ZOFL_BLOCK), (uint32_t)(i % ZOFL_BLOCK),
	          (zofl_dist)r->plan.distribution);
#if ZOFL_WITH_LOWRANK
	s->plan = r->plan.distribution == LOWRANK ? &r->plan : NULL;
	s->kept = r->factors;
#endif
	memset(r->tile, 0, 4 * (size_t)n);
}

/* The next sum begins with the first term: of a tile, or of a device's own step. */
static void first_term(const zofl_replica *r) {
#if ZOFL_WITH_LOWRANK
	kept_factors *k = r->factors;
	if (k)
		k->next = 0;
#endif
	(void)r;
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
	sum_tile(&s, r, i, n);
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

static NOINLINE int apply_round(zofl_replica *r, const record *o) {
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
		first_term(r);
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
	first_term(r);
	sum_tile(&s, r, i, n);
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

/* Notes a rollback at its place among the known ones. Where there is no more room, those that it
   undid are forgotten: a later return to their branch finds them again in the log. */
static int note_rollback(zofl_replica *r, uint64_t n, uint64_t to) {
	int kept = 0, at, full = r->nback == ZOFL_ROLLBACKS;
	for (int i = 0; i < r->nback; i++)
		if (r->back[i].n != n && (!full || r->back[i].n <= to || r->back[i].n > n))
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

/* Applies a record that parse has read, and that is the next one. The fields of a plan or a change
   are read again, into r's own plan: a copy of a plan would double the stack. */
static int apply_next(zofl_replica *r, record *o, const uint8_t *rec, size_t len) {
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
			parse(o, &r->plan, rec, len);
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
