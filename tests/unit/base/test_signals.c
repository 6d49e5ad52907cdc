/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

static int end_of_pipe;

static void say_and_end(int number)
{
	ssize_t written = write(end_of_pipe, "h", 1);

	(void)written;
	signals_end(number);
}

/* Run a child. Return what it wrote, up to `size` bytes, and its wait(2) status. */
static ssize_t run_child(void (*child)(void), char *bytes, size_t size, int *status)
{
	int ends[2];
	ssize_t length;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		end_of_pipe = ends[1];
		child();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, status, 0), pid);
	length = read(ends[0], bytes, size);
	close(ends[0]);
	return length;
}

static void is_terminated(void)
{
	signals_catch(say_and_end);
	raise(SIGTERM);
}

static void gives_up(void)
{
	signals_catch(say_and_end);
	abort();
}

static void is_held(void)
{
	sigset_t before;
	ssize_t written;

	signals_catch(say_and_end);
	signals_hold(&before);
	raise(SIGINT);
	written = write(end_of_pipe, "a", 1);
	(void)written;
	signals_release(&before);
	_exit(1);
}

static void ignores_hangups(void)
{
	signal(SIGHUP, SIG_IGN);
	signals_catch(say_and_end);
	raise(SIGHUP);
	raise(SIGPIPE);
	_exit(3);
}

static void writes_to_nobody(void)
{
	signals_catch(say_and_end);
	signals_catch_pipe(say_and_end);
	raise(SIGPIPE);
	_exit(3);
}

TEST(a_reader_that_goes_ends_it)
{
	char bytes[4];
	int status;

	assert_int_equal(run_child(writes_to_nobody, bytes, sizeof(bytes), &status), 1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

TEST(the_handler_runs_and_the_signal_ends_it)
{
	char bytes[4];
	int status;

	assert_int_equal(run_child(is_terminated, bytes, sizeof(bytes), &status), 1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(run_child(gives_up, bytes, sizeof(bytes), &status), 1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(what_is_held_comes_later)
{
	char bytes[4];
	int status;

	assert_int_equal(run_child(is_held, bytes, sizeof(bytes), &status), 2);
	assert_memory_equal(bytes, "ah", 2);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

TEST(what_was_ignored_stays_so)
{
	char bytes[4];
	int status;

	assert_int_equal(run_child(ignores_hangups, bytes, sizeof(bytes), &status), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
}
