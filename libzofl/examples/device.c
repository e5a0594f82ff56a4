/* A device in C: its loss is a bowl whose lowest point is (1, 1.1, 1.2, ...).

	libzofl/build.sh _lib
	cc -std=c99 -I _lib -o device device.c _lib/libzofl.so -Wl,-rpath,"$PWD/_lib" -lm
	./device nats://127.0.0.1:4222 kitchen c-1 5 [STORE]

   It prints how many losses it computed, and the digest of its model at the end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libzofl.h"

/* fail prints why a call failed. */
static int fail(zofl_handle h, int code)
{
	char why[1024];
	zofl_explain(h, why, sizeof why);
	fprintf(stderr, "device: %s: %s\n", zofl_error(code), why);
	return 1;
}

/* loss is yours: run the engine with weights x, and return how badly it did. */
static double loss(const float *x, size_t dim)
{
	double sum = 0;
	for (size_t i = 0; i < dim; i++) {
		double e = x[i] - (1 + 0.1 * (double)i);
		sum += e * e;
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: device URL RUN ID DIM [STORE]\n");
		return 2;
	}
	zofl_config config = {.struct_size = sizeof config, .url = argv[1], .run = argv[2],
	                      .id = argv[3], .dim = strtoull(argv[4], NULL, 10)};
	if (argc > 5)
		config.store = argv[5];
	zofl_handle h = zofl_open(&config);
	if (h < 0)
		return fail(0, h);
	float *x = malloc(config.dim * sizeof *x);
	zofl_task task = {.struct_size = sizeof task};
	long losses = 0;
	int next = ZOFL_WAIT;
	while (x && next >= 0 && next != ZOFL_ENDED) {
		next = zofl_poll(h, 1000, &task);
		if (next != ZOFL_EVALUATE)
			continue;
		/* ZOFL_STATE: the round was over meanwhile, and the next poll says what is now. */
		if (zofl_point(h, ZOFL_F32, x, 0, task.size) == ZOFL_OK &&
		    zofl_loss(h, loss(x, task.size)) == ZOFL_OK)
			losses++;
	}
	uint8_t digest[32];
	if (next < 0 || (next = zofl_digest(h, digest)) < 0)
		return fail(h, next);
	printf("losses %ld record %" PRIu64 " digest ", losses, zofl_records(h));
	for (int i = 0; i < 32; i++)
		printf("%02x", digest[i]);
	printf("\n");
	free(x);
	return zofl_close(h) < 0;
}
