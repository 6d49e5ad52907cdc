/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CLAIMS_H
#define CT_INPUT_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/nsec.h"
#include "problem/problem.h"

/* The claims of a node's clock daemons on its real-time clock (docs/formats.md). */

/*
 * At some time from `realtime_ns` to `took_ns` later, the real-time clock was ahead of
 * UTC by `offset_ns`, give or take `bound_ns`.
 */
struct clock_claim {
	nsec_t realtime_ns, took_ns;
	nsec_t offset_ns, bound_ns;
};

/*
 * A daemon's answer on how it steers the clock: how far ahead it estimates the clock to
 * be, and how fast the clock would run without it.
 */
struct clock_steering {
	nsec_t realtime_ns;
	nsec_t offset_ns;     /* NSEC_MIN if unknown */
	nsec_t frequency_ppb; /* NSEC_MIN if unknown */
};

/* The claims of one daemon, or what it measured by one of its servers. */
struct clock_claims {
	char *source;                    /* "chrony", or "chrony:10.0.0.1" */
	struct clock_steering *steering; /* with any status; by ascending realtime_ns */
	size_t steerings, steering_capacity;
	struct clock_claim *claim; /* by ascending realtime_ns */
	size_t count, capacity;
	uint64_t unbounded;      /* further answers with an offset at most, no bound */
	uint64_t unsynchronized; /* further answers that the clock follows nothing */
};

struct node_claims {
	struct clock_claims *source;
	size_t sources, capacity;
};

/* Return true if claims are a server's, or those of another clock, not the daemon's own.
 */
bool claims_are_of_server(const char *source);

/*
 * Read the files of claims that a node's directory contains. The claims need no init, and
 * are to be cleared.
 */
void node_claims_read(struct node_claims *claims, const char *directory,
		      struct problem_list *problems);

/* Return the claims as JSON, for a .packets file; the caller releases it. */
json_t *node_claims_array(const struct node_claims *claims);

/* Read what node_claims_array() made; rows that are invalid are skipped. As
 * node_claims_read(). */
void node_claims_parse(struct node_claims *claims, const json_t *array);

void node_claims_clear(struct node_claims *claims);

#endif
