#include "zofl.c"
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static uint8_t b[1 << 20];
int main(int c, char **v) {
	static const char *names[] = {"ok", "truncated", "form", "limit", "value", "upgrade"};
	int ok = 0, bad = 0, other = 0;
	for (int i = 1; i < c; i++) {
		FILE *f = fopen(v[i], "r");
		static char line[1 << 20];
		char frame[40] = "", want[40] = "";
		size_t n = 0;
		int body = 0;
		while (fgets(line, sizeof line, f)) {
			line[strcspn(line, "\n")] = 0;
			if (!body) {
				if (!*line)
					body = 1;
				else if (!strncmp(line, "frame: ", 7))
					strcpy(frame, line + 7);
				else if (!strncmp(line, "expect: ", 8))
					strcpy(want, line + 8);
				continue;
			}
			for (char *s = line; s[0] && s[1]; s += 2) {
				unsigned x;
				sscanf(s, "%2x", &x);
				b[n++] = (uint8_t)x;
			}
		}
		fclose(f);
		uint8_t *p = malloc(n ? n : 1);
		memcpy(p, b, n);
		int e;
		record o;
		announcement a;
		join_reply j;
		catch_up_reply u;
		if (!strcmp(frame, "record"))
			e = parse(&o, NULL, p, n);
		else if (!strcmp(frame, "announcement"))
			e = read_announcement(&a, p, n);
		else if (!strcmp(frame, "join-reply"))
			e = read_join_reply(&j, p, n);
		else if (!strcmp(frame, "catch-up-reply"))
			e = read_catch_up(&u, p, n);
		else {
			other++;
			free(p);
			continue;
		}
		free(p);
		if (!strcmp(names[-e], want))
			ok++;
		else {
			bad++;
			printf("%s: %s, want %s\n", strrchr(v[i], '/') + 1, names[-e], want);
		}
	}
	printf("wire: %d equal, %d differ, %d of other frames\n", ok, bad, other);
	return bad > 0 || ok == 0;
}
