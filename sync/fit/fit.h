/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_FIT_H
#define CT_SYNC_FIT_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "clock/clock.h"
#include "sync/pair/pair.h"

/*
 * Fitting the clocks of one island to its reference.
 *
 * What a method gets is the whole island; what it gives is a line for every
 * clock, in fit_clock. Methods are interchangeable: --method picks one.
 */
struct fit_clock {
	nsec_t begin_ns, end_ns;         /* local stamps of the first and last event */
	nsec_t own_begin_ns, own_end_ns; /* the same without sources tied to it */
	nsec_t origin_ns; /* local; the middle, where the line is anchored */
	nsec_t ref_ns;    /* reference time at the origin, the whole part */
	double offset_ns; /* what is added to it, the fine part */
	double rate;      /* of the correction, without unit */
	int parent;       /* the clock it is tied to in the tree, -1: root */
	bool too_fast;    /* only rates beyond the limit satisfy its messages */
	int parent_pair;  /* the pair that ties them */
};

/* Reference time of a local one, less `ref`: exact to fractions of a nanosecond. */
double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref);

struct fit_island {
	struct fit_clock *clock; /* of every trace of the run, by its index */
	const uint32_t *member;  /* the island's traces; tree order, reference first */
	size_t members;
	struct pair_table *pairs; /* of the run, settled */
	const uint32_t *inside;   /* pairs between members */
	size_t insides;
	double limit;                     /* largest |rate|, without unit */
	const struct pair_sample *sample; /* by pair; NULL unless wants_sample */
};

struct fit_method {
	const char *name;
	const char *help;
	bool wants_sample; /* needs messages, not only hulls */
	/* Set rate, ref_ns and offset_ns of every member but the first. */
	int (*fit)(struct fit_island *island, struct error *error);
};

extern const struct fit_method *const fit_methods[]; /* ends with NULL */

const struct fit_method *fit_method_find(const char *name);

/*
 * The line with the largest slack to both half hulls of a pair, its |rate|
 * at most `limit`, and that slack; negative where no line satisfies all.
 * Where messages go one way only: the line that lies closest to them on
 * average, and slack 0.
 */
void fit_pair_margin(struct pair *pair, double limit);

/*
 * The same, but where only rates beyond the limit satisfy all messages, that
 * line; sets pair->too_fast.
 */
void fit_pair_or_too_fast(struct pair *pair, double limit);

#endif
