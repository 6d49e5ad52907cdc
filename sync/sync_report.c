/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

/* Return what the clock showed when local times were `at`. */
static nsec_t shown_at(const struct ctf_facts *facts, nsec_t at)
{
	nsec_t added = 0;

	for (size_t i = 0; i < facts->set_backs && facts->set_back[i].at_ns < at; i++)
		added += facts->set_back[i].size_ns;
	return nsec_sub(at, added);
}

/* Local times go on at a second later at least. */
static bool is_within(const struct ctf_set_back *back, nsec_t from, nsec_t to)
{
	return back->at_ns + NSEC_PER_SEC > from && back->at_ns < to;
}

nsec_t sync_set_back(const struct ctf_facts *facts, nsec_t from, nsec_t to)
{
	nsec_t added = 0;

	for (size_t i = 0; i < facts->set_backs; i++)
		if (is_within(&facts->set_back[i], from, to))
			added += facts->set_back[i].size_ns;
	return added;
}

nsec_t sync_report_step(struct sync *sync, struct sync_trace *trace, nsec_t at,
			nsec_t size, const nsec_t within[2])
{
	const struct ctf_facts *facts = &trace->facts;
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	for (size_t i = 0; i < facts->set_backs; i++) {
		const struct ctf_set_back *back = &facts->set_back[i];

		if (!is_within(back, within[0], within[1]))
			continue;
		at = back->at_ns;
		trace->set_backs |= 1u << i;
	}
	size -= sync_set_back(facts, within[0], within[1]);
	problem_add(&sync->problems, trace->name, PROBLEM_STEP, 1,
		    "its clock was stepped by %s at %s",
		    nsec_format_span(how_far, (double)size),
		    nsec_format_utc(when, shown_at(facts, at)));
	return size;
}

void sync_report_set_backs(struct sync *sync)
{
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	for (size_t i = 0; i < sync->traces; i++) {
		struct sync_trace *trace = &sync->trace[i];

		for (size_t k = 0; k < trace->facts.set_backs; k++) {
			const struct ctf_set_back *back = &trace->facts.set_back[k];

			if (trace->set_backs & 1u << k)
				continue;
			trace->is_unsure = true;
			nsec_format_span(how_far,
					 (double)(back->size_ns - 2 * NSEC_PER_SEC));
			problem_add(
			    &sync->problems, trace->name, PROBLEM_STEP, 1,
			    "its clock was set back at %s by %s or more, and no "
			    "messages show by how much",
			    nsec_format_utc(when, shown_at(&trace->facts, back->at_ns)),
			    how_far);
		}
	}
}

void sync_report_slew(struct sync *sync, const char *name,
		      const struct piecewise_event *slew)
{
	char size[NSEC_TEXT], begin[NSEC_TEXT], end[NSEC_TEXT];

	problem_add(&sync->problems, name, PROBLEM_SLEW, 1,
		    "its clock was slewed by %s from %s to %s, %.0f ppm",
		    nsec_format_span(size, (double)slew->size_ns),
		    nsec_format_utc(begin, slew->local_ns),
		    nsec_format_utc(end, slew->end_ns), slew->ppm);
}
