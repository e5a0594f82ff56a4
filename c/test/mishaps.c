/* What a device meets beside its run: nonsense as an answer, records and files that no run has,
   memory that is none, calls at the wrong time. It must go on, and with the right state.

   mishaps */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

static zofl_device dev;
static zofl_task task;
static uint8_t frame[4096], message[8192], plan[1024];
static uint64_t aligned_memory[1 << 13]; /* as malloc aligns */
static uint8_t *const memory = (uint8_t *)aligned_memory;
enum { MEMORY = sizeof aligned_memory };
static uint32_t plan_size;
static uint64_t now;
static char inbox[ZOFL_SUBJECT];
static int cases, bad;

static void check(const char *what, int64_t got, int64_t want) {
	cases++;
	if (got == want)
		return;
	bad++;
	printf("mishaps: %s: got %lld, want %lld\n", what, (long long)got, (long long)want);
}

/* ---- a coordinator's frames ---- */

static void field(writer *w, uint64_t key, uint64_t v) {
	w_uint(w, key);
	w_uint(w, v);
}

static void real(writer *w, uint64_t key, float v) {
	w_uint(w, key);
	w_float(w, v);
}

static void record_head(writer *w, unsigned kind, uint64_t n, const uint8_t *prev,
                        unsigned fields) {
	w_array(w, 6);
	w_uint(w, 1);
	w_uint(w, kind);
	w_uint(w, n);
	w_bin(w, prev, 16);
	w_uint(w, 0);
	w_be(w, fields < 16 ? 0x80 + fields : 0xde, fields, fields < 16 ? 0 : 2);
}

/* The plan of run r: cma, or one with central differences. */
static void make_plan(int cma, uint32_t perts, uint32_t shards) {
	static const uint8_t key[32] = {7};
	writer w = {plan, plan + sizeof plan, 0};
	uint8_t genesis[16];
	zofl_genesis("r", genesis);
	record_head(&w, PLAN, 1, genesis, 15);
	w_uint(&w, 1);
	w_be(&w, 0xa1, 'r', 1);
	field(&w, 3, 1);
	w_uint(&w, 4);
	w_bin(&w, key, 32);
	field(&w, 5, 8);
	field(&w, 10, cma ? NORMAL : RADEMACHER);
	field(&w, 11, cma ? NO_DIFFERENCE : CENTRAL);
	if (!cma)
		real(&w, 12, 0.01f);
	field(&w, 13, 1);
	field(&w, 14, perts);
	field(&w, 15, SGD);
	real(&w, 18, 0.5f);
	real(&w, 26, 1e6f);
	field(&w, 32, 10000);
	field(&w, 34, 5000);
	field(&w, 36, shards);
	if (cma)
		field(&w, 54, SERVER_CMA);
	plan_size = (uint32_t)(w.p - plan);
	check("room for the plan", w.err, 0);
}

static writer begin_message(void) {
	writer w = {message, message + sizeof message, 0};
	return w;
}

/* Announces record n, and carries record n - 1 if there is one. */
static void write_open(writer *w, uint64_t n, uint32_t perts, const uint8_t *rec, uint32_t size) {
	w_array(w, 12);
	w_uint(w, 1);
	w_uint(w, STATE_OPEN);
	w_uint(w, n);
	w_uint(w, 0);
	w_uint(w, 1);
	w_uint(w, 10000);
	w_uint(w, 4294967296u);
	w_uint(w, 1);
	w_float(w, 0.5f);
	w_uint(w, perts);
	w_be(w, 0xa0, 0, 0);
	w_array(w, size > 0);
	if (size)
		w_bin(w, rec, size);
}

static int announce(uint64_t n, uint32_t perts, const uint8_t *rec, uint32_t size) {
	writer w = begin_message();
	char subject[ZOFL_SUBJECT];
	write_open(&w, n, perts, rec, size);
	write_subject(&dev, 'a', subject);
	return zofl_receive(&dev, subject, message, (size_t)(w.p - message));
}

/* Answers a join: with the plan, and an announcement of record 2 if perts is not 0. */
static int answer_join(unsigned status, const char *reason, uint32_t perts) {
	static uint8_t open[1024];
	writer w = begin_message(), a = {open, open + sizeof open, 0};
	if (perts)
		write_open(&a, 2, perts, NULL, 0);
	w_array(&w, 7);
	w_uint(&w, 1);
	w_uint(&w, status);
	w_uint(&w, 0);
	w_uint(&w, 1);
	w_bin(&w, plan, status == JOIN_OK || status == JOIN_PLAN ? plan_size : 0);
	w_be(&w, 0xa0 + (unsigned)strlen(reason), 0, 0);
	w_raw(&w, reason, strlen(reason));
	w_bin(&w, open, (uint32_t)(a.p - open));
	return zofl_receive(&dev, inbox, message, (size_t)(w.p - message));
}

/* ---- the app ---- */

static void open_device(void *m, size_t size) {
	zofl_config c = {0};
	c.run = "r";
	c.id = "d";
	c.frame = frame;
	c.frame_size = sizeof frame;
	c.memory = m;
	c.memory_size = size;
	check("zofl_open", zofl_open(&dev, &c), ZOFL_OK);
	now = 1000;
}

/* Polls until there is something else to do than to subscribe or wait, for 30 minutes at most. */
static int go_on(void) {
	for (uint64_t end = now + 1800000; now < end;) {
		int what = zofl_poll(&dev, now, &task);
		if (what == ZOFL_SEND && task.reply)
			strcpy(inbox, task.reply);
		if (what == ZOFL_WAIT || what == ZOFL_PAUSED)
			now = task.until_ms;
		else if (what != ZOFL_SUBSCRIBE)
			return what;
	}
	return ZOFL_WAIT;
}

static int asks_for(char what) {
	return go_on() == ZOFL_SEND && task.reply && task.subject[5] == what;
}

/* The device joins, and works for record 2. */
static void join(uint32_t perts) {
	check("first join", asks_for('j'), 1);
	answer_join(JOIN_PLAN, "", 0);
	check("join with the plan", asks_for('j'), 1);
	answer_join(JOIN_OK, "", 0);
	check("join for the announcement", asks_for('j'), 1);
	check("announcement", answer_join(JOIN_OK, "", perts), ZOFL_OK);
	check("a point", go_on(), ZOFL_EVALUATE);
}

static void finish_round(uint32_t points) {
	check("points", task.points, points);
	for (uint32_t i = 0; i < points; i++) {
		check("evaluate", go_on(), ZOFL_EVALUATE);
		zofl_loss(&dev, 1 + 1.0 / (2 + i));
	}
	check("reply", go_on(), ZOFL_SEND);
	check("its kind", task.data ? task.data[2] : -1, CONTRIBUTION);
}

/* ---- mishaps ---- */

static void nonsense_as_answer(void) {
	static const uint8_t nothing[] = {0xc1}, later[] = {0x91, 2};
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	check("join", asks_for('j'), 1);
	check("nonsense", zofl_receive(&dev, inbox, nothing, 1), ZOFL_FORM);
	check("join again", asks_for('j'), 1);
	check("a later version", zofl_receive(&dev, inbox, later, 2), ZOFL_UPGRADE);
	check("no message", zofl_receive(&dev, inbox, later, 0), ZOFL_TRUNCATED);
	join(2);
	finish_round(4);
}

/* Plans whose rounds have as many scalars as their memory. */
static void many_candidates(void) {
#if ZOFL_WITH_CMA && ZOFL_WITH_NORMAL
	make_plan(1, 100, 1);
	open_device(memory, MEMORY);
	join(100);
	finish_round(100);
#endif
}

static void memory_that_is_none(void) {
	size_t need;
	make_plan(0, 2, 1);
	open_device(NULL, 0);
	check("join", asks_for('j'), 1);
	answer_join(JOIN_PLAN, "", 0);
	check("memory", go_on(), ZOFL_MEMORY);
	need = task.size;
	check("none", zofl_give(&dev, NULL, need), ZOFL_ROOM);
	check("short", zofl_give(&dev, memory, need - 1), ZOFL_ROOM);
	check("not aligned", zofl_give(&dev, memory + 1, need), ZOFL_ROOM);
	check("memory again", go_on(), ZOFL_MEMORY);
	check("given", zofl_give(&dev, memory, need), ZOFL_OK);
	check("twice", zofl_give(&dev, memory, need), ZOFL_STATE);
	join(2);
	finish_round(4);
	open_device(memory + 4, MEMORY - 4);
	check("join", asks_for('j'), 1);
	answer_join(JOIN_PLAN, "", 0);
	check("memory of the configuration", go_on(), ZOFL_ROOM);
}

/* A change of the perturbations as record 2. */
static uint32_t make_change(uint8_t *out, uint32_t perts) {
	writer w = {out, out + 64, 0};
	uint8_t prev[16];
	record_hash(plan, plan_size, prev);
	record_head(&w, CHANGE, 2, prev, 1);
	field(&w, 14, perts);
	return (uint32_t)(w.p - out);
}

static void change_of_no_run(void) {
	uint8_t rec[64];
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	join(2);
	check("refused", announce(3, 2, rec, make_change(rec, 0)), ZOFL_REFUSED);
	check("records", (int64_t)zofl_records(&dev), 1);
	check("the run's change", announce(3, 3, rec, make_change(rec, 3)), ZOFL_OK);
	check("records", (int64_t)zofl_records(&dev), 2);
	check("a point", go_on(), ZOFL_EVALUATE);
	finish_round(6);
}

/* The log of another run of this name, on another subject: the device begins again. */
static void another_log(void) {
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	join(2);
	finish_round(4);
	make_plan(0, 3, 1u << 20);
	check("it looks", asks_for('j'), 1);
	check("another plan", answer_join(JOIN_PLAN, "", 0), ZOFL_CHAIN);
	check("records", (int64_t)zofl_records(&dev), 0);
	join(3);
	finish_round(6);
	make_plan(0, 4, 1u << 20); /* and one on the same subject: it is subscribed already */
	check("it looks", asks_for('j'), 1);
	check("another plan", answer_join(JOIN_PLAN, "", 0), ZOFL_CHAIN);
	check("first join", asks_for('j'), 1);
	answer_join(JOIN_PLAN, "", 0);
	check("join with the plan", asks_for('j'), 1);
	check("announcement", answer_join(JOIN_OK, "", 4), ZOFL_OK);
	check("a point", go_on(), ZOFL_EVALUATE);
	finish_round(8);
}

/* Lets the device do what it can at this time. */
static int settle(void) {
	int what;
	do
		what = zofl_poll(&dev, now, &task);
	while (what == ZOFL_SEND || what == ZOFL_SUBSCRIBE);
	return what;
}

/* Frames of a later version end a device, unless the run goes on beside them. */
static void later_versions(int goes_on) {
	static const uint8_t later[] = {0x91, 2};
	char subject[ZOFL_SUBJECT];
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	join(2);
	finish_round(4);
	write_subject(&dev, 'a', subject);
	for (int i = 0; i < 12; i++) {
		now += 60000;
		settle();
		zofl_receive(&dev, subject, later, 2);
		if (goes_on)
			check("announcement", announce(2, 2, NULL, 0), ZOFL_OK);
		settle();
	}
	check("the device", settle(), goes_on ? ZOFL_WAIT : ZOFL_UPGRADE);
}

static void half_a_file(void) {
#if ZOFL_WITH_STATE
	static uint8_t file[4096];
	size_t size;
	uint8_t digest[32];
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	join(2);
	size = (size_t)zofl_state_size(&dev);
	check("saved", zofl_save(&dev, 0, file, size), ZOFL_OK);
	open_device(memory, MEMORY);
	check("short head", zofl_load(&dev, file, 10, 0), ZOFL_TRUNCATED);
	check("half", zofl_load(&dev, file, size - 40, 0), ZOFL_WAIT);
	check("nothing more", zofl_load(&dev, file, 0, 0), ZOFL_WAIT);
	check("a state that is not whole", (int64_t)zofl_state_size(&dev), 0);
	check("join", asks_for('j'), 1);
	check("records", (int64_t)zofl_records(&dev), 0);
	check("no digest", zofl_digest(&dev, digest), ZOFL_STATE);
	check("too late", zofl_load(&dev, file, size, 1), ZOFL_STATE);
	open_device(memory, MEMORY);
	check("whole", zofl_load(&dev, file, size, 1), ZOFL_OK);
	check("records", (int64_t)zofl_records(&dev), 1);
#endif
}

static void calls_out_of_turn(void) {
	float x[8];
	char why[64];
	make_plan(0, 2, 1);
	open_device(memory, MEMORY);
	check("loss", zofl_loss(&dev, 1), ZOFL_STATE);
	check("decline", zofl_decline(&dev, 3), ZOFL_STATE);
	check("goodbye", zofl_decline(&dev, 6), ZOFL_STATE);
	check("model", zofl_model(&dev, ZOFL_F32, x, 0, 0), ZOFL_STATE);
	check("message", zofl_receive(&dev, "x", frame, 3), ZOFL_STATE);
	check("join", asks_for('j'), 1);
	check("denied", answer_join(2, "no\x1b[2J\nroot", 0), ZOFL_REFUSED);
	zofl_explain(&dev, why, sizeof why);
	check("text for a log", strcmp(why, "denied: no?[2J?root"), 0);
	join(2);
	check("beyond the end", zofl_point(&dev, ZOFL_F32, x, 8, 1), ZOFL_STATE);
	check("far beyond", zofl_point(&dev, ZOFL_F32, x, 1, UINT64_MAX), ZOFL_STATE);
	check("no such point", zofl_point_at(&dev, 4, ZOFL_F32, x, 0, 8), ZOFL_STATE);
	check("the last", zofl_point_at(&dev, 3, ZOFL_F32, x, 7, 1), ZOFL_OK);
	finish_round(4);
	check("a loss more", zofl_loss(&dev, 1), ZOFL_STATE);
}

int main(void) {
	nonsense_as_answer();
	many_candidates();
	memory_that_is_none();
	change_of_no_run();
	another_log();
	later_versions(0);
	later_versions(1);
	half_a_file();
	calls_out_of_turn();
	printf("mishaps: %d equal, %d differ\n", cases - bad, bad);
	return bad != 0;
}
