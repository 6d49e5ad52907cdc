/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/observe/steps.h"
#include "sync/piecewise/constraints.h"
#include "sync/piecewise/curvature.h"

/* Steps and slews that were found in a clock, and the cause if it keeps one line. */
struct segments_found {
	struct piecewise_event *event;
	size_t events;
	char *cause;
};

enum { TURNS_LEAST = 6 }; /* more turns to and fro than a clock makes */

struct segments_search {
	const struct network *net;
	const struct lines *lines;
	const struct segment_options *options;
	struct curves *curves;
	struct problem_list *problems;
	bool *is_unfit;                 /* by island: its messages contradict lines */
	bool *is_wanted;                /* by island: some clock seems to be no line */
	bool *has_claims;               /* by island: some messages are claims */
	bool is_thinned;                /* only some messages are kept */
	struct pair_messages *messages; /* by pair, of those islands */
	struct segments_found *found;   /* by clock */
	struct piecewise_bounds bounds; /* bounds of the current clock */
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

static void report_slew(const char *name, const struct piecewise_event *slew,
			double limit, struct problem_list *problems)
{
	char size[NSEC_TEXT], begin[NSEC_TEXT], end[NSEC_TEXT];
	AUTOFREE char *drift =
	    mem_printf("; a drift beyond the limit of %.0f ppm looks the same, see "
		       "--drift-limit",
		       limit * 1e6);

	problem_add(problems, name, PROBLEM_SLEW, 1,
		    "its clock was slewed by %s from %s to %s, %.0f ppm%s",
		    nsec_format_span(size, (double)slew->size_ns),
		    nsec_format_utc(begin, slew->local_ns),
		    nsec_format_utc(end, slew->end_ns), slew->ppm,
		    fabs(slew->ppm) < limit * 1e6 ? drift : "");
}

/*
 * Return true if messages show a step or slew. What only seems likely by few of them does
 * not count, nor does a step among many that may be before or after it if others are
 * false matches, because more of these explain it as well.
 */
static bool is_shown(const struct segments_search *search, uint32_t index,
		     const struct piecewise_event *event)
{
	const struct pair_table *pairs = &search->net->pairs;

	for (size_t i = 0; i < pairs->count && event->is_diffuse; i++) {
		const struct pair *pair = &pairs->pair[i];

		if (pair->rejected && (pair->a == index || pair->b == index))
			return false;
	}
	return event->is_proved || !event->is_vague;
}

/* Report the first step that may be drift instead. */
static void report_drift(const struct run_clock *clock, double limit,
			 const struct piecewise_event *event,
			 struct problem_list *problems)
{
	char size[NSEC_TEXT], when[NSEC_TEXT];

	problem_add(
	    problems, clock->name, PROBLEM_DRIFT, 1,
	    "its clock was stepped by %s at %s, or drifts beyond the limit of "
	    "%.0f ppm (--drift-limit)",
	    nsec_format_span(size, (double)event->size_ns),
	    nsec_format_utc(when, shown_at(&clock->trace->facts, event->local_ns)),
	    limit * 1e6);
}

/* Add the steps and slews of a clock, and report those that messages show as problems. */
static void add_events(struct segments_search *search, uint32_t index)
{
	const struct run_clock *of = &search->net->clocks.clock[index];
	const struct segments_found *found = &search->found[index];
	struct curve_event_list *list = &search->curves->event;
	struct clock *clock = &search->curves->clock[index];
	const struct piecewise_event *drift = NULL;
	size_t steps = 0, slews = 0;

	for (size_t i = 0; i < found->events; i++) {
		const struct piecewise_event *event = &found->event[i];

		*MEM_NEXT(list->item, list->count, list->capacity) =
		    (struct curve_event){index, *event};
		if (!is_shown(search, index, event))
			continue;
		if (event->may_be_drift) {
			drift = drift ? drift : event;
			continue;
		}
		if (slew_is_certain(event)) {
			report_slew(of->name, event, search->net->limit,
				    search->problems);
			*MEM_NEXT(clock->slew, clock->slews, slews) =
			    (struct clock_slew){event->local_ns, event->end_ns,
						event->size_ns, event->ppm * 1e3};
		} else {
			nsec_t size = report_step(
			    of->trace, event->local_ns, event->size_ns,
			    (nsec_t[2]){event->from_ns, event->to_ns}, search->problems);

			*MEM_NEXT(clock->step, clock->steps, steps) =
			    (struct clock_step){event->local_ns, size};
		}
	}
	if (drift)
		report_drift(of, search->net->limit, drift, search->problems);
}

/* Return true if the user set the number or the length of segments. */
static bool are_segments_given(const struct segments_search *search)
{
	return search->options->given.segments || search->options->given.length_ns;
}

/* `curved` says which pairs of clocks a curved relation explains better. */
static bool find_islands(struct segments_search *search, const bool *curved)
{
	const struct network *net = search->net;
	bool any = false;

	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];

		if (pair->contradictory || (pair->fit.margin_ns >= 0 &&
					    !are_segments_given(search) && !curved[i]))
			continue;
		search->is_wanted[net->graph.node[pair->a].island] = true;
	}
	for (size_t i = 0; i < net->graph.islands; i++) {
		search->is_wanted[i] |= search->is_unfit[i];
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
	const struct network *net = search->net;
	uint64_t most = search->options->messages_kept ? search->options->messages_kept
						       : MESSAGES_MOST;
	uint64_t messages = 0;

	for (size_t i = 0; i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[i];

		if (search->is_wanted[net->graph.node[pair->a].island])
			messages += pair->messages_ab + pair->messages_ba;
	}
	return messages > most;
}

/* Add a message. Many messages are reduced to the corners of the hulls of successive
 * groups: a line that satisfies these satisfies all. */
static int add_message(void *context, const struct message *message)
{
	struct segments_search *search = context;
	const struct network *net = search->net;
	const struct pair *pair = &net->pairs.pair[message->pair];
	struct point_list *side = &search->messages[message->pair].side[message->forward];
	uint32_t island = net->graph.node[pair->a].island;
	size_t fresh;

	if (message->rejected || pair->contradictory || !search->is_wanted[island])
		return 0;
	search->has_claims[island] |= message->claimed;
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

/* A send came before its receive: an upper bound on its time. */
static void add_bounds(struct segments_search *search, uint32_t clock,
		       const struct pair *pair, const struct pair_messages *messages)
{
	struct piecewise_bounds *bounds = &search->bounds;
	bool is_a = pair->a == clock;
	uint32_t index = is_a ? pair->b : pair->a;
	const struct clock *other = &search->curves->clock[index];

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
static void collect_messages(struct segments_search *search, const struct island *island,
			     uint32_t clock)
{
	const struct graph_node *node = search->net->graph.node;

	search->bounds.count = 0;
	for (size_t i = 0; i < island->insides; i++) {
		uint32_t index = island->inside[i];
		const struct pair *pair = &search->net->pairs.pair[index];
		uint32_t other = pair->a == clock ? pair->b : pair->a;

		if ((pair->a == clock || pair->b == clock) &&
		    node[other].place < node[clock].place)
			add_bounds(search, clock, pair, &search->messages[index]);
	}
}

/* Take what was found for a clock, in the place of what it had. */
static void use_fit(struct segments_search *search, uint32_t index,
		    struct piecewise_fit *fit)
{
	struct clock *clock = &search->curves->clock[index];

	free(clock->segment);
	clock->segment = fit->segment;
	clock->segments = fit->segments;
	free(search->found[index].event);
	search->found[index].event = fit->event;
	search->found[index].events = fit->events;
}

/* Mark steps that a clock of twice the limit explains as well. Sorts the bounds. */
static void mark_drift(struct segments_search *search, struct piecewise_options options,
		       struct piecewise_fit *fit)
{
	struct error error = ERROR_INIT;
	struct piecewise_fit fast;

	if (!fit->events)
		return;
	if (!piecewise_find(search->bounds.item, search->bounds.count,
			    2 * search->net->limit, options, &fast, &error)) {
		for (size_t i = 0; i < fit->events && !fast.events; i++)
			if (!slew_is_certain(&fit->event[i]))
				fit->event[i].may_be_drift = fit->event[i].is_vague =
				    true;
		piecewise_fit_clear(&fast);
	}
	error_clear(&error);
}

/* Find a curve within the current bounds. Return false if there is none, with the cause
 * if `cause` is set. */
static bool find_curve(struct segments_search *search, const struct island *island,
		       struct piecewise_fit *fit, char **cause)
{
	struct error error = ERROR_INIT;
	struct piecewise_options options = search->options->given;
	int failed;

	options.has_claims = search->has_claims[island - search->net->graph.island];
	failed = piecewise_find(search->bounds.item, search->bounds.count,
				search->net->limit, options, fit, &error);
	if (!failed)
		mark_drift(search, options, fit);
	if (failed && cause)
		*cause = mem_strdup(error_text(&error));
	error_clear(&error);
	return !failed;
}

/* Return how many times a clock was stepped or slewed in the other direction. */
static size_t count_turns(const struct piecewise_fit *fit)
{
	size_t turns = 0;

	for (size_t i = 1; i < fit->events; i++)
		turns += (fit->event[i].size_ns > 0) != (fit->event[i - 1].size_ns > 0);
	return turns;
}

/*
 * Messages with several clocks that do not fit each other make a clock step to and fro.
 * Then only the messages with its parent count, and the others contradict the result.
 */
static void prefer_parent(struct segments_search *search, const struct island *island,
			  uint32_t index, struct piecewise_fit *fit)
{
	uint32_t pair = (uint32_t)search->net->graph.node[index].parent_pair;
	size_t turns = count_turns(fit);
	struct piecewise_fit other;

	if (turns < TURNS_LEAST)
		return;
	search->bounds.count = 0;
	add_bounds(search, index, &search->net->pairs.pair[pair],
		   &search->messages[pair]);
	if (!search->bounds.count || !find_curve(search, island, &other, NULL))
		return;
	if (count_turns(&other) < turns / 2) {
		struct piecewise_fit worse = *fit;

		*fit = other;
		other = worse;
	}
	piecewise_fit_clear(&other);
}

/* Fit the clocks in the order of the tree, each to those before it. */
static void fit_segments(struct segments_search *search, const struct island *island,
			 uint32_t index)
{
	struct piecewise_fit fit;

	collect_messages(search, island, index);
	if (!find_curve(search, island, &fit, &search->found[index].cause))
		return;
	prefer_parent(search, island, index, &fit);
	/* One line that satisfies all was fitted better, with its whole island. */
	if (bounds_are_broken(&search->curves->clock[index], &search->bounds) ||
	    are_segments_given(search) || fit.segments > 1)
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
		collect_messages(search, island, island->member[k]);
		if (bounds_are_broken(&search->curves->clock[island->member[k]],
				      &search->bounds))
			return true;
	}
	return false;
}

/*
 * From now on a clock is that curve, if it satisfies its bounds with no more than so many
 * steps and slews and all others can follow it.
 */
static bool use_if_possible(struct segments_search *search,
			    struct constraints *constraints, uint32_t index,
			    struct piecewise_fit *fit, size_t most_events)
{
	const struct clock clock = {.segment = fit->segment, .segments = fit->segments};

	if (fit->events <= most_events && !bounds_are_broken(&clock, &search->bounds) &&
	    constraints_fix(constraints, index, &clock)) {
		use_fit(search, index, fit);
		return true;
	}
	piecewise_fit_clear(fit);
	return false;
}

/* Fit a clock within what the messages and the clocks that were fitted leave it: a curve
 * as smooth as that of a clock alone. Return false if there is none. */
static bool refit_clock(struct segments_search *search, const struct island *island,
			struct constraints *constraints, uint32_t index,
			size_t most_events)
{
	struct piecewise_fit fit;

	free(search->found[index].cause);
	search->found[index].cause = NULL;
	constraints_bounds(constraints, index, &search->bounds);
	return find_curve(search, island, &fit, NULL) &&
	       use_if_possible(search, constraints, index, &fit, most_events);
}

/* Fit the clocks without events in the order of the tree, or use the middle of what is
 * left. */
static void refit_all(struct segments_search *search, const struct island *island,
		      struct constraints *constraints,
		      const struct clock_events_found *events)
{
	for (size_t k = 1; k < island->members; k++) {
		uint32_t index = island->member[k];
		struct piecewise_fit fit;

		if ((events && events[index].events) ||
		    refit_clock(search, island, constraints, index, 0))
			continue;
		constraints_middle(constraints, index, &fit);
		search->bounds.count = 0;
		use_if_possible(search, constraints, index, &fit, 0);
	}
}

enum { EVENTS_MOST = 64 }; /* steps and slews of all clocks; more are improbable */

/*
 * Fit an island's clocks again, such that they do the steps and slews that were found and
 * nothing else; first those that did any, because no middle replaces their curves. Return
 * false if that satisfies not all messages.
 */
static bool refit_with_events(struct segments_search *search, const struct island *island)
{
	size_t clocks = search->net->clocks.count, events = 0;
	AUTOFREE struct clock_events_found *found = mem_zalloc(clocks * sizeof(*found));
	struct constraints *constraints = NULL;
	bool is_possible;

	for (size_t k = 1; k < island->members; k++) {
		const struct segments_found *of = &search->found[island->member[k]];

		found[island->member[k]] =
		    (struct clock_events_found){of->event, of->events};
		events += of->events;
	}
	if (events <= EVENTS_MOST)
		constraints = constraints_new(search->net, search->lines, island,
					      search->messages, found);
	is_possible = constraints;
	for (size_t k = 1; is_possible && k < island->members; k++)
		if (found[island->member[k]].events)
			is_possible =
			    refit_clock(search, island, constraints, island->member[k],
					found[island->member[k]].events);
	if (is_possible)
		refit_all(search, island, constraints, found);
	constraints_free(constraints);
	return is_possible;
}

/*
 * If clocks that were fitted one after the other violate messages, or have steps that no
 * message proves, fit them again, from corrections that satisfy all messages: without any
 * step or, if there are none, with those that were found. If there are no such
 * corrections either, the clocks stay unchanged.
 */
static void fit_jointly(struct segments_search *search, const struct island *island)
{
	struct constraints *constraints = NULL;
	bool broken = is_broken(search, island), is_fit = !broken;
	bool any = has_events(search, island);

	if ((broken && !any) ||
	    (island->members > 2 && has_proved_events(search, island)))
		constraints = constraints_new(search->net, search->lines, island,
					      search->messages, NULL);
	if (constraints)
		refit_all(search, island, constraints, NULL);
	else if (broken && any)
		is_fit = refit_with_events(search, island);
	if (constraints || is_fit)
		search->is_unfit[island - search->net->graph.island] = false;
	constraints_free(constraints);
}

static void report_segments(struct segments_search *search, uint32_t index)
{
	const struct segments_found *found = &search->found[index];

	if (found->cause)
		problem_add(search->problems, network_clock_name(search->net, index),
			    PROBLEM_FIT, 1, "%s; it keeps one line", found->cause);
	add_events(search, index);
}

static void fit_segments_of_island(struct segments_search *search,
				   const struct island *island)
{
	for (size_t k = 1; k < island->members; k++)
		if (!search->net->graph.node[island->member[k]].is_too_fast)
			fit_segments(search, island, island->member[k]);
	if (!are_segments_given(search))
		fit_jointly(search, island);
	for (size_t k = 1; k < island->members; k++)
		report_segments(search, island->member[k]);
}

static void fit_segments_of_islands(struct segments_search *search)
{
	for (size_t i = 0; i < search->net->graph.islands; i++)
		if (search->is_wanted[i])
			fit_segments_of_island(search, &search->net->graph.island[i]);
}

static int find_segments(struct segments_search *search, struct error *error)
{
	const struct network *net = search->net;
	AUTOFREE bool *curved = mem_zalloc((net->pairs.count + 1) * sizeof(*curved));
	int status = are_segments_given(search) ? 0 : curvature_find(net, curved, error);

	if (!status && find_islands(search, curved)) {
		search->is_thinned = are_too_many(search);
		status = message_log_each(&net->log, add_message, search, error);
		if (!status)
			fit_segments_of_islands(search);
	}
	return status;
}

/* Set each clock to its line, with whole nanoseconds at its first time. */
static void set_lines(const struct network *net, const struct lines *lines,
		      struct curves *curves)
{
	*curves = (struct curves){
	    .clock = mem_zalloc(net->clocks.count * sizeof(*curves->clock))};
	for (size_t i = 0; i < net->clocks.count; i++) {
		const struct run_clock *of = &net->clocks.clock[i];
		const struct clock_line *line = &lines->clock[i];
		struct clock *clock = &curves->clock[i];

		clock->begin_ns = of->begin_ns;
		clock->end_ns = of->end_ns;
		clock->segments = 1;
		clock->segment = mem_alloc(sizeof(*clock->segment));
		*clock->segment = (struct clock_segment){
		    .local_ns = of->begin_ns,
		    .ref_ns = clock_line_reference(line, of->begin_ns),
		    .rate_ppb = line->rate * 1e9,
		};
	}
}

/* Report islands whose messages neither lines nor segments satisfy. */
static void report_unfit(const struct segments_search *search)
{
	const struct graph *graph = &search->net->graph;

	for (size_t i = 0; i < graph->islands; i++)
		if (search->is_unfit[i])
			problem_add(
			    search->problems,
			    network_clock_name(search->net, graph->island[i].reference),
			    PROBLEM_FIT, 1, "%s; each pair is fitted by itself",
			    search->lines->unfit[i]);
}

static void search_init(struct segments_search *search)
{
	const struct network *net = search->net;

	search->is_wanted = mem_zalloc(net->graph.islands * sizeof(bool));
	search->has_claims = mem_zalloc(net->graph.islands * sizeof(bool));
	search->is_unfit = mem_zalloc(net->graph.islands * sizeof(bool));
	search->messages = mem_zalloc(net->pairs.count * sizeof(*search->messages));
	search->found = mem_zalloc(net->clocks.count * sizeof(*search->found));
	for (size_t i = 0; i < net->graph.islands; i++)
		search->is_unfit[i] = search->lines->unfit[i];
}

static void search_clear(struct segments_search *search)
{
	for (size_t i = 0; i < search->net->pairs.count; i++) {
		free(search->messages[i].side[false].point);
		free(search->messages[i].side[true].point);
	}
	for (size_t i = 0; i < search->net->clocks.count; i++) {
		free(search->found[i].event);
		free(search->found[i].cause);
	}
	free(search->bounds.item);
	free(search->is_wanted);
	free(search->has_claims);
	free(search->is_unfit);
	free(search->messages);
	free(search->found);
}

int segments_fit(const struct network *net, const struct lines *lines,
		 const struct segment_options *options, struct curves *curves,
		 struct problem_list *problems, struct error *error)
{
	struct segments_search search = {.net = net,
					 .lines = lines,
					 .options = options,
					 .curves = curves,
					 .problems = problems};
	int status = 0;

	set_lines(net, lines, curves);
	search_init(&search);
	/* One segment: every clock keeps its line, whatever its messages say. */
	if (options->given.segments != 1)
		status = find_segments(&search, error);
	if (!status)
		report_unfit(&search);
	search_clear(&search);
	return status;
}

void curves_clear(struct curves *curves, const struct network *net)
{
	for (size_t i = 0; curves->clock && i < net->clocks.count; i++)
		clock_clear(&curves->clock[i]);
	free(curves->clock);
	free(curves->event.item);
	*curves = (struct curves){.clock = NULL};
}
