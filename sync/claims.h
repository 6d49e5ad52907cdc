/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_CLAIMS_H
#define CT_SYNC_CLAIMS_H

#include <stdio.h>

#include "clock/map.h"
#include "sync/network/clocks.h"

/*
 * A claim, by a trace's clock: at a local time of the trace, the bounds of UTC minus that
 * time.
 */
struct claim_relation {
	const char *directory; /* the node's directory; borrowed from a source */
	size_t claimant;       /* claims of one daemon follow each other, by time */
	uint32_t trace_index;
	nsec_t local_ns, low_ns, high_ns;
	nsec_t bound_ns; /* what the daemon claims, on each side */
	bool is_wrong;   /* another node's claim and packets contradict or dispute it */
};

struct claim_relations {
	struct claim_relation *item;
	size_t count, capacity;
};

/*
 * Test what the nodes' clock daemons claim against the clock map.
 *
 * With the map, a claim on a node's real-time clock becomes an interval of UTC minus the
 * map's axis. The intervals of two nodes at one time must overlap, or one of the claims
 * is wrong. If more than half of the nodes agree on a value, those that exclude all such
 * values are contradicted; otherwise it is open which is wrong. Only bounds are used: the
 * map's, those of clock.csv, and the drift limit between the times of two claims.
 *
 * Fills map->claim, and adds the claims that clock.csv or a capture relates to a trace's
 * clock to `relations`. Claims that are contradicted or disputed become problems. The
 * clocks of the map are those of clocks->seen->trace, in this order.
 */
void claims_test(const struct clock_set *clocks, double limit_ppm, struct clock_map *map,
		 struct claim_relations *relations, struct problem_list *problems);

/* Return the time from a period of a clock, by its local times, to the nearest step or
 * slew; 0 if one is within it, and NSEC_MAX if there is none. */
nsec_t clock_calm(const struct clock *clock, nsec_t from, nsec_t to);

/* Explain what the clocks of a map did by the steering of the nodes' clock daemons; fills
 * map->steering. */
void claims_explain(const struct clock_set *clocks, struct clock_map *map);

/* Add a problem if some of a daemon's claims are contradicted or disputed. */
void claim_report(const struct clock_claim_test *test, struct problem_list *problems);

/* Print a line for each claimant of a map. */
void claims_print(const struct clock_map *map, FILE *file);

#endif
