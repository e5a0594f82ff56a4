/* zofl.h: a device of Zofl in C99. Bytes in, bytes out: it opens nothing, starts nothing and
   allocates nothing. The caller owns all memory, the clock and the network.

   One zofl_device is a device in one run:

	zofl_open(&dev, &config);
	for (;;) {
		switch (zofl_poll(&dev, now_ms, &task)) {
		case ZOFL_SUBSCRIBE: ...task.subject; break;
		case ZOFL_SEND:      ...task.subject, task.reply, task.data, task.size; break;
		case ZOFL_MEMORY:    zofl_give(&dev, realloc(p, task.size), ...); break;
		case ZOFL_EVALUATE:  zofl_point(&dev, ZOFL_F32, w, 0, task.size); zofl_loss(&dev, f(w)); break;
		case ZOFL_WAIT:      until task.until_ms, or a message: zofl_receive(&dev, ...); break;
		case ZOFL_ENDED:     return 0;
		default:             puts(zofl_error(code)); return 1;
		}
	}

   Never compile zofl.c with -ffast-math. zofl_open runs zofl_selftest, and refuses a build whose
   arithmetic is not that of every other device. */
#ifndef ZOFL_H
#define ZOFL_H

#include <stddef.h>
#include <stdint.h>

#include "zofl_conf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ZOFL_VERSION "0.1.0-dev"
#define ZOFL_BLOCK 4096u /* elements of a block of a direction */
#define ZOFL_ID 32       /* the most bytes of the name of a run or a device */
#define ZOFL_SUBJECT 80  /* holds any subject or inbox of a device, with its 0 */

/* ---- what calls return: 0 and up is what to do next, negative is an error ---- */

enum {
	ZOFL_WAIT = 0,      /* nothing to do until task.until_ms, or until a message arrives */
	ZOFL_SUBSCRIBE = 1, /* subscribe to task.subject */
	ZOFL_SEND = 2,      /* publish task.data, of task.size bytes, on task.subject */
	ZOFL_MEMORY = 3,    /* call zofl_give with task.size bytes, aligned as malloc's */
	ZOFL_EVALUATE = 4,  /* read the point, compute its loss, call zofl_loss or zofl_decline */
	ZOFL_PAUSED = 5,    /* the run is paused; otherwise as ZOFL_WAIT */
	ZOFL_ENDED = 6      /* the run has ended; the model is zofl_model's */
};

enum { /* the first five are the classes of docs/wire.md, section 1 */
	ZOFL_OK = 0,
	ZOFL_TRUNCATED = -1,
	ZOFL_FORM = -2,
	ZOFL_LIMIT = -3,
	ZOFL_VALUE = -4,
	ZOFL_UPGRADE = -5,
	ZOFL_CHAIN = -6,       /* the device's records are not those of the run's log */
	ZOFL_REFUSED = -7,     /* a record, or the coordinator's answer, that no run may have */
	ZOFL_UNSUPPORTED = -8, /* the plan needs what this build has not: zofl_explain names the field */
	ZOFL_ROOM = -9,        /* a buffer of the caller is too short */
	ZOFL_STATE = -10,      /* a call that does not fit what the device does now */
	ZOFL_ARITHMETIC = -11, /* zofl_selftest failed: the build's flags, or the processor's modes */
	ZOFL_KEY = -12,        /* the secret is not the run's */
	ZOFL_DAMAGED = -13     /* a state file that is not whole */
};

/* The text of a code, in English, without a newline. Never NULL. */
const char *zofl_error(int code);

/* ZOFL_OK, or ZOFL_ARITHMETIC: fused multiply-add, subnormal numbers flushed to zero, another
   rounding than to nearest, excess precision. It takes some milliseconds at most. */
int zofl_selftest(void);
/* What zofl_selftest finds, and what to do about it, in English; NULL where it passes. */
const char *zofl_fault(void);

/* ---- directions: docs/prng.md ---- */

typedef struct zofl_addr {
	uint64_t key;
	uint16_t step, pert;
	uint32_t source, domain;
} zofl_addr;

typedef enum zofl_dist { ZOFL_NORMAL = 1, ZOFL_RADEMACHER = 2, ZOFL_UNIFORM = 9 } zofl_dist;
typedef enum zofl_type { ZOFL_F32 = 0, ZOFL_F16 = 1, ZOFL_BF16 = 2 } zofl_type;

uint64_t zofl_record_key(const uint8_t *run_key, size_t len, uint64_t n);

/* dst[i] = x[i] + a z[off+i] for i < n, rounded to type; x is float32. With x NULL, in place:
   dst[i] = dst[i] + a z[off+i]. dst needs the alignment of its type alone. */
void zofl_perturb(void *dst, zofl_type type, const float *x, uint64_t n, uint64_t off,
                  const zofl_addr *at, zofl_dist dist, float a);
/* dst[i] = z[off+i] for i < n. */
void zofl_fill(float *dst, uint64_t n, uint64_t off, const zofl_addr *at, zofl_dist dist);

/* ---- a device ---- */

typedef struct zofl_config {
	const char *run, *id;  /* 1 to 32 of a-z, A-Z, 0-9, - and _ ; kept by copy */
	const uint8_t *secret; /* the app's secret of a private run, else NULL; must stay */
	size_t secret_size;
	const float *initial;  /* d parameters where the plan says initial=given; must stay */
	uint32_t weight;       /* its samples, where the plan weighs devices; 0 is 1 */
	uint32_t max_receive;  /* bytes of the longest message that the caller can take; 0 is 65536 */
	uint64_t random;       /* anything that differs between devices: spreads their retries */
	uint8_t *frame;        /* where the device writes what it sends; must stay */
	size_t frame_size;     /* 256, and what `zofl plan` calls the longest frame sent. With room for
	                          a record, the device need not ask for those of short announcements */
	void *memory;          /* or NULL: then ZOFL_MEMORY asks for it when the plan is known */
	size_t memory_size;
} zofl_config;

typedef struct zofl_task {
	const char *subject, *reply; /* reply is NULL where no answer is awaited */
	const uint8_t *data;         /* in config.frame; valid until the next call */
	size_t size;                 /* bytes; with ZOFL_EVALUATE the number of parameters, d */
	uint64_t until_ms;           /* when to poll again though no message came */
	uint64_t record;             /* ZOFL_EVALUATE: the record that the loss is for */
	uint64_t seed;               /* draws the minibatch: equal for all points of a step */
	uint32_t batch;              /* samples of the minibatch; 0: the caller's choice */
	uint32_t step, point, points; /* local step, this point of it, and how many it has */
	uint8_t held_out;            /* 1: the metric of the model itself, on held-out data */
	const char *metric;          /* its name in the plan; usually the loss */
} zofl_task;

typedef struct zofl_device zofl_device;

/* Begins a device that joins its run. ZOFL_OK, or an error. */
int zofl_open(zofl_device *, const zofl_config *);

/* What to do next. now_ms is any clock of milliseconds that never goes back. After an error the
   device stays as it is: an error of zofl_receive loses that message, one of zofl_poll is final. */
int zofl_poll(zofl_device *, uint64_t now_ms, zofl_task *);

/* Gives a message that arrived on a subject to which the device subscribed, or on its inbox.
   ZOFL_OK, or why the message was not used; then go on. */
int zofl_receive(zofl_device *, const char *subject, const uint8_t *data, size_t size);

/* The connection is new: the next polls subscribe again and ask how far the run is. */
void zofl_connected(zofl_device *);

/* Gives the memory that ZOFL_MEMORY asked for. It must stay until the device is done. A change of the
   plan can ask for more: then the first bytes must be those of the old memory, as realloc does. */
int zofl_give(zofl_device *, void *memory, size_t size);

/* Elements [off, off+n) of the point to evaluate. dst is an array of type. */
int zofl_point(const zofl_device *, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The same of point i of the step in hand, i < task.points: all points of a step before the first
   loss, for engines that evaluate them at once. ZOFL_STATE where a point depends on losses. */
int zofl_point_at(const zofl_device *, uint32_t i, zofl_type, void *dst, uint64_t off, uint64_t n);

/* The loss of the point. ZOFL_OK, or ZOFL_STATE. A loss that is not finite is declined. */
int zofl_loss(zofl_device *, double loss);

/* No loss for this record: reason as in docs/wire.md, "declined". At any time, 6 says goodbye:
   poll once more to send it, and no round waits for this device until it is back. */
int zofl_decline(zofl_device *, uint8_t reason);

/* The model: elements [off, off+n) of x after zofl_records records. */
int zofl_model(const zofl_device *, zofl_type, void *dst, uint64_t off, uint64_t n);
uint64_t zofl_records(const zofl_device *);
uint64_t zofl_rounds(const zofl_device *);
int zofl_digest(const zofl_device *, uint8_t out[32]);

/* Why a plan or a message was refused, with the field's name, for a log; the length of the text. */
int zofl_explain(const zofl_device *, char *out, size_t room);

/* ---- state files: docs/state.md ---- */
#if ZOFL_WITH_STATE
uint64_t zofl_state_size(const zofl_device *); /* bytes; 0 before the first record */
/* Bytes [off, off+n) of the file. Nothing may be received or lost in between. */
int zofl_save(const zofl_device *, uint64_t off, uint8_t *out, size_t n);
/* The file's next n bytes, from zofl_open to the last; before the first zofl_poll. After the last
   byte ZOFL_OK says that the state is whole. ZOFL_WAIT is not an error: more bytes are awaited.
   The first call holds at least the file's head, all before the vectors; ZOFL_TRUNCATED: it did
   not, call again with more. After another error the device begins without a state.
   It may return ZOFL_MEMORY: give what zofl_need says, and call again with the same bytes. */
int zofl_load(zofl_device *, const uint8_t *bytes, size_t n, int last);
size_t zofl_need(const zofl_device *); /* bytes of memory that the plan needs */
#endif

/* ---- below: not for use; here so that a device can be a static variable ---- */

typedef struct {
	uint32_t h[8];
	uint64_t len;
	uint8_t buf[64];
} zofl_sha256;

/* ---- plan, replica (docs/wire.md, docs/replay.md) ---- */
typedef struct {
	uint64_t len;
	float scale, mu, step; /* mu and step: 1 where the plan leaves them out */
	float low, high;       /* its box; equal where the plan has none */
	uint8_t fill;
#if ZOFL_WITH_LOWRANK
	uint64_t rows; /* of a matrix, else 0 */
#endif
} zofl_segment;

typedef struct {
	char run[33];    /* first: it stays when a plan is read */
	char metric[33]; /* the first */
	uint8_t run_key[32], key_check[32], initial_digest[32];
	uint8_t run_key_len, key_check_len, initial_digest_len;
	uint8_t initial, sharing, distribution, difference, rule, transport, weights, roster,
	    server_rule, precision, groups, step_auto, mu_auto, key_scheme, covariance, perts_auto;
	uint8_t nboxes, metrics;
	uint8_t unsupported; /* number of the first field that this build cannot run, or 0 */
	uint8_t choice;      /* the field's value, where it is a choice */
	uint8_t refused;     /* number of the field because of which no run can have the plan, or 0 */
	uint64_t dim, rounds;
	uint16_t nseg;
	uint32_t scheme, steps, perts, schedule_perts, batch, shards, digest_every, eval_every,
	    eval_count, late, target, max_weight, deadline, reannounce, group_size, regroup, restarts,
	    step_after;
	float mu, beta, decay, step, max_scalar, beta1, beta2, server_decay, loss_unit, over_sample,
	    prox;
	float low, high; /* the first box */
	zofl_segment seg[ZOFL_SEGMENTS];
} zofl_plan;

typedef struct {
	zofl_plan plan;     /* with all changes so far */
	float *x;           /* d: the model */
	float *m;           /* d: momentum, or the mean move of server_rule=normalized; or NULL */
	float *y, *ym;      /* d each: a device's iterate, if K > 1, and its momentum; or NULL */
	float *g;           /* scalars: a device's own */
	float *tile, *base; /* ZOFL_TILE or d: sums, and x before the round if K > 1 */
	uint8_t *memory;    /* that these are cut of */
	size_t room;
	uint64_t need; /* bytes that the plan needs */
	uint32_t scalars;
#if ZOFL_WITH_LOWRANK
	void *factors; /* kept ones of directions of rank 1; or NULL */
#endif
	uint64_t n, epoch, rounds, ended;
	uint8_t hash[16], plan_tip[8], key[32];
	double V, p1, p2; /* registers of server_rule=normalized */
#if ZOFL_WITH_CMA
	double sigma; /* registers of server_rule=cma */
	uint64_t records;
	float *u, *path, *rows; /* d if the plan has boxes, d, nrows times d */
	uint32_t nrows;
	double *zw, *yw, *wide; /* scratch, d each; wide: d times the columns of a tile */
	float *z;
	uint16_t *order;
	uint64_t *drawn; /* the record and the candidate in the scratch */
#endif
	const float *given;
	const uint8_t *secret;
	size_t secret_size;
	struct {
		uint64_t n, to;
	} back[ZOFL_ROLLBACKS]; /* known rollbacks, ascending */
	uint8_t nback;
} zofl_replica;

/* An announcement, as far as it concerns this device. */
typedef struct {
	uint64_t n, epoch, left, sampled;
	uint32_t attempt, members, perts, group; /* group: this device's from 1, or 0 */
	float step;
	uint8_t state, survey;
	uint8_t named, missing; /* it names who has not answered; it names this device */
	uint8_t asked;          /* it came in the answer to a join */
} zofl_ask;

/* To what the device replied. */
typedef struct {
	uint64_t n, epoch;
	uint32_t attempt, perts, group;
	float step;
	uint8_t tip[8], survey, known;
} zofl_answer;

/* The losses of a round, a survey or an evaluation, as far as they are known. */
typedef struct {
	uint64_t n, closes;
	uint32_t perts, source, group, points, got, k, q; /* group: this device's from 1, or 0 */
	uint32_t at, size; /* of the scalars in the frame: where the next go, bytes of all */
	float step;
	double base, plus, sum, loss;
	double side[2], last; /* of a survey of mu: differences along the direction */
	uint8_t on, survey, held_out, sloped, changed, kept;
} zofl_work;

struct zofl_device {
	zofl_replica r;
	char run[ZOFL_ID + 1], id[ZOFL_ID + 1];
	char subject[ZOFL_SUBJECT], inbox[ZOFL_SUBJECT];
	char said[128]; /* why something was refused */
	/* the caller's */
	uint8_t *frame, *memory;
	size_t frame_size, memory_size, need;
	uint32_t weight, max_receive;
	uint64_t random;
	/* where it is in the run */
	int failed; /* a final error */
	uint32_t slot, shard;
	uint8_t plan_known, joined, subscribed, later, paused, claiming, at_end, over, fixed_memory;
	uint8_t plan_tip[8], key_tip[8];
	uint64_t epoch, rebuilt;
	uint32_t ignored; /* announcements of earlier records or epochs in a row */
	/* record 1, and what changes and the end made of it, at the start of the memory */
	uint32_t own, first_size, change_size, end_size;
	uint8_t unsaved; /* the changes do not fit */
	/* a pass over the log that only looks for rollbacks */
	uint64_t scan_n, scan_epoch;
	uint8_t scan_hash[16], scanning;
	/* the announcement in hand, the work for it, and the replies */
	zofl_ask ask;
	uint8_t ask_new, ask_open, heard_new;
	zofl_work work;
	zofl_answer answer, declined;
	uint32_t reply_size, away;
	uint8_t reason, due, evaluates;
	uint64_t reply_sent;
	uint32_t declines, backoff;
	uint64_t back_at, eval_n, told_n, told_epoch;
	uint32_t told_attempt;
	float metric;
	/* digests */
	uint64_t digest_n, reference_n;
	uint8_t digest[8], digest_tip[8], digest_told, reference[8], reference_tip[8];
	/* time and requests */
	uint64_t now, heard, quiet_at, rejoin_at, ask_at, flight_until, flight_from;
	uint64_t began, before, seen_n, seen_epoch, doubt_since;
	uint32_t pause, tries, silent, divisor, request, seen_attempt, seen_left, doubts;
	uint8_t want, flight, seen_state, doubt, load;
	/* a state file as it is read: how far, and its digest */
	uint64_t load_at, snapshot; /* snapshot: record of another's state that nothing has proved */
	uint8_t load_sum[32];
};

#ifdef __cplusplus
}
#endif

#endif
