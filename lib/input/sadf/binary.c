/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/sadf/sadf.h"

#define PROCESSOR_SECONDS 600 /* a broken log must not keep sadf busy for ever */

struct child {
	pid_t pid;
	int out;  /* to read from */
	int said; /* what it wrote to standard error, in memory */
};

/*
 * The child's environment. sadf reads its options, formats and locale from it,
 * so it gets nothing but the path. For free(), with its first text.
 */
static char **make_environment(void)
{
	const char *path = getenv("PATH");
	char **environment = mem_realloc(NULL, 3, sizeof(*environment));

	environment[0] = mem_printf("PATH=%s", path ? path : "/usr/bin:/bin");
	environment[1] = (char *)(uintptr_t) "LC_ALL=C";
	environment[2] = NULL;
	return environment;
}

/* 0 or an error number. */
static int spawn(const char *path, int out, int said, pid_t *pid)
{
	/* A name that begins with a dash must not become an option. */
	char *file = mem_printf("%s%s", *path == '-' ? "./" : "", path);
	char *arguments[8] = {(char *)(uintptr_t) "sadf",
			      (char *)(uintptr_t) "-p",
			      (char *)(uintptr_t) "-U",
			      file,
			      (char *)(uintptr_t) "--",
			      (char *)(uintptr_t) "-A",
			      NULL};
	char **environment = make_environment();
	posix_spawn_file_actions_t actions;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	status = posix_spawnp(pid, "sadf", &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment[0]);
	free(environment);
	free(file);
	return status;
}

/* 0 or an error number, and then nothing is open. */
static int start(struct child *child, const char *path)
{
	const struct rlimit limit = {PROCESSOR_SECONDS, PROCESSOR_SECONDS};
	int ends[2], status;

	child->said = memfd_create("sadf", MFD_CLOEXEC);
	if (child->said < 0)
		return errno;
	if (pipe2(ends, O_CLOEXEC)) {
		status = errno;
		close(child->said);
		return status;
	}
	status = spawn(path, ends[1], child->said, &child->pid);
	close(ends[1]);
	child->out = ends[0];
	if (status) {
		close(child->out);
		close(child->said);
		return status;
	}
	prlimit(child->pid, RLIMIT_CPU, &limit, NULL);
	return 0;
}

/* How the child ended, in words, if it failed; for free(). */
static char *wait_for(const struct child *child)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(child->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return mem_strdup(strerror(errno));
	if (WIFSIGNALED(status))
		return mem_printf("killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? mem_printf("exit status %d", WEXITSTATUS(status))
				   : NULL;
}

static void report(const struct child *child, const char *how, struct faults *faults)
{
	char said[201];
	ssize_t length = pread(child->said, said, sizeof(said) - 1, 0);

	said[length > 0 ? length : 0] = '\0';
	said[strcspn(said, "\r\n")] = '\0';
	faults_add(faults, "unreadable", 0, "sadf: %s%s%s%s, what it gave is used", said,
		   *said ? " (" : "", how, *said ? ")" : "");
}

/* Read all of its output and wait for its end. */
static int read_child(struct child *child, const struct sadf_sink *sink,
		      struct faults *faults)
{
	FILE *file = fdopen(child->out, "r");
	struct lines *lines;
	char *how;
	int status = -1;

	if (file) {
		lines = lines_from(file, faults);
		status = sadf_read_lines(lines, sink, faults);
		lines_close(lines);
		fclose(file);
	} else {
		faults_add(faults, "unreadable", 0, "%s", strerror(errno));
		close(child->out);
	}
	how = wait_for(child);
	/* Whom the sink ended early may well complain about its closed output. */
	if (how && status <= 0)
		report(child, how, faults);
	free(how);
	close(child->said);
	return status;
}

int sadf_read_binary(const char *path, const struct sadf_sink *sink,
		     struct problem_list *problems)
{
	struct faults faults;
	struct child child;
	struct stat file;
	int status;

	faults_init(&faults, path, problems);
	if (stat(path, &file) || !S_ISREG(file.st_mode)) {
		faults_add(&faults, "unreadable", 0, "%s",
			   stat(path, &file) ? strerror(errno) : "no plain file");
		return -1;
	}
	status = start(&child, path);
	if (!status)
		return read_child(&child, sink, &faults);
	if (status == ENOENT)
		faults_add(&faults, "unreadable", 0,
			   "no sadf here to read it with, want sysstat, or text of "
			   "LC_ALL=C sadf -p -U FILE -- -A");
	else
		faults_add(&faults, "unreadable", 0, "sadf: %s", strerror(status));
	return -1;
}
