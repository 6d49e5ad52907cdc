/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/statements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/query.h"

static const char mark[] = "\n--- ";

bool statement_next(const char **at, struct statement *statement)
{
	static const char table[] = "table ";
	const char *begin = strstr(*at, mark), *end;
	char *open;

	if (!begin)
		return false;
	begin += strlen(mark);
	end = strchr(begin, '\n');
	*at = strstr(end, mark);
	if (!*at)
		*at = end + strlen(end);
	*statement = (struct statement){
	    .name = mem_strndup(begin, (size_t)(end - begin)),
	    .sql = mem_strndup(end, (size_t)(*at - end)),
	};
	if (strncmp(statement->name, table, strlen(table)) != 0)
		return true;
	statement->table = statement->name + strlen(table);
	open = strstr(statement->table, " (");
	if (open) {
		*open = '\0';
		statement->index = open + strlen(" (");
		statement->index[strcspn(statement->index, ")")] = '\0';
	}
	return true;
}

void statement_clear(struct statement *statement)
{
	free(statement->name);
	free(statement->sql);
}

int statement_tables(struct timeline_reader *timeline, const char *file,
		     const char *prefix, const struct cell *value, struct error *error)
{
	struct statement statement;
	int status = 0;

	while (!status && statement_next(&file, &statement)) {
		const struct timeline_temporary table = {statement.table, statement.sql,
							 value, statement.index};

		if (table.name && strncmp(table.name, prefix, strlen(prefix)) == 0)
			status = timeline_reader_keep(timeline, &table, error);
		statement_clear(&statement);
	}
	return status;
}

int statement_chosen(const struct export *export, struct error *error)
{
	const struct scope *scope = &export->scope;
	char *ids;
	size_t size;
	FILE *out = open_memstream(&ids, &size);
	int any = 0;
	struct cell value = {.type = CELL_TEXT};
	const struct timeline_temporary table = {
	    .name = "chosen",
	    .sql = "SELECT id, name, id IN (SELECT value FROM json_each(?1)) AS chosen "
		   "FROM node",
	    .value = &value,
	    .index = "id"};
	int status;

	putc('[', out);
	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen)
			fprintf(out, "%s%" PRId64, any++ ? "," : "", scope->node[i].id);
	putc(']', out);
	fclose(out);
	cell_set_bytes(&value, CELL_TEXT, ids, size);
	status = timeline_reader_keep(export->timeline, &table, error);
	free(ids);
	return status;
}
