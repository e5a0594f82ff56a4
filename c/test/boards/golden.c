/* The self-test and the golden logs of runs on a board, as far as its memory holds them:

    golden logs.txt [flush]

   The file is client/replica/testdata/logs.txt, and docs/replay.md says how to read it. The run
   of each is named with what became of it; host and boards of the same memory print the same. With
   flush, subnormal numbers become zero before the self-test. */
#include "board.h"
#include "zofl.c"

#ifndef MEMORY
#define MEMORY (1 << 18) /* bytes for the vectors of a plan */
#endif
#ifndef GIVEN
#define GIVEN 12289 /* parameters of a run that begins with given ones */
#endif
#ifndef RECORD
#define RECORD 8192 /* bytes of a record */
#endif

static zofl_replica replica;
static union {
	double aligned;
	uint8_t bytes[MEMORY];
} memory;
static float given[GIVEN];
static uint8_t record_bytes[RECORD], secret[64];

/* ---- lines of the file ---- */

static uint8_t chunk[256];
static size_t chunk_size, chunk_at;
static uint32_t file_place; /* in the file, of the next byte */

static int next_byte(void) { /* -1 at the end */
	if (chunk_at == chunk_size) {
		chunk_size = file_read(chunk, sizeof chunk);
		chunk_at = 0;
		if (chunk_size == 0)
			return -1;
	}
	file_place++;
	return chunk[chunk_at++];
}

static void go_to(uint32_t where) {
	file_seek(where);
	file_place = where;
	chunk_size = chunk_at = 0;
}

/* Reads up to the end of the line, or of what fits; says whether the line ends there. */
static int rest_of_line(char *out, size_t room) {
	size_t n = 0;
	int c = next_byte(), fits = 1;
	for (; c >= 0 && c != '\n'; c = next_byte())
		if (n + 1 < room)
			out[n++] = (char)c;
		else
			fits = 0;
	out[n] = 0;
	return fits;
}

static int nibble(int c) {
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of the line's hexadecimal numbers: how many there are, though only room are kept. */
static size_t hex_of_line(uint8_t *out, size_t room) {
	size_t n = 0;
	for (;;) {
		int high = nibble(next_byte()), low;
		if (high < 0)
			return n; /* the line's end */
		low = nibble(next_byte());
		if (n < room)
			out[n] = (uint8_t)(high << 4 | low);
		n++;
	}
}

static uint64_t number(const char **text) {
	uint64_t v = 0;
	while (**text >= '0' && **text <= '9')
		v = v * 10 + (uint64_t)(*(*text)++ - '0');
	return v;
}

/* "N from SEED": N numbers of a linear congruential generator. */
static int read_given(void) {
	char text[48];
	const char *p = text;
	uint64_t n, state;
	if (!rest_of_line(text, sizeof text))
		return ZOFL_REFUSED;
	n = number(&p);
	p += strlen(" from ");
	state = number(&p);
	if (n > GIVEN)
		return ZOFL_ROOM;
	for (uint64_t i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		given[i] = (float)(int32_t)(uint32_t)(state >> 32) / 268435456.0f;
	}
	return ZOFL_OK;
}

/* ---- runs ---- */

static struct {
	char title[64];
	uint32_t start;   /* of the run's lines behind its title */
	uint32_t records; /* read so far */
	uint32_t behind;  /* after a rollback: records that the log had, read anew */
	uint32_t digests; /* equal so far */
	size_t secret;    /* bytes of the app's secret, or 0 */
	int status;       /* an error of replica_apply, or DIFFERS */
} run;

enum { DIFFERS = 1 };

static struct { uint32_t equal, digests, refused, wrong; } all;

static void start_run(void) {
	memset(&run, 0, sizeof run);
	rest_of_line(run.title, sizeof run.title);
	run.start = file_place;
}

static void begin_log(const uint8_t *first, size_t n) {
	char name[33] = "";
	size_t i = 0, length;
	/* The plan names its run: field 1 of its map, a text of up to 31 bytes. */
	while (i + 2 < n && !(first[i] == 1 && (first[i + 1] & 0xE0) == 0xA0))
		i++;
	length = i + 2 < n ? first[i + 1] & 31u : 0;
	if (length <= n - i - 2)
		memcpy(name, first + i + 2, length);
	replica_init(&replica, name, run.secret ? secret : NULL, run.secret, given);
}

/* The record, with the memory that its plan needs. */
static int apply(size_t n) {
	int code = replica_apply(&replica, record_bytes, n);
	if (code != ZOFL_MEMORY)
		return code;
	if (replica_need(&replica) > sizeof memory)
		return ZOFL_ROOM;
	code = replica_give(&replica, &memory, sizeof memory);
	return code ? code : replica_apply(&replica, record_bytes, n);
}

static void one_record(void) {
	size_t n = hex_of_line(record_bytes, RECORD);
	if (run.status)
		return;
	if (n > RECORD) {
		run.status = ZOFL_ROOM;
		return;
	}
	if (run.records == 0 && run.behind == 0)
		begin_log(record_bytes, n);
	run.records++;
	run.status = apply(n);
	if (!run.status && replica.n == 0) { /* a rollback: the log anew */
		if (run.behind < run.records)
			run.behind = run.records;
		run.records = 0;
		go_to(run.start);
	}
}

static void one_digest(void) {
	uint8_t want[32], got[32];
	if (hex_of_line(want, sizeof want) != sizeof want || run.status || run.records < run.behind)
		return;
	replica_digest(&replica, got);
	if (memcmp(got, want, sizeof want))
		run.status = DIFFERS;
	else
		run.digests++;
}

static void end_run(void) {
	if (!run.title[0])
		return;
	if (run.status == ZOFL_OK && run.digests) {
		say("equal ");
		say_number(run.digests);
		all.equal++;
		all.digests += run.digests;
	} else if (run.status == ZOFL_UNSUPPORTED) {
		char why[96] = "";
		plan_explain(&replica.plan, why, sizeof why);
		say("refused, ");
		say(why);
		all.refused++;
	} else if (run.status == ZOFL_ROOM) {
		say("too long for this memory");
		all.refused++;
	} else {
		say("WRONG, after records ");
		say_number(run.records);
		say(", status ");
		say_number((uint32_t)(run.status < 0 ? -run.status : run.status));
		all.wrong++;
	}
	say(": ");
	say(run.title);
	say("\n");
	run.title[0] = 0;
}

static void read_logs(void) {
	char key[16];
	for (;;) {
		size_t n = 0;
		int c = next_byte();
		if (c < 0)
			break;
		if (c == '\n') {
			end_run();
			continue;
		}
		for (; c >= 0 && c != ':' && c != '\n'; c = next_byte())
			if (n + 1 < sizeof key)
				key[n++] = (char)c;
		key[n] = 0;
		if (key[0] == '#' || c != ':') {
			while (c >= 0 && c != '\n')
				c = next_byte();
			continue;
		}
		next_byte(); /* the blank behind the colon */
		if (!strcmp(key, "run")) {
			start_run();
		} else if (!strcmp(key, "record")) {
			one_record();
		} else if (!strcmp(key, "digest")) {
			one_digest();
		} else if (!strcmp(key, "given")) {
			int err = read_given();
			if (!run.status)
				run.status = err;
		} else if (!strcmp(key, "secret")) {
			run.secret = hex_of_line(secret, sizeof secret);
			if (run.secret > sizeof secret)
				run.status = ZOFL_ROOM;
		} else { /* objects of dense vectors, which the core has not */
			char text[2];
			rest_of_line(text, sizeof text);
		}
	}
	end_run();
}

int board_main(void) {
	const char *path = board_word(0), *flush = path ? board_word(1) : NULL;
	const char *fault;
	if (flush && board_flush() != 0) {
		say("this processor cannot flush\n");
		return 1;
	}
	fault = zofl_selftest() ? zofl_fault() : NULL;
	say("self-test: ");
	say(fault ? fault : "ok");
	say("\n");
	if (fault)
		return 1;
	if (!path || file_open(path) != 0) {
		say("usage: golden logs.txt [flush]\n");
		return 1;
	}
	read_logs();
	say("runs equal ");
	say_number(all.equal);
	say(", digests ");
	say_number(all.digests);
	say(", refused ");
	say_number(all.refused);
	say(", wrong ");
	say_number(all.wrong);
	say("\n");
	if (board_stack()) {
		say("stack ");
		say_number(board_stack());
		say("\n");
	}
	return all.wrong != 0 || all.digests == 0;
}
