/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/output.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../scratch.h"

/* All there is, hidden or not. */
static int entries_here(void)
{
	DIR *directory = opendir(".");
	int count = -2;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

SCRATCH_TEST(a_file_appears_at_the_commit)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("hello\n", output.file);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("out", "hello\n");
	assert_int_equal(files_here(), 1);
	output_discard(&output);
	assert_file("out", "hello\n");
}

SCRATCH_TEST(an_old_file_is_replaced_whole)
{
	struct error error = ERROR_INIT;
	struct output output;

	scratch_text("out", "old and long");
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	fflush(output.file);
	assert_file("out", "old and long");
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("out", "new");
}

SCRATCH_TEST(what_is_discarded_leaves_nothing)
{
	struct error error = ERROR_INIT;
	struct output output;

	scratch_text("out", "old");
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	output_discard(&output);
	output_discard(&output);
	assert_file("out", "old");
	assert_int_equal(files_here(), 1);
}

SCRATCH_TEST(the_umask_decides_who_may_read)
{
	struct error error = ERROR_INIT;
	mode_t before = umask(027);
	struct output output;
	struct stat status;

	assert_int_equal(output_open(&output, "out", &error), 0);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(stat("out", &status), 0);
	assert_int_equal(status.st_mode & 0777, 0640);
	assert_int_equal(umask(before), 027);
}

SCRATCH_TEST(a_missing_directory_is_named)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(output_open(&output, "none/out", &error), -1);
	assert_string_equal(error_text(&error), "none/out: No such file or directory");
	output_discard(&output);
	error_clear(&error);
	assert_int_equal(files_here(), 0);
}

SCRATCH_TEST(what_is_no_file_is_refused)
{
	static const char *const names[][2] = {{"out", "out: Is a directory"},
					       {"out/", "out/: Is a directory"},
					       {"", ": No such file or directory"}};
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(mkdir("out", 0777), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(output_open(&output, names[i][0], &error), -1);
		assert_string_equal(error_text(&error), names[i][1]);
	}
	error_clear(&error);
	assert_int_equal(entries_here(), 1);
}

/* Whoever reads a pipe gets it, and the pipe stays one. */
SCRATCH_TEST(a_pipe_is_written_as_it_is)
{
	struct error error = ERROR_INIT;
	struct output output;
	struct stat status;
	char text[8] = "";
	int reader;

	assert_int_equal(mkfifo("out", 0600), 0);
	reader = open("out", O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("hello", output.file);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(read(reader, text, sizeof(text) - 1), 5);
	assert_string_equal(text, "hello");
	close(reader);
	assert_int_equal(lstat("out", &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	assert_int_equal(files_here(), 1);
}

static void write_through(const char *path, const char *text)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(output_open(&output, path, &error), 0);
	fputs(text, output.file);
	assert_int_equal(output_commit(&output, &error), 0);
}

/* The file that it leads to is replaced whole; a reader of the old one keeps it. */
SCRATCH_TEST(a_link_is_followed)
{
	struct error error = ERROR_INIT;
	struct output output;
	struct stat status;
	char old[4] = "";
	int reader;

	scratch_text("far/file", "old");
	assert_int_equal(symlink("far/file", "middle"), 0);
	assert_int_equal(symlink("middle", "out"), 0);
	reader = open("out", O_RDONLY);
	assert_int_equal(output_open(&output, "out", &error), 0);
	fputs("new", output.file);
	fflush(output.file);
	assert_file("far/file", "old");
	assert_int_equal(output_commit(&output, &error), 0);
	assert_file("far/file", "new");
	assert_int_equal(read(reader, old, 3), 3);
	assert_string_equal(old, "old");
	close(reader);
	assert_int_equal(lstat("out", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	/* One that leads to a free name, into nothing, or around. */
	assert_int_equal(symlink("far/free", "to_free"), 0);
	write_through("to_free", "made");
	assert_file("far/free", "made");
	assert_int_equal(symlink("none/file", "lost"), 0);
	assert_int_equal(output_open(&output, "lost", &error), -1);
	assert_string_equal(error_text(&error), "lost: No such file or directory");
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(output_open(&output, "loop", &error), -1);
	assert_string_equal(error_text(&error),
			    "loop: Too many levels of symbolic links");
	error_clear(&error);
	assert_int_equal(entries_here(), 6);
}

static void refuses(const char *path, const char *message)
{
	struct error error = ERROR_INIT;
	struct output output;

	assert_int_equal(output_open(&output, path, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

SCRATCH_TEST(an_input_is_never_an_output)
{
	struct error error = ERROR_INIT;
	struct output output;

	scratch_text("in", "recorded");
	scratch_text("trace/index/0", "recorded");
	assert_int_equal(symlink("in", "link"), 0);
	assert_int_equal(link("in", "same"), 0);
	output_protect("in");
	output_protect("trace");
	output_protect("none");
	refuses("in", "in: refusing to overwrite an input; use another name");
	refuses("./link", "./in: refusing to overwrite an input; use another name");
	refuses("same", "same: refusing to overwrite an input; use another name");
	refuses(
	    "trace/index/0",
	    "trace/index/0: refusing to write into the input trace; use another name");
	refuses("trace/new",
		"trace/new: refusing to write into the input trace; use another name");
	/* A file that turns out to be an input only while the output is made. */
	scratch_text("late", "recorded");
	assert_int_equal(output_open(&output, "late", &error), 0);
	output_protect("late");
	assert_int_equal(output_commit(&output, &error), -1);
	assert_string_equal(error_text(&error),
			    "late: refusing to overwrite an input; use another name");
	error_clear(&error);
	assert_file("late", "recorded");
	assert_int_equal(entries_here(), 5);
}

/* In a child that opens outputs and ends somehow; returns its wait(2) status. */
static int end_by(void (*end)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct error error = ERROR_INIT;
		struct output one, two;
		int errors = open("/dev/null", O_WRONLY);

		dup2(errors, STDERR_FILENO);
		output_catch_signals();
		if (output_open(&one, "one", &error) || output_open(&two, "two", &error))
			_exit(9);
		fputs("half", one.file);
		fflush(one.file);
		end();
		_exit(8);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void by_term(void)
{
	raise(SIGTERM);
}

static void by_kill(void)
{
	raise(SIGKILL);
}

/* More than there can be: mem.c gives up. */
static void by_memory(void)
{
	mem_realloc(NULL, SIZE_MAX, 2);
}

SCRATCH_TEST(however_it_ends_nothing_stays)
{
	int status;

	status = end_by(by_term);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(entries_here(), 0);
	status = end_by(by_memory);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_int_equal(entries_here(), 0);
}

/* SIGKILL leaves the temporaries, and the next output of that name removes its own. */
SCRATCH_TEST(the_next_removes_what_was_left)
{
	struct error error = ERROR_INIT;
	struct output output, other;
	char *mine;
	int status;

	status = end_by(by_kill);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(entries_here(), 2);
	scratch_text(".one.unfinished-nobody/x", "");
	scratch_text(".one.unfinished-longer-name/x", "");
	assert_int_equal(output_open(&output, "one", &error), 0);
	assert_int_equal(access(".one.unfinished-nobody", F_OK), -1);
	assert_int_equal(access(".one.unfinished-longer-name", F_OK), 0);
	/* One that is being made stays. */
	mine = mem_strdup(output.temporary);
	assert_int_equal(output_open(&other, "one", &error), 0);
	assert_int_equal(access(mine, F_OK), 0);
	output_discard(&other);
	assert_int_equal(output_commit(&output, &error), 0);
	assert_int_equal(entries_here(), 3);
	free(mine);
}

/* A child that writes to a file as its standard output; `end` ends it. */
static void print_to_file(int flags, void (*end)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(open("log", O_WRONLY | O_CREAT | flags, 0666), STDOUT_FILENO);
		output_catch_signals();
		output_atomic_stdout();
		printf("half of it");
		fflush(stdout);
		end();
		_exit(8);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

SCRATCH_TEST(standard_output_is_cut_back)
{
	print_to_file(O_TRUNC, by_term);
	assert_file("log", "");
	print_to_file(O_TRUNC, by_memory);
	assert_file("log", "");
	scratch_text("log", "before\n");
	print_to_file(O_APPEND, by_term);
	assert_file("log", "before\n");
}

/* As on a full disk: no file may grow beyond 4096 bytes. */
static int commit_to_a_full_disk(size_t bytes, struct error *error)
{
	struct rlimit before, tight;
	struct output output;
	int result;

	assert_int_equal(output_open(&output, "out", error), 0);
	fflush(NULL);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &tight);
	for (size_t i = 0; i < bytes; i++)
		putc('x', output.file);
	result = output_commit(&output, error);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	return result;
}

SCRATCH_TEST(a_full_disk_keeps_the_old_file)
{
	struct error error = ERROR_INIT;

	scratch_text("out", "old");
	for (size_t bytes = 4097; bytes < 70000; bytes += 20000) {
		assert_int_equal(commit_to_a_full_disk(bytes, &error), -1);
		assert_string_equal(error_text(&error), "out: File too large");
		assert_file("out", "old");
		assert_int_equal(files_here(), 1);
	}
	error_clear(&error);
}
