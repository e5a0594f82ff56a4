/* A loss for a first run: a bowl around a point that differs a little from device to device. */
#include "zofl.h"

#include <stdio.h>
#include <string.h>

double app_loss(const zofl_task *task, const float *x, const char *id);
void app_end(const float *x, size_t d);

double app_loss(const zofl_task *task, const float *x, const char *id) {
	double sum = 0;
	for (size_t i = 0; i < task->size; i++) {
		double off = (double)x[i] - 1 - 0.1 * id[i % strlen(id)] / 128;
		sum += off * off;
	}
	return sum / (double)task->size;
}

void app_end(const float *x, size_t d) {
	printf("model");
	for (size_t i = 0; i < d && i < 8; i++)
		printf(" %g", (double)x[i]);
	printf(d > 8 ? " ...\n" : "\n");
}
