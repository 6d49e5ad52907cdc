/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CLOCK_MAP_H
#define CT_CLOCK_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "clock/clock.h"

/*
 * The clock map: what ctsync found out about the clocks of a run, and its
 * file format (docs/formats.md).
 */
struct clock_island {
	char *reference;
	char **trace; /* names, the reference among them */
	size_t traces;
};

/* What two traces' messages say of each other; a and b are names. */
struct clock_pair {
	char *a, *b;
	uint64_t messages_ab, messages_ba;
	uint64_t rejected;         /* false matches left out */
	uint64_t hull_ab, hull_ba; /* points left of each direction's hull */
	enum clock_quality quality;
	uint64_t violations_before, violations_after; /* received before sent */
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* corrected; NSEC_MAX: no message */
};

/* From a local time of b on, b's clock less a's, and how far that may be off. */
struct clock_offset {
	nsec_t local_ns, offset_ns;
	nsec_t low_ns, high_ns;
};

/* Two sources of one host, whose clocks differ by what steps of b's change alone. */
struct clock_tie {
	char *a, *b;
	uint64_t packets;  /* that tell of it */
	uint64_t rejected; /* that contradict these */
	uint64_t samples;  /* of clock.csv that it follows from instead */
	struct clock_offset *offset;
	size_t offsets; /* at least 1, by ascending local_ns */
};

struct clock_matching {
	uint64_t sent, received; /* packets seen */
	uint64_t matched;        /* messages */
	uint64_t ambiguous;      /* repeats of an identity, not used */
	uint64_t unmatched_sent, unmatched_received;
	uint64_t inside; /* on their way within a host, of which others tell more */
};

struct clock_map {
	char *reference; /* of the first, the largest island */
	struct clock_island *island;
	size_t islands;
	struct clock *clock;
	size_t clocks;
	struct clock_pair *pair;
	size_t pairs;
	struct clock_tie *tie; /* written, but not read back */
	size_t ties;
	struct clock_matching matching;
};

/* Write the map as JSON, deterministic to the byte; I/O errors stay in file. */
void clock_map_write(const struct clock_map *map, FILE *file);

/* Read a map from JSON. 0, or -1 with error, which names the file and member. */
int clock_map_read(struct clock_map *map, const char *path, struct error *error);

/*
 * A number by which files that were made of one fit tell whether they belong together:
 * of its clocks, their corrections, and how many messages the pairs have. The same of a
 * map that was read again.
 */
uint64_t clock_map_fingerprint(const struct clock_map *map);

/* The clock of that name, or NULL. */
const struct clock *clock_map_find(const struct clock_map *map, const char *trace);

void clock_map_clear(struct clock_map *map);

#endif
