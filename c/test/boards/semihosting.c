/* board.h by semihosting: a breakpoint, with the operation and its arguments in two registers. */
#include "board.h"

#include <string.h>

enum {
	SYS_OPEN = 0x01,
	SYS_WRITE0 = 0x04,
	SYS_READ = 0x06,
	SYS_SEEK = 0x0A,
	SYS_GET_CMDLINE = 0x15,
	SYS_EXIT = 0x18
};

#ifdef __riscv
static int semihosting(int operation, const void *arguments) {
	register int a0 __asm__("a0") = operation;
	register const void *a1 __asm__("a1") = arguments;
	/* Three instructions of four bytes each, in one page, are the call. */
	__asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
	                 "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
	                 : "+r"(a0)
	                 : "r"(a1)
	                 : "memory");
	return a0;
}
#else
static int semihosting(int operation, const void *arguments) {
	register int r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = arguments;
	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}
#endif

void board_exit(int status);
void board_exit(int status) {
	semihosting(SYS_EXIT, (const void *)(status ? 0x20023 : 0x20026)); /* an error, or the end */
	for (;;)
		;
}

void say(const char *text) {
	semihosting(SYS_WRITE0, text);
}

void say_number(uint32_t v) {
	char text[12];
	int i = 11;
	text[i] = 0;
	do
		text[--i] = (char)('0' + v % 10);
	while (v /= 10);
	say(text + i);
}

void say_hex(const uint8_t *bytes, size_t n) {
	for (size_t i = 0; i < n; i++) {
		char text[3] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15], 0};
		say(text);
	}
}

static char line[160];

const char *board_word(int i) {
	const char *word;
	if (!line[0]) {
		uintptr_t arguments[2] = {(uintptr_t)line, sizeof line};
		if (semihosting(SYS_GET_CMDLINE, arguments) != 0)
			return NULL;
		for (char *p = line; *p; p++)
			if (*p == ' ')
				*p = '\n';
	}
	for (word = line; i-- >= 0;) {
		word = strchr(word, '\n');
		if (!word)
			return NULL;
		word++;
	}
	return word;
}

static int file = -1;

int file_open(const char *path) {
	/* The path is a word of the line: it ends at the next. */
	uintptr_t arguments[3] = {(uintptr_t)path, 1 /* "rb" */, strcspn(path, "\n")};
	char *end = line + (path - line) + arguments[2], kept = *end;
	*end = 0;
	file = semihosting(SYS_OPEN, arguments);
	*end = kept;
	return file < 0 ? -1 : 0;
}

size_t file_read(void *into, size_t n) {
	uintptr_t arguments[3] = {(uintptr_t)file, (uintptr_t)into, n};
	return n - (size_t)semihosting(SYS_READ, arguments); /* it answers what it did not read */
}

void file_seek(uint32_t position) {
	uintptr_t arguments[2] = {(uintptr_t)file, position};
	semihosting(SYS_SEEK, arguments);
}
