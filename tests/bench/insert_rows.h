/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_INSERT_ROWS_H
#define CT_TESTS_BENCH_INSERT_ROWS_H

#include "timeline/writer.h"

enum { INSERT_CLASSES = 14, INSERT_COLUMNS = 40, INSERT_NODES = 3 };

/* What an event of a class is made of, a letter a column; see insert_rows.c. */
struct insert_class {
	const char *name;
	int share; /* in events of all */
	const char *columns;
};

extern const struct insert_class insert_class[INSERT_CLASSES];

/* Makes events, the same ones each time, in order of time. Zeroed, then _init. */
struct insert_rows {
	uint64_t state;
	nsec_t now_ns;
	struct cell cell[INSERT_COLUMNS];
	unsigned char pick[128];
	int picks;
};

void insert_rows_init(struct insert_rows *rows);

/* The next event; its class is an index from 0, its cells are good until the next. */
void insert_rows_next(struct insert_rows *rows, struct timeline_event *event);

/* The columns of a class, for the writer and for the bare loop. Returns how many. */
size_t insert_columns(const struct insert_class *class,
		      struct timeline_column column[INSERT_COLUMNS],
		      char name[INSERT_COLUMNS][24]);

#endif
