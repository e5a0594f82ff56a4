/* A device of a run on ESP-IDF, over Wi-Fi or Ethernet: idf.py menuconfig names the network, the
   broker and the run. Its id is the chip's address. */
#include <netdb.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "esp_err.h"
#include "esp_event.h"
#include "esp_mac.h"
#include "esp_netif.h"
#include "esp_random.h"
#include "esp_timer.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "nats.h"
#include "nvs_flash.h"
#include "protocol_examples_common.h"
#include "sdkconfig.h"
#include "zofl.h"

static uint64_t device_now(void) {
	return (uint64_t)esp_timer_get_time() / 1000;
}

static void device_sleep(int milliseconds) {
	vTaskDelay(pdMS_TO_TICKS(milliseconds));
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

void app_main(void) {
	uint8_t mac[6];
	char id[20];
	ESP_ERROR_CHECK(nvs_flash_init());
	ESP_ERROR_CHECK(esp_netif_init());
	ESP_ERROR_CHECK(esp_event_loop_create_default());
	ESP_ERROR_CHECK(example_connect());
	ESP_ERROR_CHECK(esp_read_mac(mac, ESP_MAC_WIFI_STA));
	snprintf(id, sizeof id, "esp-%02x%02x%02x%02x%02x%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
	         mac[5]);
	run_device(CONFIG_ZOFL_BROKER, CONFIG_ZOFL_PORT, CONFIG_ZOFL_RUN, id, esp_random());
}
