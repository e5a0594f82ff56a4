/* ---- the plan: docs/wire.md, section 5 ---- */

/* Numbers of the fields that the code below names. */
enum {
	F_RUN = 1,
	F_SCHEME = 3,
	F_RUN_KEY = 4,
	F_DIM = 5,
	F_SEGMENTS = 6,
	F_INITIAL_DIGEST = 8,
	F_SHARING = 9,
	F_DISTRIBUTION = 10,
	F_DIFFERENCE = 11,
	F_MU = 12,
	F_STEPS = 13,
	F_PERTURBATIONS = 14,
	F_RULE = 15,
	F_DECAY = 17,
	F_STEP = 18,
	F_TRANSPORT = 22,
	F_SHARDS = 36,
	F_METRICS = 40,
	F_KEY_CHECK = 47,
	F_PROX = 52,
	F_SERVER_RULE = 54,
	F_PRECISION = 60,
	F_BOXES = 64,
	F_LATE = 82,
	F_GROUPS = 93,
	F_GROUP_SIZE = 94,
	F_REGROUP = 95,
	F_KEY_SCHEME = 105,
	F_COVARIANCE = 122,
	F_RESTARTS = 124
};

/* Choices. */
enum { SHARED = 0, PER_CLIENT = 1, GROUPS = 3 };
enum { NORMAL = 1, RADEMACHER = 2, LOWRANK = 6 };
enum { FORWARD = 1, CENTRAL = 2, NO_DIFFERENCE = 3 };
enum { SGD = 1, MOMENTUM = 2, TORCH_MOMENTUM = 3 };
enum { MEAN = 0, RELAY = 1 };
enum { SERVER_MEAN = 0, SERVER_NORMALIZED = 8, SERVER_CMA = 11 };
enum { SINGLE = 0, HALF = 1, INT8 = 3, INT4 = 4, INT2 = 5 };
enum { GROUPS_RANDOM = 1, GROUPS_SKETCH = 2, GROUPS_AUTO = 3 };
enum { FULL = 0, LIMITED = 1 };
enum { FILL_ZERO = 0, FILL_UNIFORM = 1, FILL_NORMAL = 2 };

enum { MOST_FULL = 1000, MOST_GROWTH = 64 }; /* of server_rule=cma */

/* Forms of a field. */
enum {
	UINT = 'u',
	UINT63 = 'U',
	FLOAT = 'f',
	STR = 's',
	BIN = 'b',
	CHOICE = 'c',
	SEGMENTS = 'S',
	POINTS = 'p',
	NAMES = 'n',
	BOXES = 'x',
	COLUMNS = 'C'
};

/* A field of the plan. kept says where a number goes, as an offset in zofl_plan, or 0. choices has
   bit v for each choice v that version 1 knows; here has those that this build can run. A field
   with other values has here = ONLY_0 if this build runs plans without it alone. */
typedef struct {
	uint8_t number;
	char form;
	uint8_t change; /* whether a change may name it */
	uint16_t choices, here, kept;
#if ZOFL_WITH_NAMES
	const char *name;
#endif
} plan_field;

enum { ANY = 0xFFFF, ONLY_0 = 1 };
#define KEPT(member) ((uint16_t)offsetof(zofl_plan, member))
#define DISTRIBUTIONS \
	((ZOFL_WITH_NORMAL ? 1 << NORMAL : 0) | 1 << RADEMACHER | (ZOFL_WITH_LOWRANK ? 1 << LOWRANK : 0))
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
#define SERVER_RULES (1 << SERVER_MEAN | 1 << SERVER_NORMALIZED | 1 << SERVER_CMA)
#else
#define SERVER_RULES (1 << SERVER_MEAN | 1 << SERVER_NORMALIZED)
#endif

#if ZOFL_WITH_NAMES
#define NAMED(name) , name
#else
#define NAMED(name)
#endif

/* clang-format off */
static const plan_field plan_fields[] = {
	/* number, form, change, choices, here, kept, name */
	{1, STR, 0, 0, ANY, 0 NAMED("run")},
	{2, STR, 0, 0, ANY, 0 NAMED("preset")},
	{3, UINT, 0, 0, ANY, KEPT(scheme) NAMED("scheme")},
	{4, BIN, 0, 0, ANY, 0 NAMED("run_key")},
	{5, UINT63, 0, 0, ANY, KEPT(dim) NAMED("dim")},
	{6, SEGMENTS, 0, 0, ANY, 0 NAMED("segments")},
	{7, CHOICE, 0, 3, 3, KEPT(initial) NAMED("initial")},
	{8, BIN, 0, 0, ANY, 0 NAMED("initial_digest")},
	{9, CHOICE, 0, 0x0B, 0x0B, KEPT(sharing) NAMED("sharing")},
	{10, CHOICE, 0, 0x5F, DISTRIBUTIONS, KEPT(distribution) NAMED("distribution")},
	{11, CHOICE, 0, 0x0F, 0x0F, KEPT(difference) NAMED("difference")},
	{12, FLOAT, 1, 0, ANY, KEPT(mu) NAMED("mu")},
	{13, UINT, 0, 0, ANY, KEPT(steps) NAMED("steps")},
	{14, UINT, 1, 0, ANY, KEPT(perts) NAMED("perturbations")},
	{15, CHOICE, 0, 0x5F, 1 << SGD | 1 << MOMENTUM | 1 << TORCH_MOMENTUM, KEPT(rule) NAMED("rule")},
	{16, FLOAT, 1, 0, ANY, KEPT(beta) NAMED("beta")},
	{17, FLOAT, 1, 0, ANY, KEPT(decay) NAMED("weight_decay")},
	{18, FLOAT, 1, 0, ANY, KEPT(step) NAMED("step")},
	{19, CHOICE, 1, 0x17, 0x17, 0 NAMED("step_decay")},
	{21, POINTS, 1, 0, ANY, KEPT(schedule_perts) NAMED("perturbation_schedule")},
	{22, CHOICE, 0, 7, 1 << MEAN | 1 << RELAY, KEPT(transport) NAMED("transport")},
	{23, CHOICE, 0, 0x0F, 0x0F, 0 NAMED("aggregator")},
	{24, CHOICE, 0, 3, 3, KEPT(weights) NAMED("weights")},
	{25, UINT, 1, 0, ANY, KEPT(max_weight) NAMED("max_weight")},
	{26, FLOAT, 1, 0, ANY, KEPT(max_scalar) NAMED("max_scalar")},
	{27, CHOICE, 0, 3, 3, KEPT(roster) NAMED("roster")},
	{28, UINT, 1, 0, ANY, 0 NAMED("members")},
	{29, UINT, 1, 0, ANY, KEPT(target) NAMED("target")},
	{30, FLOAT, 1, 0, ANY, KEPT(over_sample) NAMED("over_sample")},
	{31, UINT, 1, 0, ANY, 0 NAMED("quorum")},
	{32, UINT, 1, 0, ANY, KEPT(deadline) NAMED("deadline")},
	{33, UINT, 1, 0, ANY, 0 NAMED("max_attempts")},
	{34, UINT, 1, 0, ANY, KEPT(reannounce) NAMED("reannounce")},
	{35, UINT, 1, 0, ANY, 0 NAMED("announce_budget")},
	{36, UINT, 0, 0, ANY, KEPT(shards) NAMED("shards")},
	{37, UINT, 1, 0, ANY, KEPT(batch) NAMED("batch")},
	{38, UINT, 1, 0, ANY, KEPT(eval_every) NAMED("eval_every")},
	{39, UINT, 1, 0, ANY, KEPT(eval_count) NAMED("eval_count")},
	{40, NAMES, 0, 0, ANY, KEPT(metrics) NAMED("metrics")},
	{41, UINT, 1, 0, ANY, KEPT(digest_every) NAMED("digest_every")},
	{42, UINT63, 1, 0, ANY, KEPT(rounds) NAMED("rounds")},
	{43, STR, 1, 0, ANY, 0 NAMED("stop_metric")},
	{44, CHOICE, 1, 3, 3, 0 NAMED("stop_when")},
	{45, FLOAT, 1, 0, ANY, 0 NAMED("stop_value")},
	{46, FLOAT, 1, 0, ANY, 0 NAMED("diverge")},
	{47, BIN, 0, 0, ANY, 0 NAMED("key_check")},
	{48, UINT, 0, 0, ONLY_0, 0 NAMED("subspace_moves")},
	{49, FLOAT, 1, 0, ONLY_0, 0 NAMED("subspace_share")},
	{50, UINT, 0, 0, ONLY_0, 0 NAMED("pool")},
	{51, UINT, 0, 0, ONLY_0, 0 NAMED("rebase")},
	{52, FLOAT, 1, 0, ANY, KEPT(prox) NAMED("prox")},
	{53, CHOICE, 0, 0x17, 1, 0 NAMED("control")},
	{54, CHOICE, 0, 0x0D7F, SERVER_RULES, KEPT(server_rule) NAMED("server_rule")},
	{55, FLOAT, 1, 0, ONLY_0, 0 NAMED("server_step")},
	{56, FLOAT, 1, 0, ANY, KEPT(beta1) NAMED("server_beta1")},
	{57, FLOAT, 1, 0, ANY, KEPT(beta2) NAMED("server_beta2")},
	{58, FLOAT, 1, 0, ONLY_0, 0 NAMED("server_epsilon")},
	{59, FLOAT, 0, 0, ONLY_0, 0 NAMED("server_v0")},
	{60, CHOICE, 0, 0x3B, 0x3B, KEPT(precision) NAMED("precision")},
	{61, FLOAT, 1, 0, ANY, 0 NAMED("trim")},
	{62, FLOAT, 1, 0, ANY, 0 NAMED("clip")},
	{63, UINT, 1, 0, ONLY_0, 0 NAMED("dense_keep")},
	{64, BOXES, 0, 0, ANY, KEPT(nboxes) NAMED("boxes")},
	{65, FLOAT, 1, 0, ONLY_0, 0 NAMED("beta2")},
	{66, FLOAT, 1, 0, ONLY_0, 0 NAMED("epsilon")},
	{67, CHOICE, 0, 3, 1, 0 NAMED("estimator")},
	{68, UINT, 0, 0, ONLY_0, 0 NAMED("features")},
	{70, FLOAT, 0, 0, ONLY_0, 0 NAMED("length_scale")},
	{71, FLOAT, 0, 0, ONLY_0, 0 NAMED("noise")},
	{72, UINT, 0, 0, ONLY_0, 0 NAMED("window")},
	{74, UINT, 1, 0, ONLY_0, 0 NAMED("active")},
	{75, UINT, 1, 0, ONLY_0, 0 NAMED("around")},
	{76, UINT, 1, 0, ONLY_0, 0 NAMED("candidates")},
	{77, FLOAT, 1, 0, ONLY_0, 0 NAMED("radius")},
	{78, CHOICE, 1, 0x0F, 1, 0 NAMED("correction")},
	{79, CHOICE, 1, 3, 1, 0 NAMED("correction_at")},
	{80, FLOAT, 1, 0, ONLY_0, 0 NAMED("heterogeneity")},
	{82, UINT, 1, 0, ANY, KEPT(late) NAMED("late")},
	{86, CHOICE, 1, 3, 3, 0 NAMED("async")},
	{89, FLOAT, 1, 0, ANY, 0 NAMED("floor")},
	{90, FLOAT, 1, 0, ANY, KEPT(server_decay) NAMED("server_decay")},
	{91, CHOICE, 0, 3, 3, KEPT(step_auto) NAMED("step_auto")},
	{92, CHOICE, 1, 3, 3, KEPT(mu_auto) NAMED("mu_auto")},
	{93, CHOICE, 0, 0x0F, 0x0F, KEPT(groups) NAMED("groups")},
	{94, UINT, 1, 0, ANY, KEPT(group_size) NAMED("group_size")},
	{95, UINT, 1, 0, ANY, KEPT(regroup) NAMED("regroup")},
	{96, UINT, 0, 0, ONLY_0, 0 NAMED("classes")},
	{98, FLOAT, 0, 0, ONLY_0, 0 NAMED("dp_clip")},
	{99, FLOAT, 0, 0, ONLY_0, 0 NAMED("dp_noise")},
	{100, CHOICE, 0, 3, 1, 0 NAMED("dp_by")},
	{101, FLOAT, 0, 0, ONLY_0, 0 NAMED("dp_delta")},
	{102, FLOAT, 1, 0, ANY, 0 NAMED("bound")},
	{103, FLOAT, 1, 0, ANY, 0 NAMED("claim_bound")},
	{104, UINT, 1, 0, ANY, 0 NAMED("trust")},
	{105, CHOICE, 0, 3, 3, KEPT(key_scheme) NAMED("key_scheme")},
	{106, CHOICE, 0, 3, 1, 0 NAMED("secure")},
	{107, FLOAT, 0, 0, ONLY_0, 0 NAMED("secure_range")},
	{108, CHOICE, 0, 3, 1, 0 NAMED("dp_of")},
	{109, NAMES, 1, 0, ANY, 0 NAMED("roots")},
	{110, CHOICE, 0, 3, 1, 0 NAMED("cohort")},
	{111, CHOICE, 0, 3, 1, 0 NAMED("secure_lists")},
	{112, CHOICE, 0, 3, 1, 0 NAMED("prior")},
	{113, CHOICE, 0, 3, 1, 0 NAMED("length_fit")},
	{114, FLOAT, 1, 0, ANY, KEPT(loss_unit) NAMED("loss_unit")},
	{115, UINT, 1, 0, ANY, 0 NAMED("liars")},
	{116, STR, 1, 0, ANY, 0 NAMED("best")},
	{117, CHOICE, 1, 7, 7, 0 NAMED("best_when")},
	{118, UINT, 0, 0, ONLY_0, 0 NAMED("columns")},
	{119, COLUMNS, 1, 0, ONLY_0, 0 NAMED("stats")},
	{120, FLOAT, 1, 0, ANY, 0 NAMED("min_delta")},
	{121, UINT, 1, 0, ANY, 0 NAMED("patience")},
	{122, CHOICE, 0, 3, 3, KEPT(covariance) NAMED("covariance")},
	{123, CHOICE, 1, 3, 3, KEPT(perts_auto) NAMED("perturbations_auto")},
	{124, UINT, 1, 0, ANY, KEPT(restarts) NAMED("restarts")},
	{126, CHOICE, 1, 3, 3, 0 NAMED("close")},
	{129, UINT, 0, 0, ANY, KEPT(step_after) NAMED("step_after")},
};
/* clang-format on */

enum { PLAN_FIELDS = sizeof plan_fields / sizeof plan_fields[0] };

static const plan_field *field_of(uint64_t number) {
	for (int i = 0; i < PLAN_FIELDS; i++)
		if (plan_fields[i].number == number)
			return &plan_fields[i];
	return NULL;
}

/* ---- reading a field ---- */

/* What a field's value was. size: of a str or bin its bytes, of an array its elements. */
typedef struct {
	uint64_t u;
	float f;
	const uint8_t *bytes;
	uint32_t size;
	uint8_t zero;
} plan_value;

static void read_segment(reader *r, zofl_segment *s) {
	uint32_t parts = array(r), n;
	uint64_t fill, rows = 0;
	if (parts != 6 && parts != 7)
		fail(r, ZOFL_FORM);
	str(r, MAX_NAME, &n);
	s->len = upto(r, (uint64_t)1 << 41);
	fill = uint_(r);
	if (!r->err && fill > FILL_NORMAL)
		fail(r, fill > 255 ? ZOFL_LIMIT : ZOFL_UPGRADE);
	s->fill = (uint8_t)fill;
	s->scale = finite_(r);
	s->mu = finite_(r);
	s->step = finite_(r);
	if (parts == 7 && (rows = upto(r, (uint64_t)1 << 41)) == 0)
		fail(r, ZOFL_FORM);
#if ZOFL_WITH_LOWRANK
	s->rows = rows;
#endif
	if (s->mu == 0)
		s->mu = 1;
	if (s->step == 0)
		s->step = 1;
	s->low = s->high = 0;
}

/* Segments beyond the room of this build are read and not kept. */
static uint32_t read_segments(reader *r, zofl_plan *p) {
	zofl_segment s;
	uint32_t n = array_of(r, 512, 19);
	for (uint32_t i = 0; i < n && !r->err; i++) {
		read_segment(r, &s);
		if (p && i < ZOFL_SEGMENTS)
			p->seg[i] = s;
	}
	if (p) {
		p->nseg = (uint16_t)(n < ZOFL_SEGMENTS ? n : ZOFL_SEGMENTS);
		if (n > ZOFL_SEGMENTS && !p->unsupported)
			p->unsupported = F_SEGMENTS;
	}
	return n;
}

static uint32_t read_points(reader *r, uint64_t *most) {
	uint32_t n = array_of(r, 64, 3);
	*most = 0;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint64_t perts;
		tuple(r, 2);
		upto(r, MAX63);
		perts = upto(r, 65535);
		if (perts > *most)
			*most = perts;
	}
	return n;
}

/* first: where the first name goes, with a 0, or NULL. */
static uint32_t read_names(reader *r, char *first) {
	uint32_t n = array_of(r, 16, 1), len;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		const uint8_t *name = str(r, MAX_NAME, &len);
		if (name && first && i == 0) {
			memcpy(first, name, len);
			first[len] = 0;
		}
	}
	return n;
}

static uint32_t read_boxes(reader *r, zofl_plan *p) {
	uint32_t n = array_of(r, 512, 11);
	for (uint32_t i = 0; i < n && !r->err; i++) {
		float low, high;
		tuple(r, 2);
		low = finite_(r);
		high = finite_(r);
		if (p && i == 0) {
			p->low = low;
			p->high = high;
		}
		if (p && i < ZOFL_SEGMENTS) {
			p->seg[i].low = low;
			p->seg[i].high = high;
		}
	}
	return n;
}

static uint32_t read_columns(reader *r) {
	uint32_t n = array_of(r, 784, 21);
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint32_t k = array_of(r, 6, 1);
		if (!r->err && k != 4 && k != 6)
			fail(r, ZOFL_FORM);
		upto(r, (uint64_t)1 << 52);
		upto(r, (uint64_t)1 << 52);
		for (uint32_t j = 2; j < k; j++)
			finite_double(r);
	}
	return n;
}

static void read_value(reader *r, const plan_field *f, zofl_plan *p, plan_value *v) {
	memset(v, 0, sizeof *v);
	switch (f->form) {
	case UINT:
		v->u = upto(r, 0xFFFFFFFFu);
		break;
	case UINT63:
		v->u = upto(r, MAX63);
		break;
	case FLOAT:
		v->f = finite_(r);
		v->zero = v->f == 0;
		return;
	case CHOICE:
		v->u = upto(r, 255);
		if (!r->err && (v->u > 15 || (v->u && !(f->choices >> v->u & 1))))
			fail(r, ZOFL_UPGRADE);
		break;
	case STR:
		v->bytes = str(r, MAX_NAME, &v->size);
		v->u = v->size;
		break;
	case BIN:
		v->bytes = bin(r, 64, &v->size);
		v->u = v->size;
		break;
	case SEGMENTS:
		v->size = read_segments(r, p);
		v->u = v->size;
		break;
	case POINTS:
		v->size = read_points(r, &v->u);
		v->zero = v->size == 0;
		return;
	case NAMES:
		v->size = read_names(r, p && f->number == F_METRICS ? p->metric : NULL);
		v->u = v->size;
		break;
	case BOXES:
		v->size = read_boxes(r, p);
		v->u = v->size < 255 ? v->size : 255;
		break;
	default:
		v->size = read_columns(r);
		v->u = v->size;
	}
	v->zero = v->u == 0;
}

/* Keeps a bin that has 32 bytes in every plan that can run. Of a longer one len alone. */
static void keep_bin(uint8_t dst[32], uint8_t *len, const plan_value *v) {
	if (v->size <= 32 && v->bytes) {
		memcpy(dst, v->bytes, v->size);
		*len = (uint8_t)v->size;
	} else
		*len = 255;
}

static void keep_number(zofl_plan *p, const plan_field *f, const plan_value *v) {
	uint8_t *at = (uint8_t *)p + f->kept;
	uint32_t u = (uint32_t)v->u;
	switch (f->form) {
	case CHOICE:
	case NAMES:
	case BOXES:
		*at = (uint8_t)v->u;
		break;
	case FLOAT:
		memcpy(at, &v->f, 4);
		break;
	case UINT63:
		memcpy(at, &v->u, 8);
		break;
	default:
		memcpy(at, &u, 4);
	}
}

static void keep(zofl_plan *p, const plan_field *f, const plan_value *v) {
	int out = f->form == CHOICE ? !(f->here >> v->u & 1) : f->here == ONLY_0 && !v->zero;
	if (out && !p->unsupported) {
		p->unsupported = f->number;
		p->choice = f->form == CHOICE ? (uint8_t)v->u : 0;
	}
	if (f->kept)
		keep_number(p, f, v);
	switch (f->number) {
	case F_RUN:
		if (strlen(p->run) == v->size && memcmp(p->run, v->bytes, v->size) == 0)
			p->refused = 0;
		break;
	case F_RUN_KEY:
		keep_bin(p->run_key, &p->run_key_len, v);
		break;
	case F_INITIAL_DIGEST:
		keep_bin(p->initial_digest, &p->initial_digest_len, v);
		break;
	case F_KEY_CHECK:
		keep_bin(p->key_check, &p->key_check_len, v);
		break;
	}
}

/* Before the first field. The run's name stays: a plan of another run is refused. */
static void clear_plan(zofl_plan *p) {
	memset((uint8_t *)p + sizeof p->run, 0, sizeof *p - sizeof p->run);
	p->refused = F_RUN;
}

/* Reads the fields of a plan or of a change into p, or only passes them if p is NULL. A plan leaves
   out zeros; a change may name them. Returns whether a change named the step. */
static int read_fields(reader *r, uint32_t n, zofl_plan *p, int change) {
	uint64_t last = 0, scheme = 0;
	int step = 0;
	for (uint32_t i = 0; i < n && !r->err; i++) {
		uint64_t key = next_key(r, &last);
		const plan_field *f = field_of(key);
		plan_value v;
		if (r->err)
			break;
		if (!f || (change && !f->change)) {
			fail(r, ZOFL_UPGRADE);
			break;
		}
		read_value(r, f, p, &v);
		if (v.zero && !change)
			fail(r, ZOFL_FORM);
		if (!r->err && p)
			keep(p, f, &v);
		step |= key == F_STEP;
		if (key == F_SCHEME)
			scheme = v.u;
	}
	if (scheme > 1)
		fail(r, ZOFL_UPGRADE);
	return step;
}

/* ---- what a plan says ---- */

static int is_normalized(const zofl_plan *p) {
	return p->server_rule == SERVER_NORMALIZED;
}

static int is_cma(const zofl_plan *p) {
	return p->server_rule == SERVER_CMA;
}

static int is_private(const zofl_plan *p) {
	return p->key_check_len > 0;
}

/* Whether the state has m. */
static int has_m(const zofl_plan *p) {
	return p->rule == MOMENTUM || p->rule == TORCH_MOMENTUM || is_normalized(p);
}

/* The precision of scalars in a record: groups have means, which no code of few bits holds. */
static int term_precision(const zofl_plan *p) {
	return p->sharing == GROUPS && p->precision >= INT8 ? HALF : p->precision;
}

/* The most perturbations of a step in any round. */
static uint32_t most_perts(const zofl_plan *p) {
	uint64_t most = p->perts > p->schedule_perts ? p->perts : p->schedule_perts;
	if (p->perts_auto && (most *= MOST_GROWTH) > MAX_SCALARS)
		most = MAX_SCALARS;
	if (is_cma(p) && (most <<= p->restarts) > MAX_SCALARS)
		most = MAX_SCALARS;
	return (uint32_t)most;
}

/* The devices that an attempt asks: target times over_sample, rounded to thousandths, rounded up.
 */
static uint64_t asked(const zofl_plan *p) {
	double over = p->over_sample > 1 ? (double)p->over_sample : 1;
	uint64_t thousandths = (uint64_t)(1000 * (over < 100 ? over : 100) + 0.5);
	return ((uint64_t)p->target * thousandths + 999) / 1000;
}

/* The segment of parameter i, and where it ends. */
static const zofl_segment *segment(const zofl_plan *p, uint64_t i, uint64_t *end) {
	int s = 0;
	*end = p->seg[0].len;
	while (i >= *end && s + 1 < p->nseg)
		*end += p->seg[++s].len;
	return &p->seg[s];
}

/* ---- whether a plan can run ---- */

/* Whether rows divide their segments, and distribution=lowrank has some. */
static int has_shape(const zofl_plan *p) {
#if ZOFL_WITH_LOWRANK
	int matrices = 0;
	for (int i = 0; i < p->nseg; i++) {
		const zofl_segment *s = &p->seg[i];
		if (s->rows && (s->rows < 2 || s->len / 2 < s->rows || s->len % s->rows))
			return 0;
		matrices += s->rows > 0;
	}
	return matrices > 0 || p->distribution != LOWRANK;
#else
	(void)p;
	return 1;
#endif
}

/* One segment where the plan names none, and each segment's box. Returns the field at fault. */
static uint8_t complete(zofl_plan *p) {
	uint64_t sum = 0;
	if (p->nseg == 0) {
		p->seg[0] = (zofl_segment){.len = p->dim, .mu = 1, .step = 1, .fill = FILL_ZERO};
		p->nseg = 1;
	}
	if (p->nboxes > 1 && p->nboxes != p->nseg)
		return F_BOXES;
	for (int i = 0; i < p->nseg; i++) {
		zofl_segment *s = &p->seg[i];
		sum += s->len;
		if (p->nboxes == 1) {
			s->low = p->low;
			s->high = p->high;
		}
		if (p->nboxes && !(s->low < s->high))
			return F_BOXES;
	}
	return sum == p->dim && has_shape(p) ? 0 : F_SEGMENTS;
}

/* Rules of server_rule=cma. */
static uint8_t check_cma(const zofl_plan *p) {
	if (p->transport != MEAN)
		return F_TRANSPORT;
	if (p->distribution != NORMAL)
		return F_DISTRIBUTION;
	if (p->perts < 4 || p->schedule_perts)
		return F_PERTURBATIONS;
	if (p->restarts > 10 || (uint64_t)p->perts << p->restarts > MAX_SCALARS)
		return F_RESTARTS;
	if (p->late)
		return F_LATE;
	return p->covariance == FULL && p->dim > MOST_FULL ? F_COVARIANCE : 0;
}

/* The server rules with which a round makes one step along the estimate. */
static uint8_t check_server(const zofl_plan *p) {
	if ((p->difference == NO_DIFFERENCE) != is_cma(p))
		return F_DIFFERENCE;
	if (p->nboxes && !is_cma(p))
		return F_BOXES;
	if (p->server_rule == SERVER_MEAN)
		return 0;
	if (p->steps != 1)
		return F_STEPS;
	if (p->rule != SGD)
		return F_RULE;
	if (p->decay != 0)
		return F_DECAY;
	return is_cma(p) ? check_cma(p) : 0;
}

static uint8_t check_groups(const zofl_plan *p) {
	if ((p->sharing == GROUPS) != (p->groups != 0))
		return F_GROUPS;
	if (p->sharing != GROUPS)
		return 0;
	if (p->regroup == 0)
		return F_REGROUP;
	if (p->groups != GROUPS_AUTO &&
	    (p->group_size == 0 || p->group_size > MAX_MEMBERS || asked(p) < p->group_size))
		return F_GROUP_SIZE;
	return 0;
}

static uint8_t check_keys(const zofl_plan *p) {
	if (p->scheme != 1)
		return F_SCHEME;
	if (p->run_key_len != (is_private(p) ? 0 : 32))
		return F_RUN_KEY;
	if (is_private(p) && p->key_check_len != 32)
		return F_KEY_CHECK;
	if (p->key_scheme && !is_private(p))
		return F_KEY_SCHEME;
	return p->initial_digest_len != (p->initial ? 32 : 0) ? F_INITIAL_DIGEST : 0;
}

/* What replay and a device rely on. A coordinator checks more: plan/valid has all rules. */
static uint8_t check_plan(const zofl_plan *p) {
	uint8_t at = check_keys(p);
	uint32_t perts = p->perts > p->schedule_perts ? p->perts : p->schedule_perts;
	if (at)
		return at;
	if (p->dim == 0 || p->dim > (uint64_t)1 << 41)
		return F_DIM;
	if (p->distribution == 0)
		return F_DISTRIBUTION;
	if (p->difference == 0)
		return F_DIFFERENCE;
	if (p->mu < 0 || (p->mu == 0 && !p->mu_auto && p->difference != NO_DIFFERENCE))
		return F_MU;
	if (p->steps == 0 || p->steps > 65535)
		return F_STEPS;
	if (p->perts == 0 || perts > 65535 || (uint64_t)p->steps * perts > MAX_SCALARS)
		return F_PERTURBATIONS;
	if (p->rule == 0)
		return F_RULE;
	if (p->shards == 0)
		return F_SHARDS;
	if ((p->sharing == SHARED) != (p->transport == MEAN))
		return F_TRANSPORT;
	if (p->precision >= INT8 && p->transport != RELAY)
		return F_PRECISION;
	if (p->late && (term_precision(p) > HALF || p->sharing == GROUPS))
		return F_LATE;
	if (p->prox != 0 && p->steps == 1)
		return F_PROX;
	return (at = check_groups(p)) ? at : check_server(p);
}

/* ZOFL_OK for a plan that this build can run, after reading or a change. */
static int judge(zofl_plan *p, int first) {
	if (p->unsupported)
		return ZOFL_UNSUPPORTED;
	if (!p->refused && first)
		p->refused = complete(p);
	if (!p->refused)
		p->refused = check_plan(p);
	if (p->refused)
		return ZOFL_REFUSED;
#if !ZOFL_WITH_NORMAL
	for (int i = 0; i < p->nseg; i++)
		if (p->seg[i].fill == FILL_NORMAL)
			p->unsupported = F_SEGMENTS;
#endif
	return p->unsupported ? ZOFL_UNSUPPORTED : ZOFL_OK;
}

/* ---- why a plan cannot run, for people ---- */

typedef struct {
	char *out;
	size_t room, size;
} text;

/* Appends as much of n bytes as there is room for. out always ends with a 0. */
static void put_bytes(text *t, const char *s, size_t n) {
	for (size_t i = 0; i < n && t->size + 1 < t->room; i++)
		t->out[t->size++] = s[i];
	if (t->room)
		t->out[t->size] = 0;
}

static void put_text(text *t, const char *s) {
	put_bytes(t, s, strlen(s));
}

#if ZOFL_WITH_NAMES
/* The choices of the fields of which a build may lack some, by number. */
static const struct {
	uint8_t number;
	const char *names;
} plan_choices[] = {
    {10, ",normal,rademacher,sphere,subspace,,lowrank"},
    {15, ",sgd,momentum,torch-momentum,adam,,sign"},
    {22, "mean,relay,dense"},
    {53, "none,scaffold-1,scaffold-2,,svrg"},
    {54, "mean,sgd,momentum,adam,amsgrad,yogi,sign,,normalized,,adagrad,cma"},
    {67, "differences,surrogate"},
    {78, "inverse,one,zero,theory"},
    {79, "iterate,round"},
    {100, "device,coordinator"},
    {106, "none,sum"},
    {108, "device,sum"},
    {110, "record,round"},
    {111, "believed,agreed"},
    {112, "mean,zero"},
    {113, "off,on"},
};

/* The name of a choice in a list of names; its size is 0 where it has none. */
static const char *nth_name(const char *names, uint32_t choice, size_t *size) {
	for (; choice > 0 && *names; choice--)
		names += strcspn(names, ",") + (names[strcspn(names, ",")] == ',');
	*size = strcspn(names, ",");
	return names;
}

static const char *choices_of(uint8_t number) {
	for (size_t i = 0; i < sizeof plan_choices / sizeof plan_choices[0]; i++)
		if (plan_choices[i].number == number)
			return plan_choices[i].names;
	return NULL;
}

/* "server_rule is adam, and this build has mean, normalized, cma" */
static void put_choice(text *t, const plan_field *f, uint8_t choice) {
	const char *names = choices_of(f->number), *name;
	size_t size;
	int first = 1;
	if (!names)
		return;
	put_text(t, " is ");
	name = nth_name(names, choice, &size);
	put_bytes(t, name, size);
	put_text(t, ", and this build has ");
	for (uint32_t v = 0; v < 16; v++) {
		name = nth_name(names, v, &size);
		if (!(f->here >> v & 1) || size == 0)
			continue;
		if (!first)
			put_text(t, ", ");
		put_bytes(t, name, size);
		first = 0;
	}
}

static void put_field(text *t, const plan_field *f) {
	put_text(t, f->name);
}
#else
static void put_number(text *t, uint32_t v) {
	char digits[10];
	size_t i = sizeof digits;
	do
		digits[--i] = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	put_bytes(t, digits + i, sizeof digits - i);
}

static void put_field(text *t, const plan_field *f) {
	put_text(t, "field ");
	put_number(t, f->number);
}

static void put_choice(text *t, const plan_field *f, uint8_t choice) {
	(void)f;
	put_text(t, " is ");
	put_number(t, choice);
	put_text(t, ", which this build has not");
}
#endif

/* Why judge refused p; the length of the text, 0 where it did not. */
static int plan_explain(const zofl_plan *p, char *out, size_t room) {
	text t = {out, room, 0};
	const plan_field *f = field_of(p->unsupported ? p->unsupported : p->refused);
	if (!f)
		return 0;
	put_text(&t, "plan: ");
	put_field(&t, f);
	if (!p->unsupported && f->number == F_INITIAL_DIGEST)
		put_text(&t, " is not of the parameters that this device gives");
	else if (!p->unsupported)
		put_text(&t, " is missing, or does not fit the other fields: no run can have this plan");
	else if (f->form == CHOICE)
		put_choice(&t, f, p->choice);
	else if (f->number == F_SEGMENTS)
		put_text(&t, " are more than this build has room for, or of normal numbers");
	else
		put_text(&t, " is set, and this build runs only plans without it");
	if (p->unsupported)
		put_text(&t, ": use the Go client");
	return (int)t.size;
}
