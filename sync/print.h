/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PRINT_H
#define CT_SYNC_PRINT_H

#include <stdio.h>

#include "clock/map.h"
#include "sync/sync.h"

/*
 * Return the local time at which the table has a clock's offset: the middle, unless a
 * step leaves it open there, as the clock never showed that time or showed it twice.
 */
nsec_t offset_time(const struct synchronization *sync, const struct clock *clock);

/* Print a line per trace. Times of day are UTC, or local. */
void print_clocks(const struct synchronization *sync, const struct clock_map *map,
		  bool is_local, FILE *file);

/* Print a line per pair. */
void print_pairs(const struct clock_map *map, FILE *file);

/* Print what limits the bounds of each clock, if that was found. */
void print_limits(const struct clock_map *map, FILE *file);

/* Print counts of matched and unmatched packets, and the islands if there are several. */
void print_matching(const struct synchronization *sync, const struct clock_map *map,
		    FILE *file);

/* Print the messages that were left out as false, up to a limit. Return 0, or -1 with
 * error. */
int print_rejected(const struct network *net, FILE *file, struct error *error);

#endif
