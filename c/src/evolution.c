/* ---- server_rule=cma: docs/replay.md, section 11 ----

   Binary64, each operation rounded: every product is a statement or a call of its own, so that no
   compiler joins it with a sum. What Go keeps for all candidates at once is drawn anew here: memory
   depends on the number of parameters, not of candidates. */

#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL

static inline double mul(double a, double b) {
	return a * b;
}

/* Rows of the covariance: d columns of the matrix, or 4 + floor(3 ln d) vectors. */
static uint32_t cma_rows(const zofl_plan *p) {
	double power = 1.3956124250860895;
	uint32_t rows = 4;
	if (p->covariance == FULL)
		return (uint32_t)p->dim;
	for (; power <= (double)p->dim; rows++)
		power = power * 1.3956124250860895;
	return rows;
}

enum { COLUMNS_AT_ONCE = 16 };

/* Parts of the workspace, in elements. */
static uint64_t cma_wide(const zofl_plan *p) {
	uint64_t columns = p->dim < COLUMNS_AT_ONCE ? p->dim : COLUMNS_AT_ONCE;
	return p->covariance == FULL ? p->dim * columns : p->dim;
}

/* ---- weights and rates of a record with n candidates ---- */

typedef struct {
	uint32_t n, better;               /* candidates, and how many of them have positive weights */
	double half, scale, low_scale, a; /* of the weights */
	double sum, mass, c1, cw, cs, damp, length;
} rates;

/* Goes through the weights by rank. */
typedef struct {
	const rates *of;
	uint32_t rank; /* from 0 */
	double h;
} weights;

static double raw_weight(const rates *s, uint32_t rank, double h) {
	double w = s->half - h;
	return rank >= s->better && w > 0 ? 0 : w;
}

static double next_h(double h, uint32_t rank) {
	return h + 1 / ((double)(rank + 1) + 0.5);
}

static double next_weight(weights *w) {
	const rates *s = w->of;
	double raw = raw_weight(s, w->rank, w->h);
	w->h = next_h(w->h, w->rank);
	if (w->rank++ < s->better)
		return raw / s->scale;
	return mul(s->a, raw) / -s->low_scale;
}

static double smaller(double a, double b) {
	return a < b ? a : b;
}

/* The sums of the raw weights, and of their squares, of the better half and of the others. */
static void sum_weights(rates *s, double *squares, double *low_squares) {
	double h = 0, before = 0;
	for (uint32_t j = 0; j < s->better; j++) {
		before = h;
		h = next_h(h, j);
	}
	s->half = s->n % 2 ? h : 0.5 * (h + before);
	s->scale = s->low_scale = *squares = *low_squares = h = 0;
	for (uint32_t rank = 0; rank < s->n; rank++) {
		double w = raw_weight(s, rank, h), square = w * w;
		if (rank < s->better) {
			s->scale += w;
			*squares += square;
		} else {
			s->low_scale += w;
			*low_squares += square;
		}
		h = next_h(h, rank);
	}
}

static void set_rates(rates *s, uint32_t n, const zofl_plan *p) {
	double squares, low_squares, d = (double)p->dim, t, low_mass, root;
	weights w = {s, 0, 0};
	s->n = n;
	s->better = n / 2;
	sum_weights(s, &squares, &low_squares);
	s->mass = mul(s->scale, s->scale) / squares;
	low_mass = mul(s->low_scale, s->low_scale) / low_squares;
	s->c1 = 2 / (mul(d + 1.3, d + 1.3) + s->mass);
	t = mul(2, s->mass - 2 + 1 / s->mass) / (mul(d + 2, d + 2) + s->mass);
	s->cw = smaller(1 - s->c1, t);
	s->a = smaller(1 + s->c1 / s->cw, 1 + mul(2, low_mass) / (s->mass + 2));
	s->a = smaller(s->a, (1 - s->c1 - s->cw) / mul(d, s->cw));
	s->sum = 0;
	for (uint32_t rank = 0; rank < n; rank++)
		s->sum += next_weight(&w);
	s->cs = (s->mass + 2) / (s->mass + d + 5);
	root = sqrt((s->mass - 1) / (d + 1)) - 1;
	s->damp = 1 + s->cs + mul(2, root > 0 ? root : 0);
	if (p->covariance == LIMITED)
		s->cs = smaller(1, (double)(2 * n) / d);
	s->length = mul(sqrt(d), 1 - 1 / mul(4, d) + 1 / mul(21, mul(d, d)));
}

/* The factor of a record's mean in a running mean that keeps 1 - rate. */
static double gain(const rates *s, double rate) {
	return sqrt(mul(mul(s->mass, rate), 2 - rate));
}

/* ---- ranks ---- */

/* A loss to rank by: a NaN counts as infinite. */
static float loss_of(const term *t, int precision, uint32_t k) {
	float f = scalar(t->b, precision, t->perts, 0, k);
	return f != f ? INFINITY : f;
}

static int ranks_before(const term *t, int precision, uint16_t a, uint16_t b) {
	float f = loss_of(t, precision, a), g = loss_of(t, precision, b);
	return f < g || (f == g && a < b);
}

/* Moves the candidate at i down the heap, whose parents rank behind their children. */
static void sift(uint16_t *order, uint32_t i, uint32_t n, const term *t, int precision) {
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		uint16_t moved = order[i];
		if (child + 1 < n && ranks_before(t, precision, order[child], order[child + 1]))
			child++;
		if (!ranks_before(t, precision, moved, order[child]))
			return;
		order[i] = order[child];
		order[child] = moved;
	}
}

/* order: the candidates by rank. */
static void rank_losses(uint16_t *order, const term *t, int precision) {
	uint32_t n = t->perts;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint16_t)i;
	for (uint32_t i = n / 2; i-- > 0;)
		sift(order, i, n, t, precision);
	for (uint32_t last = n; last-- > 1;) {
		uint16_t most = order[0];
		order[0] = order[last];
		order[last] = most;
		sift(order, 0, last, t, precision);
	}
}

/* ---- boxes ---- */

/* The point of [0, 1] to which v folds: within 0.05 of an end along a parabola. */
static double folded(double v) {
	double t = v + 0.05, from;
	from = mul(2.2, floor(t / 2.2));
	t = t - from;
	if (t > 1.1)
		t = 2.2 - t;
	t = t - 0.05;
	if (t < 0.05)
		return mul(t + 0.05, t + 0.05) / 0.2;
	if (t > 0.95)
		return 1 - mul(1.05 - t, 1.05 - t) / 0.2;
	return t;
}

/* A point that folds to f. */
static double unfolded(double f) {
	if (f < 0.05)
		return sqrt(mul(0.2, f)) - 0.05;
	if (f > 0.95)
		return 1.05 - sqrt(mul(0.2, 1 - f));
	return f;
}

static float inside(const zofl_segment *s, double v) {
	double low = (double)s->low, side = (double)s->high - low, at;
	float x;
	at = mul(side, folded(v));
	x = (float)(low + at);
	return x < s->low ? s->low : x > s->high ? s->high : x;
}

static float unfold(const zofl_segment *s, float x) {
	double low = (double)s->low, side = (double)s->high - low;
	return (float)unfolded(((double)x - low) / side);
}

/* ---- the shape of a candidate ---- */

static zofl_addr candidate_address(const zofl_replica *r, uint64_t n, uint32_t k) {
	zofl_addr at = {zofl_record_key(r->key, 32, n), 0, (uint16_t)k, 0, 0};
	return at;
}

/* y[c] = sum over j of T_j[first+c] z[j] */
static void shape_columns(const zofl_replica *r, const float *z, uint64_t first, uint32_t columns,
                          double *y) {
	uint64_t d = r->plan.dim;
	for (uint32_t c = 0; c < columns; c++)
		y[c] = 0;
	for (uint64_t j = 0; j < d; j++) {
		const float *row = r->rows + j * d + first;
		for (uint32_t c = 0; c < columns; c++)
			y[c] = y[c] + mul((double)z[j], (double)row[c]);
	}
}

/* y = z, pulled along the rows that records have filled so far. */
static void shape_limited(const zofl_replica *r, double *y) {
	uint64_t d = r->plan.dim, filled = r->records < r->nrows ? r->records : r->nrows;
	double power = 1;
	for (uint64_t row = 0; row < filled; row++) {
		const float *v = r->rows + row * d;
		double q = 1 / mul(power, (double)d), dot = 0, keep = 1 - q, b;
		for (uint64_t i = 0; i < d; i++)
			dot += mul((double)v[i], y[i]);
		b = q * dot;
		for (uint64_t i = 0; i < d; i++)
			y[i] = mul(keep, y[i]) + mul(b, (double)v[i]);
		power = power * 1.5;
	}
}

/* y = z of the candidate, and zw += w z. */
static void draw_limited(const zofl_replica *r, const zofl_addr *at, double *y, double *zw,
                         double w) {
	uint64_t d = r->plan.dim, n;
	for (uint64_t i = 0; i < d; i += n) {
		n = d - i < ZOFL_TILE ? d - i : ZOFL_TILE;
		zofl_fill(r->tile, n, i, at, ZOFL_NORMAL);
		for (uint64_t e = 0; e < n; e++) {
			double z = (double)r->tile[e];
			y[i + e] = z;
			if (zw)
				zw[i + e] = zw[i + e] + mul(w, z);
		}
	}
}

/* ---- a record ---- */

/* x = x + (sigma s) y, for elements [first, first+n) */
static void move_x(zofl_replica *r, const double *y, uint64_t first, uint64_t n) {
	uint64_t end;
	for (uint64_t i = first; i < first + n; i++) {
		const zofl_segment *s = segment(&r->plan, i, &end);
		double sigma = r->sigma * (double)s->step, move = mul(sigma, y[i - first]);
		if (r->u) {
			r->u[i] = (float)((double)r->u[i] + move);
			r->x[i] = inside(s, (double)r->u[i]);
		} else
			r->x[i] = (float)((double)r->x[i] + move);
	}
}

/* p = (1 - cs) p + G(cs) zw, into path; its squared norm. */
static double move_path(zofl_replica *r, const rates *s, double *path) {
	double keep = 1 - s->cs, g = gain(s, s->cs), square = 0;
	for (uint64_t i = 0; i < r->plan.dim; i++) {
		double p = mul(keep, (double)r->path[i]) + mul(g, r->zw[i]);
		square += mul(p, p);
		path[i] = p;
	}
	return square;
}

static void round_path(zofl_replica *r, const double *path) {
	for (uint64_t i = 0; i < r->plan.dim; i++)
		r->path[i] = (float)path[i];
}

/* sigma = sigma X(u), which is about e^u */
static void grow(zofl_replica *r, double u) {
	double a, half;
	u = u > 1 ? 1 : u < -1 ? -1 : u;
	a = 1 + mul(u, u) / 12;
	half = u / 2;
	r->sigma = r->sigma * ((a + half) / (a - half));
}

/* w of a rank below the better half: divided by the squared norm of its z. */
static double low_weight(double w, const float *z, uint64_t d) {
	double n = 0;
	if (w == 0)
		return w;
	for (uint64_t j = 0; j < d; j++)
		n += mul((double)z[j], (double)z[j]);
	return mul(w, (double)d) / n;
}

/* The next columns [first, first+columns) of all rows, and of x. p is the path, not rounded. */
static void renew_columns(zofl_replica *r, const rates *s, uint64_t n, uint64_t first,
                          uint32_t columns, const double *p) {
	uint64_t d = r->plan.dim;
	double half = s->c1 / 2, rate = s->cw / 2, keep = 1 - half - mul(rate, s->sum);
	double y[COLUMNS_AT_ONCE], yw[COLUMNS_AT_ONCE] = {0}, q[COLUMNS_AT_ONCE] = {0};
	zofl_addr at = candidate_address(r, n, 0);
	weights ws = {s, 0, 0};
	for (uint64_t j = 0; j < d; j++)
		for (uint32_t c = 0; c < columns; c++)
			q[c] = q[c] + mul(p[j], (double)r->rows[j * d + first + c]);
	for (uint64_t j = 0; j < d; j++) {
		double a = half * p[j];
		for (uint32_t c = 0; c < columns; c++)
			r->wide[j * columns + c] = mul(keep, (double)r->rows[j * d + first + c]) + mul(a, q[c]);
	}
	for (uint32_t rank = 0; rank < s->n; rank++) {
		double w = next_weight(&ws), v = rate;
		at.pert = r->order[rank];
		zofl_fill(r->z, d, 0, &at, ZOFL_NORMAL);
		shape_columns(r, r->z, first, columns, y);
		if (rank < s->better)
			for (uint32_t c = 0; c < columns; c++)
				yw[c] = yw[c] + mul(w, y[c]);
		v = rate * (rank < s->better ? w : low_weight(w, r->z, d));
		for (uint64_t j = 0; j < d; j++) {
			double f = v * (double)r->z[j];
			for (uint32_t c = 0; c < columns; c++)
				r->wide[j * columns + c] = r->wide[j * columns + c] + mul(f, y[c]);
		}
	}
	for (uint64_t j = 0; j < d; j++)
		for (uint32_t c = 0; c < columns; c++)
			r->rows[j * d + first + c] = (float)r->wide[j * columns + c];
	move_x(r, yw, first, columns);
}

static void evolve_full(zofl_replica *r, const rates *s, uint64_t n) {
	uint64_t d = r->plan.dim;
	zofl_addr at = candidate_address(r, n, 0);
	weights ws = {s, 0, 0};
	double square;
	for (uint32_t rank = 0; rank < s->better; rank++) {
		double w = next_weight(&ws);
		at.pert = r->order[rank];
		zofl_fill(r->z, d, 0, &at, ZOFL_NORMAL);
		for (uint64_t i = 0; i < d; i++)
			r->zw[i] = r->zw[i] + mul(w, (double)r->z[i]);
	}
	square = move_path(r, s, r->zw);
	for (uint64_t first = 0; first < d; first += COLUMNS_AT_ONCE) {
		uint64_t columns = d - first < COLUMNS_AT_ONCE ? d - first : COLUMNS_AT_ONCE;
		renew_columns(r, s, n, first, (uint32_t)columns, r->zw);
	}
	round_path(r, r->zw);
	grow(r, mul(s->cs / s->damp, sqrt(square) / s->length - 1));
}

static void renew_rows(zofl_replica *r, const rates *s) {
	uint64_t d = r->plan.dim;
	double power = 1;
	for (uint32_t row = 0; row < r->nrows; row++) {
		float *v = r->rows + row * d;
		double rate = smaller(1, (double)r->plan.perts / mul(power, (double)d));
		double keep = 1 - rate, g = gain(s, rate);
		for (uint64_t i = 0; i < d; i++)
			v[i] = (float)(mul(keep, (double)v[i]) + mul(g, r->zw[i]));
		power = power * 4;
	}
}

static void evolve_limited(zofl_replica *r, const rates *s, uint64_t n) {
	uint64_t d = r->plan.dim;
	zofl_addr at = candidate_address(r, n, 0);
	weights ws = {s, 0, 0};
	double square;
	memset(r->yw, 0, (size_t)(8 * d));
	for (uint32_t rank = 0; rank < s->better; rank++) {
		double w = next_weight(&ws);
		at.pert = r->order[rank];
		draw_limited(r, &at, r->wide, r->zw, w);
		shape_limited(r, r->wide);
		for (uint64_t i = 0; i < d; i++)
			r->yw[i] = r->yw[i] + mul(w, r->wide[i]);
	}
	move_x(r, r->yw, 0, d);
	square = move_path(r, s, r->wide);
	renew_rows(r, s);
	round_path(r, r->wide);
	grow(r, mul(s->cs / 2, square / (double)d - 1));
	r->records++;
}

/* The state before the first record. */
static void cma_begin(zofl_replica *r) {
	uint64_t d = r->plan.dim, end;
	r->sigma = (double)r->plan.step;
	r->records = 0;
	r->drawn[0] = 0;
	memset(r->path, 0, (size_t)(4 * d));
	memset(r->rows, 0, (size_t)(4 * d * r->nrows));
	for (uint64_t i = 0; i < d; i++) {
		if (r->plan.covariance == FULL)
			r->rows[i * d + i] = 1;
		if (r->u)
			r->u[i] = unfold(segment(&r->plan, i, &end), r->x[i]);
	}
}

/* Applies a round that check_round has accepted. */
static NOINLINE void cma_round(zofl_replica *r, const record *o) {
	walk w = walk_terms(&r->plan, o);
	rates s;
	term t;
	next_term(&w, &t);
	set_rates(&s, t.perts, &r->plan);
	rank_losses(r->order, &t, w.precision);
	r->drawn[0] = 0;
	memset(r->zw, 0, (size_t)(8 * r->plan.dim));
	if (r->plan.covariance == LIMITED)
		evolve_limited(r, &s, o->n);
	else
		evolve_full(r, &s, o->n);
}

/* ---- a device's points ---- */

static float candidate_at(const zofl_replica *r, const zofl_segment *s, uint64_t i, double y) {
	double sigma = r->sigma * (double)s->step, move = mul(sigma, y);
	if (r->u)
		return inside(s, (double)r->u[i] + move);
	return (float)((double)r->x[i] + move);
}

/* Draws candidate k of record n into the scratch, unless it is there. */
static void draw_candidate(const zofl_replica *r, uint64_t n, uint32_t k) {
	zofl_addr at;
	if (r->drawn[0] == n && r->drawn[1] == k)
		return;
	at = candidate_address(r, n, k);
	if (r->plan.covariance == LIMITED) {
		draw_limited(r, &at, r->wide, NULL, 0);
		shape_limited(r, r->wide);
	} else
		zofl_fill(r->z, r->plan.dim, 0, &at, ZOFL_NORMAL);
	r->drawn[0] = n;
	r->drawn[1] = k;
}

/* Elements [off, off+n) of candidate k, from 0, of the record after the last. */
static void candidate(const zofl_replica *r, uint32_t k, zofl_type type, void *dst, uint64_t off,
                      uint64_t n) {
	double y[COLUMNS_AT_ONCE];
	uint64_t end;
	draw_candidate(r, r->n + 1, k);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t c = (uint32_t)(i % COLUMNS_AT_ONCE);
		const double *at = r->wide + off + i;
		float v;
		if (r->plan.covariance == FULL) {
			if (c == 0)
				shape_columns(r, r->z, off + i,
				              (uint32_t)(n - i < COLUMNS_AT_ONCE ? n - i : COLUMNS_AT_ONCE), y);
			at = y + c;
		}
		v = candidate_at(r, segment(&r->plan, off + i, &end), off + i, *at);
		if (type == ZOFL_F32)
			((float *)dst)[i] = v;
		else
			((uint16_t *)dst)[i] = type == ZOFL_F16 ? to_half(v) : to_bf16(v);
	}
}

#endif
