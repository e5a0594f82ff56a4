/* libFuzzer's target: the entry point that the environment's TARGET names, one of those below at
   "targets". c/test/fuzz.sh builds and runs it, corpus.py writes what it begins with. */
#include "../examples/nats.h"
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY (1u << 15) /* a plan that needs more is not given it */
#define PARTS 60          /* of a script: more only take time */

/* Heap memory of just n bytes, so that the sanitizer sees what is read beyond. */
static uint8_t *exactly(const uint8_t *b, size_t n) {
	uint8_t *p = malloc(n ? n : 1);
	if (!p)
		abort();
	if (n)
		memcpy(p, b, n);
	return p;
}

/* ---- frames ---- */

static void fuzz_record(const uint8_t *b, size_t n) {
	static zofl_plan plan;
	record r;
	char why[200];
	if (!parse(&r, &plan, b, n) && r.kind == 1)
		plan_explain(&plan, why, sizeof why);
}

static void fuzz_announcement(const uint8_t *b, size_t n) {
	announcement a;
	read_announcement(&a, b, n);
}

static void fuzz_join_reply(const uint8_t *b, size_t n) {
	join_reply j;
	read_join_reply(&j, b, n);
}

static void fuzz_catch_up(const uint8_t *b, size_t n) {
	catch_up_reply c;
	read_catch_up(&c, b, n);
}

/* ---- scripts ----
   A byte of flags: 1 the caller has the initial parameters, 2 it has the secret of the private
   logs. A byte, and so many of the run's name. Then parts: a byte of the kind, two of the length,
   little-endian, and the part. */

typedef struct {
	const uint8_t *b;
	size_t n;
	char run[33];
	uint8_t flags;
} script;

static const uint8_t secret[32] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
                                   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
static float initial[MEMORY / 4];

static int begin_script(script *s, const uint8_t *b, size_t n) {
	if (n < 2 || b[1] < 1 || b[1] > 32 || n < 2u + b[1])
		return 0;
	s->flags = b[0];
	memset(s->run, 0, sizeof s->run);
	memcpy(s->run, b + 2, b[1]);
	s->b = b + 2 + b[1];
	s->n = n - 2 - b[1];
	return 1;
}

/* The script's next part, in memory of its own that the caller frees; NULL at its end. */
static uint8_t *next_part(script *s, uint8_t *kind, size_t *n) {
	uint8_t *part;
	if (s->n < 3)
		return NULL;
	*kind = s->b[0];
	*n = (size_t)s->b[1] | (size_t)s->b[2] << 8;
	if (*n > s->n - 3)
		*n = s->n - 3;
	part = exactly(s->b + 3, *n);
	s->b += 3 + *n;
	s->n -= 3 + *n;
	return part;
}

/* A record that reads well becomes one of this log: most changes break its hash. */
static void chain(uint8_t *rec, size_t n, const zofl_replica *r) {
	record o;
	if (!parse(&o, NULL, rec, n))
		memcpy(rec + (o.prev - rec), r->hash, 16);
}

static void fuzz_log(const uint8_t *b, size_t n) {
	static zofl_replica r;
	script s;
	uint8_t kind, h[32], *rec, *memory = NULL;
	if (!begin_script(&s, b, n))
		return;
	replica_init(&r, s.run, s.flags & 2 ? secret : NULL, s.flags & 2 ? sizeof secret : 0,
	             s.flags & 1 ? initial : NULL);
	for (int i = 0; i < PARTS && (rec = next_part(&s, &kind, &n)) != NULL; i++) {
		int err;
		chain(rec, n, &r);
		while ((err = replica_apply(&r, rec, n)) == ZOFL_MEMORY) {
			uint64_t need = replica_need(&r);
			if (need > MEMORY)
				break;
			memory = realloc(memory, need);
			replica_give(&r, memory, need);
		}
		free(rec);
		if (err == ZOFL_MEMORY)
			break;
		if (r.n > 0 && !err)
			replica_digest(&r, h);
	}
	free(memory);
}

/* ---- a device ----
   Kinds of parts: 0 an answer to the last request, 1 an announcement, both as they are; 2 a record,
   which comes in a catch-up reply, or in a join reply where none was taken; 3 no answer, for as
   many milliseconds as the part's bytes say; 4 the subject of no one; 5 the network came back;
   6 the state is saved, and a new device goes on from it. */

enum { ANSWER, ANNOUNCEMENT, RECORD, TIME, STRANGER, BACK, STATE, KINDS };

typedef struct {
	zofl_device d;
	zofl_config config;
	uint8_t frame[4096], *memory;
	char inbox[ZOFL_SUBJECT], announcements[ZOFL_SUBJECT];
	uint64_t now;
	uint32_t draws;
	int over;
} world;

/* Subjects end, and are of the letters of subjects. */
static void keep_subject(char *to, const char *subject) {
	if (strlen(subject) >= ZOFL_SUBJECT)
		abort();
	strcpy(to, subject);
}

static double any_loss(world *w) {
	w->draws = w->draws * 1664525u + 1013904223u;
	switch (w->draws >> 27) {
	case 0:
		return INFINITY;
	case 1:
		return NAN;
	case 2:
		return 1e300;
	}
	return 1 + (double)(w->draws >> 8) * 1e-9;
}

static void evaluate(world *w, const zofl_task *t) {
	static const size_t bytes[] = {4, 2, 2};
	const zofl_type type = (zofl_type)(w->draws >> 13 & 1 ? 0 : w->draws >> 14 & 1 ? 1 : 2);
	const size_t off = w->draws % (t->size + 1), n = t->size - off;
	uint8_t *x = exactly(NULL, 0);
	free(x);
	x = malloc(bytes[type] * n + 1);
	if (t->point >= t->points)
		abort();
	zofl_point(&w->d, type, x, off, n);
	zofl_point_at(&w->d, w->draws % (t->points + 1), type, x, off, n);
	free(x);
	if (w->draws >> 25 == 77)
		zofl_decline(&w->d, 3);
	else
		zofl_loss(&w->d, any_loss(w));
}

/* Does what the device asks for, until it waits. */
static void settle(world *w) {
	zofl_task t;
	for (int i = 0; i < 400; i++) {
		int did = zofl_poll(&w->d, w->now, &t);
		switch (did) {
		case ZOFL_SUBSCRIBE:
			if (t.subject[0] == '_')
				break;
			keep_subject(w->announcements, t.subject);
			break;
		case ZOFL_SEND:
			if (t.size > sizeof w->frame || t.data < w->frame ||
			    t.data + t.size > w->frame + sizeof w->frame)
				abort();
			if (t.reply)
				keep_subject(w->inbox, t.reply);
			break;
		case ZOFL_MEMORY:
			if (t.size > MEMORY) {
				w->over = 1;
				return;
			}
			w->memory = realloc(w->memory, t.size);
			zofl_give(&w->d, w->memory, t.size);
			break;
		case ZOFL_EVALUATE:
			evaluate(w, &t);
			break;
		case ZOFL_WAIT:
		case ZOFL_PAUSED:
			return;
		default:
			w->over = 1;
			return;
		}
	}
}

/* A frame around a record, as a coordinator writes it. */
static size_t around(const world *w, const uint8_t *rec, size_t n, uint8_t *out) {
	const int joins = w->d.r.n == 0;
	uint8_t *p = out;
	*p++ = joins ? 0x97 : 0x94;
	*p++ = 1;
	*p++ = joins ? 3 : 0xcd; /* status, or from */
	*p++ = joins ? 0 : (uint8_t)((w->d.r.n + 1) >> 8 | 1);
	*p++ = joins ? 9 : (uint8_t)(w->d.r.n + 1); /* last */
	if (!joins) {
		*p++ = 0x7f;
		*p++ = 0x91;
	}
	*p++ = 0xc5;
	*p++ = (uint8_t)(n >> 8);
	*p++ = (uint8_t)n;
	memcpy(p, rec, n);
	p += n;
	if (joins) {
		*p++ = 0xa0;
		*p++ = 0xc4;
		*p++ = 0;
	}
	return (size_t)(p - out);
}

static void open_device(world *w, const script *s) {
	memset(&w->d, 0, sizeof w->d);
	if (zofl_open(&w->d, &w->config))
		w->over = 1;
	(void)s;
}

#if ZOFL_WITH_STATE
/* The state, in pieces, into a new device. */
static void saved(world *w, const script *s) {
	uint64_t size = zofl_state_size(&w->d), off = 0;
	uint8_t *file;
	if (size == 0 || size > 2 * MEMORY)
		return;
	file = malloc(size);
	if (zofl_save(&w->d, 0, file, size) != ZOFL_OK)
		abort();
	open_device(w, s);
	while (!w->over && off < size) {
		const uint64_t n = size - off < 1000 ? size - off : 1000;
		const int err = zofl_load(&w->d, file + off, n, off + n == size);
		if (err == ZOFL_MEMORY) {
			w->memory = realloc(w->memory, zofl_need(&w->d));
			zofl_give(&w->d, w->memory, zofl_need(&w->d));
			continue;
		}
		off += n;
		if (err != (off == size ? ZOFL_OK : ZOFL_WAIT))
			abort();
	}
	free(file);
}
#endif

static void fuzz_device(const uint8_t *b, size_t n) {
	static world w;
	script s;
	uint8_t kind, *part;
	char why[200];
	if (!begin_script(&s, b, n))
		return;
	memset(&w, 0, sizeof w);
	w.config.run = s.run;
	w.config.id = "d0";
	w.config.frame = w.frame;
	w.config.frame_size = sizeof w.frame;
	if (s.flags & 1)
		w.config.initial = initial;
	if (s.flags & 2) {
		w.config.secret = secret;
		w.config.secret_size = sizeof secret;
	}
	w.draws = s.flags;
	open_device(&w, &s);
	for (int i = 0; i < PARTS && !w.over && (part = next_part(&s, &kind, &n)) != NULL; i++) {
		static uint8_t frame[66000];
		settle(&w);
		w.now += 10;
		switch (kind % KINDS) {
		case ANSWER:
			zofl_receive(&w.d, w.inbox, part, n);
			break;
		case ANNOUNCEMENT:
			zofl_receive(&w.d, w.announcements, part, n);
			break;
		case RECORD: {
			uint8_t *exact;
			chain(part, n, &w.d.r);
			n = around(&w, part, n, frame);
			exact = exactly(frame, n);
			zofl_receive(&w.d, w.inbox, exact, n);
			free(exact);
			break;
		}
		case TIME:
			for (size_t j = 0; j < n && j < 4; j++)
				w.now += (uint64_t)part[j] << 4 * j;
			break;
		case STRANGER:
			zofl_receive(&w.d, "zo.x.a.0", part, n);
			break;
		case BACK:
			zofl_connected(&w.d);
			break;
#if ZOFL_WITH_STATE
		case STATE:
			saved(&w, &s);
			break;
#endif
		}
		free(part);
		zofl_explain(&w.d, why, sizeof why);
	}
	settle(&w);
	free(w.memory);
}

/* ---- a state file: two bytes say how it is cut ---- */
#if ZOFL_WITH_STATE

/* The checksum of the head is made right: most changes break it. */
static void sum_head(uint8_t *file, size_t n) {
	zofl_sha256 c;
	uint64_t head;
	if (n < 17)
		return;
	head = 17u + (uint64_t)le32(file + 13);
	if (head + 32 > n)
		return;
	zofl_sha256_init(&c);
	zofl_sha256_add(&c, file, head);
	zofl_sha256_end(&c, file + head);
}

static void fuzz_load(const uint8_t *b, size_t n) {
	static world w;
	size_t off = 0, step;
	uint8_t *file;
	zofl_task t;
	if (n < 1)
		return;
	step = 1u + b[n - 1];
	n--;
	memset(&w, 0, sizeof w);
	w.config.run = "golden";
	w.config.id = "d0";
	w.config.frame = w.frame;
	w.config.frame_size = sizeof w.frame;
	if (step & 1)
		w.config.initial = initial;
	if (step & 2) {
		w.config.secret = secret;
		w.config.secret_size = sizeof secret;
	}
	open_device(&w, NULL);
	file = exactly(b, n);
	sum_head(file, n);
	for (int asked = 0; off < n;) {
		const size_t k = n - off < step ? n - off : step;
		uint8_t *piece = exactly(file + off, k);
		const int err = zofl_load(&w.d, piece, k, off + k == n);
		free(piece);
		if (err == ZOFL_MEMORY) {
			const size_t need = zofl_need(&w.d);
			if (asked++ || need > MEMORY)
				break;
			w.memory = realloc(w.memory, need);
			zofl_give(&w.d, w.memory, need);
			continue;
		}
		off += k;
		if (err)
			break;
	}
	if (off == n)
		for (int i = 0; i < 10; i++)
			zofl_poll(&w.d, 0, &t);
	free(file);
	free(w.memory);
}
#endif

/* ---- the text of a NATS server: bytes of the buffer's size and of a piece, then the text ---- */

static void fuzz_nats(const uint8_t *b, size_t n) {
	nats c;
	uint8_t *buffer;
	char nonce[20];
	size_t room, piece;
	if (n < 2)
		return;
	room = b[0];
	piece = 1u + b[1];
	buffer = malloc(room ? room : 1);
	nats_begin(&c, buffer, room);
	for (b += 2, n -= 2; n > 0;) {
		size_t k = n < piece ? n : piece;
		uint8_t *exact = exactly(b, k);
		const uint8_t *p = exact;
		b += k;
		n -= k;
		while (k > 0) {
			const int event = nats_read(&c, &p, &k);
			if (event == NATS_BROKEN)
				n = k = 0;
			if (event == NATS_MESSAGE || event == NATS_LONG) {
				if (strlen(c.subject) + (c.reply ? strlen(c.reply) : 0) >= NATS_LINE)
					abort();
				if (event == NATS_MESSAGE && (c.size >= room || c.data[c.size] != 0))
					abort();
			}
			if (event == NATS_INFO || event == NATS_ERROR) {
				if (room > 0 && (c.size >= room || c.data[c.size] != 0))
					abort();
				nats_info_text(&c, "nonce", nonce, sizeof nonce);
			}
		}
		free(exact);
	}
	free(buffer);
}

static const struct {
	const char *name;
	void (*run)(const uint8_t *, size_t);
} targets[] = {
    {"record", fuzz_record},   {"announcement", fuzz_announcement},
    {"join-reply", fuzz_join_reply}, {"catch-up-reply", fuzz_catch_up},
    {"log", fuzz_log},         {"device", fuzz_device},
    {"nats", fuzz_nats},
#if ZOFL_WITH_STATE
    {"load", fuzz_load},
#endif
};

int LLVMFuzzerTestOneInput(const uint8_t *b, size_t n) {
	static void (*run)(const uint8_t *, size_t);
	if (!run) {
		const char *name = getenv("TARGET");
		for (size_t i = 0; name && i < sizeof targets / sizeof *targets; i++)
			if (!strcmp(name, targets[i].name))
				run = targets[i].run;
		for (size_t i = 0; i < MEMORY / 4; i++)
			initial[i] = (float)(i % 7) - 3;
		if (!run) {
			fprintf(stderr, "TARGET is none of fuzz.c's\n");
			exit(1);
		}
	}
	run(b, n);
	return 0;
}
