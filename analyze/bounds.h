/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_BOUNDS_H
#define CT_ANALYZE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/*
 * How sure the clocks are at a time: for every source its correction's bounds, as the
 * timeline has them. Between two stated times the wider of the two holds, as
 * docs/formats.md says of clock maps.
 */
struct bounds;

/* From one side to the other of an estimate; NSEC_MIN and NSEC_MAX: nothing bounds that
 * side. */
struct bound {
	nsec_t low_ns, high_ns;
};

/* NULL with error. Memory: some 24 bytes a row of clock_bound. */
struct bounds *bounds_new(struct timeline_reader *reader, struct error *error);

/* Of what a source recorded at a time of the timeline's axis: true reference time is
 * within at_ns + low_ns and at_ns + high_ns. A source without bounds has none; nor is
 * there one before the first that was stated for it, and after the last. */
struct bound bounds_at(const struct bounds *bounds, int64_t source, nsec_t at_ns);

/* Of whatever a node recorded at that time: by bounds_source where that has a bound
 * there, else the widest of its other sources. */
struct bound bounds_of_node(const struct bounds *bounds, int64_t node, nsec_t at_ns);

/*
 * Of the span from what one source recorded to what another did: the true span is within
 * (to_ns - from_ns) + low_ns and + high_ns. Nothing of two sources with one clock.
 */
struct bound bounds_between(const struct bounds *bounds, int64_t from, nsec_t from_ns,
			    int64_t to, nsec_t to_ns);

/* The wider side; NSEC_MAX where one is open. */
nsec_t bound_width(struct bound bound);

/* The source that stands for a node where no event is named: its kernel's trace, else
 * its first. -1: the node has none. */
int64_t bounds_source(const struct bounds *bounds, int64_t node);

/* What was stated for one source, by time: its times on the timeline's axis. */
struct bound_step {
	nsec_t at_ns;
	struct bound bound;
};

const struct bound_step *bounds_steps(const struct bounds *bounds, int64_t source,
				      size_t *count);

void bounds_free(struct bounds *bounds);

#endif
