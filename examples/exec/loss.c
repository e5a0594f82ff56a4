/* A loss in C for `zofl exec -- ./loss`: a bowl around 0, 1, 2, ... (cc -o loss loss.c) */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
	static char line[1 << 20];
	long dim = 0, points = 0;
	float *x = NULL;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin)) {
		if (!strncmp(line, "hello", 5)) {
			puts("hello 1 dim=0 points=20");
		} else if (!strncmp(line, "map", 3)) {
			if (x) munmap(x, (size_t)(4 * dim * points));
			dim = atol(strstr(line, "dim=") + 4);
			points = atol(strstr(line, "points=") + 7);
			char *path = strtok(strstr(line, "path=") + 5, "\n");
			x = mmap(NULL, (size_t)(4 * dim * points), PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
			puts(x == MAP_FAILED ? "error mmap" : "ok");
		} else if (!strncmp(line, "loss", 4)) {
			fputs("loss", stdout);
			for (long p = 0, n = atol(strstr(line, "points=") + 7); p < n; p++) {
				double sum = 0;
				for (long i = 0; i < dim; i++) sum += (x[p * dim + i] - i) * (x[p * dim + i] - i);
				printf(" %.9g", sum);
			}
			putchar('\n');
		} else {
			puts("error unknown request");
		}
	}
}
