//go:build cgo

/* What the library exports. Each function refuses a forked child before it enters Go: a fork
   copies one thread, and Go's others are missing there, so the child would wait for ever. */
#include <pthread.h>
#include <string.h>

#include "libzofl.h"
#include "_cgo_export.h"

static volatile int child; /* 1: this process was forked after the library was loaded */

static void forked(void) { child = 1; }

__attribute__((constructor)) static void watch(void) { pthread_atfork(NULL, NULL, forked); }

/* The text of this thread's last error, for zofl_explain. */
static __thread char text[1024];

#define ENTER() \
	do { \
		if (child) \
			return ZOFL_FORKED; \
		text[0] = 0; \
	} while (0)

static const struct {
	int code;
	const char *text;
} texts[] = {
	{ZOFL_OK, "no error"},
	{ZOFL_EVALUATE, "a loss is asked"},
	{ZOFL_PAUSED, "the run is paused"},
	{ZOFL_ENDED, "the run has ended"},
	{ZOFL_VALUE, "a value that cannot be"},
	{ZOFL_UPGRADE, "the run needs a later version"},
	{ZOFL_REFUSED, "the coordinator refuses this device"},
	{ZOFL_UNSUPPORTED, "the plan cannot be followed here"},
	{ZOFL_ROOM, "a buffer or a struct is too small"},
	{ZOFL_STATE, "the call does not fit what the device does now"},
	{ZOFL_ARITHMETIC, "this process computes other bits than all other devices"},
	{ZOFL_KEY, "the secret is not the run's"},
	{ZOFL_CONFIG, "a setting that cannot be used"},
	{ZOFL_HANDLE, "no open device has this number"},
	{ZOFL_FORKED, "the process was forked after it loaded the library: load it in the child alone"},
	{ZOFL_PERMISSION, "the broker denies this user a subject"},
	{ZOFL_DIM, "the plan has another number of parameters"},
	{ZOFL_INITIAL, "the plan has other initial parameters"},
	{ZOFL_STORE, "the store cannot be used"},
	{ZOFL_FAULT, "a fault"},
	{ZOFL_PANIC, "a bug in the library"},
};

const char *zofl_error(int code)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].code == code)
			return texts[i].text;
	return "an unknown code";
}

const char *zofl_version(void) { return child ? "" : zoflGoVersion(); }

/* nonzero says whether a later version's field is set, which this library does not know. */
static int nonzero(const unsigned char *p, size_t n)
{
	while (n-- > 0)
		if (*p++)
			return 1;
	return 0;
}

static int say(int code, const char *why)
{
	strncpy(text, why, sizeof text - 1);
	return code;
}

zofl_handle zofl_open(const zofl_config *config)
{
	zofl_config all;
	ENTER();
	if (!config)
		return say(ZOFL_VALUE, "config is NULL");
	if (config->struct_size < offsetof(zofl_config, weight))
		return say(ZOFL_ROOM, "config.struct_size: give sizeof(zofl_config)");
	memset(&all, 0, sizeof all);
	size_t known = config->struct_size < sizeof all ? config->struct_size : sizeof all;
	if (nonzero((const unsigned char *)config + known, config->struct_size - known))
		return say(ZOFL_UPGRADE, "config has a field that only a later version of the library knows");
	memcpy(&all, config, known);
	return zoflGoOpen(&all, text);
}

int zofl_poll(zofl_handle h, int timeout_ms, zofl_task *task)
{
	zofl_task all;
	ENTER();
	if (task && task->struct_size < offsetof(zofl_task, metrics))
		return say(ZOFL_ROOM, "task.struct_size: give sizeof(zofl_task)");
	memset(&all, 0, sizeof all);
	int next = zoflGoPoll(h, timeout_ms, &all, text);
	if (next == ZOFL_EVALUATE && !task)
		return say(ZOFL_VALUE, "task is NULL, and there is one");
	if (next == ZOFL_EVALUATE) {
		size_t size = task->struct_size;
		all.struct_size = size;
		memcpy(task, &all, size < sizeof all ? size : sizeof all);
	}
	return next;
}

int zofl_point(zofl_handle h, zofl_type type, void *dst, uint64_t off, uint64_t n)
{
	ENTER();
	return zoflGoPoint(h, -1, (int32_t)type, dst, off, n, text);
}

int zofl_point_at(zofl_handle h, uint32_t i, zofl_type type, void *dst, uint64_t off, uint64_t n)
{
	ENTER();
	return zoflGoPoint(h, (int64_t)i, (int32_t)type, dst, off, n, text);
}

int zofl_points(zofl_handle h, zofl_type type, void *dst, uint64_t off, uint64_t n)
{
	ENTER();
	return zoflGoPoints(h, (int32_t)type, dst, off, n, text);
}

int zofl_loss(zofl_handle h, double loss)
{
	ENTER();
	return zoflGoLoss(h, loss, text);
}

int zofl_losses(zofl_handle h, const double *losses, uint32_t n)
{
	ENTER();
	if (!losses)
		return say(ZOFL_VALUE, "losses is NULL");
	return zoflGoLosses(h, (double *)losses, n, text);
}

int zofl_metrics(zofl_handle h, const double *values, uint32_t n, uint32_t samples)
{
	ENTER();
	if (!values)
		return say(ZOFL_VALUE, "values is NULL");
	return zoflGoMetrics(h, (double *)values, n, samples, text);
}

int zofl_decline(zofl_handle h, uint8_t reason)
{
	ENTER();
	(void)reason; /* the library says that the loss failed */
	return zoflGoDecline(h, text);
}

int zofl_model(zofl_handle h, zofl_type type, void *dst, uint64_t off, uint64_t n)
{
	ENTER();
	return zoflGoModel(h, (int32_t)type, dst, off, n, text);
}

uint64_t zofl_records(zofl_handle h) { return child ? 0 : zoflGoRecords(h); }
uint64_t zofl_rounds(zofl_handle h) { return child ? 0 : zoflGoRounds(h); }

int zofl_digest(zofl_handle h, uint8_t out[32])
{
	ENTER();
	if (!out)
		return say(ZOFL_VALUE, "out is NULL");
	return zoflGoDigest(h, out, text);
}

int zofl_segment(zofl_handle h, const char *name, uint64_t *off, uint64_t *n)
{
	ENTER();
	if (!name || !off || !n)
		return say(ZOFL_VALUE, "name, off or n is NULL");
	return zoflGoSegment(h, (char *)name, off, n, text);
}

size_t zofl_explain(zofl_handle h, char *out, size_t room)
{
	char why[sizeof text] = "";
	if (child)
		strncpy(why, zofl_error(ZOFL_FORKED), sizeof why - 1);
	else if (text[0])
		memcpy(why, text, sizeof why);
	else
		zoflGoWhy(h, why);
	size_t n = strlen(why);
	if (out && room > 0) {
		size_t fits = n < room - 1 ? n : room - 1;
		memcpy(out, why, fits);
		out[fits] = 0;
	}
	return n;
}

int zofl_close(zofl_handle h)
{
	ENTER();
	return zoflGoClose(h, text);
}
