/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "../scratch.h"
#include "base/signals.h"
#include "base/staging.h"

static struct guard guard;

static void undo_and_end(int number)
{
	guard_undo(&guard);
	signals_end(number);
}

static bool is_there(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void put(const char *directory, const char *name)
{
	char *path = mem_printf("%s/%s", directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	free(path);
}

/* How many entries the scratch directory has. */
static int entries(void)
{
	FILE *pipe = popen("ls -A | wc -l", "r");
	int count = -1;

	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%d", &count), 1);
	pclose(pipe);
	return count;
}

/* A child that begins something and gets a signal; it must end by it. */
static void interrupt(void (*begin)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		signals_catch(undo_and_end);
		begin();
		raise(SIGTERM);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void begin_file(void)
{
	struct error error = ERROR_INIT;
	struct output output;

	if (guard_open(&guard, &output, "file", &error) || entries() != 1)
		_exit(1);
}

static void begin_new_directory(void)
{
	struct error error = ERROR_INIT;
	struct staging staging;

	if (staging_open(&staging, "new/", &guard, &error) || entries() != 1)
		_exit(1);
	put(staging.temporary, "a");
}

static void begin_in_directory(void)
{
	struct error error = ERROR_INIT;
	struct staging staging;

	if (staging_open(&staging, "there", &guard, &error))
		_exit(1);
	put(staging.temporary, "a");
}

static void finish_file(void)
{
	struct error error = ERROR_INIT;
	struct output output;

	if (guard_open(&guard, &output, "done", &error) ||
	    guard_commit(&guard, &output, &error))
		_exit(1);
}

static void test_a_signal_leaves_nothing(void **unused)
{
	(void)unused;
	interrupt(begin_file);
	interrupt(begin_new_directory);
	assert_int_equal(entries(), 0);
	assert_int_equal(mkdir("there", 0777), 0);
	interrupt(begin_in_directory);
	assert_int_equal(rmdir("there"), 0);
	interrupt(finish_file);
	assert_int_equal(unlink("done"), 0);
	assert_int_equal(entries(), 0);
}

static void stage(const char *path, const char *name)
{
	struct error error = ERROR_INIT;
	struct staging staging;

	assert_int_equal(staging_open(&staging, path, NULL, &error), 0);
	put(staging.temporary, name);
	assert_false(is_there("new/a") && !staging_has(&staging, "a"));
	assert_int_equal(staging_commit(&staging, &error), 0);
	staging_discard(&staging);
}

static void test_directories_come_whole(void **unused)
{
	struct error error = ERROR_INIT;
	struct staging staging;

	(void)unused;
	stage("new//", "a");
	stage("new", "b");
	assert_true(is_there("new/a") && is_there("new/b"));
	assert_int_equal(entries(), 1);
	assert_int_equal(staging_open(&staging, "new", NULL, &error), 0);
	assert_true(staging_has(&staging, "b"));
	put(staging.temporary, "b");
	assert_int_equal(staging_commit(&staging, &error), -1);
	assert_string_equal(error_text(&error), "new/b: File exists");
	error_clear(&error);
	assert_int_equal(staging_open(&staging, "other", NULL, &error), 0);
	error_set(&error, "x: %s/a: full", staging.temporary);
	staging_explain(&staging, &error);
	assert_string_equal(error_text(&error), "x: other/a: full");
	error_clear(&error);
	staging_discard(&staging);
	assert_int_equal(entries(), 1);
}

static void refuses(const char *path, int cause)
{
	struct error error = ERROR_INIT;
	struct staging staging;
	char *wanted = mem_printf("%s: %s", path, strerror(cause));

	assert_int_equal(staging_open(&staging, path, NULL, &error), -1);
	assert_string_equal(error_text(&error), wanted);
	error_clear(&error);
	free(wanted);
}

static void test_what_is_no_directory(void **unused)
{
	(void)unused;
	put(".", "file");
	assert_int_equal(symlink("nowhere", "link"), 0);
	refuses("file", ENOTDIR);
	refuses("none/new", ENOENT);
	refuses("link", ENOENT);
	refuses("", ENOENT);
	assert_int_equal(entries(), 2);
}

/* A pipe is opened without holding the signals: they can end the wait for a reader. */
static void open_pipe(void)
{
	struct error error = ERROR_INIT;
	struct output output;

	alarm(60);
	if (fork() == 0) {
		usleep(20000);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	guard_open(&guard, &output, "pipe", &error);
	_exit(1);
}

static void test_a_pipe_can_be_left(void **unused)
{
	(void)unused;
	assert_int_equal(mkfifo("pipe", 0666), 0);
	interrupt(open_pipe);
	assert_true(is_there("pipe"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_a_signal_leaves_nothing, scratch_enter,
					    scratch_leave),
	    cmocka_unit_test_setup_teardown(test_directories_come_whole, scratch_enter,
					    scratch_leave),
	    cmocka_unit_test_setup_teardown(test_what_is_no_directory, scratch_enter,
					    scratch_leave),
	    cmocka_unit_test_setup_teardown(test_a_pipe_can_be_left, scratch_enter,
					    scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
