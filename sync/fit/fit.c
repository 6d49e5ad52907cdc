/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/fit/lp.h"
#include "sync/fit/method_private.h"
#include "sync/fit/regression.h"

enum { SAMPLE_SIZE = 4096 }; /* messages of a pair in each direction */

double clock_line_correct(const struct clock_line *line, nsec_t local_ns, nsec_t ref)
{
	nsec_t elapsed = local_ns - line->origin_ns;

	return (double)(line->ref_ns - ref + elapsed) + line->offset_ns +
	       line->rate * (double)elapsed;
}

/* Whole nanoseconds stay integers, because a double would round times of years. */
nsec_t clock_line_reference(const struct clock_line *line, nsec_t local_ns)
{
	nsec_t elapsed = local_ns - line->origin_ns;

	return line->ref_ns + elapsed +
	       nsec_round(line->offset_ns + line->rate * (double)elapsed);
}

/*
 * Make a clock follow its parent by the line between them: the child's origin is put on
 * the line, and its rate follows from the parent's and the line's.
 */
static void follow_parent(const struct fit_island *island, uint32_t child,
			  const struct line *line)
{
	const struct graph_node *node = &island->net->graph.node[child];
	struct clock_line *clock = &island->line[child];
	const struct clock_line *parent = &island->line[node->parent];
	nsec_t x, whole;
	double relative, fraction;

	if (island->net->pairs.pair[node->parent_pair].a == (uint32_t)node->parent) {
		/* y is the child: x = x0 + (y - y0 - offset) / (1 + rate). */
		double dy = (double)(clock->origin_ns - line->y0);

		relative = -line->rate / (1 + line->rate);
		x = line->x0 + (clock->origin_ns - line->y0);
		fraction = dy * relative - line->offset * (1 + relative);
	} else {
		double dx = (double)(clock->origin_ns - line->x0);

		relative = line->rate;
		x = line->y0 + (clock->origin_ns - line->x0);
		fraction = line->offset + dx * relative;
	}
	whole = nsec_round(fraction);
	clock->rate = parent->rate + relative + parent->rate * relative;
	clock->ref_ns = parent->ref_ns + (x + whole - parent->origin_ns);
	clock->offset_ns = clock_line_correct(parent, x + whole, clock->ref_ns) +
			   (1 + parent->rate) * (fraction - (double)whole);
}

int fit_along_tree(const struct fit_island *island, pair_line_fn *pair_line)
{
	for (size_t i = 1; i < island->of->members; i++) {
		uint32_t child = island->of->member[i];
		const struct line line = pair_line(
		    island, (uint32_t)island->net->graph.node[child].parent_pair);

		follow_parent(island, child, &line);
	}
	return 0;
}

double fit_pair_limit(const struct fit_island *island, const struct pair *pair)
{
	const struct graph_node *node = island->net->graph.node;
	uint32_t reference = island->of->reference;

	if (node[pair->a].is_too_fast || node[pair->b].is_too_fast)
		return PAIR_RATE_MOST;
	return (pair->a == reference || pair->b == reference ? 1 : 2) *
	       island->net->limit;
}

static struct line margin_line(const struct fit_island *island, uint32_t index)
{
	return island->net->pairs.pair[index].fit.line;
}

static struct line bisector_line(const struct fit_island *island, uint32_t index)
{
	const struct pair *pair = &island->net->pairs.pair[index];
	struct line line;

	pair_line_bisector(&pair->hulls, &pair->fit, fit_pair_limit(island, pair), 0,
			   &line);
	return line;
}

static int fit_margin(const struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, margin_line);
}

int fit_hull(const struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, bisector_line);
}

static const char *joint_missing(void)
{
	return statistics_missing() ? statistics_missing() : lp_missing();
}

static const struct fit_method methods[] = {
    {"hull", false, fit_hull, NULL},
    {"margin", false, fit_margin, NULL},
    {"joint", false, fit_joint, joint_missing},
    {"regression", true, fit_regression, statistics_missing},
};

const struct fit_method *fit_method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

const char *fit_method_missing(const struct fit_method *method)
{
	return method->missing ? method->missing() : NULL;
}

/* Anchor each clock in the middle of its time; references keep that line. */
static void lines_init(struct lines *lines, const struct network *net)
{
	lines->clock = mem_zalloc(net->clocks.count * sizeof(*lines->clock));
	lines->unfit = mem_zalloc((net->graph.islands + 1) * sizeof(*lines->unfit));
	for (size_t i = 0; i < net->clocks.count; i++) {
		const struct run_clock *clock = &net->clocks.clock[i];

		lines->clock[i].origin_ns =
		    clock->begin_ns + (clock->end_ns - clock->begin_ns) / 2;
		lines->clock[i].ref_ns = lines->clock[i].origin_ns;
	}
}

/* The limit that the message suggests is the next multiple of this. */
#define ROUND_PPM 10

static void report_too_fast(const struct fit_island *island,
			    struct problem_list *problems)
{
	const struct network *net = island->net;

	for (size_t i = 1; i < island->of->members; i++) {
		uint32_t at = island->of->member[i];
		double ppm = fabs(island->line[at].rate) * 1e6;

		if (net->graph.node[at].is_too_fast)
			problem_add(problems, network_clock_name(net, at), PROBLEM_DRIFT,
				    1,
				    "drifts by %.0f ppm against %s, beyond the limit of "
				    "%.0f ppm, so nothing bounds it; use --drift-limit "
				    "%.0f",
				    ppm, network_clock_name(net, island->of->reference),
				    net->limit_ppm,
				    (floor((ppm + 1) / ROUND_PPM) + 1) * ROUND_PPM);
	}
}

/* Return NULL, or why the method fails; then the lines are those of the hulls. */
static char *fit_lines(const struct fit_island *island, const struct fit_method *method,
		       struct problem_list *problems)
{
	const char *missing = joint_missing();
	struct error cause = ERROR_INIT;
	char *unfit = NULL;

	if (!method && island->of->members > 2 && missing)
		problem_add(problems,
			    network_clock_name(island->net, island->of->reference),
			    PROBLEM_FIT, 1, "%s; each pair is fitted by itself", missing);
	if (!method)
		method = fit_method_find(island->of->members > 2 && !missing ? "joint"
									     : "hull");
	if (method->fit(island, &cause)) {
		unfit = mem_strdup(error_text(&cause));
		fit_hull(island, &cause);
	}
	error_clear(&cause);
	return unfit;
}

int lines_fit(const struct network *net, const struct fit_method *method,
	      struct lines *lines, struct problem_list *problems, struct error *error)
{
	struct pair_sample *samples = NULL;

	if (method && method->needs_sample) {
		samples =
		    pair_samples_new(&net->log, net->pairs.count, SAMPLE_SIZE, error);
		if (!samples)
			return -1;
	}
	lines_init(lines, net);
	for (size_t i = 0; i < net->graph.islands; i++) {
		const struct fit_island island = {net, &net->graph.island[i],
						  lines->clock, samples};

		lines->unfit[i] = fit_lines(&island, method, problems);
		report_too_fast(&island, problems);
	}
	pair_samples_free(samples, net->pairs.count);
	return 0;
}

void lines_clear(struct lines *lines, const struct network *net)
{
	for (size_t i = 0; lines->unfit && i < net->graph.islands; i++)
		free(lines->unfit[i]);
	free(lines->unfit);
	free(lines->clock);
	*lines = (struct lines){.clock = NULL};
}
