/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/stamps.h"

#include <string.h>

/* How well a source's clock serves: its kernel trace best. */
static int worth(const struct merge_source *source)
{
	if (!source->is_read || !source->clock.segments)
		return 0;
	if (strcmp(source->kind, "capture") == 0)
		return 1;
	if (!source->facts.has_uuid)
		return 0;
	return strcmp(source->kind, "kernel") == 0 ? 3 : 2;
}

static const struct merge_source *best_source(const struct merge_run *run, uint32_t node)
{
	const struct merge_source *best = NULL;

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];

		if (source->node == node && worth(source) > (best ? worth(best) : 0))
			best = source;
	}
	return best;
}

static void find_near(struct stamps *stamps)
{
	nsec_t first, last;

	merge_run_extent(stamps->run, NULL, &first, &last);
	/* Of a part the map tells of the others. */
	for (size_t i = 0; stamps->run->is_part && i < stamps->run->map.clocks; i++) {
		const struct clock *clock = &stamps->run->map.clock[i];
		nsec_t begin, end;

		if (!clock->begin_ns && !clock->end_ns)
			continue;
		begin = clock_correct(clock, clock->begin_ns);
		end = clock_correct(clock, clock->end_ns);
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	stamps->first_ns = first > last ? NSEC_MIN : nsec_sub(first, STAMPS_FAR_NS);
	stamps->last_ns = first > last ? NSEC_MAX : nsec_add(last, STAMPS_FAR_NS);
}

bool stamps_is_far(const struct stamps *stamps, nsec_t ts_ns)
{
	return ts_ns < stamps->first_ns || ts_ns > stamps->last_ns;
}

void stamps_init(struct stamps *stamps, struct merge_run *run, uint32_t node)
{
	const char *path;

	memset(stamps, 0, sizeof(*stamps));
	stamps->run = run;
	stamps->node = &run->node[node];
	stamps->source = best_source(run, node);
	find_near(stamps);
	path = stamps->node->files ? run_node_file(stamps->node->files, RUN_FILE_CLOCK)
				   : NULL;
	stamps->has_samples =
	    path && clock_samples_read(&stamps->samples, path, &run->problems) == 0;
}

static bool is_capture(const struct merge_source *source)
{
	return source && strcmp(source->kind, "capture") == 0;
}

static void tell(struct stamps *stamps)
{
	struct problem_list *problems = &stamps->run->problems;
	const char *node = stamps->node->name;

	stamps->is_told = true;
	if (!stamps->source)
		problem_add(problems, node, "clock", 1,
			    "no trace to place samples and tasks by, their stamps are "
			    "left as they are");
	else if (is_capture(stamps->source))
		problem_add(problems, node, "clock", 1,
			    "no trace to place samples and tasks by, they are placed by "
			    "a capture's clock");
	else if (!stamps->has_samples)
		problem_add(problems, node, "clock", 1,
			    "no clock.csv, samples and tasks are placed as if the "
			    "real-time clock were the epoch time of the trace");
}

nsec_t stamps_place(struct stamps *stamps, nsec_t realtime_ns)
{
	const struct merge_source *source = stamps->source;
	nsec_t local_ns = realtime_ns, ts_ns;

	if (!stamps->is_told)
		tell(stamps);
	if (!source)
		return realtime_ns;
	if (stamps->has_samples && !is_capture(source)) {
		struct clock_place place =
		    clock_samples_monotonic(&stamps->samples, realtime_ns);

		local_ns = nsec_add(place.ns, source->facts.clock_offset_ns);
		if (place.doubt_ns) {
			stamps->doubts++;
			if (place.doubt_ns > stamps->doubt_ns)
				stamps->doubt_ns = place.doubt_ns;
		}
	}
	/* A trace may claim any offset; the least instant is no known one. */
	ts_ns = clock_correct(&source->clock, local_ns);
	return ts_ns == NSEC_MIN ? NSEC_MIN + 1 : ts_ns;
}

void stamps_clear(struct stamps *stamps)
{
	char span[NSEC_TEXT];

	if (stamps->doubts)
		problem_add(
		    &stamps->run->problems, stamps->node->name, "clock", stamps->doubts,
		    "stamps around a step of the real-time clock, they may be off "
		    "by up to %s",
		    nsec_format_span(span, (double)stamps->doubt_ns));
	clock_samples_clear(&stamps->samples);
}
