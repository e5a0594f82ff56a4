/* A device of a run on a microcontroller whose only wire is a UART. At the wire's other end a
   broker of NATS listens, or what joins the UART to one: a USB adapter, a modem, QEMU. */
#include "../../test/boards/board.h"
#include "../nats.h"
#include "uart.h"
#include "zofl.h"

#ifndef RUN
#define RUN "mcu"
#endif
#ifndef ID
#define ID "mcu-1"
#endif
#ifndef MEMORY /* bytes for the plan's vectors: c/README.md says how many a plan needs */
#define MEMORY 3072
#endif
#ifndef RECEIVE /* bytes of the longest message */
#define RECEIVE 1024
#endif
#ifndef FRAME /* 256, and the longest frame sent */
#define FRAME 512
#endif

static zofl_device device;
static nats connection;
static int connected; /* the broker has greeted, and got the device's greeting */
static uint8_t received[RECEIVE + 1], frame[FRAME];
static union {
	double aligned;
	uint8_t bytes[MEMORY];
} memory;
static uint32_t lost; /* messages that were not used */

static void put(const void *bytes, size_t n) {
	for (const uint8_t *p = bytes; n > 0; n--)
		uart_put(*p++);
}

static void publish(const zofl_task *task) {
	char line[2 * ZOFL_SUBJECT + 32];
	put(line, nats_pub(line, sizeof line, task->subject, task->reply, task->size));
	put(task->data, task->size);
	put(NATS_END, strlen(NATS_END));
}

static void subscribe(const char *subject) {
	static unsigned subscriptions;
	char line[ZOFL_SUBJECT + 32];
	put(line, nats_sub(line, sizeof line, subject, ++subscriptions));
}

/* The loss to be least: here the distance from a point. Another device's app measures one. */
static double loss_at(uint64_t d) {
	double sum = 1;
	for (uint64_t i = 0; i < d; i++) {
		float w;
		double e;
		zofl_point(&device, ZOFL_F32, &w, i, 1);
		e = (double)w - (1 + (double)i / (double)d);
		sum += e * e;
	}
	return sum;
}

static void end(void) {
	uint8_t digest[32];
	zofl_digest(&device, digest);
	say("ended: record ");
	say_number((uint32_t)zofl_records(&device));
	say(" digest ");
	say_hex(digest, sizeof digest);
	say("\nbytes: device ");
	say_number(sizeof device);
	say(" variables ");
	say_number(board_variables());
	say(" stack ");
	say_number(board_stack());
	say(" messages not used ");
	say_number(lost);
	say("\n");
}

static int failed(int code) {
	char why[96];
	say("error: ");
	say(zofl_error(code));
	if (zofl_explain(&device, why, sizeof why) > 0) {
		say(": ");
		say(why);
	}
	say("\n");
	return 1;
}

/* Does what the device has to do now. 0: it waits; 1: it has ended; less: an error. */
static int work(void) {
	zofl_task task;
	for (;;) {
		int code = zofl_poll(&device, uart_now(), &task);
		switch (code) {
		case ZOFL_SUBSCRIBE:
			subscribe(task.subject);
			break;
		case ZOFL_SEND:
			publish(&task);
			break;
		case ZOFL_MEMORY:
			say("memory ");
			say_number((uint32_t)task.size);
			say("\n");
			if (task.size > sizeof memory)
				return ZOFL_ROOM;
			code = zofl_give(&device, &memory, task.size);
			if (code < 0)
				return code;
			break;
		case ZOFL_EVALUATE:
			code = zofl_loss(&device, loss_at(task.size));
			if (code < 0)
				return code;
			break;
		case ZOFL_WAIT:
		case ZOFL_PAUSED:
			return 0;
		case ZOFL_ENDED:
			return 1;
		default:
			return code;
		}
	}
}

/* The broker's greeting: of the first connection, or of a new one. */
static void greet(void) {
	char line[160];
	put(line, nats_connect(line, sizeof line, NULL));
	if (connected)
		zofl_connected(&device);
	connected = 1;
}

/* Bytes were lost, or the line fell: only a broker's greeting is understood now. What the broker
   does not understand makes it close the connection, so that the other end begins a new one. */
static void lose(void) {
	nats_begin(&connection, received, sizeof received);
	put(NATS_END "LOST" NATS_END, 8);
}

/* Takes what the broker sent, up to a message. */
static void listen(void) {
	uint8_t byte;
	while (uart_get(&byte)) {
		const uint8_t *p = &byte;
		size_t n = 1;
		switch (nats_read(&connection, &p, &n)) {
		case NATS_INFO:
			greet();
			break;
		case NATS_PING:
			put(NATS_PONG_LINE, strlen(NATS_PONG_LINE));
			break;
		case NATS_MESSAGE:
			if (zofl_receive(&device, connection.subject, connection.data, connection.size) < 0)
				lost++;
			return;
		case NATS_LONG:
			lost++;
			break;
		case NATS_ERROR:
			say("broker: ");
			say((const char *)connection.data);
			say("\n");
			break;
		case NATS_BROKEN:
			lose();
			break;
		default:
			break;
		}
	}
}

int board_main(void) {
	zofl_config config = {.run = RUN,
	                      .id = ID,
	                      .max_receive = RECEIVE,
	                      .frame = frame,
	                      .frame_size = sizeof frame,
	                      .random = 1};
	int code = zofl_open(&device, &config);
	if (code < 0)
		return failed(code);
	uart_begin();
	nats_begin(&connection, received, sizeof received);
	for (;;) {
		listen();
		code = connected ? work() : 0;
		if (code == 1) {
			end();
			return 0;
		}
		if (code < 0)
			return failed(code);
		uart_wait();
	}
}
