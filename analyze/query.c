/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/query_groups.h"
#include "analyze/query_tables.h"
#include "analyze/query_values.h"
#include "base/mem.h"

/* A relation that statements may name: of the file, relations.sql, or the options. */
struct relation {
	const struct query_file *file; /* where its text stands; NULL: of the options */
	const char *name, *sql, *index;
	size_t line;
	bool is_temporary, is_wanted;
};

/* An analysis of one timeline on its way. */
struct query {
	struct question *question;
	const struct query_file *file;
	struct query_file *shared; /* relations.sql */
	struct query_values values;
	char *default_group; /* NULL: the user named one, or there is none */
	struct relation *relation;
	size_t relations, relation_room;
	struct error *error;
};

/* What is asked of a statement, in one dialect. */
struct statement {
	char *text;
	size_t lines; /* before its own first one */
	const struct query_file *file;
	size_t line; /* of its file */
};

static void add_relation(struct query *query, const struct relation *relation)
{
	query->relation = mem_grow(query->relation, query->relations,
				   &query->relation_room, sizeof(*query->relation));
	query->relation[query->relations++] = *relation;
}

static void add_blocks(struct query *query, const struct query_file *file)
{
	for (size_t i = 0; i < file->blocks; i++) {
		const struct query_block *block = &file->block[i];
		bool is_kept = block->kind == QUERY_TEMPORARY;

		if (is_kept || block->kind == QUERY_WITH)
			add_relation(query, &(struct relation){.file = file,
							       .name = block->name,
							       .sql = block->sql,
							       .index = block->index,
							       .line = block->line,
							       .is_temporary = is_kept});
	}
}

/* Whether a table is asked for by name, form, group and interval; or a note. */
static bool is_asked(const struct query *query, const struct query_block *block,
		     const struct query_table *table)
{
	const struct question *question = query->question;
	const char *tables = block->kind == QUERY_NOTES ? NULL : question->tables;

	return (!tables || query_words_have(tables, table->key)) &&
	       (!table->forms || (table->forms & question->forms)) &&
	       (!table->groups || query_words_have(table->groups, question->group)) &&
	       (!table->of_interval || question->request->interval_ns);
}

static bool is_block_asked(const struct query *query, const struct query_block *block)
{
	bool is_any = block->kind == QUERY_TABLE || block->kind == QUERY_NOTES;

	for (size_t i = 0; is_any && i < block->tables; i++)
		if (is_asked(query, block, &block->table[i]))
			return true;
	return false;
}

/* What a text names of the first `count` relations, and these of the earlier ones. `all`:
 * also what only those name that are kept when it is run. */
static void want_relations(const struct query *query, const char *text, size_t count,
			   bool all, bool *wanted)
{
	for (size_t i = count; i-- > 0;) {
		bool is_named = sql_has_word(text, query->relation[i].name);

		for (size_t k = i + 1; k < count && !is_named; k++)
			is_named =
			    wanted[k] && (all || !query->relation[k].is_temporary) &&
			    sql_has_word(query->relation[k].sql, query->relation[i].name);
		wanted[i] |= is_named;
	}
}

static size_t count_lines(const char *text, size_t length)
{
	size_t lines = 0;

	while (length--)
		lines += *text++ == '\n';
	return lines;
}

static const struct cell *literal(void *context, const char *name)
{
	return query_values_find(context, name);
}

/* A statement with those of the first `count` relations that it names; with values? */
static struct statement assemble(struct query *query, const char *sql, size_t count,
				 enum sql_dialect dialect, bool print)
{
	bool *wanted = mem_zalloc((query->relations + 1) * sizeof(*wanted));
	bool is_recursive = !strncmp(sql, "WITH RECURSIVE", 14);
	bool has_with = !strncmp(sql, "WITH", 4) && strchr(" \t\n", sql[4]);
	struct statement statement = {.lines = 0};
	sql_value *value = print ? literal : NULL;
	const char *before = is_recursive ? "WITH RECURSIVE " : "WITH ";
	size_t size, begin;
	FILE *file = open_memstream(&statement.text, &size);

	want_relations(query, sql, count, false, wanted);
	for (size_t i = 0; i < query->relations; i++) {
		const struct relation *relation = &query->relation[i];

		if (!wanted[i] || relation->is_temporary)
			continue;
		fprintf(file, "%s%s AS (\n", before, relation->name);
		sql_write(file, relation->sql, dialect, value, &query->values);
		fputs(")", file);
		before = ",\n";
	}
	if (has_with && *before == ',') {
		fputs(",\n", file);
		sql += is_recursive ? 14 : 5;
	} else if (*before == ',') {
		fputs("\n", file);
	}
	fflush(file);
	begin = size;
	sql_write(file, sql, dialect, value, &query->values);
	fclose(file);
	statement.lines = count_lines(statement.text, begin);
	free(wanted);
	return statement;
}

/* "FILE:LINE: what": the line that byte `at` of the statement is in. */
static int error_at(const struct statement *statement, long at, struct error *error)
{
	size_t line;

	if (!statement->file || at < 0)
		return error_prefix(
		    error, "%s", statement->file ? statement->file->path : "the options");
	line = count_lines(statement->text, (size_t)at);
	return error_prefix(error, "%s:%zu", statement->file->path,
			    statement->line +
				(line > statement->lines ? line - statement->lines : 0));
}

static struct timeline_query *prepare_text(struct query *query,
					   const struct statement *statement)
{
	long at;
	struct timeline_query *rows = timeline_query_new_user(
	    query->question->reader, statement->text, &at, query->error);

	if (!rows)
		error_at(statement, at, query->error);
	return rows;
}

/* With its values, for free(), and with its groups summed up already, where that can be
 * done without SQLite. NULL with error. */
static struct timeline_query *prepare(struct query *query, struct statement *statement,
				      struct cell **value)
{
	struct timeline_query *rows = prepare_text(query, statement);

	*value = NULL;
	if (rows &&
	    query_groups_run(&statement->text, query->question->reader, &query->values)) {
		timeline_query_free(rows);
		rows = prepare_text(query, statement);
	}
	if (!rows)
		return NULL;
	*value = query_values_of(&query->values, rows, query->error);
	if (*value)
		return rows;
	if (statement->file)
		error_prefix(query->error, "%s", statement->file->path);
	timeline_query_free(rows);
	return NULL;
}

/* Compute a temporary relation. */
static int keep_relation(struct query *query, const struct relation *relation)
{
	struct statement statement =
	    assemble(query, relation->sql, (size_t)(relation - query->relation),
		     SQL_SQLITE, false);
	struct timeline_query *rows;
	struct cell *value;
	int status = -1;

	statement.file = relation->file;
	statement.line = relation->line;
	rows = prepare(query, &statement, &value);
	if (rows) {
		const struct timeline_temporary table = {.name = relation->name,
							 .sql = statement.text,
							 .value = value,
							 .index = relation->index};

		status =
		    timeline_reader_keep(query->question->reader, &table, query->error);
		if (status)
			error_at(&statement, -1, query->error);
	}
	timeline_query_free(rows);
	free(value);
	free(statement.text);
	return status;
}

static const struct query_column *find_column(const struct query_block *block,
					      const char *key)
{
	for (size_t i = 0; i < block->columns; i++)
		if (!strcmp(block->column[i].key, key))
			return &block->column[i];
	return NULL;
}

/* The tables of a block that rows go to, and which columns. */
struct filling {
	const struct query_block *block;
	struct result_table **table;
	size_t tables;
	size_t *place; /* of the columns that are shown, in a row */
	struct cell *cell;
	size_t columns;
};

/* Tables are made when the first row, or NULL, tells of units. */
static void make_tables(struct query *query, struct filling *filling,
			struct timeline_query *rows, const struct cell *row,
			struct result *result)
{
	const struct query_block *block = filling->block;
	size_t count = timeline_query_columns(rows);
	struct result_column *column = mem_zalloc((count + 1) * sizeof(*column));

	filling->place = mem_zalloc((count + 1) * sizeof(*filling->place));
	filling->cell = mem_zalloc((count + 1) * sizeof(*filling->cell));
	filling->table = mem_zalloc(block->tables * sizeof(struct result_table *));
	for (size_t i = 0; i < count; i++) {
		const char *key = timeline_query_name(rows, i);
		const struct query_column *told = find_column(block, key);

		if (told && told->groups &&
		    !query_words_have(told->groups, query->question->group))
			continue;
		column[filling->columns] = (struct result_column){
		    key, told ? told->title : key,
		    told ? told->unit : unit_guess(key, row ? &row[i] : NULL)};
		filling->place[filling->columns++] = i;
	}
	for (size_t i = 0; i < block->tables; i++) {
		const struct query_table *told = &block->table[i];
		struct result_table *table;

		if (!is_asked(query, block, told))
			continue;
		table = result_table_new(result, told->key, told->title, column);
		if (told->sort)
			result_table_sort(table, told->sort);
		if (told->limit)
			result_table_limit(table, (size_t)told->limit);
		filling->table[filling->tables++] = table;
	}
	free(column);
}

/* A column that the header names must come. */
static int check_columns(const struct query_file *file, const struct query_block *block,
			 struct timeline_query *rows, struct error *error)
{
	for (size_t k = 0; k < block->columns; k++) {
		bool found = false;

		for (size_t i = 0; i < timeline_query_columns(rows) && !found; i++)
			found =
			    !strcmp(timeline_query_name(rows, i), block->column[k].key);
		if (!found)
			return error_set(error,
					 "%s: the header has a column '%s' that the "
					 "SELECT has not",
					 file->path, block->column[k].key);
	}
	return 0;
}

static int fill_tables(struct query *query, const struct query_block *block,
		       struct timeline_query *rows, struct result *result)
{
	struct filling filling = {.block = block};
	int more = check_columns(query->file, block, rows, query->error);

	while (!more && (more = timeline_query_next(rows, query->error)) > 0) {
		const struct cell *row = timeline_query_row(rows);

		if (!filling.table)
			make_tables(query, &filling, rows, row, result);
		for (size_t i = 0; i < filling.columns; i++)
			filling.cell[i] = row[filling.place[i]];
		for (size_t i = 0; i < filling.tables; i++)
			result_add(filling.table[i], filling.cell);
		more = 0;
	}
	if (!more && !filling.table)
		make_tables(query, &filling, rows, NULL, result);
	free(filling.table);
	free(filling.place);
	free(filling.cell);
	return more;
}

static int add_notes(struct query *query, struct timeline_query *rows,
		     struct result *result)
{
	int more;

	while ((more = timeline_query_next(rows, query->error)) > 0) {
		const struct cell *row = timeline_query_row(rows);

		if (row[0].type == CELL_TEXT)
			result_note(result, "%.*s", (int)row[0].size, row[0].bytes);
	}
	return more;
}

/* The relations that are made once, in a dialect. */
static void print_relations(struct query *query, enum sql_dialect dialect, FILE *file)
{
	for (size_t i = 0; i < query->relations; i++) {
		const struct relation *relation = &query->relation[i];
		struct statement statement;

		if (!relation->is_wanted || !relation->is_temporary)
			continue;
		statement = assemble(query, relation->sql, i, dialect, true);
		sql_write_temporary(file, relation->name, statement.text, dialect);
		free(statement.text);
	}
}

/* What is left to SQLite of a statement: all of it, or to select DuckDB's answer. */
static int ask_tables(struct query *query, struct statement *statement)
{
	char *before;
	size_t size;
	FILE *file;
	int status;

	if (!query->question->parquet)
		return 0;
	file = open_memstream(&before, &size);
	print_relations(query, SQL_DUCKDB, file);
	fclose(file);
	status = query_tables_ask(query->question->parquet, before, &statement->text,
				  query->error);
	free(before);
	return status;
}

static int run_block(struct query *query, const struct query_block *block,
		     struct result *result)
{
	bool is_parquet = query->question->parquet;
	struct statement statement =
	    assemble(query, block->sql, query->relations,
		     is_parquet ? SQL_DUCKDB : SQL_SQLITE, is_parquet);
	struct timeline_query *rows = NULL;
	struct cell *value = NULL;
	int status = -1;

	statement.file = query->file;
	statement.line = block->line;
	if (!ask_tables(query, &statement))
		rows = prepare(query, &statement, &value);
	if (rows && !timeline_query_ask(rows, value, timeline_query_parameters(rows),
					query->error))
		status = block->kind == QUERY_NOTES
			     ? add_notes(query, rows, result)
			     : fill_tables(query, block, rows, result);
	timeline_query_free(rows);
	free(value);
	free(statement.text);
	return status;
}

static void tell_needs(const struct query *query, const struct text_list *recorded,
		       struct result *result)
{
	for (size_t i = 0; i < query->file->needs; i++) {
		const struct query_need *need = &query->file->need[i];
		char *all = mem_strdup(need->events), *word, *rest;
		bool missing = false;

		for (word = strtok_r(all, ",", &rest); word;
		     word = strtok_r(NULL, ",", &rest))
			missing |= !query_is_recorded(recorded, word);
		if (missing)
			result_missing(result, need->what, need->events);
		free(all);
	}
}

static int take_class(void *context, const struct cell *row)
{
	if (row[0].type == CELL_TEXT)
		text_list_add(context, row[0].bytes);
	return 0;
}

static int add_own_notes(struct query *query, struct result *result)
{
	struct text_list recorded = {0};
	int status =
	    question_ask(query->question, "SELECT name FROM event_class WHERE events > 0",
			 NULL, take_class, &recorded, query->error);

	if (!status)
		tell_needs(query, &recorded, result);
	text_list_clear(&recorded);
	if (query->file->of_kernels)
		question_note_unrecorded(query->question, result);
	if (query->question->scope.without_spans &&
	    (query_file_names(query->file, "thread_state") ||
	     query_file_names(query->file, "syscall") ||
	     query_file_names(query->file, "irq") ||
	     query_file_names(query->file, "block_request")))
		result_note(result, "%s", no_spans_note);
	return status;
}

static void end_query(struct query *query)
{
	if (query->default_group)
		query->question->group = NULL;
	free(query->default_group);
	query_file_free(query->shared);
	query_values_clear(&query->values);
	free(query->relation);
}

/* What statements that are asked for name, is wanted. 0, or -1 with error. */
static int begin_query(struct query *query, struct question *question,
		       struct error *error)
{
	bool *wanted;
	int status;

	*query = (struct query){
	    .question = question, .file = question->analysis->own, .error = error};
	if (!question->group && query->file->groups) {
		query->default_group =
		    mem_strndup(query->file->groups, strcspn(query->file->groups, " "));
		question->group = query->default_group;
	}
	query->shared = query_builtin_relations(error);
	query_values_init(&query->values, question);
	if (!query->shared)
		return -1;
	add_blocks(query, query->shared);
	status = query_values_relations(&query->values, question, query->file, error);
	for (size_t i = 0; i < query->values.relations; i++)
		add_relation(query,
			     &(struct relation){.name = query->values.relation[i].name,
						.sql = query->values.relation[i].sql,
						.index = query->values.relation[i].index,
						.is_temporary = true});
	add_blocks(query, query->file);
	wanted = mem_zalloc((query->relations + 1) * sizeof(*wanted));
	for (size_t i = 0; i < query->file->blocks; i++)
		if (is_block_asked(query, &query->file->block[i]) &&
		    query->file->block[i].sql)
			want_relations(query, query->file->block[i].sql, query->relations,
				       true, wanted);
	for (size_t i = 0; i < query->relations; i++)
		query->relation[i].is_wanted = wanted[i];
	free(wanted);
	if (!status && (!query->file->blocks || !query->file->block[0].sql))
		status = error_set(error, "%s: no statement, want one SELECT",
				   query->file->path);
	return status;
}

int query_run(struct question *question, struct result *result, struct error *error)
{
	struct query query;
	int status = begin_query(&query, question, error);

	for (size_t i = 0; i < query.relations && !status && !question->parquet; i++)
		if (query.relation[i].is_wanted && query.relation[i].is_temporary)
			status = keep_relation(&query, &query.relation[i]);
	for (size_t i = 0; i < query.file->blocks && !status; i++)
		if (is_block_asked(&query, &query.file->block[i]))
			status = run_block(&query, &query.file->block[i], result);
	if (!status)
		status = add_own_notes(&query, result);
	end_query(&query);
	return status;
}

/* "-max_ns,node" as "max_ns DESC, node", for columns that the table has. */
static void print_order(const struct query *query, const struct query_table *table,
			const struct query_block *block, FILE *file)
{
	int asked = query->question->request->limit_given;
	int64_t limit = asked < 0 ? table->limit : asked;
	const char *between = "ORDER BY ";

	for (const char *at = table->sort; at && *at;) {
		size_t length = strcspn(at, ",");
		bool falls = *at == '-';
		char *key = mem_strndup(at + falls, length - falls);
		const struct query_column *column = find_column(block, key);

		if (column && (!column->groups ||
			       query_words_have(column->groups, query->question->group)))
			fprintf(file, "%s\"%s\"%s", between, key, falls ? " DESC" : "");
		between = column ? ", " : between;
		free(key);
		at += length + (at[length] == ',');
	}
	if (limit)
		fprintf(file, "\nLIMIT %lld", (long long)limit);
}

static void print_block(struct query *query, const struct query_block *block,
			enum sql_dialect dialect, FILE *file)
{
	struct statement statement =
	    assemble(query, block->sql, query->relations, dialect, true);

	for (size_t i = 0; i < block->tables; i++) {
		const struct query_table *table = &block->table[i];

		if (!is_asked(query, block, table))
			continue;
		fprintf(file, "-- %s%s%s\n%s",
			block->kind == QUERY_NOTES ? "notes" : "table ",
			block->kind == QUERY_NOTES ? "" : table->key, "", statement.text);
		if (block->kind == QUERY_TABLE && (table->sort || table->limit)) {
			char *order;
			size_t size;
			FILE *text = open_memstream(&order, &size);

			print_order(query, table, block, text);
			fclose(text);
			putc('\n', file);
			sql_write(file, order, dialect, NULL, NULL);
			free(order);
		}
		fputs(";\n\n", file);
	}
	free(statement.text);
}

int query_print(struct question *question, enum sql_dialect dialect, FILE *file,
		struct error *error)
{
	struct query query;
	int status = begin_query(&query, question, error);

	if (!status)
		print_relations(&query, dialect, file);
	for (size_t i = 0; i < query.file->blocks && !status; i++)
		if (is_block_asked(&query, &query.file->block[i]))
			print_block(&query, &query.file->block[i], dialect, file);
	end_query(&query);
	return status;
}
