/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* In the child: never returns. 127, as a shell has it, where argv cannot be run. */
static void become(char *const *argv, const char *output)
{
	int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file >= 0 && dup2(file, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static int await(pid_t child, struct launched *launched, struct error *error)
{
	struct rusage usage;
	int status = 0;

	while (wait4(child, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return error_set(error, "%s", strerror(errno));
	launched->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	launched->peak_kib = usage.ru_maxrss;
	if (!WIFEXITED(status))
		return error_set(error, "ended by signal %d", WTERMSIG(status));
	launched->status = WEXITSTATUS(status);
	return launched->status == 127 ? error_set(error, "cannot be run") : 0;
}

int launch(const struct text_list *words, const char *output, struct launched *launched,
	   struct error *error)
{
	char **argv = mem_zalloc((words->count + 1) * sizeof(*argv));
	double begin = now();
	int status;
	pid_t child;

	memcpy(argv, words->item, words->count * sizeof(*argv));
	fflush(stdout);
	child = fork();
	if (child == 0)
		become(argv, output ? output : "/dev/null");
	if (child < 0)
		status = error_set(error, "%s", strerror(errno));
	else
		status = await(child, launched, error);
	launched->wall_s = now() - begin;
	free(argv);
	return status ? error_prefix(error, "%s", words->item[0]) : 0;
}

void launch_words(struct text_list *words, ...)
{
	const char *word;
	va_list more;

	va_start(more, words);
	while ((word = va_arg(more, const char *)))
		text_list_add(words, word);
	va_end(more);
}

char *launch_temporary(struct error *error)
{
	const char *parent = getenv("TMPDIR");
	char *path =
	    mem_printf("%s/clustertrace-XXXXXX", parent && *parent ? parent : P_tmpdir);
	int file = mkstemp(path);

	if (file < 0) {
		error_errno(error, path);
		free(path);
		return NULL;
	}
	close(file);
	return path;
}
