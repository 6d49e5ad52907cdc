/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_RACE_H
#define CT_TESTS_BENCH_RACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"

/*
 * Commands that do the same work, each run several times, in turns, so that
 * what else the machine does meets all of them.
 */
struct contender {
	const char *what;       /* what it is called in the table; borrowed */
	struct text_list words; /* the command, filled by the caller */
	uint64_t items;         /* worked on in each run */
	double *wall_s;         /* a run each, by size once all were run */
	double cpu_s;           /* at least */
	long peak_kib;          /* at most */
};

enum { MOST_CONTENDERS = 8 };

struct race {
	struct contender contender[MOST_CONTENDERS];
	size_t count;
	int repeats;
	void (*before)(void *context); /* each run; NULL: nothing */
	void *context;
};

void race_init(struct race *race, int repeats);

/* A new contender, whose words are to be filled. At most MOST_CONTENDERS. */
struct contender *race_enter(struct race *race, const char *what, uint64_t items);

/* Run them all. 0, or -1 with error where one fails. */
int race_run(struct race *race, struct error *error);

/* A line each; ratios of the first one's best run to everyone's. */
void race_print(const struct race *race, const char *items);

void race_clear(struct race *race);

#endif
