/* Tests examples/nats.h: what a server sends, cut at every byte; what is not NATS; the writers. */
#include "../examples/nats.h"

#include <stdio.h>

static int cases, bad;

static void is(const char *what, const char *got, const char *want) {
	cases++;
	if (strcmp(got, want)) {
		bad++;
		printf("nats: %s: got %s, want %s\n", what, got, want);
	}
}

/* What the bytes say, with a buffer of room bytes, given first `cut` bytes at once. */
static const char *said(const char *bytes, size_t n, size_t cut, size_t room) {
	static const char *const names[] = {"",     "info",  "message", "ping",
	                                    "pong", "error", "long",    "broken"};
	static char text[2000];
	static uint8_t buffer[512];
	const uint8_t *p = (const uint8_t *)bytes, *end = p + n;
	size_t size = cut, length = 0;
	nats c;
	nats_begin(&c, buffer, room);
	text[0] = 0;
	while (p < end || size) {
		int event;
		if (size == 0)
			size = (size_t)(end - p);
		event = nats_read(&c, &p, &size);
		if (!event)
			continue;
		length += (size_t)snprintf(text + length, sizeof text - length, "%s", names[event]);
		if (event == NATS_MESSAGE || event == NATS_LONG)
			length += (size_t)snprintf(text + length, sizeof text - length, " %s %s %zu", c.subject,
			                           c.reply ? c.reply : "-", c.size);
		if (event == NATS_MESSAGE || event == NATS_INFO || event == NATS_ERROR)
			length += (size_t)snprintf(text + length, sizeof text - length, " [%s]", c.data);
		length += (size_t)snprintf(text + length, sizeof text - length, "; ");
		if (event == NATS_BROKEN)
			break;
	}
	return text;
}

static void reads(const char *bytes, size_t room, const char *want) {
	size_t n = strlen(bytes);
	for (size_t cut = 1; cut <= n; cut++)
		is(bytes, said(bytes, n, cut, room), want);
}

int main(void) {
	char out[200], nonce[20];
	uint8_t buffer[100];
	const uint8_t *p;
	size_t n;
	nats c;
	nats_login login = {"mcu", "a\"b", "c\\d", NULL, NULL, NULL, NULL};

	reads("INFO {\"a\":1} \r\nPING\r\nMSG s.t 12 5\r\nhe\r\no\r\nMSG s 1 r.1 "
	      "0\r\n\r\n+OK\r\nPONG\r\n",
	      100, "info [{\"a\":1} ]; ping; message s.t - 5 [he\r\no]; message s r.1 0 []; pong; ");
	reads("-ERR 'Authorization Violation'\r\n", 100, "error ['Authorization Violation']; ");
	reads("INFO {\"long\":true}\r\nMSG a 1 8\r\n12345678\r\nMSG a 1 7\r\n1234567\r\nPING\r\n", 8,
	      "info [{\"long\"]; long a - 8; message a - 7 [1234567]; ping; ");
	reads("MSG a\t1   3\r\nabc\r\nPING\n", 10, "message a - 3 [abc]; ping; ");
	reads("MSG a 1 3\r\nabcd\r\n", 10, "broken; ");
	reads("MSG a 1 3\r\nabc\r\r\n", 10, "broken; ");
	reads("MSG a 3\r\nabc\r\n", 10, "broken; ");
	reads("MSG a 1 r x 3\r\n", 10, "broken; ");
	reads("MSG a 1 3x\r\n", 10, "broken; ");
	reads("MSG a 1 99999999999999999999\r\n", 10, "broken; ");
	reads("HTTP/1.1 400\r\n", 10, "broken; ");
	for (n = 0; n < sizeof out; n++)
		out[n] = 'x';
	cases++;
	nats_begin(&c, buffer, sizeof buffer);
	for (int i = 0; i < 2; i++) { /* a line without an end */
		p = (const uint8_t *)out;
		n = sizeof out;
		bad += nats_read(&c, &p, &n) != (i ? NATS_BROKEN : NATS_NOTHING);
	}

	nats_begin(&c, buffer, sizeof buffer);
	p = (const uint8_t *)"INFO {\"nonces\":\"no\",\"nonce\":\"Ab-_9\",\"x\":1}\r\n";
	n = strlen((const char *)p);
	cases++;
	bad += nats_read(&c, &p, &n) != NATS_INFO || n != 0;
	cases++;
	bad += nats_info_text(&c, "nonce", nonce, sizeof nonce) != 5;
	is("nonce", nonce, "Ab-_9");
	cases++;
	bad += nats_info_text(&c, "nonce", nonce, 5) != 0 || nats_info_text(&c, "x", nonce, 5) != 0;

	nats_sub(out, sizeof out, "zo.r.a.0", 7);
	is("SUB", out, "SUB zo.r.a.0 7\r\n");
	nats_pub(out, sizeof out, "zo.r.j.me", "_INBOX_me.1", 120);
	is("PUB with reply", out, "PUB zo.r.j.me _INBOX_me.1 120\r\n");
	nats_pub(out, sizeof out, "zo.r.p.0.me", NULL, 0);
	is("PUB", out, "PUB zo.r.p.0.me 0\r\n");
	for (n = 0; n < 14; n++) {
		cases++;
		bad += nats_sub(out, n, "a.b", 12) != (n < 13 ? 0 : 12);
	}
	nats_connect(out, sizeof out, &login);
	is("CONNECT", out,
	   "CONNECT "
	   "{\"verbose\":false,\"pedantic\":false,\"lang\":\"c\",\"version\":\"0\",\"protocol\":0,"
	   "\"headers\":false,\"name\":\"mcu\",\"user\":\"a\\\"b\",\"pass\":\"c\\\\d\"}\r\n");
	printf("nats: %d equal, %d differ\n", cases - bad, bad);
	return bad != 0;
}
