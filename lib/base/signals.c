/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/signals.h"

#include <stddef.h>

/* The last two are of the program itself: a library that gives up, and a file that was
 * cut while it is mapped. */
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
	raise(number); /* comes when the handler returns */
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
