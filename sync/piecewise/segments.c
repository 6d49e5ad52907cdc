/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/observe/steps.h"

/* Steps and slews that were found in a clock, and the cause if it keeps one line. */
struct segments_found {
	struct piecewise_event *event;
	size_t events;
	char *cause;
};

struct segments_search {
	struct sync *sync;
	bool *is_wanted;                /* by island: some clock seems to be no line */
	bool is_thinned;                /* not every message is kept, as they are many */
	struct pair_messages *messages; /* by pair, of those islands */
	struct segments_found *found;   /* by clock */
	struct piecewise_bounds bounds; /* on the clock at hand */
};

/*
 * A slew is reported as a step unless it was certainly in progress for more than this
 * share of its extent: otherwise it may have been much faster than messages show.
 */
#define CERTAIN_SHARE 0.2

bool slew_is_certain(const struct piecewise_event *slew)
{
	return slew->is_slew && (double)(slew->full_to_ns - slew->full_from_ns) >
				    CERTAIN_SHARE * (double)(slew->to_ns - slew->from_ns);
}

/* Note the steps and slews of a clock, and report each as a problem. */
static void add_events(struct sync *sync, uint32_t index,
		       const struct segments_found *found)
{
	struct sync_event_list *list = &sync->event;
	struct clock *clock = &sync->fitted[index];
	size_t steps = 0, slews = 0;

	for (size_t i = 0; i < found->events; i++) {
		const struct piecewise_event *event = &found->event[i];

		*MEM_NEXT(list->item, list->count, list->capacity) =
		    (struct sync_event){index, *event};
		if (slew_is_certain(event)) {
			sync_report_slew(sync, sync_clock_name(sync, index), event);
			*MEM_NEXT(clock->slew, clock->slews, slews) =
			    (struct clock_slew){event->local_ns, event->end_ns,
						event->size_ns, event->ppm * 1e3};
		} else {
			nsec_t size = report_step(
			    &sync->seen.trace[sync->set.clock[index].first_trace],
			    event->local_ns, event->size_ns,
			    (nsec_t[2]){event->from_ns, event->to_ns}, &sync->problems);

			*MEM_NEXT(clock->step, clock->steps, steps) =
			    (struct clock_step){event->local_ns, size};
		}
	}
}

/* Whether the user asked for other segments than those found. */
static bool are_segments_given(const struct sync *sync)
{
	return sync->options.segments.segments || sync->options.segments.length_ns;
}

/* `curved` says which pairs of clocks a curved relation explains better. */
static bool find_islands(struct segments_search *search, const bool *curved)
{
	const struct sync *sync = search->sync;
	bool any = false;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (pair->contradictory ||
		    (pair->fit.margin_ns >= 0 && !are_segments_given(sync) && !curved[i]))
			continue;
		search->is_wanted[sync->graph.node[pair->a].island] = true;
	}
	for (size_t i = 0; i < sync->graph.islands; i++) {
		search->is_wanted[i] |= sync->unfit[i] != NULL;
		any |= search->is_wanted[i];
	}
	return any;
}

enum {
	MESSAGES_MOST = 1 << 22, /* messages, 64 MiB, before they are thinned out */
	THINNED_AT_ONCE = 256,
};

static bool are_too_many(const struct segments_search *search)
{
	const struct sync *sync = search->sync;
	uint64_t most =
	    sync->options.messages_kept ? sync->options.messages_kept : MESSAGES_MOST;
	uint64_t messages = 0;

	for (size_t i = 0; i < sync->pairs.count; i++) {
		const struct pair *pair = &sync->pairs.pair[i];

		if (search->is_wanted[sync->graph.node[pair->a].island])
			messages += pair->messages_ab + pair->messages_ba;
	}
	return messages > most;
}

/*
 * Of many messages, some in a row leave only the corners of their hull: a line that
 * satisfies these satisfies all.
 */
static int add_message(void *context, const struct message *message)
{
	struct segments_search *search = context;
	const struct sync *sync = search->sync;
	const struct pair *pair = &sync->pairs.pair[message->pair];
	struct point_list *side = &search->messages[message->pair].side[message->forward];
	size_t fresh;

	if (message->rejected || pair->contradictory ||
	    !search->is_wanted[sync->graph.node[pair->a].island])
		return 0;
	*MEM_NEXT(side->point, side->count, side->capacity) = pair_point(message);
	fresh = side->count - side->thinned;
	if (search->is_thinned && fresh >= THINNED_AT_ONCE) {
		side->thinned +=
		    hull_corners(side->point + side->thinned, fresh, !message->forward);
		side->count = side->thinned;
	}
	return 0;
}

/*
 * Return true if a clock was stepped about a time: which of the two times before and
 * after the step is meant is then unknown.
 */
static bool may_be_stepped(const struct segments_found *found, nsec_t at)
{
	for (size_t i = 0; i < found->events; i++) {
		const struct piecewise_event *is = &found->event[i];

		if (!slew_is_certain(is) && at > is->from_ns && at < is->to_ns)
			return true;
	}
	return false;
}

/* What a clock sent was received later: a bound from above on its time. */
static void add_bounds(struct segments_search *search, uint32_t clock,
		       const struct pair *pair, const struct pair_messages *messages)
{
	struct piecewise_bounds *bounds = &search->bounds;
	bool is_a = pair->a == clock;
	uint32_t index = is_a ? pair->b : pair->a;
	const struct clock *other = &search->sync->fitted[index];

	for (int forward = 0; forward < 2; forward++)
		for (size_t i = 0; i < messages->side[forward].count; i++) {
			struct hull_point p = messages->side[forward].point[i];

			if (may_be_stepped(&search->found[index], is_a ? p.y : p.x))
				continue;
			*MEM_NEXT(bounds->item, bounds->count, bounds->capacity) =
			    (struct piecewise_bound){
				.x = is_a ? p.x : p.y,
				.y = clock_correct(other, is_a ? p.y : p.x),
				.above = is_a == forward,
			    };
		}
}

/* Bounds on a clock by its messages with those before it. */
static void collect(struct segments_search *search, const struct island *island,
		    uint32_t clock)
{
	const struct fit_clock *fit = search->sync->clock;

	search->bounds.count = 0;
	for (size_t i = 0; i < island->insides; i++) {
		uint32_t index = island->inside[i];
		const struct pair *pair = &search->sync->pairs.pair[index];
		uint32_t other = pair->a == clock ? pair->b : pair->a;

		if ((pair->a == clock || pair->b == clock) &&
		    fit[other].place < fit[clock].place)
			add_bounds(search, clock, pair, &search->messages[index]);
	}
}

/* Take what was found for a clock, in the place of what it had. */
static void use_fit(struct segments_search *search, uint32_t index,
		    struct piecewise_fit *fit)
{
	struct sync *sync = search->sync;
	struct clock *clock = &sync->fitted[index];

	free(clock->segment);
	clock->segment = fit->segment;
	clock->segments = fit->segments;
	free(search->found[index].event);
	search->found[index].event = fit->event;
	search->found[index].events = fit->events;
}

/* A curve within the bounds at hand; false where there is none, with the cause if wanted.
 */
static bool find_curve(struct segments_search *search, struct piecewise_fit *fit,
		       char **cause)
{
	const struct sync_options *options = &search->sync->options;
	struct error error = ERROR_INIT;
	int failed = piecewise_find(search->bounds.item, search->bounds.count,
				    options->drift_limit_ppm * 1e-6, options->segments,
				    fit, &error);

	if (failed && cause)
		*cause = mem_strdup(error_text(&error));
	error_clear(&error);
	return !failed;
}

/* By the clocks that came before, in the order of the tree. */
static void fit_segments(struct segments_search *search, const struct island *island,
			 uint32_t index)
{
	struct piecewise_fit fit;

	collect(search, island, index);
	if (!find_curve(search, &fit, &search->found[index].cause))
		return;
	/* One line that satisfies all was fitted better, with its whole island. */
	if (bounds_are_broken(&search->sync->fitted[index], &search->bounds) ||
	    are_segments_given(search->sync) || fit.segments > 1)
		use_fit(search, index, &fit);
	else
		piecewise_fit_clear(&fit);
}

/* Return true if the messages of a clock alone prove some of its events. */
static bool has_proved_events(const struct segments_search *search,
			      const struct island *island)
{
	for (size_t k = 1; k < island->members; k++) {
		const struct segments_found *found = &search->found[island->member[k]];

		for (size_t i = 0; i < found->events; i++)
			if (found->event[i].is_proved)
				return true;
	}
	return false;
}

static bool has_events(const struct segments_search *search, const struct island *island)
{
	for (size_t k = 1; k < island->members; k++)
		if (search->found[island->member[k]].events)
			return true;
	return false;
}

static bool is_broken(struct segments_search *search, const struct island *island)
{
	for (size_t k = 1; k < island->members; k++) {
		collect(search, island, island->member[k]);
		if (bounds_are_broken(&search->sync->fitted[island->member[k]],
				      &search->bounds))
			return true;
	}
	return false;
}

/*
 * From now on a clock is that curve, if it satisfies its bounds without a step and all
 * others can follow it.
 */
static bool use_if_possible(struct segments_search *search,
			    struct constraints *constraints, uint32_t index,
			    struct piecewise_fit *fit)
{
	const struct clock clock = {.segment = fit->segment, .segments = fit->segments};

	if (!fit->events && !bounds_are_broken(&clock, &search->bounds) &&
	    constraints_fix(constraints, index, &clock)) {
		use_fit(search, index, fit);
		return true;
	}
	piecewise_fit_clear(fit);
	return false;
}

/*
 * In the order of the tree, each within what the messages and the clocks before leave
 * it: a curve as smooth as that of a clock alone, or the middle of what is left.
 */
static void refit_all(struct segments_search *search, const struct island *island,
		      struct constraints *constraints)
{
	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		struct piecewise_fit fit;

		free(search->found[index].cause);
		search->found[index].cause = NULL;
		constraints_bounds(constraints, index, &search->bounds);
		if (find_curve(search, &fit, NULL) &&
		    use_if_possible(search, constraints, index, &fit))
			continue;
		constraints_middle(constraints, index, &fit);
		search->bounds.count = 0;
		use_if_possible(search, constraints, index, &fit);
	}
}

/*
 * Where clocks that were fitted one after the other leave messages broken, or have
 * steps that no message proves: fit them anew, from corrections that satisfy all.
 * Leaves them as they are where there are none.
 */
static void fit_jointly(struct segments_search *search, const struct island *island)
{
	char **unfit = &search->sync->unfit[island - search->sync->graph.island];
	struct constraints *constraints = NULL;
	bool broken = is_broken(search, island);

	if ((broken && !has_events(search, island)) ||
	    (island->members > 2 && has_proved_events(search, island)))
		constraints = constraints_new(search->sync, island, search->messages);
	if (constraints)
		refit_all(search, island, constraints);
	if (constraints || !broken) {
		free(*unfit);
		*unfit = NULL;
	}
	constraints_free(constraints);
}

static void report(struct segments_search *search, uint32_t index)
{
	const struct segments_found *found = &search->found[index];
	struct sync *sync = search->sync;

	if (found->cause)
		problem_add(&sync->problems, sync_clock_name(sync, index), PROBLEM_FIT, 1,
			    "%s; it keeps one line", found->cause);
	add_events(sync, index, found);
}

static void fit_segments_of_island(struct segments_search *search,
				   const struct island *island)
{
	for (size_t k = 1; k < island->members; k++)
		fit_segments(search, island, island->member[k]);
	if (!are_segments_given(search->sync))
		fit_jointly(search, island);
	for (size_t k = 1; k < island->members; k++)
		report(search, island->member[k]);
}

static void fit_segments_of_islands(struct segments_search *search)
{
	struct sync *sync = search->sync;

	for (size_t i = 0; i < sync->graph.islands; i++)
		if (search->is_wanted[i])
			fit_segments_of_island(search, &sync->graph.island[i]);
}

static int find_segments(struct segments_search *search, struct error *error)
{
	struct sync *sync = search->sync;
	AUTOFREE bool *curved = mem_zalloc((sync->pairs.count + 1) * sizeof(*curved));
	int status = are_segments_given(sync) ? 0 : curvature_find(sync, curved, error);

	if (!status && find_islands(search, curved)) {
		search->is_thinned = are_too_many(search);
		status = message_log_each(&sync->log, add_message, search, error);
		if (!status)
			fit_segments_of_islands(search);
	}
	return status;
}

int segments_fit(struct sync *sync, struct error *error)
{
	struct segments_search search = {.sync = sync};
	int status = 0;

	/* One line a clock, whatever its messages say. */
	if (sync->options.segments.segments == 1)
		return 0;
	search.is_wanted = mem_zalloc(sync->graph.islands * sizeof(*search.is_wanted));
	search.messages = mem_zalloc(sync->pairs.count * sizeof(*search.messages));
	search.found = mem_zalloc(sync->clocks * sizeof(*search.found));
	status = find_segments(&search, error);
	for (size_t i = 0; i < sync->pairs.count; i++) {
		free(search.messages[i].side[false].point);
		free(search.messages[i].side[true].point);
	}
	for (size_t i = 0; i < sync->clocks; i++) {
		free(search.found[i].event);
		free(search.found[i].cause);
	}
	free(search.bounds.item);
	free(search.is_wanted);
	free(search.messages);
	free(search.found);
	return status;
}
