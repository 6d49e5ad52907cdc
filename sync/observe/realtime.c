/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/realtime.h"

#include "base/mem.h"

/*
 * Return true if the offset that follows this one in clock.csv is that after the
 * capture's clock was set back. So much was added to the capture's timestamps before.
 */
static bool is_set_back(const struct realtime_offset *offset,
			const struct trace_set_back *back, nsec_t added)
{
	nsec_t last = nsec_add(offset->to_ns, offset->low_ns) + added;

	return offset[1].high_ns - offset[0].low_ns < -back->size_ns / 2 &&
	       last <= back->at_ns + NSEC_PER_SEC;
}

static void add_by_samples(struct observations *seen, const struct trace *base,
			   const struct trace *tied, const struct source *source)
{
	struct tie *tie =
	    MEM_NEXT(seen->ties.item, seen->ties.count, seen->ties.capacity);
	nsec_t shift_ns = nsec_add(base->facts.clock_offset_ns, base->shift_ns),
	       added = 0;
	size_t set_backs = 0;

	*tie = (struct tie){.base = base->clock_index,
			    .tied = tied->clock_index,
			    .is_by_samples = true,
			    .parts = source->realtimes,
			    .part = mem_zalloc(source->realtimes * sizeof(*tie->part))};
	for (size_t i = 0; i < tie->parts; i++) {
		const struct realtime_offset *offset = &source->realtime[i];

		if (i && set_backs < tied->facts.set_backs &&
		    is_set_back(offset - 1, &tied->facts.set_back[set_backs], added))
			added += tied->facts.set_back[set_backs++].size_ns;
		tie->packets += offset->samples;
		tie->part[i] = (struct tie_part){
		    .at_ns = nsec_add(offset->from_ns, shift_ns),
		    .from_ns = nsec_add(offset->from_ns, shift_ns),
		    .to_ns = nsec_add(offset->to_ns, shift_ns),
		    .low_ns = nsec_sub(offset->low_ns, shift_ns) + added,
		    .high_ns = nsec_sub(offset->high_ns, shift_ns) + added,
		    .packets = offset->samples,
		    .cells = offset->samples,
		};
	}
}

/* Return true if the capture and the samples overlap, give or take a day. */
static bool is_of_that_time(const struct source *source, const struct trace_facts *facts)
{
	const struct realtime_offset *first = source->realtime;
	const struct realtime_offset *last = first + source->realtimes - 1;
	const nsec_t day = 86400 * NSEC_PER_SEC;

	return facts->end_ns > first->from_ns + first->low_ns - day &&
	       facts->begin_ns < last->to_ns + last->high_ns + day;
}

void realtime_note(struct observations *seen, const struct source_list *sources,
		   struct problem_list *problems)
{
	for (size_t i = 0; i < seen->traces; i++) {
		struct trace *tied = &seen->trace[i];
		const struct source *source = &sources->item[tied->source_index];
		const struct trace *base = observations_monotonic(seen, tied->host_index);

		if (tied->kind != SOURCE_CAPTURE || !source->realtimes || !base ||
		    !tied->facts.events || seen->first_trace[tied->clock_index] != i)
			continue;
		tied->is_apart = !is_of_that_time(source, &tied->facts);
		if (!tied->is_apart)
			add_by_samples(seen, base, tied, source);
		else
			problem_add(problems, tied->path, PROBLEM_TIE, 1,
				    "its time is not that of clock.csv, so it is stamped "
				    "by another clock");
	}
}
