/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_REPORT_H
#define CT_EXPORT_OPENDC_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a check found: how often, and the first few in words. */
enum { REPORT_EXAMPLES = 3 };

enum report_severity { REPORT_ERROR, REPORT_WARNING };

struct report_item {
	enum report_severity severity;
	const char *check; /* a word or two, the same for all of its sort */
	uint64_t count;
	char *example[REPORT_EXAMPLES];
};

struct report {
	struct report_item *item;
	size_t items, room;
	/* What was checked. */
	const char *directory;
	const char *format; /* "parquet" or "csv" */
	int schema;
	uint64_t tasks, fragments;
};

/* Add a finding; `check` is a constant. */
void report_add(struct report *report, enum report_severity severity, const char *check,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* How many findings there are of a severity. */
uint64_t report_count(const struct report *report, enum report_severity severity);

void report_print(const struct report *report, bool json, FILE *out);

void report_clear(struct report *report);

#endif
