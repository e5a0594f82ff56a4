/* ---- float32, binary16 and bfloat16 as bits ---- */

static inline uint32_t bits(float f) {
	uint32_t u;
	memcpy(&u, &f, 4);
	return u;
}

static inline float unbits(uint32_t u) {
	float f;
	memcpy(&f, &u, 4);
	return f;
}

/* Keeps a product apart from the addition that follows: gcc's GNU mode would fuse them. It also
   keeps gcc from packing four lookups into a vector, which is slower. */
#if defined(__clang__)
#define ROUNDED(p) (void)(p)
#elif defined(__GNUC__) && defined(__SSE2__)
#define ROUNDED(p) __asm__("" : "+x"(p))
#elif defined(__GNUC__) && defined(__aarch64__)
#define ROUNDED(p) __asm__("" : "+w"(p))
#elif defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP) && __ARM_FP & 4
#define ROUNDED(p) __asm__("" : "+t"(p))
#else
#define ROUNDED(p) (void)(p)
#endif

/* The exact value of a binary16. No branch: loops of it become vector code. */
static inline float from_half(uint16_t h) {
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, a = (uint32_t)(h & 0x7FFF) << 13;
	uint32_t big = a + (112u << 23) + (a >= 31u << 23 ? 112u << 23 : 0);
	/* A subnormal is a multiple of 2^-24, and so far are floats from 0.5 on apart. */
	uint32_t small = bits(unbits(0x3F000000u | (h & 0x03FFu)) - 0.5f);
	return unbits(sign | (a < 1u << 23 ? small : big));
}

/* The nearest binary16, of two the even one; from 65520 on infinity; a NaN is 7e00 or fe00. */
static inline uint16_t to_half(float v) {
	uint32_t u = bits(v), sign = u >> 16 & 0x8000, a = u & 0x7FFFFFFFu;
	uint32_t big = (a + 0xFFF + (a >> 13 & 1) - (112u << 23)) >> 13;
	/* Below 2^-14 an addition rounds: floats from 0.5 on are 2^-24 apart. */
	uint32_t small = bits(unbits(a < 0x38800000u ? a : 0) + 0.5f) - 0x3F000000u;
	uint32_t h = a < 0x38800000u ? small : big;
	h = a >= 0x477FF000u ? 0x7C00 : h;
	h = a > 0x7F800000u ? 0x7E00 : h;
	return (uint16_t)(sign | h);
}

static inline float from_bf16(uint16_t h) {
	return unbits((uint32_t)h << 16);
}

/* The nearest bfloat16, of two the even one; a NaN stays one. */
static inline uint16_t to_bf16(float v) {
	uint32_t u = bits(v), h = (u + 0x7FFF + (u >> 16 & 1)) >> 16;
	return (uint16_t)((u & 0x7FFFFFFFu) > 0x7F800000u ? u >> 16 | 0x40 : h);
}
