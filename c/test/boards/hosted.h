/* What main.c of the examples for ESP-IDF and Zephyr calls, on Linux: so that their code runs where
   neither is installed. The sockets are this machine's. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* ---- both ---- */

#define CONFIG_ZOFL_BROKER getenv("ZOFL_BROKER")
#define CONFIG_ZOFL_PORT getenv("ZOFL_PORT")
#define CONFIG_ZOFL_RUN getenv("ZOFL_RUN")
#define CONFIG_ZOFL_ID getenv("ZOFL_ID")

static inline int64_t hosted_nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void hosted_sleep(int milliseconds) {
	struct timespec t = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	nanosleep(&t, NULL);
}

/* ---- ESP-IDF ---- */

#define ESP_ERROR_CHECK(call) ((void)(call))
#define ESP_MAC_WIFI_STA 0
#define pdMS_TO_TICKS(ms) (ms)

static inline int64_t esp_timer_get_time(void) {
	return hosted_nanoseconds() / 1000;
}
static inline uint32_t esp_random(void) {
	return 1;
}
static inline void vTaskDelay(int ticks) {
	hosted_sleep(ticks);
}
static inline int nvs_flash_init(void) {
	return 0;
}
static inline int esp_netif_init(void) {
	return 0;
}
static inline int esp_event_loop_create_default(void) {
	return 0;
}
static inline int example_connect(void) {
	return 0;
}
static inline int esp_read_mac(uint8_t *mac, int of) {
	for (int i = 0; i < 6; i++)
		mac[i] = (uint8_t)(of + i);
	return 0;
}

#ifdef HOSTED_ESPIDF
void app_main(void);
int main(void) {
	app_main();
	return 0;
}
#endif

/* ---- Zephyr ---- */

static inline int64_t k_uptime_get(void) {
	return hosted_nanoseconds() / 1000000;
}
static inline void k_msleep(int milliseconds) {
	hosted_sleep(milliseconds);
}
static inline uint32_t sys_rand32_get(void) {
	return 2;
}
