/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SELECT_H
#define CT_TEST_SELECT_H

/* Fields of the event classes of a trace. */
#include <string.h>

#include "test.h"
#include "trace/reader.h"

/* All classes of this name; NULL: every class. Their events, and so many fields. */
static inline void select_fields(struct trace_reader *reader, const char *name,
				 const char *const *field, size_t fields)
{
	const struct trace_selection selection = {SELECT_FIELDS, field, fields,
						  TRACE_NEEDED};
	const struct trace_class *class;

	for (uint32_t i = 0; (class = trace_reader_class(reader, i)); i++)
		if (!name || strcmp(class->name, name) == 0)
			trace_reader_select(reader, i, &selection);
}

static inline struct trace_reader *open_reader(const char *trace_path)
{
	struct error error = ERROR_INIT;
	struct trace_reader *reader = trace_reader_open(trace_path, &error);

	assert_string_equal(error_text(&error), "");
	return reader;
}

/* Every event of every class with all of its columns; NULL stays that. */
static inline struct trace_reader *with_columns(struct trace_reader *reader)
{
	const struct trace_selection selection = {.what = SELECT_COLUMNS};

	for (uint32_t i = 0; reader && trace_reader_columns(reader, i); i++)
		trace_reader_select(reader, i, &selection);
	return reader;
}

static inline struct trace_reader *open_columns(const char *trace_path,
						struct error *error)
{
	return with_columns(trace_reader_open(trace_path, error));
}

#endif
