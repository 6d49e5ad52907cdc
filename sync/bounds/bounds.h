/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_H
#define CT_SYNC_BOUNDS_BOUNDS_H

#include "sync/bounds/latencies.h"

enum bounds_model {
	BOUNDS_LIMIT,    /* a clock may do anything that the drift limit allows */
	BOUNDS_WANDER,   /* also, its rate stays within wander_ppm of its mean */
	BOUNDS_STRAIGHT, /* a clock that one line describes is a line */
};

struct bounds_options {
	enum bounds_model model;
	double wander_ppm;
	int threads;
};

/* Bounds on the mean rate of a clock's true correction, without unit. */
struct rate_bound {
	bool known;
	double low, high;
};

/* The limits that the messages set for a clock. */
struct clock_limits {
	struct clock_bound *bound; /* on the error of its curve, by ascending local_ns */
	size_t bounds;             /* 0 for clocks beyond the drift limit */
	struct rate_bound rate;
	bool is_open;    /* no chain of messages bounds it from one side */
	bool is_crossed; /* at some time the lower bound is above the upper one, by the
			    drift limit or by the rates of oscillators */
	bool is_no_line; /* no line satisfies its messages, but straight clocks were
			    required */
};

struct bounds {
	struct clock_limits *clock; /* by clock */
};

/* Find the bounds of the clocks. Every message was received after it was sent, and every
 * clock keeps to the drift limit: these are differences of times, so the tightest bound
 * is a shortest path from the reference through messages and along clocks (Bellman and
 * Ford's relaxation, over all messages until none improves, on one envelope per clock).
 * The bounds are valid however early it stops. For clocks that are said to wander less,
 * or to keep their rates, it is repeated with that. Return 0, or -1 with error. Clear in
 * any case. */
int bounds_find(const struct network *net, const struct curves *curves,
		const struct latencies *latencies, const struct bounds_options *options,
		struct bounds *bounds, struct error *error);

void bounds_clear(struct bounds *bounds, const struct network *net);

#endif
