/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/steps.h"

/* The least time by which local times go on later after a clock was set back. */
#define GOES_ON_NS NSEC_PER_SEC

nsec_t shown_at(const struct trace_facts *facts, nsec_t at)
{
	nsec_t added = 0;

	for (size_t i = 0; i < facts->set_backs; i++)
		if (facts->set_back[i].at_ns + GOES_ON_NS <= at)
			added += facts->set_back[i].size_ns;
	return nsec_sub(at, added);
}

bool set_back_is_within(const struct trace_set_back *back, nsec_t from, nsec_t to)
{
	return back->at_ns + GOES_ON_NS > from && back->at_ns < to;
}

nsec_t set_back_between(const struct trace_facts *facts, nsec_t from, nsec_t to)
{
	nsec_t added = 0;

	for (size_t i = 0; i < facts->set_backs; i++)
		if (set_back_is_within(&facts->set_back[i], from, to))
			added += facts->set_back[i].size_ns;
	return added;
}

nsec_t report_step(const struct trace *trace, nsec_t at, nsec_t size,
		   const nsec_t within[2], struct problem_list *problems)
{
	const struct trace_facts *facts = &trace->facts;
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	for (size_t i = 0; i < facts->set_backs; i++) {
		const struct trace_set_back *back = &facts->set_back[i];

		if (set_back_is_within(back, within[0], within[1]))
			at = back->at_ns;
	}
	size -= set_back_between(facts, within[0], within[1]);
	problem_add(problems, trace->name, PROBLEM_STEP, 1,
		    "its clock was stepped by %s at %s",
		    nsec_format_span(how_far, (double)size),
		    nsec_format_utc(when, shown_at(facts, at)));
	return size;
}

void report_set_back(const struct trace *trace, const struct trace_set_back *back,
		     struct problem_list *problems)
{
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	nsec_format_span(how_far, (double)(back->size_ns - 2 * NSEC_PER_SEC));
	problem_add(problems, trace->name, PROBLEM_STEP, 1,
		    "its clock was set back at %s by %s or more, and no messages show by "
		    "how much",
		    nsec_format_utc(when, shown_at(&trace->facts, back->at_ns)), how_far);
}
