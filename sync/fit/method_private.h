/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_METHOD_PRIVATE_H
#define CT_SYNC_FIT_METHOD_PRIVATE_H

#include "sync/fit/fit.h"
#include "sync/pair/sample.h"

/* Methods: fit.c has the table, and the methods that follow the tree. */
struct fit_island {
	const struct network *net;
	const struct island *of;          /* members in tree order, reference first */
	struct clock_line *line;          /* by clock */
	const struct pair_sample *sample; /* by pair; NULL unless needs_sample */
};

struct fit_method {
	const char *name;
	bool needs_sample; /* the method fits a sample of messages, not only the hulls */
	/* Set rate, ref_ns and offset_ns of every member but the first. */
	int (*fit)(const struct fit_island *island, struct error *error);
	/* Return an error if this build lacks a library of the method, otherwise NULL.
	 * NULL if the method needs no library. */
	const char *(*missing)(void);
};

int fit_hull(const struct fit_island *island, struct error *error);
int fit_joint(const struct fit_island *island, struct error *error);
int fit_regression(const struct fit_island *island, struct error *error);

/* Return the largest |rate| between the clocks of a pair: the limit applies to each. */
double fit_pair_limit(const struct fit_island *island, const struct pair *pair);

/* Compose lines of the tree's pairs, each from its a to its b, along the tree. Return 0.
 */
typedef struct line pair_line_fn(const struct fit_island *island, uint32_t pair);
int fit_along_tree(const struct fit_island *island, pair_line_fn *pair_line);

#endif
