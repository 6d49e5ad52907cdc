/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/schema_check.h"

#include "base/output.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "timeline.h"

static void assert_refused(const char *path, bool force, const char *message)
{
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_check_target(path, force, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

static void write_to(const struct output *output)
{
	finish_timeline(write_timeline(output->temporary, true));
}

/* To a file, which must be accepted. */
static void make(const char *path, bool force)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(timeline_check_target(path, force, &error), 0);
	assert_int_equal(output_open(&output, path, &error), 0);
	write_to(&output);
	assert_int_equal(output_commit(&output, &error), 0);
}

SCRATCH_TEST(a_timeline_appears_at_the_commit)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(output_open(&output, "t", &error), 0);
	write_to(&output);
	assert_int_equal(access("t", F_OK), -1);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(files_here(), 1);
	assert_whole("t");
	assert_int_equal(output_open(&output, "u", &error), 0);
	write_to(&output);
	output_discard(&output);
	assert_int_equal(files_here(), 1);
}

SCRATCH_TEST(a_file_is_replaced_by_force_only)
{
	make("t", false);
	assert_refused("t", false, "t: already exists; use --force to replace it");
	make("t", true);
	scratch_text("empty", "");
	make("empty", true);
	make("new", true);
	assert_whole("empty");
}

SCRATCH_TEST(force_replaces_timelines_only)
{
	static const char message[] =
	    "text: not a timeline; --force replaces only timelines";

	scratch_text("text", "not to be lost");
	assert_refused("text", true, message);
	assert_file("text", "not to be lost");
	assert_int_equal(symlink("t", "link"), 0);
	assert_refused("link", true, "link: exists and is not a regular file");
	assert_int_equal(mkdir("dir", 0777), 0);
	assert_refused("dir", true, "dir: exists and is not a regular file");
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_refused("pipe", true, "pipe: exists and is not a regular file");
	assert_refused("/dev/null", true, "/dev/null: exists and is not a regular file");
	assert_refused("text/t", true, "text/t: Not a directory");
	assert_int_equal(files_here(), 4);
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

SCRATCH_TEST(a_stream_gets_the_finished_file)
{
	struct error error = ERROR_INIT;

	assert_int_equal(stream_to("t", O_TRUNC, RLIM_INFINITY, &error), 0);
	assert_whole("t");
	assert_int_equal(files_here(), 1);
	assert_int_equal(stream_to("u", O_APPEND, RLIM_INFINITY, &error), 0);
	assert_whole("u");
}

/* What is there when the copy stops, however it stops, is nothing that SQLite reads. */
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

SCRATCH_TEST(a_reader_that_leaves_is_an_error)
{
	struct error error = ERROR_INIT;
	struct output output;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(output_open_spooled(&output, ends[1], &error), 0);
	write_to(&output);
	close(ends[0]);
	assert_int_equal(output_commit(&output, &error), -1);
	assert_string_equal(error_text(&error), "standard output: Broken pipe");
	signal(SIGPIPE, SIG_DFL);
	close(ends[1]);
	error_clear(&error);
}

SCRATCH_TEST(a_terminal_is_refused)
{
	struct error error = ERROR_INIT;
	struct output output;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	if (terminal < 0)
		skip();
	assert_int_equal(output_open_spooled(&output, terminal, &error), -1);
	assert_string_equal(error_text(&error),
			    "standard output is a terminal; use a file or a pipe");
	output_discard(&output);
	close(terminal);
	error_clear(&error);
}
