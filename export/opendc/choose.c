/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "export/opendc/opendc.h"
#include "export/opendc/schema.h"

enum { BYTES_PER_KB = 1000, MS_PER_S = 1000 };

static const char *const kind_names[] = {"invocation", "process", "cgroup", "session",
					 "comm"};
static const char *const capacity_names[] = {"max", "p95", "allocated"};
static const char *const schema_names[] = {"v1", "v2", "v3", "v4", "v5"};
static const char *const format_names[] = {"parquet", "csv"};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

const char *opendc_kind_name(enum opendc_kind kind)
{
	return kind < OPENDC_ANY ? kind_names[kind] : "task";
}

/* "--tasks: want a, b or c". */
static int find(const char *option, const char *word, const char *const *names,
		size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, names[i]) == 0)
			return (int)i;
	error_set(error, "--%s: '%s', want %s", option, word, names[0]);
	for (size_t i = 1; i < count; i++) {
		struct error longer = ERROR_INIT;

		error_set(&longer, "%s%s%s", error_text(error),
			  i + 1 == count ? " or " : ", ", names[i]);
		error_clear(error);
		*error = longer;
	}
	return -1;
}

static int choose_words(const struct opendc_options *options,
			struct opendc_choice *choice, struct error *error)
{
	int kind = OPENDC_ANY, capacity = OPENDC_MAX, csv = 0;
	int schema = OPENDC_LAST_SCHEMA - 1;

	if (options->tasks)
		kind =
		    find("tasks", options->tasks, kind_names, COUNT(kind_names), error);
	if (kind >= 0 && options->capacity)
		capacity = find("capacity", options->capacity, capacity_names,
				COUNT(capacity_names), error);
	if (kind < 0 || capacity < 0)
		return -1;
	if (options->schema) {
		schema = find("schema", options->schema, schema_names,
			      COUNT(schema_names), error);
		if (schema < 0)
			return -1;
	}
	if (options->format)
		csv = find("format", options->format, format_names, COUNT(format_names),
			   error);
	if (csv < 0)
		return -1;
	choice->kind = (enum opendc_kind)kind;
	choice->capacity = (enum opendc_capacity)capacity;
	choice->schema = schema + 1;
	choice->csv = csv;
	return 0;
}

int opendc_choose(const struct opendc_options *options, struct opendc_choice *choice,
		  struct error *error)
{
	double interval_ms = options->interval_s * MS_PER_S;

	*choice = (struct opendc_choice){
	    .cpu_mhz = options->cpu_mhz,
	    .memory_kb = ((int64_t)options->memory_mib * 1024 * 1024 + BYTES_PER_KB - 1) /
			 BYTES_PER_KB,
	    .interval_ms = llround(interval_ms),
	    .kernel_threads = !options->no_kernel_threads,
	    .parents = !options->no_parents,
	};
	if (choose_words(options, choice, error))
		return -1;
	if (fabs(interval_ms - (double)choice->interval_ms) > 1e-6)
		return error_set(error,
				 "--interval: %g s, want a whole number of "
				 "milliseconds",
				 options->interval_s);
	return 0;
}
