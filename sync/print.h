/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PRINT_H
#define CT_SYNC_PRINT_H

#include <stdio.h>

#include "sync/sync.h"

/* What ctsync prints for people: a line a clock. Times of day are UTC, or local. */
void print_clocks(const struct sync *sync, const struct clock_map *map, bool is_local,
		  FILE *file);

/* A line a pair. */
void print_pairs(const struct clock_map *map, FILE *file);

/* What was matched and what was not; islands, when there are several. */
void print_matching(const struct sync *sync, const struct clock_map *map, FILE *file);

/* The messages left out as false, at most so many. 0, or -1 with error. */
int print_rejected(struct sync *sync, FILE *file, struct error *error);

#endif
