/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a node says of the clocks of its sources, besides packets that leave it. */
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The trace of a host whose clock is CLOCK_MONOTONIC, the kernel's first; or NULL. */
static const struct sync_trace *find_monotonic(const struct sync *sync, uint32_t host)
{
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];

		if (trace->host == host && trace->kind == SOURCE_TRACE &&
		    trace->facts.has_uuid && trace->facts.events &&
		    strcmp(trace->facts.clock_name, "monotonic") == 0)
			return trace;
	}
	return NULL;
}

static void add_by_samples(struct sync *sync, const struct sync_trace *base,
			   const struct sync_trace *tied, const struct source *source)
{
	struct tie *tie =
	    MEM_NEXT(sync->ties.item, sync->ties.count, sync->ties.capacity);
	nsec_t shift_ns = nsec_add(base->facts.clock_offset_ns, base->shift_ns);

	*tie = (struct tie){.base = base->clock,
			    .tied = tied->clock,
			    .is_by_samples = true,
			    .parts = source->realtimes,
			    .part = mem_zalloc(source->realtimes * sizeof(*tie->part))};
	for (size_t i = 0; i < tie->parts; i++) {
		const struct realtime_offset *offset = &source->realtime[i];

		tie->packets += offset->samples;
		tie->part[i] = (struct tie_part){
		    .at_ns = nsec_add(offset->from_ns, shift_ns),
		    .from_ns = nsec_add(offset->from_ns, shift_ns),
		    .to_ns = nsec_add(offset->to_ns, shift_ns),
		    .low_ns = nsec_sub(offset->low_ns, shift_ns),
		    .high_ns = nsec_sub(offset->high_ns, shift_ns),
		    .packets = offset->samples,
		    .cells = offset->samples,
		};
	}
}

/* Whether a capture is of the time that the samples are of, give or take a day. */
static bool is_of_that_time(const struct source *source, const struct ctf_facts *facts)
{
	const struct realtime_offset *first = source->realtime;
	const struct realtime_offset *last = first + source->realtimes - 1;
	const nsec_t day = 86400 * NSEC_PER_SEC;

	return facts->end_ns > first->from_ns + first->low_ns - day &&
	       facts->begin_ns < last->to_ns + last->high_ns + day;
}

void tie_note_realtime(struct sync *sync, const struct source_list *sources)
{
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *tied = &sync->trace[i];
		const struct source *source = &sources->item[tied->source];
		const struct sync_trace *base = find_monotonic(sync, tied->host);

		if (tied->kind != SOURCE_CAPTURE || !source->realtimes || !base ||
		    !tied->facts.events || sync->clock_trace[tied->clock] != i)
			continue;
		if (is_of_that_time(source, &tied->facts))
			add_by_samples(sync, base, tied, source);
		else
			problem_add(&sync->problems, tied->path, PROBLEM_TIE, 1,
				    "its time is not that of clock.csv, so it is stamped "
				    "by another clock");
	}
}

void tie_note_captures(struct tie_list *list, const struct match_handing *one,
		       const struct match_handing *other)
{
	struct capture_pair *pair = list->captures;
	struct capture_pair *end = pair + list->captures_count;

	while (pair < end && (pair->one != one->source || pair->other != other->source))
		pair++;
	if (pair == end) {
		pair = MEM_NEXT(list->captures, list->captures_count,
				list->captures_capacity);
		*pair = (struct capture_pair){one->source, other->source, 0, 0};
	}
	pair->packets++;
	/* It may have waited between two devices. */
	pair->far +=
	    llabs(nsec_sub(one->queued_ns, other->queued_ns)) > 10 * NSEC_PER_MSEC;
}

static const struct tie *tie_of(const struct sync *sync, uint32_t clock)
{
	for (size_t i = 0; i < sync->ties.count; i++)
		if (sync->ties.item[i].tied == clock)
			return &sync->ties.item[i];
	return NULL;
}

/* The capture of a host whose clock its others have: a tied one, else the first. */
static const struct sync_trace *main_capture(const struct sync *sync, uint32_t host)
{
	const struct sync_trace *first = NULL;

	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];

		if (trace->host != host || trace->kind != SOURCE_CAPTURE ||
		    !trace->facts.events)
			continue;
		if (tie_of(sync, trace->clock))
			return trace;
		first = first ? first : trace;
	}
	return first;
}

/* A capture that is stamped as another one of its host is. */
static void tie_capture(struct sync *sync, uint32_t clock, const struct sync_trace *main)
{
	const struct tie *tie = tie_of(sync, main->clock);
	const struct tie_part same = {.packets = 0};
	struct tie new = {.base = main->clock, .parts = 1, .part = NULL};

	for (size_t i = 0; i < sync->ties.captures_count; i++) {
		const struct capture_pair *pair = &sync->ties.captures[i];

		if ((pair->one != clock || pair->other != main->clock) &&
		    (pair->one != main->clock || pair->other != clock))
			continue;
		new.packets = pair->packets;
		new.rejected = pair->far;
	}
	if (new.rejected * 2 > new.packets) {
		problem_add(&sync->problems, sync_clock_name(sync, clock), PROBLEM_TIE,
			    new.rejected,
			    "its clock is not that of %s, by the packets that both "
			    "sent, so it has a correction of its own",
			    main->name);
		return;
	}
	if (tie) {
		new.base = tie->base;
		new.parts = tie->parts;
		new.packets = tie->packets;
		new.rejected = tie->rejected;
		new.is_by_samples = tie->is_by_samples;
	}
	new.tied = clock;
	new.part = mem_alloc(new.parts * sizeof(*new.part));
	memcpy(new.part, tie ? tie->part : &same, new.parts * sizeof(*new.part));
	*MEM_NEXT(sync->ties.item, sync->ties.count, sync->ties.capacity) = new;
}

/* All captures of a host are stamped by its real-time clock. */
void tie_captures(struct sync *sync)
{
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];
		const struct sync_trace *main;

		if (trace->kind != SOURCE_CAPTURE || !trace->facts.events ||
		    sync->clock_trace[trace->clock] != i || tie_of(sync, trace->clock))
			continue;
		main = main_capture(sync, trace->host);
		if (main && main->clock != trace->clock)
			tie_capture(sync, trace->clock, main);
	}
}
