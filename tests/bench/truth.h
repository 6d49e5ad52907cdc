/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_TRUTH_H
#define CT_TESTS_BENCH_TRUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * The true readings of a run's clocks, from its truth.csv: rows of
 * node,host_ns,mono_ns,real_ns. When the recording host's clock read host_ns,
 * the node's monotonic clock, which stamps its trace, read mono_ns and its
 * real-time clock, which stamps its captures, real_ns.
 */
struct truth_row {
	nsec_t host_ns;
	nsec_t local_ns[2]; /* by truth_clock; of a trace, the raw clock value */
};

enum truth_clock { TRUTH_TRACE, TRUTH_CAPTURE };

struct truth_node {
	char *name;
	nsec_t offset_ns;      /* of the trace's clock class; set by the caller */
	struct truth_row *row; /* by ascending host_ns */
	size_t rows, capacity;
	bool simulated; /* exact but for rounding; set by the caller */
};

struct truth {
	struct truth_node *node;
	size_t nodes, capacity;
};

/* 0, or -1 with error, which names file and line. */
int truth_read(struct truth *truth, const char *path, struct error *error);

/* The node of that name, or NULL. */
struct truth_node *truth_find(const struct truth *truth, const char *name, size_t length);

/* Return true if a clock never goes back: truth_to_host() requires that. */
bool truth_ascends(const struct truth_node *node, enum truth_clock clock);

/*
 * From a node's clock to the host's, and back, along the line between the rows
 * around it, or through the two outermost rows, in exact integers.
 */
nsec_t truth_to_host(const struct truth_node *node, enum truth_clock clock, nsec_t local);
nsec_t truth_from_host(const struct truth_node *node, enum truth_clock clock,
		       nsec_t host_ns);

/* Return the uncertainty of one such conversion at an instant of the host. */
nsec_t truth_uncertainty(const struct truth_node *node, nsec_t host_ns);

void truth_clear(struct truth *truth);

#endif
