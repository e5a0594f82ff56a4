/* The time of the kernels in plain C and with each instruction set of this machine. Argument:
   seconds for each kernel, 0.1. Prints "SET KERNEL NS", nanoseconds an element (of a direction,
   where several are summed): the fastest pass over 65,536 elements. */
#define _POSIX_C_SOURCE 199309L
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 65536 };

static float vector[LENGTH];
static uint16_t halves[LENGTH];

static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef enum { INTO, SUM8 } what;

static void pass(what kind, int type, zofl_dist dist, isa level) {
	zofl_addr at = {1, 0, 0, 0, 0};
	target t = {NULL, NULL, FILL, 1e-3f, PLAIN};
	t.level = level;
	t.type = type;
	t.dst = type == ZOFL_F16 || type == ZOFL_BF16 ? (void *)halves : (void *)vector;
	if (kind == INTO) {
		put_direction(&t, LENGTH, 0, &at, dist);
		return;
	}
	for (uint32_t block = 0; block < LENGTH / ZOFL_BLOCK; block++) {
		sum s;
		sum_begin(&s, vector + ZOFL_BLOCK * block, ZOFL_BLOCK, block, 0, dist);
		s.level = level;
		for (at.pert = 0; at.pert < 8; at.pert++)
			sum_add(&s, &at, 1e-3f);
		sum_end(&s);
	}
}

int main(int argc, char **argv) {
	static const char *const sets[] = {"generic", "avx2", "avx512", "neon"};
	static const struct {
		const char *name;
		what kind;
		int type;
		zofl_dist dist;
	} kernels[] = {
	    {"fill_normal", INTO, FILL, ZOFL_NORMAL},
	    {"normal_f32", INTO, ZOFL_F32, ZOFL_NORMAL},
	    {"normal_f16", INTO, ZOFL_F16, ZOFL_NORMAL},
	    {"normal_bf16", INTO, ZOFL_BF16, ZOFL_NORMAL},
	    {"signs_f32", INTO, ZOFL_F32, ZOFL_RADEMACHER},
	    {"signs_f16", INTO, ZOFL_F16, ZOFL_RADEMACHER},
	    {"signs_bf16", INTO, ZOFL_BF16, ZOFL_RADEMACHER},
	    {"eight_signs", SUM8, ZOFL_F32, ZOFL_RADEMACHER},
	};
	double each = argc > 1 ? atof(argv[1]) : 0.1;
	isa best = best_isa();
	for (int level = PLAIN; level <= (int)best; level++) {
		if (best == NEON && level != PLAIN && level != NEON)
			continue;
		for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
			double begin = seconds(), now = begin, fastest = 1e9;
			memset(vector, 0, sizeof vector); /* no number may grow to infinity */
			memset(halves, 0, sizeof halves);
			while (now - begin < each) {
				double then = now;
				pass(kernels[i].kind, kernels[i].type, kernels[i].dist, (isa)level);
				now = seconds();
				if (now - then < fastest)
					fastest = now - then;
			}
			printf("%s %s %.3f\n", sets[level], kernels[i].name,
			       fastest / LENGTH * 1e9 / (kernels[i].kind == SUM8 ? 8 : 1));
		}
	}
	return 0;
}
