/* Ed25519 of OpenSSL, for c/test/keys.c and as an example of ZOFL_ED25519. */
#include <openssl/evp.h>
#include <stdlib.h>

static void zofl_ed25519_key(uint8_t key[32], const uint8_t seed[32]) {
	EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
	size_t size = 32;
	if (!pair || EVP_PKEY_get_raw_public_key(pair, key, &size) != 1)
		abort();
	EVP_PKEY_free(pair);
}

static void zofl_ed25519_sign(uint8_t sig[64], const uint8_t seed[32], const uint8_t *b, size_t n) {
	EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	size_t size = 64;
	if (!pair || !c || EVP_DigestSignInit(c, NULL, NULL, NULL, pair) != 1 ||
	    EVP_DigestSign(c, sig, &size, b, n) != 1)
		abort();
	EVP_MD_CTX_free(c);
	EVP_PKEY_free(pair);
}
