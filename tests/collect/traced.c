/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program with user space tracing, for the tests of ctcollect. */
#include <lttng/tracef.h>
#include <stdio.h>
#include <time.h>

/* traced: one event every 10 ms for 2 s. LTTng registers us while main begins. */
int main(void)
{
	const struct timespec nap = {0, 10000000};

	for (int i = 0; i < 200; i++) {
		tracef("step %d", i);
		nanosleep(&nap, NULL);
	}
	return puts("done") < 0;
}
