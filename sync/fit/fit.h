/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_FIT_H
#define CT_SYNC_FIT_FIT_H

#include "problem/problem.h"
#include "sync/network/network.h"

/* A clock's correction as one line, anchored in the middle of the clock's time. */
struct clock_line {
	nsec_t origin_ns; /* local time of the anchor */
	nsec_t ref_ns;    /* reference time at the origin, whole part */
	double offset_ns; /* added to it, fine part */
	double rate;      /* rate of the correction; dimensionless */
};

struct lines {
	struct clock_line *clock; /* by clock */
	char **unfit; /* by island: why no lines satisfy its messages, or NULL */
};

/* Return the reference time of a local time, less `ref`, to fractions of a nanosecond. */
double clock_line_correct(const struct clock_line *line, nsec_t local_ns, nsec_t ref);

/* Return the reference time of a local time, rounded to the nanosecond. */
nsec_t clock_line_reference(const struct clock_line *line, nsec_t local_ns);

/* A method to fit the clocks of one island to its reference; --method selects one. */
struct fit_method;

/* Return the method hull, margin, joint or regression; NULL for other names. */
const struct fit_method *fit_method_find(const char *name);

/* Return NULL, or an error: this build lacks a library that the method needs. */
const char *fit_method_missing(const struct fit_method *method);

/*
 * Fit a line for each clock, by a method, or for NULL by the method that suits the size
 * of the island. Clocks beyond the drift limit become problems. Return 0, or -1 with
 * error; clear in any case.
 */
int lines_fit(const struct network *net, const struct fit_method *method,
	      struct lines *lines, struct problem_list *problems, struct error *error);

void lines_clear(struct lines *lines, const struct network *net);

#endif
