/* ---- cohorts (docs/wire.md, section 6) ---- */

static int zofl_in_cohort(const char *run, uint64_t n, uint32_t attempt, uint64_t sampled,
                   uint64_t members, uint64_t slot, const char *id) {
	zofl_sha256 c;
	uint8_t d[32], b[8];
	uint64_t draw, s = slot;
	int h = 0, i;
	add_tag(&c, "zofl/1 draw");
	zofl_sha256_add(&c, "round", 6);
	zofl_sha256_add(&c, run, strlen(run) + 1);
	add_le(&c, n, 8);
	add_le(&c, attempt, 4);
	zofl_sha256_end(&c, d);
	draw = le64(d);
	if (members == 0) {
		for (i = 0; i < 8; i++)
			b[i] = (uint8_t)(draw >> 8 * i);
		zofl_sha256_init(&c);
		zofl_sha256_add(&c, b, 8);
		add_str(&c, id);
		zofl_sha256_end(&c, d);
		return le32(d) < sampled;
	}
	if (slot >= members)
		return 0;
	while ((members - 1) >> h)
		h++;
	h = (h + 1) / 2;
	do {
		uint64_t l = s >> h, r = s & ((1ull << h) - 1), t;
		for (i = 0; i < 12; i++) {
			uint32_t p[4] = {(uint32_t)r, (uint32_t)i, 0, 0};
			philox(p, draw);
			t = l ^ (p[0] & ((1ull << h) - 1));
			l = r;
			r = t;
		}
		s = l << h | r;
	} while (s >= members);
	return s < sampled;
}
