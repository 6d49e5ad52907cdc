/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/query_groups.h"
#include "analyze/query_tables.h"
#include "base/mem.h"

/* An analysis of one timeline on its way. */
struct sql_run {
	struct query *query;
	const struct query_file *file;
	struct query_values values;
	const struct query_block **relation; /* what statements may name, in order */
	bool *wanted; /* the relations that the selected statements name */
	size_t relations;
	size_t shared;    /* relations from the file that all share */
	const char *only; /* the only table that is printed, --table; NULL: all */
	struct error *error;
};

/* A statement as text in one dialect. */
struct statement {
	char *text;
	size_t lines;       /* before its own first one */
	const char *path;   /* the query file */
	size_t line;        /* line of the file at which it begins */
	struct cell *value; /* values of its parameters, set by prepare() */
	bool is_cut;        /* ends with the limit of its table */
};

static void statement_clear(struct statement *statement)
{
	free(statement->text);
	free(statement->value);
}

/* Return true if the request selects a table by name, form, group and interval. For
 * notes, the name does not matter. */
static bool is_table_selected(const struct sql_run *run, const struct query_block *block,
			      const struct query_table *table)
{
	const struct query *query = run->query;
	bool is_note = block->kind == QUERY_NOTES;
	const char *tables = is_note ? NULL : query->tables;

	return (!tables || query_words_have(tables, table->key)) &&
	       (is_note || !run->only || !strcmp(run->only, table->key)) &&
	       (!table->forms || (table->forms & query->forms)) &&
	       (!table->groups || query_words_have(table->groups, query->group)) &&
	       (!table->when || !strcmp(table->when, "rows") ||
		(!strcmp(table->when, "plot") ? tables != NULL
					      : query->request->interval_ns != 0));
}

static bool is_block_selected(const struct sql_run *run, const struct query_block *block)
{
	bool is_any = block->kind == QUERY_TABLE || block->kind == QUERY_NOTES;

	for (size_t i = 0; is_any && i < block->tables; i++)
		if (is_table_selected(run, block, &block->table[i]))
			return true;
	return false;
}

/* Mark those of the first `count` relations that a text names, and the relations that
 * these name in turn. With `all`, also follow relations that are stored as temporary
 * tables. */
static void mark_relations(const struct sql_run *run, const char *text, size_t count,
			   bool all, bool *wanted)
{
	for (size_t i = count; i-- > 0;) {
		const char *name = run->relation[i]->name;

		wanted[i] |= sql_has(text, name);
		for (size_t k = i + 1; k < count && !wanted[i]; k++)
			wanted[i] = wanted[k] &&
				    (all || run->relation[k]->kind == QUERY_WITH) &&
				    sql_has(run->relation[k]->sql, name);
	}
}

static size_t count_lines(const char *text, size_t length)
{
	size_t lines = 0;

	while (length--)
		lines += *text++ == '\n';
	return lines;
}

static const struct cell *find_value(void *context, const char *name)
{
	return query_values_find(context, name);
}

/* Leave parameters as they are. */
static const struct cell *find_sql_value(void *context, const char *name)
{
	const struct cell *cell = query_values_find(context, name);

	return cell && cell->type == CELL_BLOB ? cell : NULL;
}

/* Write a block's statement, with those of the first `count` relations that it names.
 * With `print`, write values as literals. */
static struct statement write_statement(struct sql_run *run,
					const struct query_block *block, size_t count,
					enum sql_dialect dialect, bool print)
{
	bool *wanted = mem_zalloc((run->relations + 1) * sizeof(*wanted));
	const char *sql = block->sql;
	bool is_recursive = !strncmp(sql, "WITH RECURSIVE", 14);
	bool has_with = !strncmp(sql, "WITH", 4) && strchr(" \t\n", sql[4]);
	struct statement statement = {.path = block->path, .line = block->line};
	sql_value *value = print ? find_value : find_sql_value;
	const char *before = is_recursive ? "WITH RECURSIVE " : "WITH ";
	size_t size, begin;
	FILE *file = mem_stream(&statement.text, &size);

	mark_relations(run, sql, count, false, wanted);
	for (size_t i = 0; i < run->relations; i++) {
		const struct query_block *relation = run->relation[i];

		if (!wanted[i] || relation->kind != QUERY_WITH)
			continue;
		fprintf(file, "%s%s AS (\n", before, relation->name);
		sql_write(file, relation->sql, dialect, value, &run->values);
		fputs(")", file);
		before = ",\n";
	}
	if (*before == ',') {
		fputs(has_with ? ",\n" : "\n", file);
		sql += has_with ? (is_recursive ? 14 : 5) : 0;
	}
	fflush(file);
	begin = size;
	sql_write(file, sql, dialect, value, &run->values);
	fclose(file);
	statement.lines = count_lines(statement.text, begin);
	free(wanted);
	return statement;
}

/* Add "FILE:LINE" of byte `at` of the statement to an error; -1: unknown. */
static int error_at(const struct statement *statement, long at, struct error *error)
{
	size_t line;

	if (!statement->path || at < 0)
		return error_prefix(error, "%s",
				    statement->path ? statement->path : "the options");
	line = count_lines(statement->text, (size_t)at);
	return error_prefix(error, "%s:%zu", statement->path,
			    statement->line +
				(line > statement->lines ? line - statement->lines : 0));
}

static struct timeline_query *prepare_text(struct sql_run *run,
					   const struct statement *statement)
{
	long at;
	struct timeline_query *rows =
	    timeline_query_new_user(run->query->reader, statement->text, &at, run->error);

	if (!rows)
		error_at(statement, at, run->error);
	return rows;
}

/* Return true if a column is shown with the selected group. */
static bool is_shown(const struct sql_run *run, const struct query_block *block,
		     const char *key)
{
	size_t length = strlen(key);

	for (const char *at = block->shown, *open; at && (open = strchr(at, '['));
	     at = open + strcspn(open, "]")) {
		at += strspn(at, "], \n");
		if (!strncmp(at, key, length) && at[length] == ' ') {
			AUTOFREE char *groups =
			    mem_strndup(open + 1, strcspn(open + 1, "]"));
			bool is = query_words_have(groups, run->query->group);

			return is;
		}
	}
	return true;
}

/* Return the block's only selected table, or NULL. */
static const struct query_table *only_table(const struct sql_run *run,
					    const struct query_block *block)
{
	const struct query_table *only = NULL;

	for (size_t i = 0; i < block->tables; i++)
		if (is_table_selected(run, block, &block->table[i])) {
			if (only)
				return NULL;
			only = &block->table[i];
		}
	return only;
}

/* Write a table's order and limit as SQL: "-max_ns,node" becomes "max_ns DESC, node".
 * Skip columns that are not shown. With `is_counted`, SQLite also counts the rows. Return
 * false if the order needs strings, which SQLite sorts differently. */
static bool write_order(const struct sql_run *run, const struct query_block *block,
			const struct query_table *table, bool is_counted, FILE *file)
{
	int asked = run->query->request->limit_given;
	int64_t limit = asked < 0 ? table->limit : asked;
	const char *between = "ORDER BY ";
	struct text_list names = {0};
	bool is_number = limit && table->sort;

	sql_columns(block->sql, &names);
	for (const char *at = table->sort; at && *at; at += strspn(at, ",")) {
		bool falls = *at == '-';
		size_t length = strcspn(at, ",") - falls;
		AUTOFREE char *key = mem_strndup(at + falls, length);
		const struct result_column *described =
		    query_file_column(run->file, block, key);
		enum unit unit = described ? described->unit : unit_guess(key, NULL);
		bool is_key = is_counted && *between == 'O';

		at += falls + length;
		if (text_list_has(&names, key) && is_shown(run, block, key)) {
			fprintf(file, "%s%s\"%s\"%s%s%s", between,
				is_key ? TIMELINE_KEY "(" : "", key, is_key ? ")" : "",
				falls ? " DESC" : "", is_counted ? " NULLS LAST" : "");
			between = ", ";
			is_number &= unit != UNIT_TEXT && unit != UNIT_NUMBER;
		}
	}
	if (limit)
		fprintf(file, "\nLIMIT %lld", (long long)limit);
	text_list_clear(&names);
	return is_number && *between == ',';
}

/* Let SQLite apply the table's order and limit, so that it need not compute the other
 * rows. Return true if it can. */
static bool push_down_limit(struct sql_run *run, const struct query_block *block,
			    struct statement *statement)
{
	const struct query_table *table = only_table(run, block);
	char *text;
	size_t size;
	FILE *file;

	if (!table || run->query->request->sort || run->query->parquet)
		return false;
	file = mem_stream(&text, &size);
	fprintf(file, "SELECT * FROM (\n%s\n) ", statement->text);
	statement->is_cut = write_order(run, block, table, true, file);
	fclose(file);
	free(statement->is_cut ? statement->text : text);
	if (statement->is_cut)
		statement->text = text;
	return statement->is_cut;
}

/* Prepare a statement, with its groups already computed if possible. Return NULL with
 * error. */
static struct timeline_query *prepare_statement(struct sql_run *run,
						const struct query_block *block,
						struct statement *statement)
{
	struct timeline_query *rows = prepare_text(run, statement);
	const struct group_listener *listener = run->query->listener;
	int grouped;

	if (listener && (!block->name || strcmp(listener->relation, block->name) != 0))
		listener = NULL;
	grouped = rows ? query_groups_run(&statement->text, run->query->reader,
					  &run->values, listener, run->error)
		       : 0;
	if (rows && grouped >= 0 &&
	    (grouped ||
	     (block->kind == QUERY_TABLE && push_down_limit(run, block, statement)))) {
		timeline_query_free(rows);
		rows = prepare_text(run, statement);
	}
	if (grouped < 0) {
		timeline_query_free(rows);
		return NULL;
	}
	if (rows)
		statement->value = query_values_of(&run->values, rows, run->error);
	if (!rows || statement->value)
		return rows;
	error_at(statement, -1, run->error);
	timeline_query_free(rows);
	return NULL;
}

/* Return true if a relation has been stored for another analysis. A report runs several
 * with the same options on one reader, but for --interval. */
static bool is_stored(const struct sql_run *run, size_t n)
{
	const struct query_block *relation = run->relation[n];

	return n < run->shared && !sql_has(relation->sql, ":interval_ns") &&
	       timeline_reader_has(run->query->reader, relation->name);
}

static int keep_relation(struct sql_run *run, size_t n)
{
	const struct query_block *relation = run->relation[n];
	struct statement statement = write_statement(run, relation, n, SQL_SQLITE, false);
	struct timeline_query *rows = prepare_statement(run, relation, &statement);
	int status = -1;

	if (rows) {
		const struct timeline_temporary table = {.name = relation->name,
							 .sql = statement.text,
							 .value = statement.value,
							 .index = relation->index};

		status = timeline_reader_keep(run->query->reader, &table, run->error);
		if (status)
			error_at(&statement, -1, run->error);
	}
	timeline_query_free(rows);
	statement_clear(&statement);
	return status;
}

/* The tables that receive a block's rows. */
struct row_sink {
	struct result_table **table;
	size_t tables;
	size_t *place; /* index of each shown column in a row */
	struct cell *cell;
	size_t columns;
};

/* Make the tables. The first row, or NULL, decides about units that are not described. */
static void make_tables(struct sql_run *run, const struct query_block *block,
			struct row_sink *row_sink, struct timeline_query *rows,
			const struct cell *row, struct result *result)
{
	size_t count = timeline_query_columns(rows);
	struct result_column *column = mem_zalloc((count + 1) * sizeof(*column));

	row_sink->place = mem_zalloc((count + 1) * sizeof(*row_sink->place));
	row_sink->cell = mem_zalloc((count + 1) * sizeof(*row_sink->cell));
	row_sink->table = mem_zalloc(block->tables * sizeof(struct result_table *));
	for (size_t i = 0; i < count; i++) {
		const char *key = timeline_query_name(rows, i);
		const struct result_column *described =
		    query_file_column(run->file, block, key);

		if (!is_shown(run, block, key))
			continue;
		column[row_sink->columns] = (struct result_column){
		    key, described ? described->title : NULL,
		    described ? described->unit : unit_guess(key, row ? &row[i] : NULL)};
		row_sink->place[row_sink->columns++] = i;
	}
	for (size_t i = 0; i < block->tables; i++) {
		const struct query_table *asked = &block->table[i];
		struct result_table *table;

		if (!is_table_selected(run, block, asked))
			continue;
		table = result_table_new(result, asked->key, asked->title, column);
		table->is_optional = asked->when && !strcmp(asked->when, "rows");
		if (asked->sort)
			result_table_sort(table, asked->sort);
		if (asked->limit)
			result_table_limit(table, (size_t)asked->limit);
		row_sink->table[row_sink->tables++] = table;
	}
	free(column);
}

static int fill_tables(struct sql_run *run, const struct query_block *block,
		       struct timeline_query *rows, bool is_cut, struct result *result)
{
	struct row_sink row_sink = {.columns = 0};
	int more;

	while ((more = timeline_query_next(rows, run->error)) > 0) {
		const struct cell *row = timeline_query_row(rows);

		if (!row_sink.table)
			make_tables(run, block, &row_sink, rows, row, result);
		for (size_t i = 0; i < row_sink.columns; i++)
			row_sink.cell[i] = row[row_sink.place[i]];
		for (size_t i = 0; i < row_sink.tables; i++)
			result_add(row_sink.table[i], row_sink.cell);
	}
	if (!more && !row_sink.table)
		make_tables(run, block, &row_sink, rows, NULL, result);
	if (!more && is_cut)
		row_sink.table[0]->added = timeline_query_keys(rows);
	free(row_sink.table);
	free(row_sink.place);
	free(row_sink.cell);
	return more;
}

static int add_notes(struct sql_run *run, struct timeline_query *rows,
		     struct result *result)
{
	int more;

	while ((more = timeline_query_next(rows, run->error)) > 0) {
		const struct cell *row = timeline_query_row(rows);

		if (row[0].type == CELL_TEXT)
			result_note(result, "%.*s", (int)row[0].size, row[0].bytes);
	}
	return more;
}

static void print_relations(struct sql_run *run, enum sql_dialect dialect, FILE *file)
{
	for (size_t i = 0; i < run->relations; i++) {
		struct statement statement;

		if (!run->wanted[i] || run->relation[i]->kind != QUERY_TEMPORARY)
			continue;
		statement = write_statement(run, run->relation[i], i, dialect, true);
		sql_write_temporary(file, run->relation[i]->name, statement.text,
				    dialect);
		statement_clear(&statement);
	}
}

/* If --tables is used, let DuckDB run the statement, and replace it by one that selects
 * the answer. */
static int run_on_duckdb(struct sql_run *run, struct statement *statement)
{
	struct text_list before = {0};
	int status;

	if (!run->query->parquet)
		return 0;
	for (size_t i = 0; i < run->relations; i++) {
		struct statement relation;

		if (!run->wanted[i] || run->relation[i]->kind != QUERY_TEMPORARY)
			continue;
		relation = write_statement(run, run->relation[i], i, SQL_DUCKDB, true);
		text_list_add(&before, run->relation[i]->name);
		text_list_add(&before, relation.text);
		statement_clear(&relation);
	}
	status =
	    query_tables_ask(run->query->parquet, &before, &statement->text, run->error);
	text_list_clear(&before);
	return status;
}

static int run_block(struct sql_run *run, const struct query_block *block,
		     struct result *result)
{
	bool is_parquet = run->query->parquet;
	struct statement statement = write_statement(
	    run, block, run->relations, is_parquet ? SQL_DUCKDB : SQL_SQLITE, is_parquet);
	struct timeline_query *rows = run_on_duckdb(run, &statement)
					  ? NULL
					  : prepare_statement(run, block, &statement);
	int status = -1;

	if (rows && !timeline_query_ask(rows, statement.value,
					timeline_query_parameters(rows), run->error))
		status = block->kind == QUERY_NOTES
			     ? add_notes(run, rows, result)
			     : fill_tables(run, block, rows, statement.is_cut, result);
	timeline_query_free(rows);
	statement_clear(&statement);
	return status;
}

/* Add a note for each selected node without a kernel trace in the selected time, so that
 * missing rows are not read as zero. */
static void note_unrecorded(const struct query *query, struct result *result)
{
	const struct scope *scope = &query->scope;

	if (scope->is_limited)
		result_note(result,
			    "what is stamped before 1967 or after 2111 is omitted");
	for (size_t i = 0; i < scope->nodes && scope->has_recorded; i++)
		if (scope->node[i].chosen && !scope->node[i].recorded_ns)
			result_note(result,
				    "%s: no kernel trace in the selected time range, so "
				    "its activity is unknown",
				    scope->node[i].name);
}

static void add_own_notes(struct sql_run *run, struct result *result)
{
	static const char *const spans[] = {"thread_state", "syscall", "irq",
					    "block_request"};

	if (run->file->records)
		note_unrecorded(run->query, result);
	for (size_t i = 0; i < 4 && run->query->scope.without_spans; i++)
		if (query_file_names(run->file, spans[i])) {
			result_note(result, "%s", no_spans_note);
			break;
		}
}

static void add_relations(struct sql_run *run, const struct query_file *file)
{
	for (size_t i = 0; i < file->blocks; i++)
		if (file->block[i].kind == QUERY_WITH ||
		    file->block[i].kind == QUERY_TEMPORARY)
			run->relation[run->relations++] = &file->block[i];
}

/* Return true if the block's rows have the columns of --sort. */
static bool has_sorted(const struct sql_run *run, const struct query_block *block)
{
	struct text_list names = {0};
	bool has = true;

	sql_columns(block->sql, &names);
	for (const char *at = run->query->request->sort; at && *at && has;) {
		size_t length = strcspn(at, ",");
		AUTOFREE char *key =
		    mem_strndup(at + (*at == '-'), length - (*at == '-'));

		has = text_list_has(&names, key) && is_shown(run, block, key);
		at += length + (at[length] == ',');
	}
	text_list_clear(&names);
	return has;
}

/* Return the table of --table, so that no other is computed. Return NULL if it has no
 * such table or column of --sort: the message then names those of all tables. */
static const char *find_only(const struct sql_run *run)
{
	const char *wanted = run->query->request->table;

	for (size_t i = 0; wanted && !run->query->tables && i < run->file->blocks; i++) {
		const struct query_block *block = &run->file->block[i];

		for (size_t k = 0; block->kind == QUERY_TABLE && k < block->tables; k++)
			if (!strcmp(block->table[k].key, wanted) &&
			    is_table_selected(run, block, &block->table[k]) &&
			    has_sorted(run, block))
				return wanted;
	}
	return NULL;
}

/* Set up the run and mark the relations that the selected statements name. Return 0, or
 * -1 with error. */
static int begin_run(struct sql_run *run, struct query *query, struct error *error)
{
	const struct query_file *file = query->analysis->own;
	const struct query_file *relations = &run->values.relations;
	int status;

	*run = (struct sql_run){.query = query, .file = file, .error = error};
	if (!query->group)
		query->group = file->analysis.default_group;
	run->only = find_only(run);
	status = query_values_init(&run->values, query, file, error);
	run->relation =
	    mem_zalloc((file->blocks + file->shared->blocks + relations->blocks) *
		       sizeof(const struct query_block *));
	add_relations(run, file->shared);
	run->shared = run->relations;
	add_relations(run, relations);
	add_relations(run, file);
	run->wanted = mem_zalloc((run->relations + 1) * sizeof(*run->wanted));
	for (size_t i = 0; i < file->blocks; i++)
		if (is_block_selected(run, &file->block[i]) && file->block[i].sql)
			mark_relations(run, file->block[i].sql, run->relations, true,
				       run->wanted);
	return status;
}

static void end_run(struct sql_run *run)
{
	query_values_clear(&run->values);
	free(run->relation);
	free(run->wanted);
}

int query_file_run(struct query *query, struct result *result, struct error *error)
{
	struct sql_run run;
	int status = begin_run(&run, query, error);

	for (size_t i = 0; i < run.relations && !status && !query->parquet; i++)
		if (run.wanted[i] && run.relation[i]->kind == QUERY_TEMPORARY &&
		    !(query->computed &&
		      query_words_have(query->computed, run.relation[i]->name)) &&
		    !is_stored(&run, i))
			status = keep_relation(&run, i);
	for (size_t i = 0; i < run.file->blocks && !status; i++)
		if (is_block_selected(&run, &run.file->block[i]))
			status = run_block(&run, &run.file->block[i], result);
	if (!status)
		add_own_notes(&run, result);
	end_run(&run);
	return status;
}

static void print_block(struct sql_run *run, const struct query_block *block,
			enum sql_dialect dialect, FILE *file)
{
	struct statement statement =
	    write_statement(run, block, run->relations, dialect, true);
	bool is_notes = block->kind == QUERY_NOTES;

	for (size_t i = 0; i < block->tables; i++) {
		const struct query_table *table = &block->table[i];

		if (!is_table_selected(run, block, table))
			continue;
		fprintf(file, "-- %s%s\n%s", is_notes ? "notes" : "table ",
			is_notes ? "" : table->key, statement.text);
		if (!is_notes && (table->sort || table->limit)) {
			AUTOFREE char *order = NULL;
			size_t size;
			FILE *text = mem_stream(&order, &size);

			write_order(run, block, table, false, text);
			fclose(text);
			putc('\n', file);
			sql_write(file, order, dialect, NULL, NULL);
		}
		fputs(";\n\n", file);
	}
	statement_clear(&statement);
}

int query_file_print(struct query *query, enum sql_dialect dialect, FILE *file,
		     struct error *error)
{
	struct sql_run run;
	int status = begin_run(&run, query, error);

	for (size_t i = 0; i < run.file->blocks && !status; i++)
		if (run.file->block[i].sql)
			status = sql_check_select(run.file->block[i].sql, "--print-sql",
						  error);
	if (!status)
		print_relations(&run, dialect, file);
	for (size_t i = 0; i < run.file->blocks && !status; i++)
		if (is_block_selected(&run, &run.file->block[i]))
			print_block(&run, &run.file->block[i], dialect, file);
	end_run(&run);
	return status;
}
