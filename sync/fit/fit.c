/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <math.h>
#include <string.h>

double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref)
{
	nsec_t elapsed = local_ns - clock->origin_ns;

	return (double)(clock->ref_ns - ref + elapsed) + clock->offset_ns +
	       clock->rate * (double)elapsed;
}

/* Whole nanoseconds stay integers, because a double would round times of years. */
nsec_t fit_reference(const struct fit_clock *clock, nsec_t local_ns)
{
	nsec_t elapsed = local_ns - clock->origin_ns;

	return clock->ref_ns + elapsed +
	       nsec_round(clock->offset_ns + clock->rate * (double)elapsed);
}

/*
 * Tie a clock to its parent by the line between them: the child's origin is
 * put on the line, and its rate follows from the parent's and the line's.
 */
static void tie(struct fit_island *island, uint32_t child, const struct line *line)
{
	struct fit_clock *clock = &island->clock[child];
	const struct fit_clock *parent = &island->clock[clock->parent];
	nsec_t x, whole;
	double relative, fraction;

	if (island->pairs->pair[clock->parent_pair].a == (uint32_t)clock->parent) {
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
	clock->offset_ns = fit_correct(parent, x + whole, clock->ref_ns) +
			   (1 + parent->rate) * (fraction - (double)whole);
}

int fit_along_tree(struct fit_island *island, pair_line_fn *pair_line)
{
	for (size_t i = 1; i < island->members; i++) {
		uint32_t child = island->member[i];
		const struct line line =
		    pair_line(island, (uint32_t)island->clock[child].parent_pair);

		tie(island, child, &line);
	}
	return 0;
}

double fit_pair_limit(const struct fit_island *island, const struct pair *pair)
{
	bool has_reference = pair->a == island->member[0] || pair->b == island->member[0];

	return (has_reference ? 1 : 2) * island->limit;
}

static struct line margin_line(struct fit_island *island, uint32_t index)
{
	return island->pairs->pair[index].fit.line;
}

static struct line bisector_line(struct fit_island *island, uint32_t index)
{
	const struct pair *pair = &island->pairs->pair[index];
	struct line line;

	pair_line_bisector(&pair->hulls, &pair->fit, fit_pair_limit(island, pair), 0,
			   &line);
	return line;
}

static int fit_margin(struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, margin_line);
}

int fit_hull(struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, bisector_line);
}

static const struct fit_method methods[] = {
    {"hull", false, fit_hull},
    {"margin", false, fit_margin},
    {"joint", false, fit_joint},
    {"regression", true, fit_regression},
};

const struct fit_method *fit_method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}
