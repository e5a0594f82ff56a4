/* A device of run shed, with four parameters, by credentials. Arguments: enroll LINE, or
   creds FILE URL, or stranger "" URL, which prints why it is not let in. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libzofl.h"

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	zofl_config config = {.struct_size = sizeof config, .dim = 4, .program = "test 1"};
	if (!strcmp(argv[1], "enroll")) {
		config.enroll = argv[2];
	} else {
		config.creds = argv[2][0] ? argv[2] : NULL;
		config.url = argv[3];
		config.run = "shed";
		config.id = config.creds ? "file-1" : "stranger";
	}
	char why[1024];
	zofl_handle h = zofl_open(&config);
	zofl_task task = {.struct_size = sizeof task};
	float x[4];
	int next = h;
	for (int polls = 0; next >= 0 && next != ZOFL_ENDED; polls++) {
		next = zofl_poll(h, 1000, &task);
		if (next == ZOFL_EVALUATE && zofl_point(h, ZOFL_F32, x, 0, 4) == ZOFL_OK)
			zofl_loss(h, (x[0] - 1) * (x[0] - 1) + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
		if (strcmp(argv[1], "stranger") || polls < 2)
			continue;
		zofl_explain(h, why, sizeof why);
		if (strchr(why, ':') || polls == 60) { /* a busy machine takes long to find the reason */
			printf("%s\n", why);
			return zofl_close(h) < 0;
		}
	}
	uint8_t digest[32];
	if (next >= 0)
		next = zofl_digest(h, digest);
	if (next < 0) {
		zofl_explain(h < 0 ? 0 : h, why, sizeof why);
		printf("%s: %s\n", zofl_error(next), why);
		return 1;
	}
	printf("record %" PRIu64 " digest ", zofl_records(h));
	for (int i = 0; i < 32; i++)
		printf("%02x", digest[i]);
	printf("\n");
	return zofl_close(h) < 0;
}
