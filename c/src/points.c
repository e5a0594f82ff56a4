/* ---- the points of a step, and what their losses make (docs/wire.md, "Reply" and "Survey") ----
 */

enum {
	NO_SURVEY = 0,
	SURVEY_STEP = 1,
	SURVEY_MU = 2,
	SURVEY_SKETCH = 3,
	SURVEY_BATCH = 65535, /* the local step that names the minibatch of a survey */
	LENGTHS = 16,
	DISTANCES = 9,
	DIRECTIONS = 8, /* that a survey of mu may try */
	SKETCHED = 64,
	REPLY_AT = 256 /* of the contribution in the caller's frame; requests come before it */
};

enum { /* reasons of a decline */
	   DECLINE_POLICY = 1,
	   DECLINE_TIME = 2,
	   DECLINE_LOSS = 3,
	   DECLINE_BUSY = 4,
	   DECLINE_LARGE = 5,
	   DECLINE_LEAVING = 6
};

static const float distances[DISTANCES] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f,
                                           1e-1f, 1.0f,  10.0f, 100.0f};

/* Whether a loss is finite in a float, as replies have it. */
static int is_bounded(double f) {
	return fabs(f) <= (double)FLT_MAX;
}

/* f as a float; what is not finite is infinite, so that all devices say it with the same bits. */
static float single(double f) {
	float v = (float)f;
	return v - v == 0 ? v : unbits(0x7F800000u);
}

/* Candidate 1 of a survey of step is at 4^-10, the last at 4^5. */
static float length_ahead(uint32_t i) {
	return unbits((uint32_t)(127 + 2 * ((int)i - 1 - 10)) << 23);
}

static int is_evolution(const zofl_device *d) {
	return d->r.plan.difference == NO_DIFFERENCE && !d->work.survey;
}

/* The losses of cma's candidates lie where their scalars will be, two places each. */
static double candidate_loss(const zofl_device *d, uint32_t i) {
	double f;
	memcpy(&f, d->r.g + 2 * (size_t)i, sizeof f);
	return f;
}

static void put_candidate_loss(zofl_device *d, uint32_t i, double f) {
	memcpy(d->r.g + 2 * (size_t)i, &f, sizeof f);
}

/* The number of points of the step in hand. */
static uint32_t count_points(const zofl_device *d) {
	const zofl_work *w = &d->work;
	const zofl_plan *p = &d->r.plan;
	if (w->survey == SURVEY_STEP)
		return 1 + LENGTHS;
	if (w->survey == SURVEY_MU)
		return (w->q == 0) + 2 * DISTANCES;
	if (p->difference == NO_DIFFERENCE)
		return w->perts + (p->perts_auto > 0);
	return p->difference == CENTRAL ? 2 * w->perts : 1 + w->perts;
}

/* The number of scalars of the reply. */
static uint32_t count_values(const zofl_device *d) {
	switch (d->work.survey) {
	case SURVEY_STEP:
		return 1 + LENGTHS;
	case SURVEY_MU:
		return 1 + 2 * DISTANCES;
	case SURVEY_SKETCH:
		return SKETCHED;
	}
	return d->r.plan.steps * d->work.perts;
}

/* ---- points ---- */

/* A point: the iterate, a candidate, a move along the momentum, or a probe along a direction. */
typedef struct {
	enum { ITERATE, CANDIDATE, AHEAD, PROBE } kind;
	const float *x;
	float a; /* distance or length */
	uint32_t q;
} spot;

/* The first candidate with a finite loss is evaluated twice. */
static uint32_t twice(const zofl_device *d) {
	uint32_t i = 0;
	while (i + 1 < d->work.perts && !is_bounded(candidate_loss(d, i)))
		i++;
	return i;
}

static spot spot_of_survey(const zofl_device *d, uint32_t i) {
	spot s = {ITERATE, d->r.x, 0, d->work.q};
	uint32_t probe = d->work.q == 0 ? i - 1 : i;
	if (d->work.survey == SURVEY_STEP) {
		s.kind = i ? AHEAD : ITERATE;
		s.a = i ? length_ahead(i) : 0;
	} else if (i || d->work.q) {
		s.kind = PROBE;
		s.a = distances[probe / 2];
		if (probe % 2)
			s.a = -s.a;
	}
	return s;
}

static spot spot_of(const zofl_device *d, uint32_t i) {
	const zofl_work *w = &d->work;
	const zofl_plan *p = &d->r.plan;
	spot s = {ITERATE, w->k ? d->r.y : d->r.x, 0, 0};
	if (w->held_out)
		return s;
	if (w->survey == SURVEY_STEP || w->survey == SURVEY_MU)
		return spot_of_survey(d, i);
	s.a = p->mu;
	if (is_evolution(d)) {
		s.kind = CANDIDATE;
		s.q = i < w->perts ? i : twice(d);
	} else if (p->difference == CENTRAL) {
		s.kind = PROBE;
		s.q = i / 2;
		if (i % 2)
			s.a = -s.a;
	} else if (i) {
		s.kind = PROBE;
		s.q = i - 1;
	}
	return s;
}

static void store(void *dst, zofl_type type, uint64_t i, float v) {
	if (type == ZOFL_F32)
		((float *)dst)[i] = v;
	else
		((uint16_t *)dst)[i] = type == ZOFL_F16 ? to_half(v) : to_bf16(v);
}

static void copy_range(void *dst, zofl_type type, const float *x, uint64_t n) {
	if (type == ZOFL_F32)
		memcpy(dst, x, (size_t)n * sizeof *x);
	else
		for (uint64_t i = 0; i < n; i++)
			store(dst, type, i, x[i]);
}

/* dst = x + a z for elements [off, off+n) of a segment. */
static void probe_segment(const zofl_plan *p, void *dst, zofl_type type, const float *x, uint64_t n,
                          uint64_t off, const zofl_addr *at, float a) {
#if ZOFL_WITH_LOWRANK
	if (p->distribution == LOWRANK) {
		target t = {dst, x, (int)type, a, best_isa()};
		put_lowrank(&t, p, n, off, at);
		return;
	}
#endif
	zofl_perturb(dst, type, x, n, off, at, (zofl_dist)p->distribution, a);
}

static void probe_range(const zofl_device *d, const spot *s, zofl_type type, void *dst,
                        uint64_t off, uint64_t n) {
	const zofl_plan *p = &d->r.plan;
	const zofl_work *w = &d->work;
	size_t each = type == ZOFL_F32 ? 4 : 2;
	zofl_addr at = {replica_key(&d->r, w->n), (uint16_t)w->k, (uint16_t)s->q, w->source, 0};
	uint64_t end;
	for (uint64_t i = off; i < off + n; i = end) {
		const zofl_segment *g = segment(p, i, &end);
		if (end > off + n)
			end = off + n;
		probe_segment(p, (uint8_t *)dst + each * (size_t)(i - off), type, s->x + i, end - i, i, &at,
		              s->a * g->mu);
	}
}

/* x - a w, w being the move of a step of 1 of the rule normalized. */
static void ahead_range(const zofl_device *d, const spot *s, zofl_type type, void *dst,
                        uint64_t off, uint64_t n) {
	const zofl_replica *r = &d->r;
	double inverse = r->V > 0 ? 1 / ((1 - r->p1) * sqrt(r->V / (1 - r->p2))) : 0;
	uint64_t end;
	for (uint64_t i = off; i < off + n; i = end) {
		const zofl_segment *g = segment(&r->plan, i, &end);
		float rate = (float)((double)s->a * (double)g->step * inverse);
		if (end > off + n)
			end = off + n;
		for (uint64_t j = i; j < end; j++) {
			float h = rate * r->m[j];
			store(dst, type, j - off, inverse > 0 ? r->x[j] - h : r->x[j]);
		}
	}
}

static void point_range(const zofl_device *d, uint32_t i, zofl_type type, void *dst, uint64_t off,
                        uint64_t n) {
	spot s = spot_of(d, i);
	switch (s.kind) {
	case ITERATE:
		copy_range(dst, type, s.x + off, n);
		break;
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	case CANDIDATE:
		candidate(&d->r, s.q, type, dst, off, n);
		break;
#else
	case CANDIDATE:
		break;
#endif
	case AHEAD:
		ahead_range(d, &s, type, dst, off, n);
		break;
	case PROBE:
		probe_range(d, &s, type, dst, off, n);
		break;
	}
}

/* ---- scalars ---- */

static writer values_writer(zofl_device *d) {
	writer w = {d->frame + d->work.at, d->frame + d->frame_size, 0};
	return w;
}

static void values_written(zofl_device *d, const writer *w) {
	d->work.at = (uint32_t)(w->p - d->frame);
}

static void put_value(zofl_device *d, float v) {
	writer w = values_writer(d);
	w_le(&w, bits(v), 4);
	values_written(d, &w);
}

/* The nearest binary16 of a binary64. The float in between rounds twice only where it lies in the
   middle between two halves: then it is moved towards the double. */
static uint16_t half_of_double(double v) {
	float f = (float)v;
	if ((bits(f) & 0x1FFF) == 0x1000 && (double)f != v)
		f = unbits((double)f < v ? bits(f) + 1 : bits(f) - 1);
	return to_half(f);
}

static int32_t code_of(float g, double unit, int32_t most) {
	double v = floor((double)g / unit);
	return v < -most ? -most : v > most - 1 ? most - 1 : (int32_t)v;
}

/* Writes one block of scalars, and makes each of them what a replica reads. The result is the
   largest that a replica meets: infinite where the root is not finite. */
static float write_block(writer *w, int precision, float *g, uint32_t n) {
	uint32_t size = code_bits(precision), codes = (n * size + 15) / 16 * 16 / size;
	uint32_t word = 0, held = 0;
	int32_t half_range = 1 << (size - 1);
	int coded;
	double sum = 0, unit, r;
	float most;
	uint16_t h;
	for (uint32_t i = 0; i < n; i++)
		sum += (double)g[i] * (double)g[i];
	h = half_of_double(sqrt(sum / n));
	most = from_half(h);
	r = (double)most;
	unit = code_step(precision) * r;
	coded = h > 0 && h < 0x7C00;
	w_le(w, h, 2);
	for (uint32_t i = 0; i < codes; i++) {
		int32_t q = i < n && coded ? code_of(g[i], unit, half_range) : 0;
		if (i < n)
			g[i] = coded ? (float)(code_step(precision) * (q + 0.5) * r) : 0;
		if (i < n && !(fabsf(g[i]) <= most))
			most = fabsf(g[i]);
		word |= ((uint32_t)q & ((1u << size) - 1)) << held;
		held += size;
		if (held == 16) {
			w_le(w, word, 2);
			word = held = 0;
		}
	}
	return h < 0x7C00 ? most : INFINITY;
}

/* Writes the scalars of a step, and makes each of them what a replica reads. Whether all are
   within max_scalar. */
static int write_step(zofl_device *d, float *g, uint32_t n) {
	const zofl_plan *p = &d->r.plan;
	writer w = values_writer(d);
	float most = 0;
	if (p->precision > HALF)
		most = write_block(&w, p->precision, g, n);
	else
		for (uint32_t i = 0; i < n; i++) {
			if (p->precision == HALF) {
				uint16_t h = to_half(g[i]);
				g[i] = from_half(h);
				w_le(&w, h, 2);
			} else
				w_le(&w, bits(g[i]), 4);
			if (!(fabsf(g[i]) <= most))
				most = fabsf(g[i]);
		}
	values_written(d, &w);
	return most <= p->max_scalar;
}

/* The slope of the loss along the momentum, by a device's own scalars; 0 where there is none. */
static float slope_along(zofl_device *d) {
	zofl_replica *r = &d->r;
	const zofl_work *w = &d->work;
	double along = 0, square = 0;
	float v;
	if (r->plan.server_rule != SERVER_NORMALIZED)
		return 0;
	for (uint64_t b = 0; b < r->plan.dim; b += ZOFL_BLOCK) {
		uint64_t end = r->plan.dim - b < ZOFL_BLOCK ? r->plan.dim : b + ZOFL_BLOCK;
		double a = 0, s = 0;
		for (uint64_t i = b; i < end; i += ZOFL_TILE) {
			uint32_t n = (uint32_t)(end - i < ZOFL_TILE ? end - i : ZOFL_TILE);
			const float *m = r->m + i;
			estimate(r, i, n, w->n, 0, r->g, w->perts, w->source);
			for (uint32_t e = 0; e < n; e++) {
				a += (double)r->tile[e] * (double)m[e];
				s += (double)m[e] * (double)m[e];
			}
		}
		along += a;
		square += s;
	}
	v = square > 0 ? (float)(along / sqrt(square)) : 0;
	return v - v == 0 ? v : 0;
}

/* ---- a reply as it grows ---- */

/* Begins the contribution in the frame: all up to its scalars. Whether there is room for it. */
static int begin_reply(zofl_device *d, const uint8_t tip[8]) {
	const zofl_plan *p = &d->r.plan;
	zofl_work *w = &d->work;
	uint32_t n = count_values(d), weight = p->weights ? d->weight : 1;
	uint32_t size = w->survey ? 4 * n : (uint32_t)term_bytes(p->precision, p->steps, w->perts);
	writer out = {d->frame + REPLY_AT, d->frame + d->frame_size, 0};
	if (p->weights && weight > p->max_weight)
		weight = p->max_weight;
	write_reply(&out, 7, CONTRIBUTION, w->n, tip);
	w_uint(&out, weight);
	w_float(&out, 0); /* the loss comes last */
	w_binhead(&out, size);
	w->at = (uint32_t)(out.p - d->frame);
	w->size = size;
	return !out.err && d->frame_size - w->at >= size + 16; /* 16: what follows the scalars */
}

/* Ends it: the loss, and what follows the scalars. */
static void end_reply(zofl_device *d, float heading) {
	const zofl_plan *p = &d->r.plan;
	zofl_work *w = &d->work;
	writer out = values_writer(d), loss;
	uint8_t *scalars = out.p - w->size;
	loss.p = scalars - (w->size < 0x100 ? 2 : w->size < 0x10000 ? 3 : 5) - 5;
	loss.end = scalars;
	loss.err = 0;
	w_float(&loss, (float)w->loss);
	if (w->survey) {
		w_array(&out, 0);
		w_array(&out, 1);
		w_uint(&out, w->survey);
	} else {
		if ((p->step_auto && p->server_rule != SERVER_CMA) || p->perts_auto) {
			w_array(&out, 0);
			w_array(&out, 2);
			w_uint(&out, 0);
			w_float(&out, heading);
		}
		if (w->group) {
			w_array(&out, 1);
			w_uint(&out, w->group - 1);
		}
	}
	d->reply_size = (uint32_t)(out.p - d->frame) - REPLY_AT;
}

/* ---- losses ---- */

/* What a loss leads to: another point, a reply, or the reason of a decline. */
enum { NEXT_POINT = -1, REPLY_READY = 0 };

static double in_units(const zofl_plan *p, double v) {
	return p->loss_unit > 0 ? v / (double)p->loss_unit : v;
}

/* Takes the loss of a point of a step of difference quotients. done: scalar q of the step is v. */
static int difference(zofl_device *d, double f, uint32_t *q, double *v) {
	const zofl_plan *p = &d->r.plan;
	zofl_work *w = &d->work;
	double mu = (double)p->mu;
	uint32_t i = w->got;
	if (p->difference == CENTRAL) {
		if (i % 2 == 0) {
			w->plus = f;
			return 0;
		}
		*q = i / 2;
		*v = in_units(p, (w->plus - f) / (2 * mu));
		w->sum += (w->plus + f) / 2;
		return 1;
	}
	if (i == 0) {
		w->base = f;
		return 0;
	}
	*q = i - 1;
	*v = in_units(p, (f - w->base) / mu);
	w->sum += w->base;
	return 1;
}

static int round_loss(zofl_device *d, double f) {
	const zofl_plan *p = &d->r.plan;
	zofl_work *w = &d->work;
	float *g = d->r.g + (size_t)w->k * w->perts;
	uint32_t q = 0;
	double v = 0;
	if (!is_bounded(f))
		return DECLINE_LOSS;
	if (difference(d, f, &q, &v))
		g[q] = (float)v;
	if (++w->got < w->points)
		return NEXT_POINT;
	if (w->k == 0)
		w->loss = w->sum / w->perts;
	if (!write_step(d, g, w->perts))
		return DECLINE_LARGE;
	if (w->k + 1 == p->steps) {
		end_reply(d, p->step_auto ? slope_along(d) : 0);
		return REPLY_READY;
	}
	if (w->k == 0) {
		memcpy(d->r.y, d->r.x, (size_t)p->dim * sizeof(float));
		if (p->rule != SGD)
			memcpy(d->r.ym, d->r.m, (size_t)p->dim * sizeof(float));
	}
	local_step(&d->r, d->r.y, d->r.ym, w->step, w->n, w->k, g, w->perts, w->source);
	w->k++;
	w->got = 0;
	w->sum = 0;
	return NEXT_POINT;
}

/* The scalar of a candidate: by how much its loss is above the least, at most max_scalar. */
static float above(const zofl_device *d, double f) {
	const zofl_plan *p = &d->r.plan;
	double most = (double)p->max_scalar, v;
	if (p->precision)
		most *= 1 - 1.0 / 1024; /* rounding may make it larger */
	if (!is_bounded(f))
		return (float)most;
	v = in_units(p, f - d->work.loss);
	return (float)(v < most ? v : most);
}

static int evolution_reply(zofl_device *d, float heading) {
	zofl_work *w = &d->work;
	w->loss = candidate_loss(d, twice(d));
	for (uint32_t i = 0; i < w->perts; i++)
		if (is_bounded(candidate_loss(d, i)) && candidate_loss(d, i) < w->loss)
			w->loss = candidate_loss(d, i);
	for (uint32_t i = 0; i < w->perts; i++) { /* scalar i takes no place of a later loss */
		float g = above(d, candidate_loss(d, i));
		memcpy(d->r.g + i, &g, sizeof g);
	}
	write_step(d, d->r.g, w->perts);
	end_reply(d, heading);
	return REPLY_READY;
}

static int evolution_loss(zofl_device *d, double f) {
	zofl_work *w = &d->work;
	const zofl_plan *p = &d->r.plan;
	double first;
	if (w->got < w->perts) {
		put_candidate_loss(d, w->got++, f);
		if (w->got < w->perts)
			return NEXT_POINT;
		if (!is_bounded(candidate_loss(d, twice(d))))
			return DECLINE_LOSS;
		return w->got < w->points ? NEXT_POINT : evolution_reply(d, 0);
	}
	first = candidate_loss(d, twice(d));
	return evolution_reply(d, is_bounded(f) ? (float)in_units(p, f - first) : 0);
}

static int step_loss(zofl_device *d, double f) {
	zofl_work *w = &d->work;
	if (w->got == 0) {
		if (!is_bounded(f))
			return DECLINE_LOSS;
		w->base = w->loss = f;
		put_value(d, (float)f);
	} else
		put_value(d, single(f - w->base));
	if (++w->got < w->points)
		return NEXT_POINT;
	end_reply(d, 0);
	return REPLY_READY;
}

static int sketch_loss(zofl_device *d, double f) {
	zofl_work *w = &d->work;
	uint32_t q = 0;
	double v = 0;
	if (!is_bounded(f))
		return DECLINE_LOSS;
	if (difference(d, f, &q, &v)) {
		float g = single(v);
		if (!(fabsf(g) <= d->r.plan.max_scalar))
			return DECLINE_LARGE;
		put_value(d, g);
	}
	if (++w->got < w->points)
		return NEXT_POINT;
	w->loss = w->sum / w->perts;
	end_reply(d, 0);
	return REPLY_READY;
}

/* By how much the losses at the two ends of a distance differ: 0 up to rounding, NaN if one is
   not finite. */
static double side_of(double plus, double minus) {
	double differ = fabs(plus - minus), sum = fabs(plus) + fabs(minus);
	if (sum - sum != 0)
		return NAN;
	return differ <= 9.5367431640625e-07 * sum ? 0 : differ;
}

static void note_side(zofl_work *w, uint32_t i, double s) {
	if (s == s)
		w->last = s;
	if (s != 0) /* NaN too */
		w->changed = 1;
	if (i >= 2 && w->side[0] > 0 && w->side[1] >= 2 * w->side[0] && s >= 10 * w->side[0])
		w->sloped = 1;
	w->side[0] = w->side[1];
	w->side[1] = s;
}

/* Writes the values of the present direction as the reply's. */
static void keep_direction(zofl_device *d) {
	zofl_work *w = &d->work;
	uint32_t at = w->at;
	for (uint32_t i = 0; i < 1 + 2 * DISTANCES; i++)
		put_value(d, d->r.g[i]);
	w->at = at;
	w->kept = 1;
}

/* A survey of mu tries directions until it finds a slope; else it takes the first along which the
   loss changes, else the last. */
static int direction_done(zofl_device *d) {
	zofl_work *w = &d->work;
	int sloped = w->sloped || w->last != 0, last = w->q + 1 == DIRECTIONS;
	if (sloped || (w->changed && !w->kept) || (last && !w->kept))
		keep_direction(d);
	if (!sloped && !last) {
		w->q++;
		w->got = 0;
		w->points = 2 * DISTANCES;
		w->sloped = w->changed = 0;
		w->last = -1;
		return NEXT_POINT;
	}
	w->at += w->size;
	end_reply(d, 0);
	return REPLY_READY;
}

static int mu_loss(zofl_device *d, double f) {
	zofl_work *w = &d->work;
	float *g = d->r.g;
	uint32_t i = w->q ? w->got : w->got - 1; /* of the probe */
	if (w->got == 0 && w->q == 0) {
		if (!is_bounded(f))
			return DECLINE_LOSS;
		w->base = w->loss = f;
		w->last = -1;
		g[0] = (float)f;
	} else if (i % 2 == 0)
		w->plus = f;
	else {
		g[1 + i / 2] = single((w->plus - f) / 2);
		g[1 + DISTANCES + i / 2] = single((w->plus - w->base) / 2 + (f - w->base) / 2);
		note_side(w, i / 2, side_of(w->plus, f));
	}
	return ++w->got < w->points ? NEXT_POINT : direction_done(d);
}

/* Takes the loss of the point. */
static int take_loss(zofl_device *d, double f) {
	switch (d->work.survey) {
	case SURVEY_STEP:
		return step_loss(d, f);
	case SURVEY_MU:
		return mu_loss(d, f);
	case SURVEY_SKETCH:
		return sketch_loss(d, f);
	}
	return is_evolution(d) ? evolution_loss(d, f) : round_loss(d, f);
}
