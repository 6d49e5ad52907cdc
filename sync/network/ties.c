/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/network/ties.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"

/*
 * Sort by tied clock. For one clock, the tie with the most packets comes first, and ties
 * from clock.csv come last.
 */
static int compare_ties(const void *a, const void *b)
{
	const struct tie *p = a, *q = b;

	return COMPARE(p->tied, q->tied) ?:
	       COMPARE(p->is_by_samples, q->is_by_samples) ?:
	       COMPARE(q->packets, p->packets) ?:
	       COMPARE(p->base, q->base);
}

/* Report a tie that is not used because no event shows when packets were handed to the
 * driver. */
static void report_unsound(const struct observations *seen, const struct tie *tie,
			   struct problem_list *problems)
{
	for (size_t i = 0; i < tie->parts; i++)
		if (tie->part[i].low_ns == NSEC_MIN || tie->part[i].high_ns == NSEC_MAX)
			return;
	if (tie->parts)
		problem_add(problems, observations_clock_name(seen, tie->tied),
			    PROBLEM_TIE, tie->packets,
			    "its clock is not that of %s, stepped or not, by the packets "
			    "that both sent, so it has a correction of its own",
			    observations_clock_name(seen, tie->base));
}

/* Return true if the packets of some part allow none of the offsets from clock.csv. */
static bool contradicts_samples(const struct tie *samples, const struct tie *packets)
{
	if (!samples->is_by_samples || packets->is_by_samples ||
	    packets->tied != samples->tied || packets->base != samples->base)
		return false;
	for (size_t i = 0; i < packets->parts; i++) {
		const struct tie_part *part = &packets->part[i];
		bool agrees = false;

		for (size_t k = 0; k < samples->parts; k++)
			agrees |= tie_parts_agree(&samples->part[k], part);
		if (!agrees)
			return true;
	}
	return false;
}

static bool is_contradicted(const struct observations *seen, const struct ties *ties,
			    const struct tie *tie, struct problem_list *problems)
{
	for (size_t i = 0; i < ties->count; i++)
		if (contradicts_samples(tie, &ties->item[i])) {
			problem_add(problems, observations_clock_name(seen, tie->tied),
				    PROBLEM_TIE, 1,
				    "clock.csv contradicts the packets that it and %s "
				    "both sent, and is not used",
				    observations_clock_name(seen, tie->base));
			return true;
		}
	return false;
}

/* Keep the best valid tie of each clock. */
static void choose_ties(const struct observations *seen, struct ties *list,
			struct problem_list *problems)
{
	AUTOFREE bool *holds = mem_zalloc(seen->ties.count + 1);
	size_t count = 0;

	for (size_t i = 0; i < seen->ties.count; i++)
		*MEM_NEXT(list->item, list->count, list->capacity) =
		    tie_copy(&seen->ties.item[i]);
	SORT(list->item, list->count, compare_ties);
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];

		if (!tie->is_by_samples)
			tie_settle(tie);
		holds[i] =
		    tie->is_by_samples
			? !is_contradicted(seen, list, tie, problems)
			: tie_is_sound(tie,
				       &seen->trace[seen->first_trace[tie->tied]].facts);
		list->is_apart[tie->tied] |= !holds[i];
		if (!holds[i] && !tie->is_by_samples)
			report_unsound(seen, tie, problems);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct tie *tie = &list->item[i];

		if (holds[i] && (!count || list->item[count - 1].tied != tie->tied))
			list->item[count++] = *tie;
		else
			tie_clear(tie);
	}
	list->count = count;
}

static const struct tie *tie_of(const struct ties *ties, uint32_t clock_index)
{
	for (size_t i = 0; i < ties->count; i++)
		if (ties->item[i].tied == clock_index)
			return &ties->item[i];
	return NULL;
}

/*
 * Return the capture whose clock the host's other captures share: a tied one, otherwise
 * the first.
 */
static const struct trace *main_capture(const struct observations *seen,
					const struct ties *ties, uint32_t host_index)
{
	const struct trace *first = NULL;

	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];

		if (trace->host_index != host_index || trace->kind != SOURCE_CAPTURE ||
		    !trace->facts.events)
			continue;
		if (tie_of(ties, trace->clock_index))
			return trace;
		first = first ? first : trace;
	}
	return first;
}

/* Return the packets that two captures have in common. */
static struct capture_pair common_packets(const struct observations *seen, uint32_t one,
					  uint32_t other)
{
	for (size_t i = 0; i < seen->ties.captures_count; i++) {
		const struct capture_pair *pair = &seen->ties.captures[i];

		if ((pair->one == one && pair->other == other) ||
		    (pair->one == other && pair->other == one))
			return *pair;
	}
	return (struct capture_pair){.packets = 0};
}

/*
 * Tie a capture to the main one of its host. If packets that both sent contradict that,
 * add a problem instead.
 */
static void tie_capture(const struct observations *seen, struct ties *ties,
			uint32_t clock_index, const struct trace *main,
			struct problem_list *problems)
{
	const struct tie *tie = tie_of(ties, main->clock_index);
	struct capture_pair common = common_packets(seen, clock_index, main->clock_index);
	struct tie_part same = {.packets = 0};
	struct tie new = {.base = main->clock_index,
			  .parts = 1,
			  .part = &same,
			  .packets = common.packets,
			  .rejected = common.far};

	if (common.far * 2 > common.packets) {
		ties->is_apart[clock_index] = true;
		problem_add(problems, observations_clock_name(seen, clock_index),
			    PROBLEM_TIE, common.far,
			    "its clock is not that of %s, by the packets that both "
			    "sent, so it has a correction of its own",
			    main->name);
		return;
	}
	new = tie_copy(tie ? tie : &new);
	new.tied = clock_index;
	*MEM_NEXT(ties->item, ties->count, ties->capacity) = new;
}

/* All captures of a host have timestamps of its real-time clock. */
static void tie_captures(const struct observations *seen, struct ties *ties,
			 struct problem_list *problems)
{
	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];
		const struct trace *main;

		if (trace->kind != SOURCE_CAPTURE || !trace->facts.events ||
		    seen->first_trace[trace->clock_index] != i ||
		    tie_of(ties, trace->clock_index))
			continue;
		main = main_capture(seen, ties, trace->host_index);
		if (main && main->clock_index != trace->clock_index)
			tie_capture(seen, ties, trace->clock_index, main, problems);
	}
}

void ties_find(const struct observations *seen, struct ties *ties,
	       struct problem_list *problems)
{
	*ties = (struct ties){.is_apart = mem_zalloc(seen->clocks + 1)};
	choose_ties(seen, ties, problems);
	tie_captures(seen, ties, problems);
}

void ties_clear(struct ties *ties)
{
	for (size_t i = 0; i < ties->count; i++)
		tie_clear(&ties->item[i]);
	free(ties->item);
	free(ties->is_apart);
	*ties = (struct ties){.count = 0};
}
