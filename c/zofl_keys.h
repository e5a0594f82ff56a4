/* zofl_keys.h: what a device shows a broker of `zofl serve --auth`. Optional: beside zofl.c, and
   only for brokers that ask who a device is.

   A creds file, which `zofl device add` makes, holds a JWT and the seed of an Ed25519 key. The
   device gives the JWT, and signs the nonce in the broker's INFO. No secret leaves it.

	if (zofl_jwt(creds, size, jwt, sizeof jwt) < 0 || zofl_sign_nonce(creds, size, nonce, sig) < 0)
		...the file is damaged...
	login.jwt = jwt;
	login.sig = sig;

   Ed25519 is Monocypher's (monocypher.org, version 3 or 4, its optional part). For another library
   define ZOFL_ED25519 as a header, such as -DZOFL_ED25519='"my.h"', that has these, as functions or
   as macros:

	void zofl_ed25519_key(uint8_t key[32], const uint8_t seed[32]);
	void zofl_ed25519_sign(uint8_t sig[64], const uint8_t seed[32], const uint8_t *b, size_t n);
 */
#ifndef ZOFL_KEYS_H
#define ZOFL_KEYS_H

#include "zofl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZOFL_SIG 87  /* holds a signature in base64url, with its 0 */
#define ZOFL_NKEY 57 /* holds a public key of NATS, with its 0 */

/* Each takes the text of a creds file, or of a seed alone ("SU..."), of size bytes, and returns
   ZOFL_OK, ZOFL_ROOM, or ZOFL_FORM: the text has no such part, or it is damaged. After an error the
   text in out is empty. */

/* The JWT of a creds file, with a 0. */
int zofl_jwt(const char *creds, size_t size, char *out, size_t room);
/* The public key of the seed, "U...": what a broker with nkeys instead of JWTs asks for. */
int zofl_nkey(const char *creds, size_t size, char out[ZOFL_NKEY]);
/* The signature of the nonce, a text that ends with a 0, in base64url. */
int zofl_sign_nonce(const char *creds, size_t size, const char *nonce, char out[ZOFL_SIG]);

#ifdef __cplusplus
}
#endif

#endif
