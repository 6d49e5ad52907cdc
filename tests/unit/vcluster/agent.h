/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_AGENT_H
#define CT_TEST_AGENT_H

#include "../scratch.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "vcluster/clock.h"

/*
 * An agent in a process of its own instead of in a machine. Its clocks are ours, so
 * what it reads between two of our readings lies between them, however busy
 * the processors are.
 */
static inline pid_t agent_start(int port, int other, struct clock_page *page)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (other >= 0)
			close(other);
		/* A socket whose other end went away fails, where a machine's port ends.
		 */
		signal(SIGPIPE, SIG_IGN);
		clock_answer(port, page);
		_exit(0);
	}
	return pid;
}

static inline int agent_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

#endif
