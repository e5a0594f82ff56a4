/* nats.h: the text protocol of NATS for small devices. Bytes in, events out; text into buffers of
   the caller. It opens nothing and allocates nothing.

   A connection is the caller's: a socket, a UART, TLS. Read it as

    nats c;
    nats_begin(&c, buffer, sizeof buffer);
    for (;;) {
        const uint8_t *p = bytes;
        size_t n = read(fd, bytes, sizeof bytes);
        while (n > 0)
            switch (nats_read(&c, &p, &n)) {
            case NATS_INFO:    ...answer with nats_connect, and with nats_sub; break;
            case NATS_MESSAGE: ...c.subject, c.data, c.size; break;
            case NATS_PING:    ...send NATS_PONG; break;
            case NATS_LONG:    ...c.size bytes, more than the buffer holds: skipped; break;
            case NATS_ERROR:   ...c.data is the server's text; break;
            case NATS_BROKEN:  ...this is not NATS: close the connection; break;
            }
    }

   and send what the writers below put into a buffer. */
#ifndef NATS_H
#define NATS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef NATS_LINE /* bytes of a line before a message: two subjects and two numbers */
#define NATS_LINE 256
#endif

#define NATS_PING_LINE "PING\r\n"
#define NATS_PONG_LINE "PONG\r\n"
#define NATS_END "\r\n" /* behind the payload that nats_pub announced */

enum {
	NATS_NOTHING, /* all bytes are read: more are awaited */
	NATS_INFO,    /* the server's first line: data is its JSON, cut where it is too long */
	NATS_MESSAGE, /* subject, reply or NULL, data, size */
	NATS_PING,
	NATS_PONG,
	NATS_ERROR, /* data is the server's text */
	NATS_LONG,  /* a message of size bytes on subject, which did not fit */
	NATS_BROKEN /* not NATS's protocol; the connection is of no more use */
};

typedef struct {
	/* Of the last event, until the next nats_read. A 0 stands behind data. */
	const char *subject, *reply;
	uint8_t *data;
	size_t size;
	/* Not for use. */
	size_t room, line_size, left;
	uint8_t state, kind;
	char line[NATS_LINE];
} nats;

/* Begins a connection. The buffer holds what is received, and one byte more. */
static inline void nats_begin(nats *c, void *buffer, size_t room) {
	memset(c, 0, sizeof *c);
	c->data = (uint8_t *)buffer;
	c->room = room;
}

enum { nats_in_line, nats_in_text, nats_in_payload, nats_in_end, nats_is_broken };

static inline int nats_breaks(nats *c) {
	c->state = nats_is_broken;
	return NATS_BROKEN;
}

/* The next word of the line at *p, NULL where there is none; a 0 ends it. */
static inline const char *nats_word(char **p) {
	const char *word;
	while (**p == ' ' || **p == '\t')
		(*p)++;
	if (!**p)
		return NULL;
	word = *p;
	while (**p && **p != ' ' && **p != '\t')
		(*p)++;
	if (**p)
		*(*p)++ = 0;
	return word;
}

/* "MSG subject sid [reply] size", split in place. */
static inline int nats_message_line(nats *c) {
	char *p = c->line + 4;
	const char *word[4] = {NULL, NULL, NULL, NULL}, *digits;
	size_t n = 0, size = 0;
	while (n < 4 && (word[n] = nats_word(&p)) != NULL)
		n++;
	if (n < 3 || nats_word(&p))
		return nats_breaks(c);
	digits = word[n - 1];
	for (; *digits >= '0' && *digits <= '9' && size < 100000000; digits++)
		size = size * 10 + (size_t)(*digits - '0');
	if (*digits)
		return nats_breaks(c);
	c->subject = word[0];
	c->reply = n == 4 ? word[2] : NULL;
	c->size = size;
	c->left = size;
	c->state = size ? nats_in_payload : nats_in_end;
	return NATS_NOTHING;
}

/* A whole line. */
static inline int nats_line(nats *c) {
	size_t n = c->line_size;
	if (n > 0 && c->line[n - 1] == '\r')
		n--;
	c->line[n] = 0;
	c->line_size = 0;
	if (!strncmp(c->line, "MSG ", 4))
		return nats_message_line(c);
	if (!strcmp(c->line, "PING"))
		return NATS_PING;
	if (!strcmp(c->line, "PONG"))
		return NATS_PONG;
	if (!strcmp(c->line, "+OK"))
		return NATS_NOTHING;
	return nats_breaks(c);
}

/* One byte of a line. The texts of INFO and -ERR, which may be long, go to data. */
static inline int nats_line_byte(nats *c, uint8_t b) {
	if (b == '\n')
		return nats_line(c);
	if (c->line_size == NATS_LINE - 1)
		return nats_breaks(c);
	c->line[c->line_size++] = (char)b;
	if (c->line_size == 5) {
		c->kind = !memcmp(c->line, "INFO ", 5)   ? NATS_INFO
		          : !memcmp(c->line, "-ERR ", 5) ? NATS_ERROR
		                                         : NATS_NOTHING;
		if (c->kind) {
			c->state = nats_in_text;
			c->size = c->line_size = 0;
		}
	}
	return NATS_NOTHING;
}

static inline int nats_text_byte(nats *c, uint8_t b) {
	if (b != '\n') {
		if (c->size + 1 < c->room)
			c->data[c->size++] = b;
		return NATS_NOTHING;
	}
	if (c->size > 0 && c->data[c->size - 1] == '\r')
		c->size--;
	if (c->room > 0)
		c->data[c->size] = 0;
	c->state = nats_in_line;
	return c->kind;
}

/* Some bytes of a payload: how many it took. */
static inline size_t nats_payload(nats *c, const uint8_t *bytes, size_t n) {
	if (n > c->left)
		n = c->left;
	if (c->size < c->room)
		memcpy(c->data + (c->size - c->left), bytes, n);
	c->left -= n;
	if (c->left == 0)
		c->state = nats_in_end;
	return n;
}

/* The two bytes behind a payload. */
static inline int nats_end_byte(nats *c, uint8_t b) {
	if (b == '\r' && c->left == 0) {
		c->left = 1;
		return NATS_NOTHING;
	}
	if (b != '\n')
		return nats_breaks(c);
	c->left = 0;
	c->state = nats_in_line;
	if (c->size >= c->room)
		return NATS_LONG;
	c->data[c->size] = 0;
	return NATS_MESSAGE;
}

/* Reads up to the next event: *bytes and *n become what is behind it. */
static inline int nats_read(nats *c, const uint8_t **bytes, size_t *n) {
	while (*n > 0) {
		size_t took = 1;
		int event = NATS_NOTHING;
		switch (c->state) {
		case nats_in_line:
			event = nats_line_byte(c, **bytes);
			break;
		case nats_in_text:
			event = nats_text_byte(c, **bytes);
			break;
		case nats_in_payload:
			took = nats_payload(c, *bytes, *n);
			break;
		case nats_in_end:
			event = nats_end_byte(c, **bytes);
			break;
		default:
			event = NATS_BROKEN;
		}
		*bytes += took;
		*n -= took;
		if (event)
			return event;
	}
	return NATS_NOTHING;
}

/* ---- writers: text into out, with a 0; its length, or 0 where it does not fit ---- */

typedef struct {
	char *out;
	size_t room, size;
} nats_text;

static inline void nats_put(nats_text *t, const char *s) {
	for (; *s; s++, t->size++)
		if (t->size + 1 < t->room)
			t->out[t->size] = *s;
}

static inline void nats_number(nats_text *t, size_t v) {
	char digits[24], *p = digits + sizeof digits;
	*--p = 0;
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	nats_put(t, p);
}

/* ,"name":"value" with what JSON escapes; nothing where value is NULL. */
static inline void nats_field(nats_text *t, const char *name, const char *value) {
	if (!value)
		return;
	nats_put(t, ",\"");
	nats_put(t, name);
	nats_put(t, "\":\"");
	for (; *value; value++) {
		char c[2] = {*value, 0};
		if (*value == '"' || *value == '\\')
			nats_put(t, "\\");
		nats_put(t, c);
	}
	nats_put(t, "\"");
}

static inline size_t nats_done(nats_text *t) {
	if (t->size >= t->room)
		return 0;
	t->out[t->size] = 0;
	return t->size;
}

/* Who the device is; fields that are NULL are left out. zofl serve --auth gives a jwt and the seed
   of an nkey: sig is the signature, in base64url, of the nonce in INFO. */
typedef struct {
	const char *name, *user, *pass, *auth_token, *jwt, *nkey, *sig;
} nats_login;

/* CONNECT, after INFO. login may be NULL. */
static inline size_t nats_connect(char *out, size_t room, const nats_login *login) {
	nats_text t = {out, room, 0};
	nats_put(&t, "CONNECT {\"verbose\":false,\"pedantic\":false,\"lang\":\"c\",\"version\":\"0\","
	             "\"protocol\":0,\"headers\":false");
	if (login) {
		nats_field(&t, "name", login->name);
		nats_field(&t, "user", login->user);
		nats_field(&t, "pass", login->pass);
		nats_field(&t, "auth_token", login->auth_token);
		nats_field(&t, "jwt", login->jwt);
		nats_field(&t, "nkey", login->nkey);
		nats_field(&t, "sig", login->sig);
	}
	nats_put(&t, "}\r\n");
	return nats_done(&t);
}

static inline size_t nats_sub(char *out, size_t room, const char *subject, unsigned sid) {
	nats_text t = {out, room, 0};
	nats_put(&t, "SUB ");
	nats_put(&t, subject);
	nats_put(&t, " ");
	nats_number(&t, sid);
	nats_put(&t, "\r\n");
	return nats_done(&t);
}

/* The line before a payload of size bytes; NATS_END goes behind it. reply may be NULL. */
static inline size_t nats_pub(char *out, size_t room, const char *subject, const char *reply,
                              size_t size) {
	nats_text t = {out, room, 0};
	nats_put(&t, "PUB ");
	nats_put(&t, subject);
	nats_put(&t, " ");
	if (reply) {
		nats_put(&t, reply);
		nats_put(&t, " ");
	}
	nats_number(&t, size);
	nats_put(&t, "\r\n");
	return nats_done(&t);
}

/* The value of a text field of INFO's JSON, such as "nonce": copied with a 0; its length, or 0. */
static inline size_t nats_info_text(const nats *c, const char *name, char *out, size_t room) {
	size_t n = strlen(name), i, k = 0;
	const char *json = (const char *)c->data;
	for (i = 0; i + n + 4 <= c->size; i++) {
		if (json[i] != '"' || memcmp(json + i + 1, name, n) || memcmp(json + i + 1 + n, "\":\"", 3))
			continue;
		for (i += n + 4; i < c->size && json[i] != '"' && k + 1 < room; i++)
			out[k++] = json[i];
		if (i == c->size || json[i] != '"')
			return 0;
		out[k] = 0;
		return k;
	}
	return 0;
}

#endif
