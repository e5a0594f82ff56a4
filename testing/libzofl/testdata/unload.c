/* Loads the library that its argument names as a plugin, and unloads it: dlclose unloads nothing, and
   the library works on. A child that was forked before may load it, too. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed;

#define WANT(condition) \
	do { \
		if (!(condition)) { \
			printf("line %d: not so: %s\n", __LINE__, #condition); \
			failed = 1; \
		} \
	} while (0)

static void unload(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);
	WANT(lib != NULL);
	if (!lib)
		return;
	const char *(*version)(void);
	*(void **)&version = dlsym(lib, "zofl_version");
	WANT(version && strlen(version()) > 0);
	WANT(dlclose(lib) == 0);
	WANT(dlopen(file, RTLD_NOW | RTLD_NOLOAD) != NULL);
	WANT(strlen(version()) > 0);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	alarm(120);
	pid_t pid = fork();
	for (int i = 0; i < 3; i++)
		unload(argv[1]);
	if (pid == 0)
		return failed;
	int status = 0;
	WANT(waitpid(pid, &status, 0) == pid);
	WANT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return failed;
}
