/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_RESOLVE_H
#define CT_TRACE_CTF_RESOLVE_H

#include "trace/schema.h"

/*
 * Find the targets of all variants, optionals and sequences. Return 0, or -1 with error
 * if a target is missing, comes later, or is not a suitable integer.
 */
int schema_resolve(struct schema *schema, struct error *error);

/* Set up clocks, event ids and the programs of headers. Return 0, or -1 with error. */
int schema_set_up(struct schema *schema, struct error *error);

/* Convert a clock's value to an instant. Return false if it is not a valid timestamp. */
bool schema_clock_instant_slow(const struct schema_clock *clock, uint64_t value,
			       nsec_t *instant);

static inline bool clock_range_instant(const struct clock_range *range, uint64_t value,
				       nsec_t *instant)
{
	*instant = (nsec_t)((uint64_t)range->base_ns + value);
	return value >= range->least && value <= range->most;
}

static inline bool schema_clock_instant(const struct schema_clock *clock, uint64_t value,
					nsec_t *instant)
{
	return clock_range_instant(&clock->range, value, instant) ||
	       schema_clock_instant_slow(clock, value, instant);
}

/*
 * Compute the instant of value 0 in whole nanoseconds. Return false if it is out of
 * range.
 */
bool schema_clock_base(const struct schema_clock *clock, nsec_t *base_ns);

#endif
