/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int query_rows(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_take *take, void *context,
	       struct error *error)
{
	struct timeline_query *query = timeline_query_new(timeline, sql, error);
	int more = -1;

	if (query && timeline_query_ask(query, value, timeline_query_parameters(query),
					error) == 0)
		while ((more = timeline_query_next(query, error)) > 0)
			if (take(context, timeline_query_row(query), error)) {
				more = -1;
				break;
			}
	timeline_query_free(query);
	return more;
}

struct one_integer {
	int64_t *integer;
	int found;
};

static int take_integer(void *context, const struct cell *row, struct error *error)
{
	struct one_integer *one = context;

	(void)error;
	if (!one->found && row->type == CELL_INTEGER) {
		*one->integer = row->integer;
		one->found = 1;
	}
	return 0;
}

int query_integer(struct timeline_reader *timeline, const char *sql,
		  const struct cell *value, int64_t *integer, struct error *error)
{
	struct one_integer one = {.integer = integer};

	return query_rows(timeline, sql, value, take_integer, &one, error) ? -1
									   : one.found;
}

static int add_text(void *context, const struct cell *row, struct error *error)
{
	AUTOFREE char *text = cell_text(row);

	(void)error;
	text_list_add(context, text);
	return 0;
}

int query_texts(struct timeline_reader *timeline, const char *sql,
		const struct cell *value, struct text_list *texts, struct error *error)
{
	return query_rows(timeline, sql, value, add_text, texts, error);
}

int64_t cell_integer(const struct cell *cell, int64_t otherwise)
{
	return cell->type == CELL_INTEGER ? cell->integer : otherwise;
}

double cell_number(const struct cell *cell)
{
	return cell->type == CELL_REAL      ? cell->real
	       : cell->type == CELL_INTEGER ? (double)cell->integer
					    : (double)NAN;
}

char *cell_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}
