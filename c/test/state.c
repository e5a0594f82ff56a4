/* State files (docs/state.md). Each file of the arguments that this build can have is read, in one
   piece and in pieces, and written again: the bytes are the file's. Damage anywhere is seen.

   state FILE... */
#include "zofl.c"

#include <stdio.h>
#include <stdlib.h>

static uint8_t file[1 << 20], again[1 << 20], frame[65536];
static size_t size;
static int equal, other, wrong, damaged;
static zofl_device dev;
static void *memory;

/* The run of the plan in the file's head, and how long the head is. */
static int run_of(char run[ZOFL_ID + 1], size_t *head_bytes) {
	state_head h;
	reader r;
	uint32_t n = 0;
	const uint8_t *name;
	size_t bytes = size > PREFIX_SIZE ? le32(file + MAGIC_SIZE) : 0;
	if (bytes + PREFIX_SIZE > size ||
	    read_head(&h, file + PREFIX_SIZE, bytes, file[11] == '2') != ZOFL_OK)
		return 0;
	r = body_of(h.first, h.first_size);
	uint_(&r);
	name = str(&r, ZOFL_ID, &n);
	if (!name)
		return 0;
	memset(run, 0, ZOFL_ID + 1);
	memcpy(run, name, n);
	*head_bytes = PREFIX_SIZE + bytes + 32;
	return 1;
}

static void open_device(const char *run) {
	zofl_config c = {0};
	c.run = run;
	c.id = "d";
	c.frame = frame;
	c.frame_size = sizeof frame;
	zofl_open(&dev, &c);
}

/* Loads the file: the head in one piece, then pieces of a size. */
static int load(size_t head_bytes, size_t piece) {
	size_t at = 0;
	int err = ZOFL_WAIT;
	while (at < size && err == ZOFL_WAIT) {
		size_t n = at == 0 ? head_bytes : piece;
		if (n > size - at)
			n = size - at;
		err = zofl_load(&dev, file + at, n, at + n == size);
		if (err == ZOFL_MEMORY) {
			memory = realloc(memory, zofl_need(&dev));
			memset(memory, 0xA5, zofl_need(&dev));
			zofl_give(&dev, memory, zofl_need(&dev));
			err = zofl_load(&dev, file + at, n, at + n == size);
		}
		at += n;
	}
	return err;
}

static int saves_the_same(void) {
	if (zofl_state_size(&dev) != size)
		return 0;
	for (size_t at = 0; at < size;) {
		size_t n = 1 + at % 97;
		if (n > size - at)
			n = size - at;
		if (zofl_save(&dev, at, again + at, n) != ZOFL_OK)
			return 0;
		at += n;
	}
	return memcmp(file, again, size) == 0;
}

static void test_file(const char *path) {
	char run[ZOFL_ID + 1];
	size_t head_bytes = 0;
	int err;
	FILE *f = fopen(path, "rb");
	if (!f) {
		printf("%s: no file\n", path);
		wrong++;
		return;
	}
	size = fread(file, 1, sizeof file, f);
	fclose(f);
	if (!run_of(run, &head_bytes)) {
		other++;
		return;
	}
	open_device(run);
	err = load(head_bytes, size);
	if (err == ZOFL_UNSUPPORTED || err == ZOFL_KEY || err == ZOFL_VALUE) {
		other++;
		return;
	}
	for (size_t piece = size; piece > 0 && err == ZOFL_OK; piece /= 5) {
		open_device(run);
		err = load(head_bytes, piece);
		if (err == ZOFL_OK && !saves_the_same())
			err = ZOFL_DAMAGED;
	}
	if (err != ZOFL_OK) {
		printf("%s: %s\n", path, zofl_error(err));
		wrong++;
		return;
	}
	equal++;
	for (size_t at = 0; at < size; at += 1 + size / 61) {
		file[at] ^= 0x10;
		open_device(run);
		if (load(head_bytes, size) >= 0) {
			printf("%s: byte %zu changed, and it is taken\n", path, at);
			wrong++;
		}
		damaged++;
		file[at] ^= 0x10;
	}
	for (size_t cut = 1; cut < size; cut += 1 + size / 31) {
		size -= cut;
		open_device(run);
		if (load(head_bytes < size ? head_bytes : size, size) >= 0) {
			printf("%s: %zu bytes are missing, and it is taken\n", path, cut);
			wrong++;
		}
		damaged++;
		size += cut;
	}
}

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++)
		test_file(argv[i]);
	free(memory);
	printf("state: %d files equal, %d of other plans, %d damaged ones refused, %d wrong\n", equal,
	       other, damaged, wrong);
	return wrong > 0 || equal == 0;
}
