/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SELECT_H
#define CT_TEST_SELECT_H

/* Fields of the event classes of a trace. To be included behind cmocka.h. */
#include <string.h>

#include "trace/reader.h"

/* All classes of this name; NULL: every class. Their events, and so many fields. */
static inline void select_fields(struct ctf_reader *reader, const char *name,
				 const char *const *field, size_t fields)
{
	const struct ctf_selection selection = {SELECT_FIELDS, field, fields, CTF_NEEDED};
	const struct ctf_class *class;

	for (uint32_t i = 0; (class = ctf_reader_class(reader, i)); i++)
		if (!name || strcmp(class->name, name) == 0)
			ctf_reader_select(reader, i, &selection);
}

static inline struct ctf_reader *open_reader(const char *trace_path,
					     enum ctf_reader_kind kind)
{
	struct error error = ERROR_INIT;
	struct ctf_reader *reader = ctf_reader_open(trace_path, kind, &error);

	assert_string_equal(error_text(&error), "");
	return reader;
}

/* Every event of every class with all of its columns; NULL stays that. */
static inline struct ctf_reader *with_columns(struct ctf_reader *reader)
{
	const struct ctf_selection selection = {.what = SELECT_COLUMNS};

	for (uint32_t i = 0; reader && ctf_reader_columns(reader, i); i++)
		ctf_reader_select(reader, i, &selection);
	return reader;
}

static inline struct ctf_reader *
open_columns(const char *trace_path, enum ctf_reader_kind kind, struct error *error)
{
	return with_columns(ctf_reader_open(trace_path, kind, error));
}

#endif
