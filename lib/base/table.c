/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <libsmartcols.h>
#include <stdlib.h>

#include "base/mem.h"

struct table {
	struct libscols_table *scols;
	size_t columns;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *table = mem_zalloc(sizeof(*table));

	table->scols = scols_new_table();
	table->columns = count;
	for (size_t i = 0; i < count; i++)
		scols_table_new_column(table->scols, columns[i].title, 0,
				       columns[i].right ? SCOLS_FL_RIGHT : 0);
	return table;
}

void table_add(struct table *table, const char *const *texts)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);

	for (size_t i = 0; i < table->columns; i++)
		scols_line_set_data(line, i, texts[i]);
}

void table_print(const struct table *table, FILE *file)
{
	scols_table_set_stream(table->scols, file);
	/* Never cut a number to the width of a terminal. */
	scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_NEVER);
	scols_print_table(table->scols);
	fflush(file);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}

const char *table_library_version(void)
{
	const char *version = "";

	scols_get_library_version(&version);
	return version;
}
