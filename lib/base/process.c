/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* The program itself causes the last two: a library calls abort(3), or a mapped file was
 * truncated. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGABRT, SIGBUS};

enum { ENDINGS = sizeof(ending) / sizeof(*ending) };

void signals_catch(void (*handler)(int number))
{
	struct sigaction action = {.sa_handler = handler};
	struct sigaction before;

	for (size_t i = 0; i < ENDINGS; i++)
		if (sigaction(ending[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void signals_catch_pipe(void (*handler)(int number))
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGPIPE, &action, NULL);
}

void signals_end(int number)
{
	signal(number, SIG_DFL);
	raise(number); /* delivered when the handler returns */
}

void signals_hold(sigset_t *before)
{
	static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&set, own[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void signals_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t before;
	bool started;

	signals_hold(&before);
	started = pthread_create(thread, NULL, run, context) == 0;
	signals_release(&before);
	return started;
}

struct parallel {
	atomic_size_t next;
	size_t count;
	parallel_fn *run;
	void *context;
};

static void *parallel_worker(void *context)
{
	struct parallel *parallel = context;
	size_t index;

	while ((index = atomic_fetch_add(&parallel->next, 1)) < parallel->count)
		parallel->run(parallel->context, index);
	return NULL;
}

void parallel_run(int threads, size_t count, parallel_fn *run, void *context)
{
	struct parallel parallel = {.count = count, .run = run, .context = context};
	size_t most = threads > 1 ? (size_t)threads - 1 : 0, started = 0;
	AUTOFREE pthread_t *thread = NULL;

	if (most >= count)
		most = count ? count - 1 : 0;
	thread = mem_zalloc(most * sizeof(*thread));
	while (started < most &&
	       thread_start(&thread[started], parallel_worker, &parallel))
		started++;
	parallel_worker(&parallel);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

void raise_open_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

enum { DEEPEST = 16, ENTRIES = 4096, PASSES = 8 };

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_entry(int at, const char *name, int depth);

/* readdir(3) allocates memory; its system call does not. */
static void empty_directory(int directory, int depth)
{
	_Alignas(struct dirent64) char entries[ENTRIES];
	long size;

	while ((size = syscall(SYS_getdents64, directory, entries, sizeof(entries))) >
	       0) {
		for (long at = 0; at < size;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			if (!is_dots(entry->d_name))
				remove_entry(directory, entry->d_name, depth);
			at += entry->d_reclen;
		}
	}
}

static void remove_entry(int at, const char *name, int depth)
{
	int directory;

	/* An empty directory is removed without a descriptor: none may be available. */
	if (unlinkat(at, name, 0) == 0 || depth == DEEPEST ||
	    unlinkat(at, name, AT_REMOVEDIR) == 0)
		return;
	directory = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory < 0)
		return;
	/* Removing entries while reading a directory can hide others (readdir(3)), so
	 * make several passes. */
	for (int pass = 0; pass < PASSES; pass++) {
		empty_directory(directory, depth + 1);
		if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY)
			break;
		lseek(directory, 0, SEEK_SET);
	}
	close(directory);
}

void remove_tree(const char *path)
{
	int before = errno;

	remove_entry(AT_FDCWD, path, 0);
	errno = before;
}

int run_program(char *const *words, const posix_spawn_file_actions_t *actions,
		char *const *environment)
{
	pid_t pid;
	int status;

	errno = posix_spawnp(&pid, words[0], actions, NULL, words,
			     environment ? environment : environ);
	if (errno)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}
