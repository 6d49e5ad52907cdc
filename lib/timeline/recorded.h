/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_RECORDED_H
#define CT_TIMELINE_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/*
 * From when to when the kernels of the nodes were traced. Outside of that it is not known
 * what their processors, threads and disks did: they were neither idle nor busy. Of a
 * node without a kernel's trace those of other tracers stand for it; a capture does not.
 */
struct recorded_span {
	int64_t node;
	nsec_t begin_ns, end_ns; /* both included */
};

struct recorded {
	struct recorded_span *span; /* by node, then time; none touches the next one */
	size_t count, room;
};

/* To be cleared. 0, or -1 with error. */
int recorded_read(struct recorded *recorded, struct timeline_reader *reader,
		  struct error *error);

/* How much of the span from begin_ns to end_ns was recorded of the node. */
nsec_t recorded_within(const struct recorded *recorded, int64_t node, nsec_t begin_ns,
		       nsec_t end_ns);

/*
 * The first stretch from *at_ns on, and before end_ns, of which nothing was recorded:
 * from *at_ns to *until_ns. False: there is none.
 */
bool recorded_gap(const struct recorded *recorded, int64_t node, nsec_t *at_ns,
		  nsec_t end_ns, nsec_t *until_ns);

void recorded_clear(struct recorded *recorded);

#endif
