/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_CLOCKS_H
#define CT_SYNC_NETWORK_CLOCKS_H

#include "sync/observe/observe.h"

/*
 * The clocks of a run. A capture that is tied to its host's trace has that trace's clock,
 * and so have its messages: those of the observations get other numbers here.
 */
struct run_clock {
	const char *name;                /* that of its first trace */
	uint32_t first_trace;            /* whose local time is the clock's */
	nsec_t begin_ns, end_ns;         /* local times of the first and last event */
	nsec_t own_begin_ns, own_end_ns; /* the same without sources tied to it */
	/* Of a capture that nothing ties: the clock that counts its oscillator, else -1.
	 */
	int oscillator;
};

struct trace_clock {
	uint32_t clock_index;
	const struct tie *tie; /* to that clock; NULL: the trace is of that clock */
};

struct clock_set {
	struct run_clock *clock;
	size_t count;
	struct trace_clock *of_trace; /* by trace index */
};

/*
 * Find the clocks, and move the log of the observations to them: stamps of tied clocks
 * become those of their base, each on its safe side. Borrows names and ties. Odd ties and
 * steps become problems. 0, or -1 with error; to be cleared in any case.
 */
int clocks_find(struct observations *seen, struct clock_set *clocks,
		struct message_log *log, struct problem_list *problems,
		struct error *error);

/*
 * The clock of the trace of that name; -1 for NULL. It is a problem if the trace is only
 * tied to it. 0, or -1 with error if no trace has the name.
 */
int clocks_reference(const struct clock_set *clocks, const struct observations *seen,
		     const char *name, int *reference, struct problem_list *problems,
		     struct error *error);

void clocks_clear(struct clock_set *clocks);

#endif
