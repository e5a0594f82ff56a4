/* ---- the self-test: whether arithmetic here is that of every other device ---- */

/* The number with these bits. No compiler can compute with it beforehand. */
static float f32_of(uint32_t u) {
	volatile uint32_t v = u;
	return unbits(v);
}

static double f64_of(uint64_t u) {
	volatile uint64_t v = u;
	double f;
	u = v;
	memcpy(&f, &u, 8);
	return f;
}

static uint64_t f64_bits(double f) {
	uint64_t u;
	memcpy(&u, &f, 8);
	return u;
}

/* A product fused with a sum: of 1 + 2k + k^2, k^2 is rounded away. Each product is used once,
   because compilers fuse no other. */
static int fuses(void) {
	volatile float f = f32_of(0x3F800800u) * f32_of(0x3F800800u) - f32_of(0x3F801000u);
	volatile float g = f32_of(0x3F801000u) - f32_of(0x3F800800u) * f32_of(0x3F800800u);
	volatile double h =
	    f64_of(0x3FF0000002000000u) * f64_of(0x3FF0000002000000u) - f64_of(0x3FF0000004000000u);
	volatile double k =
	    f64_of(0x3FF0000004000000u) - f64_of(0x3FF0000002000000u) * f64_of(0x3FF0000002000000u);
	return f != 0 || g != 0 || h != 0 || k != 0;
}

/* More bits than a float or a double has, or sums in another order than written. */
static int exceeds(void) {
	float one = f32_of(0x3F800000u), big = f32_of(0x4B800000u);
	double one64 = f64_of(0x3FF0000000000000u), big64 = f64_of(0x4340000000000000u);
	volatile float f = (one + big) - big;
	volatile double g = (one64 + big64) - big64;
	return f != 0 || g != 0;
}

/* Algebra that holds for real numbers alone. */
static int simplifies(void) {
	float nan = f32_of(0x7FC00000u), minus0 = f32_of(0x80000000u), five = f32_of(0x40A00000u);
	float zero = f32_of(0);
	volatile float third = five / 3.0f;
	return nan == nan || bits(minus0 + 0.0f) != 0 || bits(zero - zero) != 0 ||
	       bits(third) != 0x3FD55555u;
}

/* Subnormal numbers flushed to zero, as operands or as results. */
static int flushes_subnormals(void) {
	float least = f32_of(1), normal_least = f32_of(0x00800000u), half = f32_of(0x3F000000u);
	double least64 = f64_of(1), normal64 = f64_of(0x0010000000000000u), wide = least;
	volatile float narrow = (float)f64_of(0x36A0000000000000u); /* 2^-149 */
	return bits(least + least) != 2 || bits(normal_least * half) != 0x00400000u || !(least > 0) ||
	       f64_bits(least64 + least64) != 2 ||
	       f64_bits(normal64 * (double)half) != 0x0008000000000000u ||
	       f64_bits(wide) != 0x36A0000000000000u || bits(narrow) != 1;
}

/* Another rounding than to the nearest, of two the even one. */
static int rounds_else(void) {
	static const struct {
		uint32_t a, b, sum;
	} sums[] = {
	    {0x3F800000u, 0x33000000u, 0x3F800000u}, /* 1 + 2^-25 */
	    {0xBF800000u, 0xB3000000u, 0xBF800000u},
	    {0x3F800000u, 0x33C00000u, 0x3F800001u}, /* 1 + 3/2 2^-24 */
	    {0xBF800000u, 0xB3C00000u, 0xBF800001u},
	    {0x3F800000u, 0x33800000u, 0x3F800000u}, /* 1 + 2^-24, a tie */
	    {0x3F800001u, 0x33800000u, 0x3F800002u},
	};
	volatile int32_t odd = 16777219;
	volatile float converted = (float)odd, narrow;
	double one = f64_of(0x3FF0000000000000u), tie = f64_of(0x3CA0000000000000u); /* 2^-53 */
	for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
		if (bits(f32_of(sums[i].a) + f32_of(sums[i].b)) != sums[i].sum)
			return 1;
	narrow = (float)f64_of(0x3FF0000010000001u); /* just above a tie */
	return bits(converted) != 0x4B800002u || bits(narrow) != 0x3F800001u || one + tie != one ||
	       f64_bits(-one - tie * 1.5) != 0xBFF0000000000001u;
}

/* A square root that is not the nearest double. The first six lie close to a tie. */
static int roots_differ(void) {
	static const uint64_t roots[][2] = {
	    {0x40000FC3F841F181u, 0x3FF6ABC185672E1Fu}, {0x3FF1432C4F9C65ACu, 0x3FF09E84E54DE75Cu},
	    {0x3FF88858BE193201u, 0x3FF3CFE9B00A87E5u}, {0x400591C11786F9C5u, 0x3FFA45A36991FAB2u},
	    {0x3FF7489EC2D11354u, 0x3FF34D1F954C8494u}, {0x400DB1ED6713B85Bu, 0x3FFED3734B3599BBu},
	    {0x4000000000000000u, 0x3FF6A09E667F3BCDu}, {0x0000000000000001u, 0x1E60000000000000u},
	    {0x7FEFFFFFFFFFFFFFu, 0x5FEFFFFFFFFFFFFFu}, {0, 0},
	};
	for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
		if (f64_bits(sqrt(f64_of(roots[i][0]))) != roots[i][1])
			return 1;
	return 0;
}

enum { TESTED = 24, TESTED_SIMD = 150 };

/* Number i of a vector for the test; every fourth is subnormal. */
static float tested(uint32_t i) {
	uint32_t u = (i + 1) * 2654435761u;
	return f32_of(i % 4 == 3 ? u & 0x807FFFFFu : (u & 0x81FFFFFFu) | 0x3C000000u);
}

/* Puts n elements of a direction into type, from a vector of its own. The a of every second test
   is subnormal. Returns a sum of the result's bits. */
static uint32_t directed(int type, zofl_dist dist, uint32_t n, isa level) {
	float out[TESTED_SIMD];
	uint16_t h;
	uint32_t u, hash = 0;
	zofl_addr at = {0x0123456789ABCDEFu, 1, 2, 3, 4};
	target t = {NULL, NULL, ZOFL_F32, 0, PLAIN};
	t.dst = out;
	t.type = type;
	t.a = f32_of(type == ZOFL_F32 ? 0x00345678u : 0x3DCCCCCDu);
	t.level = level;
	for (uint32_t i = 0; i < n; i++)
		if (type == ZOFL_F16 || type == ZOFL_BF16) {
			h = type == ZOFL_F16 ? to_half(tested(i)) : to_bf16(tested(i));
			memcpy((char *)out + 2 * i, &h, 2);
		} else
			out[i] = tested(i);
	put_direction(&t, n, 10, &at, dist);
	for (uint32_t i = 0; i < n; i++) {
		if (type == ZOFL_F16 || type == ZOFL_BF16) {
			memcpy(&h, (const char *)out + 2 * i, 2);
			u = h;
		} else
			u = bits(out[i]);
		hash = (hash ^ u) * 16777619u;
	}
	return hash;
}

#if ZOFL_WITH_LOWRANK
/* A sum of eleven terms of rank 1 over a matrix of 13 x 9 and a vector: of its bits. */
static uint32_t summed(isa level) {
	static const zofl_plan plan = {.nseg = 2, .seg = {{.len = 117, .rows = 13}, {.len = 33}}};
	float out[TESTED_SIMD];
	uint32_t hash = 0;
	zofl_addr at = {0x0123456789ABCDEFu, 1, 2, 3, 0};
	sum s;
	for (uint32_t i = 0; i < TESTED_SIMD; i++)
		out[i] = tested(i);
	sum_begin(&s, out, TESTED_SIMD, 0, 0, ZOFL_RADEMACHER);
	s.level = level;
	s.plan = &plan;
	for (uint32_t i = 0; i < 11; i++, at.pert++)
		sum_add(&s, &at, tested(i));
	sum_end(&s);
	for (uint32_t i = 0; i < TESTED_SIMD; i++)
		hash = (hash ^ bits(out[i])) * 16777619u;
	return hash;
}
#endif

/* Directions that differ from those of other devices. */
static int directions_differ(void) {
	static const uint32_t hashes[2][4] = {
	    {0xB8C5C799u, 0xE5650219u, 0x5A6FDEA4u, 0xF86EF982u}, /* normal: f32, f16, bf16, fill */
	    {0x3A5D2900u, 0xA1B2AE74u, 0xC5429A9Au, 0x7084AE88u}, /* signs */
	};
	for (int type = ZOFL_F32; type <= FILL; type++) {
#if ZOFL_WITH_NORMAL
		if (directed(type, ZOFL_NORMAL, TESTED, PLAIN) != hashes[0][type])
			return 1;
#endif
		if (directed(type, ZOFL_RADEMACHER, TESTED, PLAIN) != hashes[1][type])
			return 1;
	}
#if ZOFL_WITH_LOWRANK
	if (summed(PLAIN) != 0xA2064797u)
		return 1;
#endif
	return 0;
}

/* Vector units whose bits are not those of plain C. */
static int units_differ(void) {
	const int first = ZOFL_WITH_NORMAL ? ZOFL_NORMAL : ZOFL_RADEMACHER;
	isa best = best_isa();
	if (best == PLAIN)
		return 0;
	for (int type = ZOFL_F32; type <= FILL; type++)
		for (int dist = first; dist <= ZOFL_RADEMACHER; dist++)
			if (directed(type, (zofl_dist)dist, TESTED_SIMD, best) !=
			    directed(type, (zofl_dist)dist, TESTED_SIMD, PLAIN))
				return 1;
#if ZOFL_WITH_LOWRANK
	if (summed(best) != summed(PLAIN))
		return 1;
#endif
	return 0;
}

const char *zofl_fault(void) {
	if (flushes_subnormals())
		return "subnormal numbers are flushed to zero: was a part of the program compiled or "
		       "linked with -ffast-math?";
	if (rounds_else())
		return "rounding is not to nearest: was fesetround called in this thread?";
	if (fuses())
		return "products are fused with sums: compile with -ffp-contract=off";
	if (exceeds())
		return "sums have excess precision or another order: compile without -ffast-math, on "
		       "32-bit x86 with -msse2 -mfpmath=sse";
	if (simplifies())
		return "arithmetic is simplified: compile without -ffast-math and its parts";
	if (roots_differ())
		return "sqrt does not round to nearest: link another libm";
	if (directions_differ())
		return "directions differ from those of other devices: another compiler?";
	if (units_differ())
		return "vector units differ from plain C: compile with -DZOFL_WITH_SIMD=0";
	return NULL;
}

int zofl_selftest(void) {
	return zofl_fault() ? ZOFL_ARITHMETIC : ZOFL_OK;
}
