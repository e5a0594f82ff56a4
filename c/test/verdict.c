/* Judges what comes on stdin, for whoever compares with another implementation: testing/ccore.
   A request is its length, and so many bytes; so is its answer. Lengths and counts are of four
   bytes, little-endian. The first byte of a request is its kind:

     r, a, j, c   a record, an announcement, a join reply, a catch-up reply: the answer is the code,
                  a byte
     b            a precision, and scalars: the answer is the block that a device writes
     l            a log: one byte each of the length of the run's name and of the secret, these, the
                  number of initial parameters and these, and each record with its length. The answer
                  has 34 bytes for each record up to the first that is refused: the code, the number
                  of the field of the plan if the code is ZOFL_UNSUPPORTED, and the state's digest */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

static uint8_t *request, *answer;
static size_t size, said;

/* Memory of n bytes; the program ends when there is none. */
static void *alloc(void *p, size_t n) {
	p = realloc(p, n ? n : 1);
	if (!p)
		exit(2);
	return p;
}

static void say(const uint8_t *b, size_t n) {
	answer = alloc(answer, said + n);
	memcpy(answer + said, b, n);
	said += n;
}

static void say_code(int code) {
	const uint8_t b = (uint8_t)code;
	say(&b, 1);
}

/* The next n bytes of the request. */
static const uint8_t *eat(size_t *at, size_t n) {
	const uint8_t *p = request + *at;
	if (n > size - *at)
		exit(3);
	*at += n;
	return p;
}

static size_t eat_number(size_t *at) {
	return le32(eat(at, 4));
}

/* Applies the record at [at, at+n) of the request, and gives the memory that it takes. */
static int apply(zofl_replica *r, void **memory, size_t at, size_t n) {
	uint8_t *exact = alloc(NULL, n); /* a sanitizer sees what is read beyond */
	int err;
	memcpy(exact, request + at, n);
	while ((err = replica_apply(r, exact, n)) == ZOFL_MEMORY) {
		const uint64_t need = replica_need(r);
		*memory = alloc(*memory, need);
		replica_give(r, *memory, need);
	}
	free(exact);
	return err;
}

static void judge_log(void) {
	static zofl_replica r;
	char run[33] = "";
	size_t at = 1, names, secrets, floats, first;
	const uint8_t *secret;
	float *initial;
	void *memory = NULL;
	int err = 0;
	names = *eat(&at, 1);
	secrets = *eat(&at, 1);
	if (names > 32)
		exit(3);
	memcpy(run, eat(&at, names), names);
	secret = eat(&at, secrets);
	floats = eat_number(&at);
	initial = alloc(NULL, 4 * floats);
	memcpy(initial, eat(&at, 4 * floats), 4 * floats);
	replica_init(&r, run, secrets ? secret : NULL, secrets, floats ? initial : NULL);
	first = at;
	while (at < size && !err) {
		uint8_t digest[32] = {0};
		size_t n = eat_number(&at), here = at;
		eat(&at, n);
		err = apply(&r, &memory, here, n);
		if (!err && r.n == 0) /* a rollback that it did not know: the log anew */
			for (size_t again = first; again < at && !err;) {
				n = eat_number(&again);
				err = apply(&r, &memory, again, n);
				eat(&again, n);
				if (r.n == 0)
					again = first; /* another, met on the way */
			}
		if (!err)
			replica_digest(&r, digest);
		say_code(err);
		say_code(err == ZOFL_UNSUPPORTED ? r.plan.unsupported : 0);
		say(digest, sizeof digest);
	}
	free(memory);
	free(initial);
}

static void judge_block(const uint8_t *b, size_t n) {
	static float g[1000];
	uint8_t block[4002];
	const uint32_t scalars = (uint32_t)(n - 1) / 4;
	writer w = {block, block + sizeof block, 0};
	if (n < 5 || scalars > 1000)
		exit(3);
	memcpy(g, b + 1, 4 * scalars);
	write_block(&w, b[0], g, scalars);
	say(block, (size_t)(w.p - block));
}

static void judge_request(void) {
	record o;
	announcement a;
	join_reply j;
	catch_up_reply c;
	const size_t n = size - 1;
	uint8_t *b = alloc(NULL, n);
	memcpy(b, request + 1, n);
	switch (request[0]) {
	case 'r':
		say_code(parse(&o, NULL, b, n));
		break;
	case 'a':
		say_code(read_announcement(&a, b, n));
		break;
	case 'j':
		say_code(read_join_reply(&j, b, n));
		break;
	case 'c':
		say_code(read_catch_up(&c, b, n));
		break;
	case 'b':
		judge_block(b, n);
		break;
	case 'l':
		judge_log();
		break;
	default:
		exit(3);
	}
	free(b);
}

int main(void) {
	uint8_t length[4];
	while (fread(length, 1, 4, stdin) == 4) {
		size = le32(length);
		request = alloc(request, size);
		if (size == 0 || fread(request, 1, size, stdin) != size)
			return 3;
		said = 0;
		judge_request();
		for (int i = 0; i < 4; i++)
			length[i] = (uint8_t)(said >> 8 * i);
		fwrite(length, 1, 4, stdout);
		fwrite(answer, 1, said, stdout);
		fflush(stdout);
	}
	free(request);
	free(answer);
	return 0;
}
