/* Calls the library as no app should. Arguments: what to do, and the address of a broker. It exits with 0 if every call answered as libzofl.h says, and in time. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libzofl.h"

static int failed;

/* WANT checks a condition, and prints it with its line if it does not hold. */
#define WANT(condition) \
	do { \
		if (!(condition)) { \
			printf("line %d: not so: %s\n", __LINE__, #condition); \
			failed = 1; \
		} \
	} while (0)

/* wants checks that the text for the last error has a word in it. */
static void wants(zofl_handle h, const char *word, int line)
{
	char why[1024] = "";
	size_t n = zofl_explain(h, why, sizeof why);
	if (n != strlen(why) || !strstr(why, word)) {
		printf("line %d: the text %s lacks %s\n", line, why, word);
		failed = 1;
	}
}
#define TEXT(h, word) wants(h, word, __LINE__)

static zofl_config good(const char *url)
{
	zofl_config config = {.struct_size = sizeof config, .url = url, .run = "nobody", .id = "c-1",
	                      .dim = 4};
	return config;
}

/* A setting that cannot be used, and the word that the error has. */
static void refused(zofl_config config, int code, const char *word, int line)
{
	int got = zofl_open(&config);
	if (got != code) {
		printf("line %d: %d, want %d\n", line, got, code);
		failed = 1;
	}
	wants(0, word, line);
}

static void settings(const char *url)
{
	zofl_config c;
	WANT(zofl_open(NULL) == ZOFL_VALUE);
	TEXT(0, "NULL");
#define REFUSED(change, code, word) \
	do { \
		c = good(url); \
		change; \
		refused(c, code, word, __LINE__); \
	} while (0)
	REFUSED(c.struct_size = 0, ZOFL_ROOM, "struct_size");
	REFUSED(c.struct_size = 8, ZOFL_ROOM, "struct_size");
	REFUSED(c.url = NULL, ZOFL_CONFIG, "url");
	REFUSED(c.url = "no address", ZOFL_CONFIG, "url");
	REFUSED(c.url = "http://127.0.0.1:1", ZOFL_CONFIG, "http");
	REFUSED(c.url = "nats://example.org:4222", ZOFL_CONFIG, "plaintext");
	REFUSED(c.run = NULL, ZOFL_CONFIG, "Run");
	REFUSED(c.run = "a name with spaces", ZOFL_CONFIG, "Run");
	REFUSED(c.id = "", ZOFL_CONFIG, "ID");
	REFUSED(c.dim = 0, ZOFL_CONFIG, "dim");
	REFUSED(c.dim = UINT64_MAX, ZOFL_CONFIG, "dim");
	REFUSED(c.creds = "/no/such/file", ZOFL_CONFIG, "/no/such/file");
	REFUSED(c.creds = "-----BEGIN NOTHING-----", ZOFL_CONFIG, "zofl device add");
	REFUSED(c.ca = "/no/such/file", ZOFL_CONFIG, "ca");
	REFUSED(c.enroll = "zofl:?v=1", ZOFL_CONFIG, "enroll");
	REFUSED(c.coordinator = "ed25519:short", ZOFL_CONFIG, "Coordinator");
	REFUSED(c.secret = (const uint8_t *)"four"; c.secret_size = 4, ZOFL_CONFIG, "RunKey");
	REFUSED(c.program = "a line\nbreak", ZOFL_CONFIG, "program");
	REFUSED(c.store = "/dev/null/folder", ZOFL_STORE, "/dev/null/folder");
	REFUSED(c.weight = UINT32_MAX, ZOFL_CONFIG, "weight");
	/* A later version's struct: its new fields must be 0 for this library. */
	struct {
		zofl_config c;
		uint64_t later;
	} longer = {good(url), 0};
	longer.c.struct_size = sizeof longer;
	int h = zofl_open(&longer.c);
	WANT(h > 0);
	WANT(zofl_close(h) == ZOFL_OK);
	longer.later = 1;
	WANT(zofl_open(&longer.c) == ZOFL_UPGRADE);
	/* An earlier version's, which ends before weight. */
	c = good(url);
	c.struct_size = offsetof(zofl_config, weight);
	memset((char *)&c + c.struct_size, 0xff, sizeof c - c.struct_size);
	WANT((h = zofl_open(&c)) > 0);
	WANT(zofl_close(h) == ZOFL_OK);
}

/* every calls all functions with a handle that is none. */
static void every(zofl_handle h, int code)
{
	zofl_task task = {.struct_size = sizeof task};
	float x[4];
	double losses[4] = {0};
	uint8_t digest[32];
	uint64_t off, n;
	WANT(zofl_poll(h, 0, &task) == code);
	WANT(zofl_poll(h, -1, &task) == code);
	WANT(zofl_point(h, ZOFL_F32, x, 0, 4) == code);
	WANT(zofl_point_at(h, 0, ZOFL_F32, x, 0, 4) == code);
	WANT(zofl_points(h, ZOFL_F32, x, 0, 1) == code);
	WANT(zofl_loss(h, 0) == code);
	WANT(zofl_losses(h, losses, 4) == code);
	WANT(zofl_metrics(h, losses, 4, 1) == code);
	WANT(zofl_decline(h, 1) == code);
	WANT(zofl_model(h, ZOFL_F32, x, 0, 4) == code);
	WANT(zofl_digest(h, digest) == code);
	WANT(zofl_segment(h, "all", &off, &n) == code);
	WANT(zofl_records(h) == 0 && zofl_rounds(h) == 0);
	if (code == ZOFL_HANDLE) {
		TEXT(h, "handle");
	} else {
		TEXT(h, "forked");
	}
	WANT(zofl_close(h) == code);
}

static void handles(const char *url)
{
	static const zofl_handle wrong[] = {0, 1, -1, INT32_MAX, INT32_MIN};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		every(wrong[i], ZOFL_HANDLE);
	zofl_config c = good(url);
	zofl_handle h = zofl_open(&c);
	WANT(h > 0);
	WANT(zofl_close(h) == ZOFL_OK);
	every(h, ZOFL_HANDLE);
	zofl_handle next = zofl_open(&c);
	WANT(next > 0 && next != h);
	every(h, ZOFL_HANDLE);

	/* What a device without a coordinator has: nothing. */
	zofl_task task = {.struct_size = sizeof task};
	float x[4];
	uint8_t digest[32];
	uint64_t off, n;
	WANT(zofl_poll(next, 50, &task) == ZOFL_WAIT);
	WANT(zofl_poll(next, 50, NULL) == ZOFL_WAIT);
	task.struct_size = 4;
	WANT(zofl_poll(next, 0, &task) == ZOFL_ROOM);
	WANT(zofl_point(next, ZOFL_F32, x, 0, 4) == ZOFL_STATE);
	WANT(zofl_loss(next, 1) == ZOFL_STATE);
	TEXT(next, "zofl_poll");
	WANT(zofl_decline(next, 1) == ZOFL_STATE);
	WANT(zofl_losses(next, NULL, 1) == ZOFL_VALUE);
	WANT(zofl_metrics(next, NULL, 1, 1) == ZOFL_VALUE);
	WANT(zofl_model(next, ZOFL_F32, x, 0, 4) == ZOFL_STATE);
	WANT(zofl_model(next, (zofl_type)7, x, 0, 4) == ZOFL_VALUE);
	WANT(zofl_model(next, ZOFL_F32, NULL, 0, 4) == ZOFL_VALUE);
	WANT(zofl_model(next, ZOFL_F32, (char *)x + 1, 0, 1) == ZOFL_VALUE);
	WANT(zofl_model(next, ZOFL_F32, x, 0, UINT64_MAX) == ZOFL_VALUE);
	WANT(zofl_digest(next, digest) == ZOFL_STATE);
	WANT(zofl_digest(next, NULL) == ZOFL_VALUE);
	WANT(zofl_segment(next, "all", &off, &n) == ZOFL_STATE);
	WANT(zofl_segment(next, NULL, &off, &n) == ZOFL_VALUE);
	WANT(zofl_explain(next, NULL, 0) > 0);
	char little[4] = "???";
	WANT(zofl_explain(next, little, sizeof little) > sizeof little && little[3] == 0);
	WANT(zofl_close(next) == ZOFL_OK);
	WANT(strlen(zofl_error(12345)) > 0 && strlen(zofl_version()) > 0);
}

static void *waits(void *handle)
{
	zofl_task task = {.struct_size = sizeof task};
	int code;
	do
		code = zofl_poll(*(zofl_handle *)handle, -1, &task);
	while (code >= 0 && code != ZOFL_ENDED);
	return (void *)(intptr_t)code;
}

/* threads closes a device while other threads wait for it: they return. */
static void threads(const char *url)
{
	zofl_config c = good(url);
	zofl_handle h = zofl_open(&c);
	WANT(h > 0);
	pthread_t all[8];
	for (int i = 0; i < 8; i++)
		WANT(pthread_create(&all[i], NULL, waits, &h) == 0);
	usleep(100000);
	WANT(zofl_close(h) == ZOFL_OK);
	for (int i = 0; i < 8; i++) {
		void *code;
		WANT(pthread_join(all[i], &code) == 0);
		WANT((intptr_t)code == ZOFL_HANDLE);
	}
}

static long open_files(void)
{
	long n = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static long kilobytes(void)
{
	char line[200];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* leaks opens and closes devices, whose descriptors and memory must come back. */
static void leaks(const char *url)
{
	zofl_config c = good(url);
	zofl_task task = {.struct_size = sizeof task};
	long files = 0, kb = 0;
	for (int i = 0; i < 300; i++) {
		if (i == 100) {
			files = open_files();
			kb = kilobytes();
		}
		zofl_handle h = zofl_open(&c);
		WANT(h > 0);
		WANT(zofl_poll(h, i % 3, &task) == ZOFL_WAIT);
		WANT(zofl_close(h) == ZOFL_OK);
	}
	printf("after 100 devices %ld files, %ld kB; after 300 %ld, %ld\n", files, kb, open_files(),
	       kilobytes());
	WANT(open_files() <= files + 2);
	WANT(kilobytes() < kb + 8000);
}

/* child forks: the child's calls fail at once, and the parent's still work. */
static void child(const char *url)
{
	zofl_config c = good(url);
	zofl_handle h = zofl_open(&c);
	WANT(h > 0);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(10); /* ends a child that hangs */
		every(h, ZOFL_FORKED);
		WANT(zofl_open(&c) == ZOFL_FORKED);
		WANT(zofl_version()[0] == 0);
		fflush(stdout);
		_exit(failed);
	}
	int status = 0;
	WANT(waitpid(pid, &status, 0) == pid);
	WANT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	zofl_task task = {.struct_size = sizeof task};
	WANT(zofl_poll(h, 0, &task) == ZOFL_WAIT);
	WANT(zofl_close(h) == ZOFL_OK);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*does)(const char *);
	} all[] = {{"settings", settings}, {"handles", handles}, {"threads", threads},
	           {"leaks", leaks},       {"fork", child}};
	if (argc != 3)
		return 2;
	alarm(120);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(argv[1], all[i].name)) {
			all[i].does(argv[2]);
			return failed;
		}
	return 2;
}
