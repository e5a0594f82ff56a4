/* Tests zofl_keys.c: RFC 8032's first signatures by seeds of NATS, and damaged files. Every text
   lies in memory of its own size, so that sanitizers see a read behind it. */
#include "zofl_keys.c"

#include <stdio.h>
#include <stdlib.h>

#define HEAD "-----BEGIN NATS USER JWT-----\n"
#define MIDDLE "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n"
#define TAIL "\n------END USER NKEY SEED------\n"
#define JWT "eyJ0eXAi.eyJq_dGki.Tl-9"

/* The first two of RFC 8032, section 7.1: the messages are "" and "r". */
static const char *const seeds[] = {"SUAJ2YNRTXX72WTAXKCEV5ES5QWMIRCJYVUXWMTJDFYDXLADDSXH6YALCA",
                                    "SUAEZTIITMUP7FW2TW3MGRXMCFHA6W4KGGPTLK5GETNIZ5XNJ64KN63OVI"};
static const char *const keys[] = {"UDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRUVAL",
                                   "UA6UAF6D5BBYSWUSW4FKOTI3P26JZGBMZ4XMJFUMYDGVL4JK6RTAYUDN"};
static const char *const sigs[] = {
    "5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc-bRr0lv18FlbviRlUUFDjnoQCw",
    "kqAJqfDUyrhyDoILX2QlQKKye1QWUD-Ps3YiI-vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA"};

static int cases, bad;

static void is(const char *what, int ok) {
	cases++;
	if (!ok) {
		bad++;
		printf("keys: %s\n", what);
	}
}

/* What the three calls say of n bytes, the texts in out. */
typedef struct {
	int jwt, nkey, sign;
	char text[64], key[ZOFL_NKEY], sig[ZOFL_SIG];
} answer;

static answer ask(const char *creds, size_t n, const char *nonce) {
	answer a;
	char *exact = (char *)malloc(n ? n : 1);
	if (!exact)
		abort();
	memcpy(exact, creds, n);
	a.jwt = zofl_jwt(exact, n, a.text, sizeof a.text);
	a.nkey = zofl_nkey(exact, n, a.key);
	a.sign = zofl_sign_nonce(exact, n, nonce, a.sig);
	free(exact);
	return a;
}

/* Whether the seed is accepted. What is refused leaves no text. */
static int accepted(const answer *a) {
	if (a->sign == ZOFL_OK && a->nkey == ZOFL_OK)
		return 1;
	is("both refuse", a->sign == ZOFL_FORM && a->nkey == ZOFL_FORM);
	is("a refused seed leaves nothing", a->sig[0] == 0 && a->key[0] == 0);
	return 0;
}

static void vectors(void) {
	int i;
	for (i = 0; i < 2; i++) {
		char creds[400];
		answer a = ask(seeds[i], strlen(seeds[i]), i ? "r" : "");
		is("seed alone", accepted(&a) && !strcmp(a.sig, sigs[i]) && !strcmp(a.key, keys[i]));
		is("no JWT", a.jwt == ZOFL_FORM && a.text[0] == 0);
		snprintf(creds, sizeof creds, "%s", "# of May\r\n" HEAD "  " JWT " \r" MIDDLE "\r\n");
		snprintf(creds + strlen(creds), sizeof creds - strlen(creds), "%s\r%s", seeds[i], TAIL);
		a = ask(creds, strlen(creds), i ? "r" : "");
		is("creds", accepted(&a) && !strcmp(a.sig, sigs[i]) && !strcmp(a.key, keys[i]));
		is("its JWT", a.jwt == ZOFL_OK && !strcmp(a.text, JWT));
	}
}

/* A seed with any one character changed, or cut, or longer, is refused: CRC-16 sees it. */
static void damaged_seeds(void) {
	static const char others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567018=a- \n\x80";
	char s[64];
	size_t n = strlen(seeds[0]), i, k;
	for (i = 0; i < n; i++)
		for (k = 0; k < sizeof others; k++) { /* the 0 too */
			answer a;
			memcpy(s, seeds[0], n + 1);
			if (s[i] == others[k])
				continue;
			s[i] = others[k];
			a = ask(s, n, "x");
			is("a changed seed", !accepted(&a));
		}
	for (i = 0; i < n; i++) {
		answer a = ask(seeds[0], i, "x");
		is("a short seed", !accepted(&a));
	}
	snprintf(s, sizeof s, "%sA", seeds[0]);
	{
		answer a = ask(s, n + 1, "x");
		is("a long seed", !accepted(&a));
		a = ask("SAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHT5A", 58, "x");
		is("the seed of an account", !accepted(&a));
		a = ask(keys[0], strlen(keys[0]), "x");
		is("a public key", !accepted(&a));
	}
}

/* A creds file cut at every byte, and with every byte changed. */
static void damaged_files(void) {
	static const char begin[] = HEAD JWT MIDDLE;
	char creds[400], copy[400];
	size_t n, i, seed = sizeof begin - 1, end = seed + 58;
	snprintf(creds, sizeof creds, "%s%s%s", begin, seeds[0], TAIL);
	n = strlen(creds);
	for (i = 0; i <= n; i++) {
		answer a = ask(creds, i, "");
		is("a file that is cut", accepted(&a) == (i >= end));
	}
	for (i = 0; i < n; i++) {
		answer a;
		memcpy(copy, creds, n);
		copy[i] = '!';
		a = ask(copy, n, "");
		if (i >= seed && i < end)
			is("a file whose seed is damaged", !accepted(&a));
		if (i >= sizeof HEAD - 1 && i < sizeof HEAD - 1 + sizeof JWT - 1)
			is("a file whose JWT is damaged", a.jwt == ZOFL_FORM);
	}
}

static void jwts(void) {
	static const char *const wrong[] = {HEAD,         HEAD "\n\n",     HEAD "a.b",  HEAD "a.b.",
	                                    HEAD ".b.c",  HEAD "a..c",     HEAD "a.b.c.d",
	                                    HEAD "a.b.c\"", HEAD "a.b c.d", "a.b.c", ""};
	char small[6];
	size_t i;
	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		answer a = ask(wrong[i], strlen(wrong[i]), "");
		is(wrong[i], a.jwt == ZOFL_FORM && a.text[0] == 0);
	}
	is("room", zofl_jwt(HEAD "a.b.c", sizeof HEAD - 1 + 5, small, 6) == ZOFL_OK);
	is("no room", zofl_jwt(HEAD "a.b.c", sizeof HEAD - 1 + 5, small, 5) == ZOFL_ROOM && !small[0]);
	is("nothing", zofl_jwt(HEAD "a.b.c", sizeof HEAD - 1 + 5, small, 0) == ZOFL_ROOM);
}

int main(void) {
	vectors();
	damaged_seeds();
	damaged_files();
	jwts();
	printf("keys: %d cases, %d differ\n", cases, bad);
	return bad > 0 || cases < 2000;
}
