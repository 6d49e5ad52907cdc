/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_INSERT_BARE_H
#define CT_TESTS_BENCH_INSERT_BARE_H

#include "base/error.h"

struct insert_timing {
	double load, finish; /* seconds */
};

/* The settings of the timeline's writer. */
#define INSERT_SETTINGS                                                                  \
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"                           \
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8192;"                    \
	"PRAGMA secure_delete = OFF;"

/* Settings to try. */
struct insert_variant {
	const char *name, *settings; /* SQL, or "" */
	int sorted;                  /* make the index of stamps when all is loaded */
};

/*
 * The bare loop: a prepared statement a table, bound and stepped for every
 * row, and nothing else; tables, rows and indexes are the writer's.
 */
int insert_bare(const char *path, long events, const struct insert_variant *variant,
		struct insert_timing *timing, struct error *error);

double insert_now(void);

#endif
