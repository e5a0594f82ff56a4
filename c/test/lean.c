/* Short announcements and the records that they stand for: lean FILE, which is
   wire/compact/testdata/frames.txt. Every frame is also cut, and read with each byte changed. */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

static char line[1 << 18];
static uint8_t frame[1 << 16], want[1 << 16], got[1 << 16], prev[16];
static int equal, refused, wrong;

static size_t unhex(const char *s, uint8_t *out) {
	size_t n = 0;
	unsigned v;
	while (sscanf(s + 2 * n, "%2x", &v) == 1)
		out[n++] = (uint8_t)v;
	return n;
}

/* Reads a frame in memory of its own. The length of its record, or an error. */
static int read_frame(const uint8_t *b, size_t n) {
	uint8_t *exact = malloc(n ? n : 1);
	announcement a;
	int err;
	memcpy(exact, b, n);
	err = read_announcement(&a, exact, n);
	if (!err)
		err = a.body ? lean_record(&a, prev, got, sizeof got) : ZOFL_FORM;
	free(exact);
	return err;
}

static void damage(size_t n) {
	for (size_t i = 0; i < n; i++) {
		read_frame(frame, i);
		frame[i] ^= (uint8_t)(1 << i % 8);
		read_frame(frame, n);
		frame[i] ^= (uint8_t)(1 << i % 8);
	}
}

int main(int argc, char **argv) {
	static const char *names[] = {"ok", "truncated", "form", "limit", "value", "upgrade"};
	char name[200] = "", verdict[40] = "";
	size_t n = 0;
	int err = 0;
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	while (f && fgets(line, sizeof line, f)) {
		char *colon = strstr(line, ": ");
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "prev ", 5))
			unhex(line + 5, prev);
		else if (!strncmp(line, "frame ", 6)) {
			n = unhex(line + 6 + strspn(line + 6, " "), frame);
			err = read_frame(frame, n);
			if (strcmp(names[err < 0 ? -err : 0], verdict)) {
				printf("%s: %s, want %s\n", name, names[err < 0 ? -err : 0], verdict);
				wrong++;
			} else if (err < 0)
				refused++;
		} else if (!strncmp(line, "record ", 7)) {
			size_t size = unhex(line + 7, want);
			err = read_frame(frame, n);
			if (err != (int)size || memcmp(got, want, size)) {
				printf("%s: another record\n", name);
				wrong++;
			} else
				equal++;
			damage(n);
		} else if (colon) {
			snprintf(name, sizeof name, "%.*s", (int)(colon - line), line);
			snprintf(verdict, sizeof verdict, "%s", colon + 2);
		}
	}
	printf("lean: %d records equal, %d frames refused as they must be, %d wrong\n", equal, refused,
	       wrong);
	return wrong > 0 || equal == 0 || refused == 0;
}
