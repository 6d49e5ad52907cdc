/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_CSV_READ_H
#define CT_EXPORT_CSV_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Records of comma separated values (RFC 4180), with line ends of any sort. */
struct csv_reader;

struct csv_field {
	const char *text; /* ends with a 0; good until the next record */
	size_t size;
	bool quoted;
};

enum { CSV_LONGEST_RECORD = 1 << 26 }; /* bytes */

/* NULL with error. */
struct csv_reader *csv_reader_open(const char *path, struct error *error);

/* The next record: 1, or 0 at the end, or -1 with error. Empty lines are passed over. */
int csv_reader_next(struct csv_reader *reader, struct error *error);

size_t csv_reader_fields(const struct csv_reader *reader);
const struct csv_field *csv_reader_field(const struct csv_reader *reader, size_t field);

/* The line on which the last record began, from 1. */
uint64_t csv_reader_line(const struct csv_reader *reader);

void csv_reader_free(struct csv_reader *reader);

#endif
