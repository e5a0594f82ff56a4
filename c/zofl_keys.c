/* zofl_keys.c: see zofl_keys.h. */
#include "zofl_keys.h"

#include <string.h>

/* ---- Ed25519 ---- */

#ifdef ZOFL_ED25519
#include ZOFL_ED25519
#else
#include <monocypher-ed25519.h>

#ifdef CRYPTO_ARGON2_D /* version 4, whose private key is the seed and the public key */
static void zofl_ed25519_key(uint8_t key[32], const uint8_t seed[32]) {
	uint8_t pair[64], s[32];
	memcpy(s, seed, 32); /* it is wiped */
	crypto_ed25519_key_pair(pair, key, s);
	crypto_wipe(pair, sizeof pair);
}

static void zofl_ed25519_sign(uint8_t sig[64], const uint8_t seed[32], const uint8_t *b, size_t n) {
	uint8_t pair[64], key[32], s[32];
	memcpy(s, seed, 32);
	crypto_ed25519_key_pair(pair, key, s);
	crypto_ed25519_sign(sig, pair, b, n);
	crypto_wipe(pair, sizeof pair);
}
#else /* version 3 */
static void zofl_ed25519_key(uint8_t key[32], const uint8_t seed[32]) {
	crypto_ed25519_public_key(key, seed);
}

static void zofl_ed25519_sign(uint8_t sig[64], const uint8_t seed[32], const uint8_t *b, size_t n) {
	uint8_t key[32];
	crypto_ed25519_public_key(key, seed);
	crypto_ed25519_sign(sig, seed, key, b, n);
}
#endif
#endif

/* Overwrites a secret. A compiler may leave out memset of what is not read again. */
static void forget(void *p, size_t n) {
	volatile uint8_t *b = (volatile uint8_t *)p;
	while (n-- > 0)
		*b++ = 0;
}

/* ---- lines of a creds file ---- */

typedef struct {
	const char *at;
	size_t size;
} text;

static int is_space(char c) {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Takes the first line of t, without the spaces around it. 0: t is empty. */
static int next_line(text *t, text *line) {
	const char *end;
	size_t n;
	if (t->size == 0)
		return 0;
	end = (const char *)memchr(t->at, '\n', t->size);
	n = end ? (size_t)(end - t->at) : t->size;
	line->at = t->at;
	line->size = n;
	n += end != NULL;
	t->at += n;
	t->size -= n;
	while (line->size > 0 && is_space(line->at[line->size - 1]))
		line->size--;
	for (; line->size > 0 && is_space(line->at[0]); line->size--)
		line->at++;
	return 1;
}

static int begins(const text *line, const char *with) {
	const size_t n = strlen(with);
	return line->size >= n && memcmp(line->at, with, n) == 0;
}

/* The first line that is not empty. */
static int first_line(text *t, text *line) {
	while (next_line(t, line))
		if (line->size > 0)
			return 1;
	return 0;
}

/* The line below the one that begins with head. A file holds certificates too, whose lines may look
   like anything: so the head alone tells what a line is. */
static int below(const char *creds, size_t size, const char *head, text *line) {
	text t;
	t.at = creds;
	t.size = size;
	while (next_line(&t, line))
		if (begins(line, head))
			return first_line(&t, line);
	return 0;
}

/* ---- the JWT ---- */

static int is_base64url(char c) {
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_';
}

/* Three parts with dots between them. What they say is the broker's to judge. */
static int is_jwt(const text *line) {
	size_t i, part = 0, dots = 0;
	for (i = 0; i < line->size; i++)
		if (line->at[i] == '.') {
			if (part == 0)
				return 0;
			part = 0;
			dots++;
		} else if (is_base64url(line->at[i]))
			part++;
		else
			return 0;
	return dots == 2 && part > 0;
}

int zofl_jwt(const char *creds, size_t size, char *out, size_t room) {
	text line;
	if (room == 0)
		return ZOFL_ROOM;
	out[0] = 0;
	if (!below(creds, size, "-----BEGIN NATS USER JWT", &line) || !is_jwt(&line))
		return ZOFL_FORM;
	if (line.size >= room)
		return ZOFL_ROOM;
	memcpy(out, line.at, line.size);
	out[line.size] = 0;
	return ZOFL_OK;
}

/* ---- nkeys: base32 of a prefix, the key, and CRC-16/XMODEM of both ---- */

enum {
	SEED_TEXT = 58,
	SEED_BYTES = 36,
	KEY_BYTES = 35,
	PREFIX_SEED = 18 << 3, /* 'S' */
	PREFIX_USER = 20 << 3  /* 'U' */
};

static uint16_t crc16(const uint8_t *b, size_t n) {
	unsigned crc = 0;
	size_t i;
	int k;
	for (i = 0; i < n; i++) {
		crc ^= (unsigned)b[i] << 8;
		for (k = 0; k < 8; k++)
			crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
	}
	return (uint16_t)crc;
}

/* A digit of base32 (RFC 4648), or -1. */
static int digit(char c) {
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= '2' && c <= '7')
		return c - '2' + 26;
	return -1;
}

/* 58 digits are 36 bytes and two bits, which are 0. */
static int unbase32(const char *digits, uint8_t out[SEED_BYTES]) {
	unsigned bits = 0, have = 0;
	size_t i, n = 0;
	for (i = 0; i < SEED_TEXT; i++) {
		const int v = digit(digits[i]);
		if (v < 0)
			return 0;
		bits = (bits << 5 | (unsigned)v) & 0xfff;
		have += 5;
		if (have >= 8) {
			have -= 8;
			out[n++] = (uint8_t)(bits >> have);
		}
	}
	return (bits & 3) == 0;
}

static void base32(const uint8_t *b, size_t n, char *out) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	unsigned bits = 0, have = 0;
	size_t i;
	for (i = 0; i < n; i++) {
		bits = (bits << 8 | b[i]) & 0xfff;
		for (have += 8; have >= 5;) {
			have -= 5;
			*out++ = digits[bits >> have & 31];
		}
	}
	if (have > 0)
		*out++ = digits[bits << (5 - have) & 31];
	*out = 0;
}

/* The seed of a user in a text of one line. */
static int decode_seed(const text *line, uint8_t seed[32]) {
	uint8_t raw[SEED_BYTES];
	int code = ZOFL_FORM;
	if (line->size != SEED_TEXT)
		return ZOFL_FORM;
	if (unbase32(line->at, raw) && (raw[0] & 0xf8) == PREFIX_SEED &&
	    ((raw[0] & 7) << 5 | raw[1] >> 3) == PREFIX_USER &&
	    crc16(raw, 34) == (raw[34] | raw[35] << 8)) {
		memcpy(seed, raw + 2, 32);
		code = ZOFL_OK;
	}
	forget(raw, sizeof raw);
	return code;
}

static int read_seed(const char *creds, size_t size, uint8_t seed[32]) {
	text t, line;
	t.at = creds;
	t.size = size;
	if (below(creds, size, "-----BEGIN USER NKEY SEED", &line))
		return decode_seed(&line, seed);
	if (!first_line(&t, &line))
		return ZOFL_FORM;
	return decode_seed(&line, seed);
}

int zofl_nkey(const char *creds, size_t size, char out[ZOFL_NKEY]) {
	uint8_t seed[32], raw[KEY_BYTES];
	uint16_t crc;
	int code;
	out[0] = 0;
	code = read_seed(creds, size, seed);
	if (code != ZOFL_OK)
		return code;
	raw[0] = PREFIX_USER;
	zofl_ed25519_key(raw + 1, seed);
	forget(seed, sizeof seed);
	crc = crc16(raw, 33);
	raw[33] = (uint8_t)crc;
	raw[34] = (uint8_t)(crc >> 8);
	base32(raw, sizeof raw, out);
	return ZOFL_OK;
}

/* ---- the signature ---- */

static void base64url(const uint8_t *b, size_t n, char *out) {
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned bits = 0, have = 0;
	size_t i;
	for (i = 0; i < n; i++) {
		bits = (bits << 8 | b[i]) & 0x3fff;
		for (have += 8; have >= 6;) {
			have -= 6;
			*out++ = digits[bits >> have & 63];
		}
	}
	if (have > 0)
		*out++ = digits[bits << (6 - have) & 63];
	*out = 0;
}

int zofl_sign_nonce(const char *creds, size_t size, const char *nonce, char out[ZOFL_SIG]) {
	uint8_t seed[32], sig[64];
	int code;
	out[0] = 0;
	code = read_seed(creds, size, seed);
	if (code != ZOFL_OK)
		return code;
	zofl_ed25519_sign(sig, seed, (const uint8_t *)nonce, strlen(nonce));
	forget(seed, sizeof seed);
	base64url(sig, sizeof sig, out);
	return ZOFL_OK;
}
