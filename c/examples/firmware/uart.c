/* uart.h on a micro:bit (-DNRF51), and on MPS2 boards: ARM's CMSDK peripherals. */
#include "uart.h"

#include "../../test/boards/board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define ENABLE REGISTER(0xE000E100) /* of interrupts 0 to 31 */

#ifndef RING /* bytes: the longest message, and what may follow it at once; a power of 2 */
#define RING 1024
#endif

static volatile uint8_t ring[RING];
static volatile uint32_t put_at, got_at, ticks;

enum { TICK = 10 }; /* milliseconds */

static void arrived(uint32_t byte) {
	ring[put_at % RING] = (uint8_t)byte;
	put_at++;
}

#ifdef NRF51

enum { UART_INTERRUPT = 2, TIMER_INTERRUPT = 8 };
#define UART 0x40002000u
#define TIMER 0x40008000u

void uart_begin(void) {
	REGISTER(UART + 0x50C) = 24; /* PSELTXD, PSELRXD: the pins of the board's USB */
	REGISTER(UART + 0x514) = 25;
	REGISTER(UART + 0x524) = 0x01D7E000; /* BAUDRATE: 115200 */
	REGISTER(UART + 0x500) = 4;          /* ENABLE */
	REGISTER(UART + 0x304) = 1u << 2;    /* INTENSET: a byte arrived */
	REGISTER(UART + 0x000) = 1;          /* STARTRX, STARTTX */
	REGISTER(UART + 0x008) = 1;
	REGISTER(TIMER + 0x508) = 3;           /* BITMODE: 32 */
	REGISTER(TIMER + 0x510) = 4;           /* PRESCALER: 16 MHz to 1 MHz */
	REGISTER(TIMER + 0x540) = TICK * 1000; /* CC[0] */
	REGISTER(TIMER + 0x200) = 1;           /* SHORTS: it begins again there */
	REGISTER(TIMER + 0x304) = 1u << 16;    /* INTENSET: and interrupts */
	REGISTER(TIMER + 0x000) = 1;           /* START */
	ENABLE = 1u << UART_INTERRUPT | 1u << TIMER_INTERRUPT;
}

void uart_put(uint8_t byte) {
	REGISTER(UART + 0x11C) = 0; /* TXDRDY */
	REGISTER(UART + 0x51C) = byte;
	while (!REGISTER(UART + 0x11C))
		;
}

void board_interrupt(uint32_t n) {
	if (n == TIMER_INTERRUPT) {
		REGISTER(TIMER + 0x140) = 0; /* COMPARE[0] */
		ticks++;
	}
	while (n == UART_INTERRUPT && REGISTER(UART + 0x108)) { /* RXDRDY */
		REGISTER(UART + 0x108) = 0;
		arrived(REGISTER(UART + 0x518));
	}
}

#else

enum { UART_INTERRUPT = 0, TIMER_INTERRUPT = 8 };
#define UART 0x40004000u
#define TIMER 0x40000000u
#define CLOCK 25000000u

void uart_begin(void) {
	REGISTER(UART + 0x10) = CLOCK / 115200;
	REGISTER(UART + 0x08) = 1u | 2u | 8u;         /* CTRL: send, receive, interrupt of receiving */
	REGISTER(TIMER + 0x08) = CLOCK / 1000 * TICK; /* RELOAD, VALUE */
	REGISTER(TIMER + 0x04) = CLOCK / 1000 * TICK;
	REGISTER(TIMER + 0x00) = 1u | 8u; /* CTRL: go, and interrupt */
	ENABLE = 1u << UART_INTERRUPT | 1u << TIMER_INTERRUPT;
}

void uart_put(uint8_t byte) {
	while (REGISTER(UART + 4) & 1u) /* STATE: the buffer of what is sent is full */
		;
	REGISTER(UART) = byte;
}

void board_interrupt(uint32_t n) {
	if (n == TIMER_INTERRUPT) {
		REGISTER(TIMER + 0x0C) = 1;
		ticks++;
	}
	if (n == UART_INTERRUPT) {
		REGISTER(UART + 0x0C) = 2;      /* INTCLEAR: of receiving */
		while (REGISTER(UART + 4) & 2u) /* STATE: a byte is there */
			arrived(REGISTER(UART));
	}
}

#endif

int uart_get(uint8_t *byte) {
	if (got_at == put_at)
		return 0;
	*byte = ring[got_at % RING];
	got_at++;
	return 1;
}

uint64_t uart_now(void) {
	return (uint64_t)ticks * TICK; /* 32 bits of 10 ms are 497 days */
}

void uart_wait(void) {
	if (got_at == put_at)
		__asm__ volatile("wfi");
}
