/* ---- cohorts, groups, seeds and shards: docs/wire.md, section 6 ---- */

static uint64_t draw(const char *purpose, const char *run, uint64_t n, uint32_t attempt) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 draw");
	zofl_sha256_add(&c, purpose, strlen(purpose) + 1);
	zofl_sha256_add(&c, run, strlen(run) + 1);
	add_le(&c, n, 8);
	add_le(&c, attempt, 4);
	zofl_sha256_end(&c, d);
	return le64(d);
}

/* Whether the draw asks the device id of an open roster. sampled: of 2^32. */
static int asks_open(uint64_t draw, uint64_t sampled, const char *id) {
	zofl_sha256 c;
	uint8_t d[32];
	zofl_sha256_init(&c);
	add_le(&c, draw, 8);
	add_str(&c, id);
	zofl_sha256_end(&c, d);
	return le32(d) < sampled;
}

/* The Feistel network of a draw on numbers of 2 half bits. */
static uint64_t mix(uint64_t s, int half, uint64_t draw) {
	uint64_t mask = ((uint64_t)1 << half) - 1, l = s >> half, r = s & mask;
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t c[4] = {(uint32_t)r, i, 0, 0};
		uint64_t t;
		philox(c, draw);
		t = l ^ (c[0] & mask);
		l = r;
		r = t;
	}
	return l << half | r;
}

/* Whether the draw asks a slot of a listed roster: whether a permutation of the members puts it
   among the first. Each mixing ends below members with a chance of a quarter or more. */
static int asks_listed(uint64_t draw, uint64_t sampled, uint64_t members, uint64_t slot) {
	int bits = 0;
	if (slot >= members || members > MAX_MEMBERS)
		return 0;
	while ((members - 1) >> bits)
		bits++;
	do
		slot = mix(slot, (bits + 1) / 2, draw);
	while (slot >= members);
	return slot < sampled;
}

/* Whether a draw asks a device. members is 0 in an open roster. purpose: round or eval. */
static int in_cohort(const char *purpose, const char *run, uint64_t n, uint32_t attempt,
                     uint64_t sampled, uint64_t members, uint64_t slot, const char *id) {
	uint64_t d = draw(purpose, run, n, attempt);
	return members ? asks_listed(d, sampled, members, slot) : asks_open(d, sampled, id);
}

/* Whether devices draw their groups; otherwise announcements name them. */
static int draws_groups(const zofl_plan *p) {
	return p->sharing == GROUPS && p->groups == GROUPS_RANDOM && (p->roster || asked(p) > 128);
}

/* The group of a device in record n, where devices draw them. */
static uint32_t drawn_group(const zofl_plan *p, uint64_t n, const char *id) {
	uint64_t devices = asked(p) < MAX_MEMBERS ? asked(p) : MAX_MEMBERS;
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 group");
	zofl_sha256_add(&c, p->run, strlen(p->run) + 1);
	add_le(&c, n / p->regroup, 8);
	add_str(&c, id);
	zofl_sha256_end(&c, d);
	return (uint32_t)(le64(d) % (devices / p->group_size));
}

/* Draws a device's minibatch of a local step. */
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

/* The shard of a device. */
static uint32_t zofl_shard(const char *id, uint32_t shards) {
	zofl_sha256 c;
	uint8_t d[32];
	add_tag(&c, "zofl/1 shard");
	add_str(&c, id);
	zofl_sha256_end(&c, d);
	return le32(d) % shards;
}
