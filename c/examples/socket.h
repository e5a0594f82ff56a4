/* socket.h: a device over one TCP connection, where sockets are as POSIX has them: lwIP on ESP-IDF,
   Zephyr, Linux. The includer has included the sockets' header, nats.h and zofl.h, and has

    uint64_t device_now(void);   milliseconds that never go back
    void device_sleep(int milliseconds);
    double device_loss(const float *x, size_t d);

   run_device opens the connection, and opens it again when it falls. */
#ifndef DEVICE_SOCKET_H
#define DEVICE_SOCKET_H

#include <stdio.h>
#include <stdlib.h>

#ifndef DEVICE_RECEIVE /* bytes of the longest message: a plan's announcement and its records */
#define DEVICE_RECEIVE 4096
#endif
#ifndef DEVICE_FRAME /* 256, and the longest frame sent */
#define DEVICE_FRAME 1024
#endif

typedef struct {
	int fd; /* the connection, or -1 */
	unsigned subscriptions;
	int greeted;  /* the broker's INFO came, and CONNECT went */
	void *memory; /* the device's, by realloc */
	size_t memory_size;
	float *x; /* the point, of d elements */
	size_t d;
	nats wire;
	zofl_device device;
	uint8_t received[DEVICE_RECEIVE + 1], frame[DEVICE_FRAME];
} socket_device;

/* Sends all bytes, or closes the connection. */
static void device_put(socket_device *s, const void *bytes, size_t n) {
	const char *p = bytes;
	while (n > 0 && s->fd >= 0) {
		ssize_t sent = send(s->fd, p, n, 0);
		if (sent <= 0) {
			close(s->fd);
			s->fd = -1;
			return;
		}
		p += sent;
		n -= (size_t)sent;
	}
}

static void device_publish(socket_device *s, const zofl_task *task) {
	char line[2 * ZOFL_SUBJECT + 32];
	device_put(s, line, nats_pub(line, sizeof line, task->subject, task->reply, task->size));
	device_put(s, task->data, task->size);
	device_put(s, NATS_END, strlen(NATS_END));
}

static void device_subscribe(socket_device *s, const char *subject) {
	char line[ZOFL_SUBJECT + 32];
	device_put(s, line, nats_sub(line, sizeof line, subject, ++s->subscriptions));
}

static void device_greet(socket_device *s) {
	char line[160];
	device_put(s, line, nats_connect(line, sizeof line, NULL));
	zofl_connected(&s->device);
	s->greeted = 1;
}

static int device_give(socket_device *s, size_t size) {
	void *memory = realloc(s->memory, size);
	if (!memory)
		return ZOFL_ROOM;
	s->memory = memory;
	s->memory_size = size;
	return zofl_give(&s->device, memory, size);
}

static int device_evaluate(socket_device *s, size_t d) {
	if (d != s->d) { /* another log of the run's name may have more parameters */
		free(s->x);
		s->x = malloc(d * sizeof *s->x);
		s->d = s->x ? d : 0;
	}
	if (!s->x)
		return ZOFL_ROOM;
	zofl_point(&s->device, ZOFL_F32, s->x, 0, d);
	return zofl_loss(&s->device, device_loss(s->x, d));
}

/* Does what the device has to do now: a code of zofl_poll that ends this, with *until. */
static int device_work(socket_device *s, uint64_t *until) {
	zofl_task task;
	for (;;) {
		int code = zofl_poll(&s->device, device_now(), &task);
		*until = task.until_ms;
		switch (code) {
		case ZOFL_SUBSCRIBE:
			device_subscribe(s, task.subject);
			break;
		case ZOFL_SEND:
			device_publish(s, &task);
			break;
		case ZOFL_MEMORY:
			code = device_give(s, task.size);
			break;
		case ZOFL_EVALUATE:
			code = device_evaluate(s, task.size);
			break;
		default:
			return code;
		}
		if (code < 0)
			return code;
	}
}

/* Takes bytes of the broker. */
static void device_hear(socket_device *s, const uint8_t *p, size_t n) {
	while (n > 0 && s->fd >= 0)
		switch (nats_read(&s->wire, &p, &n)) {
		case NATS_INFO:
			device_greet(s);
			break;
		case NATS_PING:
			device_put(s, NATS_PONG_LINE, strlen(NATS_PONG_LINE));
			break;
		case NATS_MESSAGE:
			/* A message that is of no use is not the end: the device asks again. */
			(void)zofl_receive(&s->device, s->wire.subject, s->wire.data, s->wire.size);
			break;
		case NATS_ERROR:
			printf("broker: %s\n", (const char *)s->wire.data);
			break;
		case NATS_BROKEN:
			close(s->fd);
			s->fd = -1;
			break;
		default:
			break;
		}
}

/* Waits for bytes, no longer than until, and takes them. */
static void device_listen(socket_device *s, uint64_t until) {
	uint8_t bytes[256];
	uint64_t now = device_now(), rest = until > now ? until - now : 0;
	struct timeval limit;
	fd_set readable;
	ssize_t n;
	if (rest > 1000)
		rest = 1000;
	limit.tv_sec = (long)(rest / 1000);
	limit.tv_usec = (long)(rest % 1000 * 1000);
	FD_ZERO(&readable);
	FD_SET(s->fd, &readable);
	if (select(s->fd + 1, &readable, NULL, NULL, &limit) <= 0)
		return;
	n = recv(s->fd, bytes, sizeof bytes, 0);
	if (n > 0) {
		device_hear(s, bytes, (size_t)n);
	} else {
		close(s->fd);
		s->fd = -1;
	}
}

static void device_connect(socket_device *s, const char *host, const char *port) {
	struct addrinfo hints = {0}, *found = NULL;
	hints.ai_family = AF_INET;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, port, &hints, &found) != 0 || !found)
		return;
	s->fd = socket(found->ai_family, found->ai_socktype, 0);
	if (s->fd >= 0 && connect(s->fd, found->ai_addr, found->ai_addrlen) != 0) {
		close(s->fd);
		s->fd = -1;
	}
	freeaddrinfo(found);
	nats_begin(&s->wire, s->received, sizeof s->received);
	s->greeted = 0;
}

static void device_say(const socket_device *s, int code) {
	char why[96] = "";
	uint8_t digest[32];
	if (code < 0) {
		zofl_explain(&s->device, why, sizeof why);
		printf("error: %s: %s\n", zofl_error(code), why);
		return;
	}
	printf("ended: record %lu digest ", (unsigned long)zofl_records(&s->device));
	zofl_digest(&s->device, digest);
	for (int i = 0; i < 32; i++)
		printf("%02x", digest[i]);
	printf("\n");
}

/* Takes part in a run until its end: 0, or an error. */
static int run_device(const char *host, const char *port, const char *run, const char *id,
                      uint64_t random) {
	static socket_device s; /* some kilobytes: not for a task's stack */
	zofl_config config = {0};
	uint64_t until = 0;
	int code;
	s.fd = -1;
	config.run = run;
	config.id = id;
	config.max_receive = DEVICE_RECEIVE;
	config.random = random;
	config.frame = s.frame;
	config.frame_size = sizeof s.frame;
	code = zofl_open(&s.device, &config);
	while (code >= 0 && code != ZOFL_ENDED) {
		if (s.fd < 0) {
			device_connect(&s, host, port);
			if (s.fd < 0)
				device_sleep(1000);
			continue;
		}
		if (s.greeted)
			code = device_work(&s, &until);
		else
			until = device_now() + 1000;
		if (code >= 0 && code != ZOFL_ENDED)
			device_listen(&s, until);
	}
	device_say(&s, code);
	return code == ZOFL_ENDED ? 0 : code;
}

#endif
