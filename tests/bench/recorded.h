/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_RECORDED_H
#define CT_TESTS_BENCH_RECORDED_H

#include "truth.h"

/* A source of a recorded run, and which clock of which node stamps it. */
struct subject {
	char *name, *path;
	const struct truth_node *node;
	enum truth_clock clock;
};

/* A run directory with a truth.csv. */
struct recorded {
	const char *name, *path; /* borrowed */
	struct truth truth;
	struct subject *subject; /* traces first, then captures */
	size_t traces, captures;
	bool simulated;
	/* A node that has both if there is one, so that they can be compared. */
	const struct truth_node *reference;
};

/* 0, or -1 with error; to be closed in either case. */
int recorded_open(struct recorded *run, const char *path, struct error *error);

/* The same of a run that ctsim made: its traces, its captures or its messages.csv. */
int simulated_open(struct recorded *run, const char *path, struct error *error);

void recorded_close(struct recorded *run);

#endif
