/* libzofl.h: a device of Zofl, with the network, TLS, the store and all methods inside.

	zofl_config config = {.struct_size = sizeof config, .url = "nats://127.0.0.1:4222",
	                      .run = "kitchen", .id = "c-1", .dim = 2};
	zofl_handle h = zofl_open(&config);
	zofl_task task = {.struct_size = sizeof task};
	float x[2];
	for (int next = h; next >= 0 && next != ZOFL_ENDED;) {
		next = zofl_poll(h, 1000, &task);
		if (next == ZOFL_EVALUATE) {
			zofl_point(h, ZOFL_F32, x, 0, 2);
			zofl_loss(h, loss(x));
		}
	}

   The names that zofl.h, the C core, has too mean the same there. The core needs no library and
   16 kB of memory; this one needs glibc and 13 MB, and the core's caller does all the rest. A
   program links one or the other.

   Any thread may call, and every call is safe with any handle: a device has a number, which no
   other device gets once it is closed. A forked child cannot use the library: there all calls
   return ZOFL_FORKED. What else it cannot do: libzofl/README.md. */
#ifndef LIBZOFL_H
#define LIBZOFL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what calls return: 0 and up is what to do next, negative is an error ---- */

enum {
	ZOFL_WAIT = 0,     /* nothing to do yet: poll again */
	ZOFL_EVALUATE = 4, /* read the point, compute its loss, call zofl_loss or zofl_decline */
	ZOFL_PAUSED = 5,   /* the run is paused; otherwise as ZOFL_WAIT */
	ZOFL_ENDED = 6     /* the run has ended; the model is zofl_model's */
};

enum {
	ZOFL_OK = 0,
	ZOFL_VALUE = -4,       /* an argument that cannot be: NULL, a range, a type */
	ZOFL_UPGRADE = -5,     /* the run needs a later version of the library */
	ZOFL_REFUSED = -7,     /* the coordinator does not let this device join */
	ZOFL_UNSUPPORTED = -8, /* the plan cannot be followed here: zofl_explain names the field */
	ZOFL_ROOM = -9,        /* struct_size is too small */
	ZOFL_STATE = -10,      /* a call that does not fit what the device does now */
	ZOFL_ARITHMETIC = -11, /* this process computes other bits than all other devices */
	ZOFL_KEY = -12,        /* the secret is not the run's, or is missing */

	/* this library alone */
	ZOFL_CONFIG = -32,     /* a setting that cannot be used: zofl_explain names the field */
	ZOFL_HANDLE = -33,     /* no open device has this number */
	ZOFL_FORKED = -34,     /* the process was forked after it loaded the library */
	ZOFL_PERMISSION = -35, /* the broker denies this user a subject */
	ZOFL_DIM = -36,        /* the plan has another number of parameters */
	ZOFL_INITIAL = -37,    /* the plan has other initial parameters */
	ZOFL_STORE = -38,      /* the store cannot be used, is in use, or has another run's state */
	ZOFL_FAULT = -39,      /* anything else */
	ZOFL_PANIC = -40       /* a bug in the library: please report it */
};

/* The text of a code, in English, without a newline. Never NULL. */
const char *zofl_error(int code);

/* The version of the library, such as "v0.1.0". Never NULL. */
const char *zofl_version(void);

/* ---- a device ---- */

typedef int32_t zofl_handle;

typedef enum zofl_type { ZOFL_F32 = 0, ZOFL_F16 = 1, ZOFL_BF16 = 2 } zofl_type;

/* Set struct_size, run, id, url and dim, or enroll and dim; leave the rest 0. The library copies
   all. A file may be named, or its text given: a text has "-----BEGIN" in it. */
typedef struct zofl_config {
	size_t struct_size;      /* sizeof(zofl_config) */
	const char *url;         /* tls://host:4222, wss://host, nats://127.0.0.1:4222; commas between */
	const char *creds;       /* file or text that `zofl device add` writes; NULL: none */
	const char *ca;          /* authorities of the broker, PEM; NULL: in creds, or the system's */
	const char *enroll;      /* the line of `zofl device add --qr`, in place of the others */
	const char *coordinator; /* its public key, "ed25519:..."; NULL: in creds, or anybody */
	const char *run, *id;    /* 1 to 32 of a-z, 0-9, - and _ */
	const char *store;       /* a folder for the state, made if it is missing; NULL: memory only */
	const char *program;     /* what the operator sees, such as "pantry 1.4"; NULL: nothing */
	const uint8_t *secret;   /* the key of a private run, 32 bytes; NULL: none */
	size_t secret_size;
	const float *initial;    /* dim parameters where the plan says initial=given; else NULL */
	uint64_t dim;            /* the model's number of parameters */
	uint64_t memory_limit;   /* bytes that the plan may need; 0: 512 MiB and 192 bytes a parameter */
	uint32_t weight;         /* its samples, where the plan weighs devices; 0 is 1 */
	uint32_t max_batch;      /* the most that task.batch asks for; 0: weight, or 65536 */
	uint32_t workers;        /* threads that generate directions at once; 0: one a core */
	uint8_t passive;         /* 1: follow the run without taking part */
	uint8_t plaintext;       /* 1: speak to another machine without TLS */
	uint8_t held_out;        /* 1: also give tasks with held_out */
} zofl_config;

typedef struct zofl_task {
	size_t struct_size;  /* set it: sizeof(zofl_task) */
	uint64_t size;       /* the number of parameters, d */
	uint64_t record;     /* the record that the loss is for */
	uint64_t seed;       /* draws the minibatch: equal for all points of a step */
	int64_t left_ms;     /* until the answer is useless; -1: it always is of use */
	uint32_t batch;      /* samples of the minibatch; 0: all of the device's data */
	uint32_t step, point, points; /* local step, this point of it, and how many it has */
	uint32_t metrics;    /* held_out: how many values zofl_metrics takes */
	uint8_t held_out;    /* 1: the metrics of the model itself on held-out data */
} zofl_task;

/* Begins to take part, and returns at once: the number of the device, positive, or an error. A
   network that is not there is no error: the device waits for it. */
zofl_handle zofl_open(const zofl_config *);

/* Waits for what to do next, for timeout_ms at most; negative: without a limit. With ZOFL_EVALUATE
   *task has the task in hand; a second call returns the same, until it is answered or its round is
   over. An error other than ZOFL_VALUE, ZOFL_ROOM, ZOFL_HANDLE and ZOFL_FORKED is final. task may
   be NULL if the device is passive. */
int zofl_poll(zofl_handle, int timeout_ms, zofl_task *task);

/* Elements [off, off+n) of the point in hand. dst is an array of type. ZOFL_STATE if the round is
   over: then poll. */
int zofl_point(zofl_handle, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The same of point i of the step in hand, i < task.points. */
int zofl_point_at(zofl_handle, uint32_t i, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The same of all points of the step: dst has n elements of each, point after point. It costs less
   than reading one after the other. */
int zofl_points(zofl_handle, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The loss of the point in hand; the next zofl_poll gives the next point. A loss that is not
   finite makes the device decline the round. */
int zofl_loss(zofl_handle, double loss);

/* The losses of all n points of the step, before any zofl_loss of it. */
int zofl_losses(zofl_handle, const double *losses, uint32_t n);

/* The plan's metrics, in its order, means over so many samples; for a task with held_out. If the
   plan names one metric, zofl_loss will do. */
int zofl_metrics(zofl_handle, const double *values, uint32_t n, uint32_t samples);

/* No answer to the task in hand: the device declines its round. */
int zofl_decline(zofl_handle, uint8_t reason);

/* Elements [off, off+n) of the model after zofl_records records. ZOFL_STATE if there is none yet. */
int zofl_model(zofl_handle, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The last record in the model, and the rounds up to it; 0 for a wrong handle. */
uint64_t zofl_records(zofl_handle);
uint64_t zofl_rounds(zofl_handle);

/* The digest of the device's state: equal on all devices at the same record. */
int zofl_digest(zofl_handle, uint8_t out[32]);

/* Where the plan's segment of a name is in the model. ZOFL_STATE before the first task. */
int zofl_segment(zofl_handle, const char *name, uint64_t *off, uint64_t *n);

/* Why the last call of this thread failed, or else why the device does not work now, for a log:
   the length of the text without its 0, of which room - 1 bytes at most are written. 0 is a handle
   here: of zofl_open. */
size_t zofl_explain(zofl_handle, char *out, size_t room);

/* Ends the device: the coordinator hears that it leaves, the store has its state. It may take some
   seconds. Other calls with this handle then fail, also those that are waiting. */
int zofl_close(zofl_handle);

#ifdef __cplusplus
}
#endif

#endif
