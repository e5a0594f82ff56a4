/* The UART and the clock of the boards of this example. What arrives while the app computes waits
   in a ring, so that no byte is lost. */
#ifndef UART_H
#define UART_H

#include <stdint.h>

void uart_begin(void);
void uart_put(uint8_t byte);
int uart_get(uint8_t *byte); /* 1, or 0 where none has arrived */
uint64_t uart_now(void);     /* milliseconds since uart_begin */
void uart_wait(void);        /* sleeps until a byte arrives, or for 10 ms */

#endif
