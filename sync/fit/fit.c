/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <string.h>

#include "sync/fit/private.h"

const struct fit_method *const fit_methods[] = {&fit_hull, &fit_margin, &fit_joint,
						&fit_regression, NULL};

const struct fit_method *fit_method_find(const char *name)
{
	for (size_t i = 0; fit_methods[i]; i++)
		if (strcmp(fit_methods[i]->name, name) == 0)
			return fit_methods[i];
	return NULL;
}

double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref)
{
	nsec_t elapsed = local_ns - clock->origin_ns;

	return (double)(clock->ref_ns - ref + elapsed) + clock->offset_ns +
	       clock->rate * (double)elapsed;
}

double fit_corner_slack(const struct fit_island *island, const struct pair *pair,
			struct hull_point corner, bool forward)
{
	nsec_t ref = island->clock[pair->a].ref_ns;
	double a = fit_correct(&island->clock[pair->a], corner.x, ref);
	double b = fit_correct(&island->clock[pair->b], corner.y, ref);

	return forward ? b - a : a - b;
}

void fit_each_corner(struct fit_island *island,
		     void (*look)(void *context, const struct pair *pair,
				  struct hull_point corner, bool forward),
		     void *context)
{
	for (size_t i = 0; i < island->insides; i++) {
		const struct pair *pair = &island->pairs->pair[island->inside[i]];

		for (size_t k = 0; k < pair->lower.count; k++)
			look(context, pair, pair->lower.point[k], true);
		for (size_t k = 0; k < pair->upper.count; k++)
			look(context, pair, pair->upper.point[k], false);
	}
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

int fit_along_tree(struct fit_island *island,
		   int (*pair_line)(struct fit_island *island, uint32_t pair,
				    struct line *line, struct error *error),
		   struct error *error)
{
	for (size_t i = 1; i < island->members; i++) {
		uint32_t child = island->member[i];
		struct line line;

		if (pair_line(island, (uint32_t)island->clock[child].parent_pair, &line,
			      error))
			return -1;
		tie(island, child, &line);
	}
	return 0;
}
