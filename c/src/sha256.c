/* ---- SHA-256 (FIPS 180-4) ---- */

static const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t ror(uint32_t v, int k) {
	return v >> k | v << (32 - k);
}

static void sha_block(uint32_t *h, const uint8_t *p) {
	uint32_t w[64], s[8];
	int i;
	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h, 32);
	for (i = 0; i < 64; i++) {
		uint32_t t = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) +
		             ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
		uint32_t u = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) +
		             ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 28);
		s[4] += t;
		s[0] = t + u;
	}
	for (i = 0; i < 8; i++)
		h[i] += s[i];
}

static void zofl_sha256_init(zofl_sha256 *c) {
	static const uint32_t h0[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	memcpy(c->h, h0, 32);
	c->len = 0;
}

static void zofl_sha256_add(zofl_sha256 *c, const void *data, size_t n) {
	const uint8_t *p = data;
	while (n > 0) {
		size_t at = c->len % 64, m = 64 - at < n ? 64 - at : n;
		memcpy(c->buf + at, p, m);
		c->len += m;
		p += m;
		n -= m;
		if (c->len % 64 == 0)
			sha_block(c->h, c->buf);
	}
}

static void zofl_sha256_end(zofl_sha256 *c, uint8_t out[32]) {
	uint64_t bits = c->len * 8;
	uint8_t pad[72] = {0x80};
	size_t n = (119 - c->len % 64) % 64 + 1;
	int i;
	for (i = 0; i < 8; i++)
		pad[n + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
	zofl_sha256_add(c, pad, n + 8);
	for (i = 0; i < 32; i++)
		out[i] = (uint8_t)(c->h[i / 4] >> (24 - 8 * (i % 4)));
}

static uint64_t le64(const uint8_t *p) {
	uint64_t v = 0;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}
static uint32_t le32(const uint8_t *p) {
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static void put_le32(uint8_t *p, uint32_t v) {
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}
static void add_le(zofl_sha256 *c, uint64_t v, int n) {
	uint8_t b[8];
	for (int i = 0; i < n; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	zofl_sha256_add(c, b, (size_t)n);
}
static void add_str(zofl_sha256 *c, const char *s) {
	zofl_sha256_add(c, s, strlen(s));
}
static void add_tag(zofl_sha256 *c, const char *s) {
	zofl_sha256_init(c);
	zofl_sha256_add(c, s, strlen(s) + 1);
}

/* ---- HMAC-SHA256 (RFC 2104) and HKDF (RFC 5869) ---- */

typedef struct {
	zofl_sha256 c;   /* add the message to it */
	uint8_t key[64]; /* with the inner pad */
} hmac;

static void hmac_begin(hmac *h, const uint8_t *key, size_t len) {
	memset(h->key, 0, sizeof h->key);
	if (len > sizeof h->key) {
		zofl_sha256_init(&h->c);
		zofl_sha256_add(&h->c, key, len);
		zofl_sha256_end(&h->c, h->key);
	} else if (len > 0)
		memcpy(h->key, key, len);
	for (int i = 0; i < 64; i++)
		h->key[i] ^= 0x36;
	zofl_sha256_init(&h->c);
	zofl_sha256_add(&h->c, h->key, 64);
}

static void hmac_end(hmac *h, uint8_t out[32]) {
	uint8_t inner[32];
	zofl_sha256_end(&h->c, inner);
	for (int i = 0; i < 64; i++)
		h->key[i] ^= 0x36 ^ 0x5c;
	zofl_sha256_init(&h->c);
	zofl_sha256_add(&h->c, h->key, 64);
	zofl_sha256_add(&h->c, inner, 32);
	zofl_sha256_end(&h->c, out);
}

/* 32 bytes of a secret for "zofl/2 ", a purpose, a 0 and the run's name. */
static void derive(const uint8_t *secret, size_t len, const char *purpose, const char *run,
                   uint8_t out[32]) {
	hmac h;
	hmac_begin(&h, NULL, 0); /* no salt */
	zofl_sha256_add(&h.c, secret, len);
	hmac_end(&h, out);
	hmac_begin(&h, out, 32);
	zofl_sha256_add(&h.c, "zofl/2 ", 7);
	zofl_sha256_add(&h.c, purpose, strlen(purpose) + 1);
	add_str(&h.c, run);
	zofl_sha256_add(&h.c, "\001", 1);
	hmac_end(&h, out);
}

uint64_t zofl_record_key(const uint8_t *key, size_t len, uint64_t n) {
	hmac h;
	uint8_t d[32];
	hmac_begin(&h, key, len);
	add_le(&h.c, n, 8);
	hmac_end(&h, d);
	return le64(d);
}
