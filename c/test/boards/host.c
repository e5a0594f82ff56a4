/* board.h on a host, where golden.c says what boards have to. */
#include "board.h"

#include <stdio.h>

static FILE *file;
static char **words;

int main(int argc, char **argv) {
	(void)argc;
	words = argv;
	return board_main();
}

void say(const char *text) {
	fputs(text, stdout);
}

void say_number(uint32_t v) {
	printf("%lu", (unsigned long)v);
}

void say_hex(const uint8_t *bytes, size_t n) {
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
}

const char *board_word(int i) {
	return words[1 + i];
}

int file_open(const char *path) {
	file = fopen(path, "rb");
	return file ? 0 : -1;
}

size_t file_read(void *into, size_t n) {
	return fread(into, 1, n, file);
}

void file_seek(uint32_t position) {
	fseek(file, (long)position, SEEK_SET);
}

uint32_t board_stack(void) {
	return 0;
}

uint32_t board_variables(void) {
	return 0;
}

int board_flush(void) {
	return -1;
}
