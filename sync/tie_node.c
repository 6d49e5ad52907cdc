/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ties between the clocks of one node's sources, from clock.csv and between captures. */
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Return the host's trace with CLOCK_MONOTONIC, preferably the kernel's, or NULL if there
 * is none.
 */
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

/*
 * Return true if the offset that follows this one in clock.csv is that after the
 * capture's clock was set back. So much was added to the capture's timestamps before.
 */
static bool is_set_back(const struct realtime_offset *offset,
			const struct ctf_set_back *back, nsec_t added)
{
	nsec_t last = nsec_add(offset->to_ns, offset->low_ns) + added;

	return offset[1].high_ns - offset[0].low_ns < -back->size_ns / 2 &&
	       last <= back->at_ns + NSEC_PER_SEC;
}

static void add_by_samples(struct sync *sync, const struct sync_trace *base,
			   const struct sync_trace *tied, const struct source *source)
{
	struct tie *tie =
	    MEM_NEXT(sync->ties.item, sync->ties.count, sync->ties.capacity);
	nsec_t shift_ns = nsec_add(base->facts.clock_offset_ns, base->shift_ns),
	       added = 0;
	size_t set_backs = 0;

	*tie = (struct tie){.base = base->clock,
			    .tied = tied->clock,
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
		struct sync_trace *tied = &sync->trace[i];
		const struct source *source = &sources->item[tied->source];
		const struct sync_trace *base = find_monotonic(sync, tied->host);

		if (tied->kind != SOURCE_CAPTURE || !source->realtimes || !base ||
		    !tied->facts.events || sync->clock_trace[tied->clock] != i)
			continue;
		tied->is_apart = !is_of_that_time(source, &tied->facts);
		if (!tied->is_apart)
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
	/* The packet may have waited between two devices. */
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

/*
 * Return the capture whose clock the host's other captures share: a tied one, otherwise
 * the first.
 */
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

/*
 * Tie a capture to the main one of its host. If packets that both sent contradict that,
 * add a problem instead.
 */
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
		sync->trace[sync->clock_trace[clock]].is_apart = true;
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

/* All captures of a host have timestamps of its real-time clock. */
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

/* Return true if a clock may have been stepped or slewed between two of its times. */
static bool has_event(const struct sync *sync, uint32_t clock, nsec_t from, nsec_t to)
{
	for (size_t i = 0; i < sync->event.count; i++) {
		const struct sync_event *event = &sync->event.item[i];

		if (event->clock == clock && event->is.from_ns <= to &&
		    event->is.to_ns >= from)
			return true;
	}
	return false;
}

/*
 * Return bounds on the true time from `one_ns` on one clock to `other_ns` on the other.
 */
static struct tie_part apart_at(const struct sync *sync, const struct clock *one,
				nsec_t one_ns, const struct clock *other, nsec_t other_ns)
{
	const double limit_ppb = sync->options.drift_limit_ppm * 1e3;
	struct clock_bound a = clock_bound_at(one, one_ns, limit_ppb);
	struct clock_bound b = clock_bound_at(other, other_ns, limit_ppb);
	nsec_t apart =
	    nsec_sub(clock_correct(other, other_ns), clock_correct(one, one_ns));
	struct tie_part part = {.low_ns = NSEC_MIN, .high_ns = NSEC_MAX};

	if (b.low_ns != NSEC_MIN && a.high_ns != NSEC_MAX)
		part.low_ns = nsec_add(apart, nsec_sub(b.low_ns, a.high_ns));
	if (b.high_ns != NSEC_MAX && a.low_ns != NSEC_MIN)
		part.high_ns = nsec_add(apart, nsec_sub(b.high_ns, a.low_ns));
	return part;
}

/*
 * Return true if the bounds on the time between two clocks contradict a common
 * oscillator. With one, that time is constant, except that time itself can be slewed by a
 * tenth.
 */
static bool is_beyond(const struct tie_part *part)
{
	enum { SLEWED_PART = 5 };
	double low = (double)part->low_ns, high = (double)part->high_ns;
	double most = low * low > high * high ? low : high;

	return part->low_ns != NSEC_MIN && part->high_ns != NSEC_MAX &&
	       low - high > (most < 0 ? -most : most) / SLEWED_PART + 100;
}

/*
 * Return true if the two clocks cannot count one oscillator. Compare them at all times at
 * which the capture's bounds are stated, from one of its steps to the next; the trace's
 * clock has no steps.
 */
static bool is_of_other_oscillator(const struct sync *sync, uint32_t capture,
				   uint32_t trace)
{
	const struct clock *clock = &sync->fitted[capture], *base = &sync->fitted[trace];
	const struct fit_clock *own = &sync->clock[trace];
	struct tie_part all = {.packets = 0};
	nsec_t last = NSEC_MIN, lead = 0;

	for (size_t i = 0; i < clock->bounds; i++) {
		nsec_t at = clock->bound[i].local_ns, base_ns = nsec_add(at, lead);
		struct tie_part now;

		if (has_event(sync, capture, last, at))
			all.packets = 0;
		last = at;
		if (!all.packets) {
			base_ns = clock_invert(base, clock_correct(clock, at));
			lead = nsec_sub(base_ns, at);
		}
		if (base_ns < own->own_begin_ns || base_ns > own->own_end_ns)
			continue;
		now = apart_at(sync, base, base_ns, clock, at);
		if (all.packets && all.low_ns > now.low_ns)
			now.low_ns = all.low_ns;
		if (all.packets && all.high_ns < now.high_ns)
			now.high_ns = all.high_ns;
		all = now;
		all.packets = 1;
		if (is_beyond(&all))
			return true;
	}
	return false;
}

void tie_hold_captures(struct sync *sync)
{
	for (uint32_t i = 0; i < sync->clocks; i++) {
		const struct sync_trace *trace = &sync->trace[sync->clock_trace[i]];
		const struct sync_trace *base = find_monotonic(sync, trace->host);
		struct clock *clock = &sync->fitted[i];

		if (trace->kind != SOURCE_CAPTURE || trace->is_apart || !base ||
		    base->clock == i ||
		    sync->graph.node[base->clock].island != sync->graph.node[i].island ||
		    has_event(sync, base->clock, NSEC_MIN, NSEC_MAX) ||
		    !is_of_other_oscillator(sync, i, base->clock))
			continue;
		problem_add(&sync->problems, trace->name, PROBLEM_TIE, 1,
			    "its clock contradicts that of %s, though one oscillator "
			    "drives both, so it is approximate",
			    base->name);
		if (clock->quality == CLOCK_EXACT)
			clock = &sync->fitted[base->clock];
		if (clock->quality == CLOCK_ACCURATE)
			clock->quality = CLOCK_APPROXIMATE;
	}
}
