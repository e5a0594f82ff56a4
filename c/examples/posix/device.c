/* A device on POSIX: plain TCP to a NATS broker.

    cc -std=c99 -O2 -I../.. -o device device.c bowl.c ../../zofl.c -lm
    ./device HOST PORT RUN ID [USER PASSWORD]

   With -DZOFL_KEYS, ../../zofl_keys.c and an Ed25519 (see zofl_keys.h) it takes a creds file:

    ./device HOST PORT RUN ID CREDS

   The loss is app_loss, in bowl.c: put yours in its place. */
#define _POSIX_C_SOURCE 200112L
#include "../nats.h"
#include "zofl.h"
#ifdef ZOFL_KEYS
#include "zofl_keys.h"
#endif

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static uint8_t frame[65536], message[65537], bytes[4096];
static char line[8192];
static zofl_device dev;
static nats wire;
static nats_login login;
static int fd = -1, ready; /* ready: the broker has CONNECT, without which it takes no more */
static unsigned sid;
static uint64_t heard, pinged; /* when the broker last said something; when it was asked, or 0 */

enum { QUIET = 6000 }; /* milliseconds without a word, before the device asks whether it is there */

/* The loss of the model x, for the minibatch of task->seed. x has task->size elements. */
double app_loss(const zofl_task *task, const float *x, const char *id);
/* The run has ended, and x is its model. */
void app_end(const float *x, size_t d);

static uint64_t now_ms(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void send_all(const void *data, size_t n) {
	const char *p = data;
	while (n > 0 && fd >= 0) {
		ssize_t k = send(fd, p, n, 0);
		if (k <= 0) {
			close(fd);
			fd = -1;
			return;
		}
		p += k;
		n -= (size_t)k;
	}
}

static void connect_to(const char *host, const char *port) {
	struct addrinfo hints = {0}, *all, *a;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, port, &hints, &all) != 0)
		return;
	for (a = all; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(all);
	ready = 0;
	heard = now_ms();
	pinged = 0;
	nats_begin(&wire, message, sizeof message);
	zofl_connected(&dev);
}

static void disconnect(void) {
	close(fd);
	fd = -1;
}

/* A connection can be dead although nobody closed it: a ping without an answer tells. */
static void check_connection(uint64_t now) {
	if (pinged && now - pinged > QUIET)
		disconnect();
	else if (!pinged && now - heard > QUIET) {
		pinged = now;
		send_all(NATS_PING_LINE, strlen(NATS_PING_LINE));
	}
}

#ifdef ZOFL_KEYS
static char creds[16384], jwt[4096];
static size_t creds_size; /* 0: without */

/* The file's text, and its JWT. */
static void read_creds(const char *path) {
	FILE *f = fopen(path, "rb");
	if (f) {
		creds_size = fread(creds, 1, sizeof creds, f);
		fclose(f);
	}
	if (zofl_jwt(creds, creds_size, jwt, sizeof jwt) != ZOFL_OK) {
		fprintf(stderr, "%s: no creds file, or one that is damaged\n", path);
		exit(1);
	}
	login.jwt = jwt;
}

/* Signs the nonce of the broker. One that does not ask who the device is sends none. */
static void sign(void) {
	static char sig[ZOFL_SIG];
	char nonce[128];
	if (creds_size == 0 || nats_info_text(&wire, "nonce", nonce, sizeof nonce) == 0)
		return;
	if (zofl_sign_nonce(creds, creds_size, nonce, sig) != ZOFL_OK) {
		fprintf(stderr, "the seed in the creds file is damaged\n");
		exit(1);
	}
	login.sig = sig;
}
#endif

/* Does what the broker sent. */
static void take(int event) {
	int err;
	switch (event) {
	case NATS_INFO:
#ifdef ZOFL_KEYS
		sign();
#endif
		send_all(line, nats_connect(line, sizeof line, &login));
		ready = 1;
		break;
	case NATS_PING:
		send_all(NATS_PONG_LINE, strlen(NATS_PONG_LINE));
		break;
	case NATS_MESSAGE:
		err = zofl_receive(&dev, wire.subject, wire.data, wire.size);
		if (err < 0 && err != ZOFL_STATE)
			fprintf(stderr, "%s: %s\n", wire.subject, zofl_error(err));
		break;
	case NATS_ERROR:
		fprintf(stderr, "broker: %s\n", (const char *)wire.data);
		break;
	case NATS_BROKEN:
		disconnect();
	}
}

/* Reads what has come, and waits for it until the time. */
static void listen_until(uint64_t until) {
	uint64_t now = now_ms();
	struct pollfd p = {fd, POLLIN, 0};
	int wait = until > now ? (until - now < QUIET ? (int)(until - now) : QUIET) : 0;
	const uint8_t *at = bytes;
	ssize_t n;
	if (poll(&p, 1, wait) <= 0) {
		check_connection(now_ms());
		return;
	}
	if ((n = recv(fd, bytes, sizeof bytes, 0)) <= 0) {
		disconnect();
		return;
	}
	heard = now_ms();
	pinged = 0;
	for (size_t left = (size_t)n; left > 0 && fd >= 0;)
		take(nats_read(&wire, &at, &left));
}

static float *x; /* the point, and at the end the model */
static size_t dim;

static void evaluate(const zofl_task *t, const char *id) {
	if (t->size != dim) { /* another log of the run's name may have more parameters */
		free(x);
		dim = t->size;
		if (!(x = malloc(dim * sizeof *x)))
			exit(1);
	}
	zofl_point(&dev, ZOFL_F32, x, 0, dim);
	zofl_loss(&dev, app_loss(t, x, id));
	listen_until(0);
}

/* Ends the program with an error and its reason. */
static void end_with(int code) {
	char why[160] = "";
	zofl_explain(&dev, why, sizeof why);
	fprintf(stderr, "%s: %s\n", zofl_error(code), why);
	exit(1);
}

/* One step. 0: the run has ended. */
static int step(const char *id) {
	static void *memory;
	zofl_task t;
	int next = zofl_poll(&dev, now_ms(), &t);
	switch (next) {
	case ZOFL_SUBSCRIBE:
		send_all(line, nats_sub(line, sizeof line, t.subject, ++sid));
		break;
	case ZOFL_SEND:
		send_all(line, nats_pub(line, sizeof line, t.subject, t.reply, t.size));
		send_all(t.data, t.size);
		send_all(NATS_END, 2);
		break;
	case ZOFL_MEMORY:
		memory = realloc(memory, t.size);
		if (zofl_give(&dev, memory, t.size) != ZOFL_OK) {
			fprintf(stderr, "no memory for the plan: %zu bytes\n", t.size);
			exit(1);
		}
		break;
	case ZOFL_EVALUATE:
		evaluate(&t, id);
		break;
	case ZOFL_WAIT:
	case ZOFL_PAUSED:
		listen_until(t.until_ms);
		break;
	case ZOFL_ENDED:
		return 0;
	default:
		end_with(next);
	}
	return 1;
}

int main(int argc, char **argv) {
	zofl_config c = {0};
	uint8_t digest[32];
	int code;
#ifdef ZOFL_KEYS
	if (argc == 6)
		read_creds(argv[5]);
	else
#endif
	if (argc != 5 && argc != 7) {
		fprintf(stderr, "usage: %s HOST PORT RUN ID [USER PASSWORD]\n", argv[0]);
		return 2;
	}
	c.run = argv[3];
	c.id = login.name = argv[4];
	if (argc == 7) {
		login.user = argv[5];
		login.pass = argv[6];
	}
	c.frame = frame;
	c.frame_size = sizeof frame;
	c.random = (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
	if ((code = zofl_open(&dev, &c)) != ZOFL_OK)
		end_with(code);
	signal(SIGPIPE, SIG_IGN); /* send says it, too */
	connect_to(argv[1], argv[2]);
	for (int going = 1, told = 0; going;)
		if (fd < 0) {
			if (!told)
				fprintf(stderr, "no connection to %s %s, trying again: is the broker there?\n",
				        argv[1], argv[2]);
			told = 1;
			sleep(1);
			connect_to(argv[1], argv[2]);
		} else if (!ready)
			listen_until(now_ms() + 1000);
		else {
			told = 0;
			going = step(c.id);
		}
	zofl_digest(&dev, digest);
	printf("records %llu rounds %llu digest ", (unsigned long long)zofl_records(&dev),
	       (unsigned long long)zofl_rounds(&dev));
	for (int i = 0; i < 32; i++)
		printf("%02x", digest[i]);
	printf("\n");
	if (x && zofl_model(&dev, ZOFL_F32, x, 0, dim) == ZOFL_OK)
		app_end(x, dim);
	return 0;
}
