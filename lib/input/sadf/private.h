/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_PRIVATE_H
#define CT_INPUT_SADF_PRIVATE_H

/* For those who read the lines of sadf: its two forms share this. */
#include <stdbool.h>

#include "base/intmap.h"
#include "input/lines.h"
#include "input/sadf/sadf.h"

struct sadf_reader {
	const struct sadf_sink *sink;
	struct faults *faults;
	struct sadf_metrics *metrics;
	const char *activity;   /* of the row before, or NULL */
	struct intmap comments; /* by their hash: handed on already */
	uint64_t rows;          /* and marks */
	/* Of the table that is read, in which `columns` is 0 if there is none: */
	char *header; /* cut into its columns */
	char **column;
	size_t columns, room;
};

/* What every line begins with. */
struct sadf_head {
	char *host, *interval, *stamp;
};

/* Fill a row's stamps. False, with a fault, where they are none. */
bool sadf_stamps(struct sadf_reader *reader, const struct sadf_head *head,
		 struct sadf_row *row);

/* Complete a row by its item, metric and text, and hand it on. */
int sadf_value(struct sadf_reader *reader, struct sadf_row *row);

/*
 * The tables of sadf -d: a header, "# hostname;interval;timestamp;CPU;%usr;..",
 * and a line of values for each stamp and item, here from behind the stamp.
 */
void sadf_table_header(struct sadf_reader *reader, const struct line *line);
int sadf_table_values(struct sadf_reader *reader, struct sadf_row *row, char *text);

/* Read all lines. */
int sadf_read_lines(struct lines *lines, const struct sadf_sink *sink,
		    struct faults *faults);

#endif
