/* ---- records ---- */

typedef struct {
	uint64_t n, epoch, to, round, kind;
	const uint8_t *prev, *body, *end, *terms, *weights;
	uint32_t fields, nterms, nweights, perts, contributors, phase, own;
	float step;
	uint8_t object, population, factor, has_step;
} record;

/* forms of plan fields 1..114: u uint, f float, s str, b bin, c choice, others arrays, - none */

static uint32_t mask_of(uint32_t f) { /* bit v: choice v is known */
	switch (f) {
	case 7:
	case 24:
	case 27:
	case 44:
	case 69:
	case 73:
	case 79:
	case 86:
	case 91:
	case 92:
	case 100:
	case 105:
	case 106:
	case 108:
	case 110:
	case 111:
	case 112:
	case 113:
		return 3;
	case 9:
		return 1 << 0 | 1 << 1 | 1 << 3;
	case 10:
		return 1 | 2 | 4 | 8 | 16;
	case 11:
		return 7;
	case 15:
		return 1 | 2 | 4 | 8 | 16 | 64;
	case 19:
		return 31;
	case 22:
		return 7;
	case 23:
	case 78:
	case 83:
	case 93:
		return 15;
	case 53:
		return 1 | 2 | 4 | 16;
	case 54:
		return 0x7F | 1 << 8 | 1 << 10;
	case 60:
		return 1 | 2 | 8 | 16 | 32;
	case 67:
		return 3;
	}
	return 1;
}

static char form_of(uint32_t f) {
	switch (f) {
	case 1:
	case 2:
	case 43:
		return 's';
	case 4:
	case 8:
	case 47:
		return 'b';
	case 6:
		return 'S';
	case 20:
		return 'p';
	case 21:
		return 'q';
	case 40:
		return 'm';
	case 64:
		return 'x';
	case 109:
		return 'r';
	case 7:
	case 9:
	case 10:
	case 11:
	case 15:
	case 19:
	case 22:
	case 23:
	case 24:
	case 27:
	case 44:
	case 53:
	case 54:
	case 60:
	case 67:
	case 69:
	case 73:
	case 78:
	case 79:
	case 83:
	case 86:
	case 91:
	case 92:
	case 93:
	case 100:
	case 105:
	case 106:
	case 108:
	case 110:
	case 111:
	case 112:
	case 113:
		return 'c';
	case 12:
	case 16:
	case 17:
	case 18:
	case 26:
	case 30:
	case 45:
	case 46:
	case 49:
	case 52:
	case 55:
	case 56:
	case 57:
	case 58:
	case 59:
	case 61:
	case 62:
	case 65:
	case 66:
	case 70:
	case 71:
	case 77:
	case 80:
	case 84:
	case 89:
	case 90:
	case 98:
	case 99:
	case 101:
	case 102:
	case 103:
	case 107:
	case 114:
		return 'f';
	case 81:
	case 97:
		return '-';
	}
	return f >= 1 && f <= 114 ? 'u' : '-';
}

static int changeable(uint32_t f) {
	static const uint8_t c[] = {12, 14, 16, 17, 18, 19, 20, 21, 25,  26,  28,  29,  30, 31, 32, 33,
	                            34, 35, 37, 38, 39, 41, 42, 43, 44,  45,  46,  49,  52, 55, 56, 57,
	                            58, 61, 62, 63, 65, 66, 74, 75, 76,  77,  78,  79,  80, 82, 83, 84,
	                            85, 86, 87, 88, 89, 90, 94, 95, 102, 103, 104, 109, 114};
	return memchr(c, (int)f, sizeof c) != NULL;
}

static void field(reader *r, uint32_t f, zofl_plan *p, int change) {
	uint64_t u = 0;
	uint32_t n = 0, i;
	float v = 0;
	const uint8_t *b = NULL;
	char form = form_of(f);
	int zero = 0;
	switch (form) {
	case 'u':
		u = upto(r, f == 5 || f == 42 || f == 88 ? MAX63 : 0xFFFFFFFFu);
		zero = u == 0;
		break;
	case 'f':
		v = finite_(r);
		zero = v == 0;
		break;
	case 's':
		b = str(r, f == 43 || f == 1 || f == 2 ? 32 : 256, &n);
		zero = n == 0;
		break;
	case 'b':
		b = bin(r, 64, &n);
		zero = n == 0;
		break;
	case 'c':
		u = uint_(r);
		zero = u == 0;
		if (!r->err && (u > 31 || !(mask_of(f) >> u & 1)))
			fail(r, ZOFL_UPGRADE);
		break;
	case '-':
		fail(r, ZOFL_UPGRADE);
		return;
	default:
		n = array(r);
		zero = n == 0;
		if (!r->err && n > (form == 'S'                  ? 512u
		                    : form == 'p' || form == 'q' ? 64u
		                    : form == 'x'                ? 512u
		                                                 : 16u))
			fail(r, ZOFL_LIMIT);
		if (!r->err && (uint64_t)n > (uint64_t)(r->end - r->p))
			fail(r, ZOFL_TRUNCATED);
		if (p && form == 'S') {
			p->nseg = 0;
			if (n > ZOFL_SEGMENTS)
				p->unsupported = 6;
		}
		for (i = 0; i < n && !r->err; i++) {
			uint32_t k;
			if (form == 'm' || form == 'r') {
				str(r, 32, &k);
				if (!r->err && k == 0)
					fail(r, ZOFL_VALUE);
				continue;
			}
			k = array(r);
			if (!r->err && k != (form == 'S' ? 6u : 2u)) {
				fail(r, ZOFL_FORM);
				break;
			}
			if (form == 'S') {
				zofl_segment g = {0};
				str(r, 32, &k);
				g.len = upto(r, (uint64_t)1 << 41);
				u = uint_(r);
				if (!r->err && u > 2)
					fail(r, ZOFL_UPGRADE);
				g.fill = (uint8_t)u;
				g.scale = finite_(r);
				g.mu = finite_(r);
				g.step = finite_(r);
				if (p && i < ZOFL_SEGMENTS)
					p->seg[p->nseg++] = g;
			} else if (form == 'x') {
				finite_(r);
				finite_(r);
			} else {
				upto(r, MAX63);
				if (form == 'p')
					finite_(r);
				else
					upto(r, 0xFFFF);
			}
		}
	}
	if (!r->err && f == 3 && u > 1)
		fail(r, ZOFL_UPGRADE);
	if (!r->err && zero && !change)
		fail(r, ZOFL_FORM);
	if (r->err || !p)
		return;
	switch (f) {
	case 1:
		memcpy(p->run, b, n);
		p->run[n] = 0;
		break;
	case 3:
		p->scheme = (uint8_t)u;
		if (u != 1)
			fail(r, ZOFL_UPGRADE);
		break;
	case 4:
		if (n > 32)
			fail(r, ZOFL_VALUE);
		else {
			memcpy(p->run_key, b, n);
			p->run_key_len = (uint8_t)n;
		}
		break;
	case 5:
		p->dim = u;
		break;
	case 7:
		p->initial = (uint8_t)u;
		break;
	case 8:
		if (n != 32)
			fail(r, ZOFL_VALUE);
		else
			memcpy(p->initial_digest, b, 32);
		break;
	case 9:
		p->sharing = (uint8_t)u;
		break;
	case 10:
		p->distribution = (uint8_t)u;
		if (u > 2)
			p->unsupported = 10;
		break;
	case 11:
		p->difference = (uint8_t)u;
		break;
	case 12:
		p->mu = v;
		break;
	case 13:
		p->steps = (uint32_t)u;
		break;
	case 14:
		p->perts = (uint32_t)u;
		break;
	case 15:
		p->rule = (uint8_t)u;
		if (u > 3)
			p->unsupported = 15;
		break;
	case 16:
		p->beta = v;
		break;
	case 17:
		p->decay = v;
		break;
	case 18:
		p->step = v;
		break;
	case 22:
		p->transport = (uint8_t)u;
		if (u > 1)
			p->unsupported = 22;
		break;
	case 24:
		p->weights = (uint8_t)u;
		break;
	case 25:
		p->max_weight = (uint32_t)u;
		break;
	case 26:
		p->max_scalar = v;
		break;
	case 27:
		p->roster = (uint8_t)u;
		break;
	case 29:
		p->target = (uint32_t)u;
		break;
	case 30:
		p->over_sample = v;
		break;
	case 36:
		p->shards = (uint32_t)u;
		break;
	case 37:
		p->batch = (uint32_t)u;
		break;
	case 38:
		p->eval_every = (uint32_t)u;
		break;
	case 39:
		p->eval_count = (uint32_t)u;
		break;
	case 41:
		p->digest_every = (uint32_t)u;
		break;
	case 42:
		p->rounds = u;
		break;
	case 54:
		p->server_rule = (uint8_t)u;
		if (u != 0 && u != 8)
			p->unsupported = 54;
		break;
	case 56:
		p->beta1 = v;
		break;
	case 57:
		p->beta2 = v;
		break;
	case 60:
		p->precision = (uint8_t)u;
		break;
	case 82:
		p->late = (uint32_t)u;
		break;
	case 90:
		p->server_decay = v;
		break;
	case 91:
		p->step_auto = (uint8_t)u;
		break;
	case 92:
		p->mu_auto = (uint8_t)u;
		break;
	case 93:
		p->groups = (uint8_t)u;
		break;
	case 95:
		p->groups_regroup = u;
		break;
	case 114:
		p->loss_unit = v;
		break;
	case 47:
	case 48:
	case 50:
	case 52:
	case 53:
	case 64:
	case 67:
	case 96:
	case 98:
	case 106:
		if (!zero)
			p->unsupported = (uint8_t)f; /* secret, subspace, pool, prox, control, boxes, surrogate,
			                                classes, dp, secure */
	}
}

static void scalars(reader *r, uint32_t *bytes) {
	uint32_t n;
	bin(r, 4 * 14336, &n);
	if (!r->err && n % 2)
		fail(r, ZOFL_FORM);
	if (bytes)
		*bytes = n;
}

static int parse(record *o, zofl_plan *plan, const uint8_t *rec, size_t len) {
	reader r = {rec, rec + len, 0};
	uint64_t last = 0, v;
	uint32_t i, j, n;
	memset(o, 0, sizeof *o);
	if (len > 61440)
		return ZOFL_LIMIT;
	head(&r, 6);
	o->kind = uint_(&r);
	if (!r.err && (o->kind < 1 || o->kind > 5))
		fail(&r, o->kind == 0 ? ZOFL_VALUE : o->kind > 255 ? ZOFL_LIMIT : ZOFL_UPGRADE);
	o->n = above0(&r, MAX63);
	if (!r.err && (o->kind == 1) != (o->n == 1))
		fail(&r, ZOFL_VALUE);
	o->prev = binof(&r, 16);
	o->epoch = upto(&r, MAX63);
	n = length(&r, 0x80, 15, 0xde, 2);
	if (!r.err && n > 255)
		fail(&r, ZOFL_LIMIT);
	if (!r.err && o->kind == 3 && n == 0)
		fail(&r, ZOFL_VALUE);
	o->body = r.p;
	o->fields = n;
	if (o->kind == 1 && plan)
		memset(plan, 0, sizeof *plan);
	for (i = 0; i < n && !r.err; i++, last = v) {
		v = uint_(&r);
		if (!r.err && v <= last) {
			fail(&r, ZOFL_FORM);
			break;
		}
		if (r.err)
			break;
		if (o->kind == 1 || o->kind == 3) {
			if (o->kind == 3 && (v > 114 || form_of((uint32_t)v) == '-')) {
				fail(&r, ZOFL_UPGRADE);
				break;
			}
			if (o->kind == 3 && !changeable((uint32_t)v)) {
				fail(&r, ZOFL_UPGRADE);
				break;
			}
			field(&r, v > 255 ? 0 : (uint32_t)v, plan, o->kind == 3);
			continue;
		}
		if (o->kind == 4) {
			if (v != 1)
				fail(&r, ZOFL_UPGRADE);
			else {
				o->to = upto(&r, MAX63);
				if (!r.err && (o->to == 0 || o->to >= o->n))
					fail(&r, ZOFL_VALUE);
			}
			continue;
		}
		if (o->kind == 5) {
			if (v == 1) {
				o->to = uint_(&r);
				if (!r.err && (o->to < 1 || o->to > 4))
					fail(&r, o->to ? ZOFL_UPGRADE : ZOFL_FORM);
			} else if (v == 2) {
				str(&r, 256, &j);
				if (!r.err && j == 0)
					fail(&r, ZOFL_FORM);
			} else
				fail(&r, ZOFL_UPGRADE);
			continue;
		}
		switch (v) {
		case 1:
			o->round = upto(&r, MAX63);
			if (!r.err && o->round == 0)
				fail(&r, ZOFL_FORM);
			break;
		case 2:
			if (upto(&r, 0xFFFFFFFFu) == 0)
				fail(&r, ZOFL_FORM);
			break;
		case 3:
			o->step = finite_(&r);
			o->has_step = 1;
			break;
		case 4:
			o->perts = (uint32_t)upto(&r, 65535);
			if (!r.err && !o->perts)
				fail(&r, ZOFL_FORM);
			break;
		case 5:
			o->contributors = (uint32_t)upto(&r, 0xFFFFFFFFu);
			if (!r.err && !o->contributors)
				fail(&r, ZOFL_FORM);
			break;
		case 6: {
			uint32_t k = array(&r);
			int64_t before = -1;
			if (!r.err && k == 0)
				fail(&r, ZOFL_FORM);
			if (!r.err && k > 16384)
				fail(&r, ZOFL_LIMIT);
			if (!r.err && k > (uint64_t)(r.end - r.p))
				fail(&r, ZOFL_TRUNCATED);
			for (j = 0; j < k && !r.err; j++) {
				int64_t s = (int64_t)upto(&r, 16777215);
				if (!r.err && s <= before)
					fail(&r, ZOFL_FORM);
				before = s;
			}
			break;
		}
		case 7: {
			uint64_t pb = 0, ps = 0;
			o->nterms = array(&r);
			if (!r.err && o->nterms > 4096)
				fail(&r, ZOFL_LIMIT);
			if (!r.err && (uint64_t)o->nterms * 4 > (uint64_t)(r.end - r.p))
				fail(&r, ZOFL_TRUNCATED);
			o->terms = r.p;
			for (j = 0; j < o->nterms && !r.err; j++) {
				uint64_t b, s;
				if (array(&r) != 3) {
					fail(&r, ZOFL_FORM);
					break;
				}
				b = upto(&r, MAX63);
				s = uint_(&r);
				if (!r.err && s > 16777216)
					fail(&r, ZOFL_LIMIT);
				if (!r.err && b > 0 && b + 2 > o->n)
					fail(&r, ZOFL_VALUE);
				if (!r.err && j > 0 && (b < pb || (b == pb && s <= ps)))
					fail(&r, ZOFL_FORM);
				pb = b;
				ps = s;
				if (b == 0)
					o->own++;
				scalars(&r, NULL);
			}
			break;
		}
		case 9:
			binof(&r, 32);
			o->object = 1;
			break;
		case 10:
			o->phase = (uint32_t)uint_(&r);
			if (!r.err && o->phase == 0)
				fail(&r, ZOFL_FORM);
			if (!r.err && o->phase > 2)
				fail(&r, ZOFL_UPGRADE);
			break;
		case 11: {
			o->nweights = array(&r);
			if (!r.err && o->nweights == 0)
				fail(&r, ZOFL_FORM);
			if (!r.err && o->nweights > 4096)
				fail(&r, ZOFL_LIMIT);
			if (!r.err && o->nweights > (uint64_t)(r.end - r.p))
				fail(&r, ZOFL_TRUNCATED);
			o->weights = r.p;
			for (j = 0; j < o->nweights && !r.err; j++) {
				uint64_t w = upto(&r, 1048576);
				if (!r.err && w == 0)
					fail(&r, ZOFL_VALUE);
			}
			break;
		}
		case 12:
			if (upto(&r, 16777216) == 0)
				fail(&r, ZOFL_FORM);
			o->population = 1;
			break;
		case 14: {
			float f = finite_(&r);
			if (!r.err && (f == 0 || f == 1))
				fail(&r, ZOFL_FORM);
			o->factor = 1;
			break;
		}
		default:
			fail(&r, ZOFL_UPGRADE);
		}
	}
	if (!r.err && o->kind == 2 && (!o->has_step || !o->terms))
		fail(&r, ZOFL_FORM);
	if (!r.err && o->kind == 4 && o->to == 0)
		fail(&r, ZOFL_VALUE);
	if (!r.err && o->kind == 5 && o->to == 0)
		fail(&r, ZOFL_FORM);
	if (!r.err && r.p != r.end)
		fail(&r, ZOFL_FORM);
	o->end = r.p;
	return r.err;
}

static int zofl_check(const uint8_t *rec, size_t len) {
	record o;
	return parse(&o, NULL, rec, len);
}
