/* Judges the frames that a device reads as the vectors say: wirevec
 * wire/testdata/vectors/NAME.txt... */
#include "zofl.c"
#include <stdio.h>
#include <stdlib.h>

static int equal, bad, other;

/* A vector: "frame: KIND", "expect: VERDICT", and behind an empty line the bytes in hex. */
typedef struct {
	char frame[40], expect[40];
	uint8_t bytes[1 << 17];
	size_t size;
} vector;

static void read_line(vector *v, const char *line, int body) {
	unsigned byte;
	sscanf(line, "frame: %39s", v->frame);
	sscanf(line, "expect: %39s", v->expect);
	for (; body && v->size < sizeof v->bytes && sscanf(line, "%2x", &byte) == 1; line += 2)
		v->bytes[v->size++] = (uint8_t)byte;
}

static int read_vector(vector *v, const char *path) {
	static char line[1 << 18];
	int body = 0;
	FILE *f = fopen(path, "r");
	memset(v, 0, sizeof *v);
	while (f && fgets(line, sizeof line, f)) {
		read_line(v, line, body);
		body |= line[0] == '\n';
	}
	if (f)
		fclose(f);
	return f != NULL && v->frame[0] && v->expect[0];
}

/* The core's verdict, or 1 for a frame that no device reads. b has n bytes and no more. */
static int judge_frame(const char *frame, const uint8_t *b, size_t n) {
	record o;
	announcement a;
	join_reply j;
	catch_up_reply c;
	if (strcmp(frame, "record") == 0)
		return parse(&o, NULL, b, n);
	if (strcmp(frame, "announcement") == 0)
		return read_announcement(&a, b, n);
	if (strcmp(frame, "join-reply") == 0)
		return read_join_reply(&j, b, n);
	if (strcmp(frame, "catch-up-reply") == 0)
		return read_catch_up(&c, b, n);
	return 1;
}

static const char *verdict(int code) {
	static const char *names[] = {"ok", "truncated", "form", "limit", "value", "upgrade"};
	return code <= 0 && code >= ZOFL_UPGRADE ? names[-code] : "another code";
}

static void check(const char *path) {
	static vector v;
	uint8_t *b;
	int code;
	if (!read_vector(&v, path)) {
		bad++;
		printf("%s: no vector\n", path);
		return;
	}
	b = malloc(v.size ? v.size : 1);
	memcpy(b, v.bytes, v.size);
	code = judge_frame(v.frame, b, v.size);
	free(b);
	if (code == 1)
		other++;
	else if (strcmp(verdict(code), v.expect) == 0)
		equal++;
	else {
		bad++;
		printf("%s: %s, want %s\n", path, verdict(code), v.expect);
	}
}

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		check(argv[i]);
	printf("wirevec: %d equal, %d differ, %d of frames that no device reads\n", equal, bad, other);
	return bad > 0 || equal < 300;
}
