/* Plays transcripts of a device (docs/device.md) to the core: what came at the same times, losses
   as answers to the same points, and every frame that the core sends must be the transcript's.

   transcript FILE... */
#define ZOFL_WITH_LOWRANK 1 /* on 32 bits too */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

enum { LINES = 4096, KEPT = 1024 };

typedef struct {
	uint64_t at;
	char *kind, *text[6]; /* fields; NULL where there are no more */
	int fields;
} event;

static event events[LINES];
static int count, now_at; /* of events; the present one */
static char *content;
static const char *path;
static int wrong, frames, losses, digests;

/* What the head says. */
static char run[40], id[40];
static uint64_t dim;
static uint32_t samples, room;
static uint8_t secret[32];
static int is_private_run;

static zofl_device dev;
static uint8_t frame[65536], bytes[65536];
static char inbox[ZOFL_SUBJECT];
static uint64_t now, shift; /* shift: by how much the core's random times are later */
static int on_demand;       /* the core asks for its memory: it has record 1 one answer later */
static uint8_t memory[1 << 20];

/* Records that came so far, for a device that asks for what it did not keep. */
static struct {
	uint8_t *b;
	uint32_t n;
} kept[KEPT];

static void differs_(const char *what, const char *got, const char *want) {
	printf("%s: event %d (%llu %s): %s: got %.100s want %.100s\n", path, now_at + 1,
	       (unsigned long long)now, now_at < count ? events[now_at].kind : "", what, got, want);
	wrong++;
}

static void hex_of(const void *data, size_t n, char *out) {
	const uint8_t *b = data;
	for (size_t i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", b[i]);
	out[2 * n] = 0;
}

static size_t unhex(const char *s, uint8_t *out) {
	size_t n = 0;
	unsigned v;
	while (sscanf(s + 2 * n, "%2x", &v) == 1)
		out[n++] = (uint8_t)v;
	return n;
}

/* ---- the file ---- */

static void head_line(char *l) {
	char *v = strchr(l, ':');
	if (!v)
		return;
	*v++ = 0;
	while (*v == ' ')
		v++;
	if (!strcmp(l, "run"))
		snprintf(run, sizeof run, "%s", v);
	else if (!strcmp(l, "device"))
		snprintf(id, sizeof id, "%s", v);
	else if (!strcmp(l, "dim"))
		dim = strtoull(v, NULL, 10);
	else if (!strcmp(l, "samples"))
		samples = (uint32_t)strtoul(v, NULL, 10);
	else if (!strcmp(l, "room"))
		room = (uint32_t)strtoul(v, NULL, 10);
	else if (!strcmp(l, "secret"))
		is_private_run = unhex(v, secret) == 32;
}

static void event_line(char *l) {
	event *e = &events[count++];
	char *word = strtok(l, " ");
	e->at = strtoull(word, NULL, 10);
	e->kind = strtok(NULL, " ");
	for (e->fields = 0; e->fields < 6 && (word = strtok(NULL, " ")) != NULL; e->fields++)
		e->text[e->fields] = word;
}

static int load(const char *name) {
	FILE *f = fopen(name, "rb");
	long size;
	int body = 0;
	if (!f)
		return 0;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	content = malloc((size_t)size + 1);
	content[fread(content, 1, (size_t)size, f)] = 0;
	fclose(f);
	count = is_private_run = 0;
	for (char *l = content, *next; l && *l; l = next) {
		next = strchr(l, '\n');
		if (next)
			*next++ = 0;
		if (!*l)
			body = 1;
		else if (*l != '#' && !body)
			head_line(l);
		else if (*l != '#' && count < LINES) {
			char *rest = l;
			event_line(rest);
		}
	}
	return count > 0;
}

/* ---- records ---- */

static void keep_record(const uint8_t *b, uint32_t n) {
	record o;
	if (parse(&o, NULL, b, n) != ZOFL_OK || o.n >= KEPT)
		return;
	free(kept[o.n].b);
	kept[o.n].b = malloc(n);
	kept[o.n].n = n;
	memcpy(kept[o.n].b, b, n);
}

static void keep_records(reader r, uint32_t n) {
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = 0;
		const uint8_t *b = bin(&r, MAX_RECORD, &size);
		if (b)
			keep_record(b, size);
	}
}

static void keep_of(const event *e) {
	announcement a;
	catch_up_reply c;
	size_t n = unhex(e->text[e->fields - 1], bytes);
	if (!strcmp(e->kind, "in") && read_announcement(&a, bytes, n) == ZOFL_OK && !a.body)
		keep_records(a.records, a.nrecords);
	if (!strcmp(e->kind, "answer") && read_catch_up(&c, bytes, n) == ZOFL_OK)
		keep_records(c.records, c.nrecords);
}

/* Answers a request for records that the transcript's device did not make. */
static void answer_records(const uint8_t *request, size_t size) {
	static uint8_t out[65536];
	writer w = {out, out + sizeof out, 0};
	reader r = {request, request + size, 0};
	uint64_t from, last;
	head(&r, 3);
	from = last = uint_(&r);
	while (last + 1 < KEPT && kept[last + 1].b)
		last++;
	w_array(&w, 4);
	w_uint(&w, 1);
	w_uint(&w, from);
	w_uint(&w, last);
	w_array(&w, (uint32_t)(last + 1 - from));
	for (uint64_t i = from; i <= last; i++)
		w_bin(&w, kept[i].b, kept[i].n);
	zofl_receive(&dev, inbox, out, (size_t)(w.p - out));
}

/* ---- playing ---- */

static const event *next_of(const char *kind) {
	return now_at < count && !strcmp(events[now_at].kind, kind) ? &events[now_at] : NULL;
}

static void give_back(void) {
	if (dev.memory != memory)
		free(dev.memory);
	dev.memory = NULL;
}

static void begin_device(void) {
	zofl_config c = {0};
	int err;
	give_back();
	c.run = run;
	c.id = id;
	c.secret = is_private_run ? secret : NULL;
	c.secret_size = is_private_run ? 32 : 0;
	c.weight = samples;
	c.max_receive = room;
	c.frame = frame;
	c.frame_size = sizeof frame;
	if (!on_demand) {
		c.memory = memory;
		c.memory_size = sizeof memory;
	}
	if ((err = zofl_open(&dev, &c)) != ZOFL_OK)
		differs_("zofl_open", zofl_error(err), "no error");
}

/* The app kept the state when it stopped the device, and begins it again. */
static void wake(void) {
	static uint8_t state[1 << 20];
	uint64_t size = zofl_state_size(&dev);
	void *given;
	int err = zofl_save(&dev, 0, state, (size_t)size);
	begin_device();
	if (err == ZOFL_OK)
		err = zofl_load(&dev, state, (size_t)size, 1);
	if (err == ZOFL_MEMORY) {
		given = malloc(zofl_need(&dev));
		zofl_give(&dev, given, zofl_need(&dev));
		err = zofl_load(&dev, state, (size_t)size, 1);
	}
	if (size == 0 || err != ZOFL_OK)
		differs_("state file", zofl_error(err), "no error");
}

static void compare_send(const zofl_task *t) {
	static char got[140000], want[140000];
	const event *e = t->reply ? next_of("ask") : next_of("out");
	hex_of(t->data, t->size, got);
	frames++;
	if (t->reply)
		strcpy(inbox, t->reply);
	if (e && !strcmp(e->text[0], t->subject) && !strcmp(e->text[1], got)) {
		now_at++;
		return;
	}
	if (t->reply && strstr(t->subject, ".c.") && !e) { /* see docs/device.md: it kept none */
		answer_records(t->data, t->size);
		return;
	}
	snprintf(want, sizeof want, "%s %s", e ? e->text[0] : "", e ? e->text[1] : "nothing");
	strcat(got, t->subject);
	differs_("frame", got, want);
	now_at += e != NULL;
}

static void compare_loss(const zofl_task *t) {
	static float x[4096];
	static char got[40000];
	const event *e = t->held_out ? next_of("metrics") : next_of("loss");
	const char *value;
	zofl_point(&dev, ZOFL_F32, x, 0, t->size);
	for (uint64_t i = 0; i < t->size; i++) {
		uint8_t b[4];
		put_le32(b, bits(x[i]));
		hex_of(b, 4, got + 8 * i);
	}
	losses++;
	if (!e || strcmp(e->text[t->held_out ? 0 : 4], got) ||
	    (!t->held_out && (strtoull(e->text[0], NULL, 10) != t->record ||
	                      strtoull(e->text[3], NULL, 16) != t->seed))) {
		differs_("point", got, e ? e->text[t->held_out ? 0 : 4] : "no loss");
		now_at = count;
		return;
	}
	now_at++;
	/* what comes while the device computes */
	value = e->text[t->held_out ? 2 : 5];
	for (const event *in; (in = next_of("in")) != NULL; now_at++) {
		keep_of(in);
		now = in->at + shift;
		zofl_receive(&dev, in->text[0], bytes, unhex(in->text[1], bytes));
	}
	if (next_of("leave")) {
		now_at++;
		zofl_decline(&dev, 6);
	} else if (!strcmp(value, "fails"))
		zofl_decline(&dev, 3);
	else
		zofl_loss(&dev, strtod(value, NULL));
}

/* Lets the core do what it can do now. */
static void run_core(void) {
	zofl_task t;
	for (int i = 0; i < 500; i++) {
		const event *e;
		int next;
		while ((e = next_of("state")) != NULL) {
			static char got[80];
			uint8_t digest[32];
			if (zofl_records(&dev) < strtoull(e->text[0], NULL, 10) &&
			    !(on_demand && zofl_records(&dev) == 0))
				break;
			if (zofl_records(&dev) == strtoull(e->text[0], NULL, 10)) {
				zofl_digest(&dev, digest);
				hex_of(digest, 32, got);
				digests++;
				if (strcmp(got, e->text[1]))
					differs_("digest", got, e->text[1]);
			}
			now_at++;
		}
		next = zofl_poll(&dev, now, &t);
		switch (next) {
		case ZOFL_SUBSCRIBE:
			if (strncmp(t.subject, "_INBOX_", 7) == 0)
				break;
			e = next_of("sub");
			if (!e || strcmp(e->text[0], t.subject))
				differs_("subscription", t.subject, e ? e->text[0] : "none");
			now_at += e != NULL;
			break;
		case ZOFL_SEND:
			compare_send(&t);
			break;
		case ZOFL_MEMORY:
			zofl_give(&dev, calloc(1, t.size), t.size);
			break;
		case ZOFL_EVALUATE:
			compare_loss(&t);
			break;
		case ZOFL_WAIT:
		case ZOFL_PAUSED:
			return;
		case ZOFL_ENDED:
			now_at += next_of("end") != NULL;
			return;
		default:
			differs_("poll", zofl_error(next), "no error");
			now_at = count;
			return;
		}
	}
	differs_("poll", "500 polls", "a wait");
}

static void play_event(void) {
	const event *e = &events[now_at];
	if (!strcmp(e->kind, "begin")) {
		now_at++;
		begin_device();
	} else if (!strcmp(e->kind, "in") || !strcmp(e->kind, "answer")) {
		const char *subject = e->kind[0] == 'i' ? e->text[0] : inbox;
		size_t n;
		keep_of(e);
		n = unhex(e->text[e->fields - 1], bytes);
		now_at++;
		zofl_receive(&dev, subject, bytes, n);
	} else if (!strcmp(e->kind, "leave")) {
		now_at++;
		zofl_decline(&dev, 6);
	} else if (!strcmp(e->kind, "wake")) {
		now_at++;
		wake();
	} else if (!strcmp(e->kind, "silence") || !strcmp(e->kind, "nobody")) {
		now_at++;
	} else { /* only the core can bring it, and it did not */
		differs_("missing", "nothing", e->kind);
		now_at++;
	}
}

/* Random times are the core's own: the transcript waits until it asks. */
static void await_ask(void) {
	zofl_task t;
	for (int i = 0; i < 40 && next_of("ask"); i++) {
		int next = zofl_poll(&dev, now, &t);
		if (next == ZOFL_SEND) {
			shift += now - (events[now_at].at + shift);
			compare_send(&t);
		} else if (next == ZOFL_WAIT || next == ZOFL_PAUSED)
			now = t.until_ms;
		else
			return;
	}
}

static void play(void) {
	for (now_at = 0; now_at < count && wrong < 20;) {
		int before = now_at;
		if (events[now_at].at + shift > now)
			now = events[now_at].at + shift;
		if (next_of("ask"))
			await_ask();
		else if (!next_of("end") && !next_of("state") && !next_of("loss") && !next_of("out"))
			play_event();
		run_core();
		if (now_at == before)
			play_event();
	}
}

static void play_file(void) {
	now = shift = 0;
	if (!load(path)) {
		printf("%s: no transcript\n", path);
		wrong++;
		return;
	}
	play();
	for (int k = 0; k < KEPT; k++) {
		free(kept[k].b);
		kept[k].b = NULL;
	}
	free(content);
}

int main(int argc, char **argv) {
	for (on_demand = 0; on_demand < 2; on_demand++)
		for (int i = 1; i < argc; i++) {
			path = argv[i];
			play_file();
		}
	give_back();
	printf("transcripts: %d frames, %d losses, %d digests; %d differ\n", frames, losses, digests,
	       wrong);
	return wrong != 0;
}
