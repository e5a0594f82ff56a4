/* A device of a run on Zephyr: prj.conf and Kconfig name the network, the broker and the run. */
#include <netdb.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zephyr/kernel.h>
#include <zephyr/random/random.h>

#include "nats.h"
#include "zofl.h"

static uint64_t device_now(void) {
	return (uint64_t)k_uptime_get();
}

static void device_sleep(int milliseconds) {
	k_msleep(milliseconds);
}

/* The distance from a point: an app measures what it trains in its place. */
static double device_loss(const float *x, size_t d) {
	double sum = 1;
	for (size_t i = 0; i < d; i++) {
		double e = (double)x[i] - (1 + (double)i / (double)d);
		sum += e * e;
	}
	return sum;
}

#include "socket.h"

int main(void) {
	return run_device(CONFIG_ZOFL_BROKER, CONFIG_ZOFL_PORT, CONFIG_ZOFL_RUN, CONFIG_ZOFL_ID,
	                  sys_rand32_get());
}
