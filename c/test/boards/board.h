/* What programs of this folder ask of what they run on: a board, by ARM's semihosting, which a
   debugger or QEMU answers (semihosting.c), or a host (host.c). */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

int board_main(void); /* the program; 0 is a success */

void say(const char *text);
void say_number(uint32_t v);
void say_hex(const uint8_t *bytes, size_t n);

/* The words of the command line behind the program's name: NULL behind the last. */
const char *board_word(int i);

/* A file for reading, one at a time: its first position is 0. */
int file_open(const char *path); /* 0, or -1 */
size_t file_read(void *into, size_t n);
void file_seek(uint32_t position);

/* Bytes of the stack that were in use at most, 0 on a host; of RAM that variables take. */
uint32_t board_stack(void);
uint32_t board_variables(void);

/* Interrupt n of a Cortex-M's first 32. A program that enables one has this function. */
void board_interrupt(uint32_t n);

/* Flushes subnormal numbers to zero from now on: 0, or -1 where the processor cannot. */
int board_flush(void);

#endif
