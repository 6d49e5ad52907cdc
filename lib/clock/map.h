/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CLOCK_MAP_H
#define CT_CLOCK_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "clock/clock.h"

/*
 * The clock map: the results of ctsync on the clocks of a run, and their file format
 * (docs/formats.md).
 */

/* A connected component of the graph of clocks and their messages. */
struct clock_island {
	char *reference;
	char **trace; /* names, including the reference's */
	size_t traces;
};

/* The relation of two traces by their messages; a and b are names. */
struct clock_pair {
	char *a, *b;
	uint64_t messages_ab, messages_ba;
	uint64_t rejected;         /* mismatched messages, not counted above */
	uint64_t hull_ab, hull_ba; /* points of each direction's hull */
	enum clock_quality quality;
	/* Messages received before they were sent, by the clocks before and after the
	 * correction. */
	uint64_t violations_before, violations_after;
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* corrected; NSEC_MAX if unknown */
};

/* The difference of b's clock minus a's from a local time of b on, with its bounds. */
struct clock_offset {
	nsec_t local_ns, offset_ns;
	nsec_t low_ns, high_ns;
};

/* The tie of two sources on one host, whose clocks differ by an offset that changes only
 * when b's clock is stepped. */
struct clock_tie {
	char *a, *b;
	uint64_t packets;  /* number of packets that support it */
	uint64_t rejected; /* number of packets that contradict these */
	uint64_t samples;  /* number of clock.csv samples used instead of packets */
	struct clock_offset *offset;
	size_t offsets; /* at least 1, by ascending local_ns */
};

/* The clock that stamps a capture's received packets. At local_ns of the trace's clock it
 * leads that one by ahead_ns, or by up to high_ns more. */
struct clock_second {
	char *trace, *scale; /* "TAI" or "GPS", or "" if it runs freely */
	nsec_t local_ns, ahead_ns, high_ns;
	double fast_ppb; /* faster than the trace's clock; 0 if unclear */
};

/* A daemon's claims on its node's real-time clock, and what packets prove of them. */
struct clock_claim_test {
	char *node, *source;
	uint64_t claims;                    /* answers with a bound */
	uint64_t unbounded, unsynchronized; /* answers without one, or of a clock that
					       follows nothing */
	uint64_t placed;       /* claims that the map and clock.csv relate to the axis;
				  not in the file */
	uint64_t tested;       /* claims at whose time another node claims something */
	uint64_t contradicted; /* by more than half of the nodes, and packets */
	uint64_t disputed;     /* by others, but it is open which claim is wrong */
	nsec_t bound_ns;       /* median; NSEC_MAX if there is no claim */
	/* The worst: packets prove that the node is at least so far off another one, and
	 * both claim at most `allowed_ns`. If there is none, `other` is NULL, and the
	 * times are NSEC_MAX. */
	char *other;
	nsec_t at_ns; /* by the node's real-time clock */
	nsec_t apart_ns, allowed_ns;
};

/* A step, a slew or a change of rate of a clock that a daemon's steering explains. */
struct clock_explanation {
	char *trace, *by;     /* the clock, and the daemon, such as "chrony" */
	const char *what;     /* "step", "slew" or "rate" */
	nsec_t local_ns;      /* its beginning, as in the clock */
	nsec_t frequency_ppb; /* what the daemon added to the rate; NSEC_MAX: unknown */
	nsec_t offset_ns;     /* what the clock gained by the daemon; NSEC_MAX: unknown */
};

/*
 * The limits of a clock's bounds at the time of the table's offset: of the messages that
 * it sent and of those that it received, the one that bounds it most. Spans are NSEC_MAX
 * if there is no message in the direction.
 */
struct clock_limit {
	char *trace;
	nsec_t at_ns; /* local time; NSEC_MAX if the trace has no events */
	char *sent_to, *received_from;               /* traces, or NULL */
	nsec_t sent_latency_ns, received_latency_ns; /* corrected */
	nsec_t sent_away_ns, received_away_ns; /* from at_ns; the past is positive */
	/* Parts of the bounds' width besides the latencies: by the drift limit from these
	 * messages to at_ns, and by the bounds of the other two clocks. */
	nsec_t drift_ns, others_ns;
	const char *help; /* what would help: a word of docs/formats.md, or "" */
};

struct clock_matching {
	uint64_t sent, received; /* packet events */
	uint64_t matched;        /* messages */
	uint64_t ambiguous;      /* packet events with a repeated identity, not used */
	uint64_t unmatched_sent, unmatched_received;
	uint64_t inside; /* packet events within a host, explained by others */
};

struct clock_map {
	char *reference; /* reference of the first island, which is the largest */
	/* Every corrected time of the first island is within this of UTC; NSEC_MAX if
	 * some bound is open, 0 if its reference is not UTC. */
	nsec_t utc_bound_ns;
	nsec_t utc_median_bound_ns; /* the median of the bounds of its clocks, likewise */
	struct clock_island *island;
	size_t islands;
	struct clock *clock;
	size_t clocks;
	struct clock_pair *pair;
	size_t pairs;
	struct clock_tie *tie; /* written, but not read back */
	size_t ties;
	struct clock_second *second; /* written, but not read back */
	size_t seconds;
	struct clock_claim_test *claim;
	size_t claims;
	struct clock_explanation *steering; /* written, but not read back */
	size_t steerings, steering_capacity;
	struct clock_limit *limit; /* written, but not read back */
	size_t limits;
	struct clock_matching matching;
};

/* The clock that claims of clock daemons make: its name; it has no path. */
#define CLOCK_UTC "UTC"
bool clock_is_utc(const struct clock *clock);

/* Write the map as JSON; equal maps give equal bytes. Errors are left in `file`. */
void clock_map_write(const struct clock_map *map, FILE *file);

/* Read a map from JSON. Return 0, or -1 with error, which names the file and the member.
 */
int clock_map_read(struct clock_map *map, const char *path, struct error *error);

/*
 * Return a hash that identifies the fit, so that files made with the same fit can be
 * matched. It covers the clocks, their corrections, and the message counts of the pairs,
 * and stays the same when the map is written and read.
 */
uint64_t clock_map_fingerprint(const struct clock_map *map);

/* Return the clock of that name, or NULL. */
const struct clock *clock_map_find(const struct clock_map *map, const char *trace);

void clock_map_clear(struct clock_map *map);

#endif
