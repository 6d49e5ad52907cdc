/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_CLOCKS_H
#define CT_SYNC_NETWORK_CLOCKS_H

#include "sync/network/ties.h"

/*
 * The clocks of a run. A capture that is tied to its host's trace has that trace's clock,
 * and so have its messages, so clocks are numbered anew here.
 */
struct run_clock {
	const char *name;                /* name of its first trace */
	const struct trace *trace;       /* the first; its local time is the clock's */
	nsec_t begin_ns, end_ns;         /* local times of the first and last event */
	nsec_t own_begin_ns, own_end_ns; /* the same without sources tied to it */
	/* the clock whose oscillator an untied capture counts; or -1 */
	int oscillator;
};

struct trace_clock {
	uint32_t clock_index;
	const struct tie
	    *tie; /* to that clock; NULL if the trace has that clock itself */
	const struct trace *trace;
	bool is_apart; /* its clock is known to differ from that of its host */
};

struct clock_set {
	const struct observations *seen; /* borrowed; its log has moved on */
	struct ties ties;
	struct run_clock *clock;
	size_t count;
	struct trace_clock *of_trace; /* by trace index */
	size_t traces;
};

/*
 * Find the clocks, and move the log of the observations to them: timestamps of tied
 * clocks become timestamps of their base, each moved to its safe side. Borrows traces.
 * Odd ties and steps become problems. Return 0, or -1 with error; clear in any case.
 */
int clocks_find(struct observations *seen, struct clock_set *clocks,
		struct message_log *log, struct problem_list *problems,
		struct error *error);

/*
 * Find the clock of the trace with that name; -1 for NULL. Add a problem if the trace is
 * only tied to it. Return 0, or -1 with error if no trace has the name.
 */
int clocks_reference(const struct clock_set *clocks, const char *name, int *reference,
		     struct problem_list *problems, struct error *error);

/*
 * The span of local time in which a tied trace was stepped, between two parts of its tie:
 * [0] and [1] are its ends.
 */
void clocks_tie_step(const struct tie *tie, size_t part, nsec_t within[2]);

void clocks_clear(struct clock_set *clocks);

#endif
