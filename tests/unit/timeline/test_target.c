/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/schema_check.h"

#include "base/output.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "timeline.h"

static void write_to(const struct output *output)
{
	finish_timeline(write_timeline(output->temporary, true));
}

/* A disk that is full while SQLite writes: the message names the target. */
SCRATCH_TEST(a_full_disk_leaves_nothing)
{
	struct error error = ERROR_INIT;
	struct rlimit before, tight;
	struct output output;
	struct timeline_writer *writer;

	assert_int_equal(output_open(&output, "t", &error), 0);
	fflush(NULL);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = 8192;
	setrlimit(RLIMIT_FSIZE, &tight);
	writer = timeline_writer_new(output.temporary, "t", true, &error);
	assert_int_equal(writer ? timeline_writer_finish(writer, &error) : -1, -1);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	assert_string_equal(error_text(&error), "t: File too large");
	timeline_writer_free(writer);
	output_discard(&output);
	assert_int_equal(files_here(), 0);
	error_clear(&error);
}

/* Towards an open file, as a shell's > or >> makes it. */
static int stream_to(const char *path, int flags, rlim_t limit, struct error *error)
{
	int fd = open(path, flags | O_WRONLY | O_CREAT, 0666), status;
	struct rlimit before, tight;
	struct output output;

	assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
	assert_int_equal(output_open_spooled(&output, fd, error), 0);
	write_to(&output);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	fflush(NULL);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = limit;
	setrlimit(RLIMIT_FSIZE, &tight);
	status = output_commit(&output, error);
	setrlimit(RLIMIT_FSIZE, &before);
	close(fd);
	return status;
}

/* If the copy stops, for whatever reason, SQLite does not read the part that is there. */
SCRATCH_TEST(half_a_stream_is_no_timeline)
{
	int fd = open("t", O_RDWR | O_CREAT | O_TRUNC, 0666), status;
	struct error error = ERROR_INIT;
	struct output output;
	struct stat whole;
	pid_t pid;

	assert_int_equal(setenv("TMPDIR", scratch, 1), 0);
	assert_int_equal(output_open_spooled(&output, fd, &error), 0);
	write_to(&output);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_equal(stat(output.temporary, &whole), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) { /* SIGXFSZ ends it in the middle, as SIGKILL would */
		const struct rlimit tight = {12288, 12288}, no_core = {0, 0};

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &tight);
		output_commit(&output, &error);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	assert_null(timeline_reader_open("t", &error));
	assert_string_equal(error_text(&error),
			    "t: not a timeline (expected a file made by ctmerge)");
	error_clear(&error);
	output_discard(&output);
	close(fd);
}

SCRATCH_TEST(a_full_disk_cuts_the_stream_back)
{
	struct error error = ERROR_INIT;

	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t limit = 100; limit < 50000; limit += 20000) {
		assert_int_equal(stream_to("t", O_TRUNC, limit, &error), -1);
		assert_string_equal(error_text(&error),
				    "standard output: File too large");
		assert_file("t", "");
	}
	scratch_text("log", "before\n");
	assert_int_equal(stream_to("log", O_APPEND, 20000, &error), -1);
	assert_file("log", "before\n");
	assert_int_equal(files_here(), 2);
	signal(SIGXFSZ, SIG_DFL);
	error_clear(&error);
}
