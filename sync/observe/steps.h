/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_STEPS_H
#define CT_SYNC_OBSERVE_STEPS_H

#include "sync/observe/observe.h"

/* Return what a trace's clock showed when its local times were `at`. */
nsec_t shown_at(const struct trace_facts *facts, nsec_t at);

/* Return what was added to a trace's local times where it was set back between two. */
nsec_t set_back_between(const struct trace_facts *facts, nsec_t from, nsec_t to);

/* Return true if a clock may have been set back there between two local times. */
bool set_back_is_within(const struct trace_set_back *back, nsec_t from, nsec_t to);

/*
 * Add a problem: a trace's clock was stepped at a local time, and at no time outside of
 * `within`. Its local times gained `size` there. Return by how much the clock itself was
 * stepped: where it was set back, local times go on nevertheless.
 */
nsec_t report_step(const struct trace *trace, nsec_t at, nsec_t size,
		   const nsec_t within[2], struct problem_list *problems);

/* Add a problem: a trace's clock was set back, and no messages show by how much. */
void report_set_back(const struct trace *trace, const struct trace_set_back *back,
		     struct problem_list *problems);

#endif
