#include "zofl.c"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static float x[256], m[256], t[256], g[64];
int LLVMFuzzerTestOneInput(const uint8_t *b, size_t n) {
	zofl_check(b, n);
	zofl_check_announcement(b, n);
	zofl_check_join_reply(b, n);
	zofl_check_catch_up(b, n);
	zofl_device d;
	zofl_device_init(&d, "golden", "c-1", 1, x, m, t, 256, g, 64);
	/* frames: a length byte pair, then a frame: join reply, then announcements and catch-ups in
	 * turn */
	int k = 0;
	while (n > 3) {
		size_t l = b[0] | b[1] << 8;
		uint8_t kind = b[2];
		b += 3;
		n -= 3;
		if (l > n)
			l = n;
		uint8_t *c = malloc(l ? l : 1);
		memcpy(c, b, l);
		int e;
		switch (kind % 4) {
		case 0:
			e = zofl_on_join(&d, c, l);
			break;
		case 1:
			e = zofl_on_announcement(&d, c, l);
			break;
		case 2:
			e = zofl_on_catch_up(&d, c, l);
			break;
		default:
			e = zofl_apply(&d.r, c, l);
		}
		if (e == ZOFL_EVALUATE) {
			float p[256];
			uint8_t o[4096];
			int i = 0;
			do
				zofl_point(&d, p);
			while (zofl_loss(&d, 1.0 + i++) == ZOFL_EVALUATE && i < 500);
			zofl_reply(&d, o, sizeof o);
		}
		free(c);
		b += l;
		n -= l;
		if (++k > 40)
			break;
	}
	return 0;
}
