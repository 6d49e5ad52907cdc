/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/step.h"

#include "base/mem.h"

/* How far the corrected time jumps ahead at a step. */
static nsec_t jump_of(const struct clock *clock, const struct corridor_step *step)
{
	const struct clock_segment *before = &clock->segment[step->segment - 1];
	const struct clock_segment *after = &clock->segment[step->segment];
	nsec_t elapsed = after->local_ns - before->local_ns;

	return after->ref_ns - before->ref_ns - elapsed -
	       nsec_round((double)elapsed * before->rate_ppb * 1e-9);
}

/*
 * A clock set back shows the same times twice: which one, nobody can tell.
 * It may have been set anywhere between the two bounds.
 */
void step_note(struct step_list *list, const struct clock *clock, uint32_t index,
	       const struct corridor_step *step)
{
	nsec_t jump = jump_of(clock, step);
	nsec_t back = jump > 0 ? jump : 0;

	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = (struct sync_step){
	    .clock = index,
	    .from_ns = step->from_ns - back,
	    .to_ns = step->to_ns + back,
	};
}

static void report_step(struct sync *sync, uint32_t index, nsec_t at, nsec_t size)
{
	char when[NSEC_TEXT], how_far[NSEC_TEXT];

	problem_add(&sync->problems, sync_clock_name(sync, index), "step", 1,
		    "its clock was stepped by %s at %s",
		    nsec_format_span(how_far, (double)size), nsec_format_utc(when, at));
}

/*
 * Where a clock was set back, the times that it shows twice look like as many
 * steps to and fro: within the size of the first, all are one, by their sum.
 */
void step_take(struct sync *sync, uint32_t index, const struct corridor_step *found,
	       size_t steps)
{
	const struct clock *clock = &sync->fitted[index];
	nsec_t at, size;

	for (size_t i = 0, k; i < steps; i = k) {
		nsec_t first = jump_of(clock, &found[i]);

		at = clock->segment[found[i].segment].local_ns;
		size = 0;
		for (k = i; k < steps; k++) {
			nsec_t here = clock->segment[found[k].segment].local_ns;

			if (here - at > (first < 0 ? -first : first))
				break;
			size -= jump_of(clock, &found[k]);
			step_note(&sync->step, clock, index, &found[k]);
		}
		/* To and fro and back again is still of the step before. */
		if (2 * (size < 0 ? -size : size) > (first < 0 ? -first : first))
			report_step(sync, index, at, size);
	}
}
