/* ---- replay (docs/replay.md) ---- */

static void zofl_genesis(const char *run, uint8_t out[16]) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 run");
	add_str(&c, run);
	zofl_sha256_end(&c, d);
	memcpy(out, d, 16);
}

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

static void zofl_replica_init(zofl_replica *r, float *x, float *m, float *tile, uint64_t room,
                       const char *run) {
	memset(r, 0, sizeof *r);
	r->x = x;
	r->m = m;
	r->tile = tile;
	r->room = room;
	r->p1 = r->p2 = 1;
	strncpy(r->plan.run, run, 32);
	zofl_genesis(run, r->hash);
}

static int has_m(const zofl_plan *p) {
	return p->rule == 2 || p->rule == 3 || p->server_rule == 8;
}

static const zofl_segment *segment(const zofl_plan *p, uint64_t i, uint64_t *end) {
	static const zofl_segment all = {0, 0, 0, 0, 0};
	uint64_t e = 0;
	for (int s = 0; s < p->nseg; s++)
		if (i < (e += p->seg[s].len)) {
			*end = e;
			return &p->seg[s];
		}
	*end = p->dim;
	return &all;
}

static void digest_vector(zofl_sha256 *root, const float *v, uint64_t d) {
	for (uint64_t i = 0; i < d;) {
		zofl_sha256 c;
		uint8_t h[32];
		uint64_t e = i + ZOFL_BLOCK < d ? i + ZOFL_BLOCK : d;
		zofl_sha256_init(&c);
		for (; i < e; i++) {
			uint32_t u = bits(v[i]);
			add_le(&c, (u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC00000u : u, 4);
		}
		zofl_sha256_end(&c, h);
		zofl_sha256_add(root, h, 32);
	}
}
static uint64_t dbits(double v) {
	uint64_t u;
	memcpy(&u, &v, 8);
	return v != v ? 0x7FF8000000000000u : u;
}

static void digest(const zofl_replica *r, int vectors, uint8_t out[32]) {
	zofl_sha256 c;
	add_tag(&c, "zofl/1 state");
	add_le(&c, r->plan.dim, 8);
	add_le(&c, (uint64_t)vectors, 4);
	digest_vector(&c, r->x, r->plan.dim);
	if (vectors > 1)
		digest_vector(&c, r->m, r->plan.dim);
	if (vectors > 0 && r->plan.server_rule == 8 && vectors == 1 + has_m(&r->plan)) {
		add_le(&c, 3, 4);
		add_le(&c, dbits(r->V), 8);
		add_le(&c, dbits(r->p1), 8);
		add_le(&c, dbits(r->p2), 8);
	}
	zofl_sha256_end(&c, out);
}
static void replica_digest(const zofl_replica *r, uint8_t out[32]) {
	digest(r, 1 + has_m(&r->plan), out);
}

static int begin(zofl_replica *r) {
	zofl_plan *p = &r->plan;
	uint64_t i, end;
	if (p->unsupported)
		return ZOFL_UNSUPPORTED;
	if (p->run_key_len != 32 || p->dim == 0 || p->distribution == 0 || p->difference == 0 ||
	    p->steps == 0)
		return ZOFL_VALUE;
	if (p->dim > r->room || (has_m(p) && !r->m))
		return ZOFL_ROOM;
	zofl_addr at = {zofl_record_key(p->run_key, 32, 0), 0, 0, 0, 2};
	for (i = 0; i < p->dim; i = end) {
		const zofl_segment *s = segment(p, i, &end);
		if (p->initial) {
			memcpy(r->x + i, r->given + i, 4 * (end - i));
			continue;
		}
		if (s->fill == 0) {
			memset(r->x + i, 0, 4 * (end - i));
			continue;
		}
		zofl_fill(r->x + i, end - i, i, &at, s->fill == 1 ? ZOFL_UNIFORM : ZOFL_NORMAL);
		for (uint64_t j = i; j < end; j++)
			r->x[j] = s->scale * r->x[j];
	}
	if (has_m(p))
		memset(r->m, 0, 4 * p->dim);
	r->rounds = 0;
	r->V = 0;
	r->p1 = r->p2 = 1;
	r->ended = 0;
	return ZOFL_OK;
}

/* scalar g[k*P+p] of a term's bytes; P of the term */
static float scalar(const uint8_t *b, int precision, uint32_t P, uint32_t k, uint32_t p) {
	static const double steps[] = {0, 0, 0, 1.0 / 32, 5.0 / 16, 255.0 / 256};
	uint32_t nbits, word, at;
	int32_t q;
	if (precision == 0)
		return unbits(le32(b + 4 * (k * P + p)));
	if (precision == 1) {
		b += 2 * (k * P + p);
		return from_half((uint16_t)(b[0] | b[1] << 8));
	}
	nbits = 8u >> (precision - 3);
	b += k * (2 + 2 * ((P * nbits + 15) / 16));
	at = p * nbits;
	word = b[2 + at / 16 * 2] | (uint32_t)b[3 + at / 16 * 2] << 8;
	q = (int32_t)(word >> at % 16 & ((1u << nbits) - 1));
	if (q >> (nbits - 1))
		q -= 1 << nbits;
	if ((b[0] | b[1]) == 0)
		return 0;
	return (float)(steps[precision] * (q + 0.5) * (double)from_half((uint16_t)(b[0] | b[1] << 8)));
}

static int block_ok(const uint8_t *b, int precision, uint32_t P) {
	uint32_t nbits = 8u >> (precision - 3), words = (P * nbits + 15) / 16, used = P * nbits,
	         h = b[0] | (uint32_t)b[1] << 8;
	if (h >= 0x7C00)
		return 0;
	for (uint32_t i = 0; i < words * 16; i++) {
		uint32_t bit = b[2 + i / 8] >> i % 8 & 1;
		if (bit && (i >= used || h == 0))
			return 0;
	}
	return 1;
}

static uint32_t term_bytes(int precision, uint32_t K, uint32_t P) {
	if (precision < 2)
		return K * P * (precision ? 2 : 4);
	return K * (2 + 2 * ((P * (8u >> (precision - 3)) + 15) / 16));
}

typedef struct {
	uint64_t back;
	uint32_t source, n, P, w;
	const uint8_t *b;
} term;
typedef struct {
	reader r, w;
	const zofl_replica *rep;
	const record *o;
	int precision;
} walk;

static void walk_terms(walk *w, const zofl_replica *rep, const record *o, int precision) {
	w->r = (reader){o->terms, o->end, 0};
	w->w = (reader){o->weights, o->end, 0};
	w->rep = rep;
	w->o = o;
	w->precision = precision;
}
static void next_term(walk *w, term *t) {
	array(&w->r);
	t->back = uint_(&w->r);
	t->source = (uint32_t)uint_(&w->r);
	t->b = bin(&w->r, 65536, &t->n);
	t->w = w->o->nweights ? (uint32_t)uint_(&w->w) : 1;
	t->P = w->o->perts;
	if (t->back) { /* the number of its scalars divided by K */
		uint32_t K = w->rep->plan.steps, P = 1;
		if (w->precision < 2) {
			t->P = t->n / (w->precision ? 2 : 4) / K;
			return;
		}
		while (term_bytes(w->precision, K, P) < t->n)
			P++;
		t->P = P;
	}
}

static int check_round(const zofl_replica *r, const record *o, int precision) {
	const zofl_plan *p = &r->plan;
	walk w;
	term t;
	if (o->step < 0 || (o->step == 0 && p->server_rule != 8) || o->perts == 0 || o->object ||
	    o->phase || o->population || o->factor)
		return ZOFL_REFUSED;
	if (o->nterms == 0 || (p->transport == 0 && !p->late && o->nterms > 1))
		return ZOFL_REFUSED;
	if (o->nweights != (p->transport == 1 && p->weights == 1 ? o->nterms : 0))
		return ZOFL_REFUSED;
	walk_terms(&w, r, o, precision);
	for (uint32_t i = 0; i < o->nterms; i++) {
		next_term(&w, &t);
		if ((t.source == 0) != (p->transport == 0) || (t.back && !p->late) ||
		    (i == 0 && p->transport == 0 && t.back))
			return ZOFL_REFUSED;
		if (!t.P || t.n != term_bytes(precision, p->steps, t.P))
			return ZOFL_REFUSED;
		if (precision > 2)
			for (uint32_t k = 0; k < p->steps; k++)
				if (!block_ok(t.b + k * term_bytes(precision, 1, t.P), precision, t.P))
					return ZOFL_REFUSED;
	}
	return ZOFL_OK;
}

static int apply_round(zofl_replica *r, const record *o) {
	const zofl_plan *p = &r->plan;
	int precision = p->sharing == 3 && p->precision > 2 ? 1 : p->precision,
	    err = check_round(r, o, precision);
	uint64_t W = 0, Wown = 0, i, end, backkey = 0, keyof = 0;
	uint32_t n, k, q, j;
	double u = 0;
	walk w;
	term t;
	if (err)
		return err;
	walk_terms(&w, r, o, precision);
	for (j = 0; j < o->nterms; j++) {
		double s = 0;
		next_term(&w, &t);
		W += t.w;
		if (t.back)
			continue;
		Wown += t.w;
		for (q = 0; q < t.P; q++) {
			double c = scalar(t.b, precision, t.P, 0, q);
			s += c * c;
		}
		u += (double)t.w * s;
	}
	if (p->server_rule == 8) {
		u = Wown ? u / (double)(Wown * o->perts) : 0;
		r->p1 *= (double)p->beta1;
		if (u != 0) {
			double f = (double)p->beta2 * r->V, g = (1 - (double)p->beta2) * u;
			r->V = f + g;
			r->p2 *= (double)p->beta2;
		}
	}
	for (uint64_t b = 0; b * ZOFL_BLOCK < p->dim; b++) {
		uint64_t at0 = b * ZOFL_BLOCK;
		n = (uint32_t)(p->dim - at0 < ZOFL_BLOCK ? p->dim - at0 : ZOFL_BLOCK);
		for (k = 0; k < p->steps; k++) {
			sum s;
			sum_begin(&s, r->tile, n, (uint32_t)b, 0, (zofl_dist)p->distribution);
			memset(r->tile, 0, 4 * n);
			walk_terms(&w, r, o, precision);
			for (j = 0; j < o->nterms; j++) {
				next_term(&w, &t);
				if (o->n - t.back != keyof) {
					keyof = o->n - t.back;
					backkey = zofl_record_key(p->run_key, 32, keyof);
				}
				for (q = 0; q < t.P; q++) {
					zofl_addr at = {backkey, (uint16_t)k, (uint16_t)q, t.source, 0};
					float g = scalar(t.b, precision, t.P, k, q);
					sum_add(&s, &at,
					        p->transport ? (float)((double)g * (double)t.w / (double)(W * t.P))
					                     : g / (float)t.P);
				}
			}
			sum_end(&s);
			for (i = at0; i < at0 + n; i = end) {
				const zofl_segment *sg = segment(p, i, &end);
				float S = sg->step == 0 ? 1 : sg->step, eta = o->step * S, *x = r->x + i,
				      *v = r->tile + (i - at0), *m = r->m + i;
				uint64_t c = (end < at0 + n ? end : (end = at0 + n)) - i, e;
				if (p->server_rule == 8) {
					double a = (double)o->step * (double)S, keep = 1 - (double)p->server_decay * a,
					       rate = 0;
					float g1 = 1 - p->beta1, rf = 0, kf = (float)keep;
					if (r->V != 0) {
						rate = a / ((1 - r->p1) * sqrt(r->V / (1 - r->p2)));
						rf = (float)rate;
						if (isinf(rf))
							rf = 0;
					}
					for (e = 0; e < c; e++) {
						float f = p->beta1 * m[e], h = g1 * v[e];
						m[e] = f + h;
						if (keep != 1)
							x[e] = kf * x[e];
						if (rf != 0) {
							f = rf * m[e];
							x[e] = x[e] - f;
						}
					}
					continue;
				}
				if (p->decay != 0)
					for (e = 0; e < c; e++) {
						float f = p->decay * x[e];
						v[e] += f;
					}
				if (p->rule != 1) {
					float gain = p->rule == 2 ? 1 - p->beta : 1;
					for (e = 0; e < c; e++) {
						float f = p->beta * m[e], h = gain * v[e];
						m[e] = f + h;
					}
					v = m;
				}
				for (e = 0; e < c; e++) {
					float f = eta * v[e];
					x[e] = x[e] - f;
				}
			}
		}
	}
	r->rounds++;
	return ZOFL_OK;
}

/* Whether record n of the log is on the path to its last known rollback. */
static int dropped(const zofl_replica *r, uint64_t n) {
	uint64_t at = MAX63;
	for (int i = r->nback - 1; i >= 0; i--) {
		if (r->back[i].n > at)
			continue;
		if (n > r->back[i].n)
			return 0;
		at = r->back[i].to;
		if (n > at)
			return 1;
	}
	return 0;
}

static int zofl_apply(zofl_replica *r, const uint8_t *rec, size_t len) {
	record o;
	zofl_plan plan = r->plan;
	zofl_sha256 c;
	uint8_t h[32];
	int err = parse(&o, r->n == 0 ? &plan : NULL, rec, len);
	if (err)
		return err;
	if (r->ended || o.n != r->n + 1 || o.epoch < r->epoch || memcmp(o.prev, r->hash, 16))
		return ZOFL_CHAIN;
	if (!dropped(r, o.n))
		switch (o.kind) {
		case 1:
			if (strcmp(plan.run, r->plan.run))
				return ZOFL_REFUSED;
			r->plan = plan;
			if ((err = begin(r)) != 0)
				return err;
			break;
		case 2:
			if ((err = apply_round(r, &o)) != 0)
				return err;
			break;
		case 3:
			if ((err = parse(&o, &plan, rec, len)) != 0)
				return err;
			if (plan.unsupported)
				return ZOFL_UNSUPPORTED;
			r->plan = plan;
			break;
		case 4: /* known already: the replay below stops before it and goes on behind it */
			if (r->nback == ZOFL_ROLLBACKS)
				return ZOFL_ROOM;
			r->back[r->nback].n = o.n;
			r->back[r->nback++].to = o.to;
			{
				char run[33];
				memcpy(run, r->plan.run, 33);
				r->n = 0;
				r->epoch = 0;
				memset(&r->plan, 0, sizeof r->plan);
				memcpy(r->plan.run, run, 33);
				zofl_genesis(run, r->hash);
			}
			return ZOFL_OK; /* n is 0: feed the log again from record 1 */
		case 5:
			r->ended = o.to;
			break;
		}
	zofl_sha256_init(&c);
	zofl_sha256_add(&c, rec, len);
	zofl_sha256_end(&c, h);
	memcpy(r->hash, h, 16);
	r->n = o.n;
	r->epoch = o.epoch;
	return ZOFL_OK;
}
