/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/query_text.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "timeline/quantile.h"
#include "timeline/sql.h"

/*
 * GROUP BY with a hash table, because SQLite sorts all rows.
 *
 * A statement [WITH ...] SELECT item, ... FROM ... GROUP BY key, ..., whose items are
 * keys or aggregate functions, is split in two: one returns the keys and the aggregates'
 * arguments of each row, the other selects the items from a temporary table of groups.
 */
#define GROUPS_TABLE "grouped_rows"

enum aggregate_kind {
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_AVG,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_QUANTILE,
	AGGREGATES
};

static const char *const aggregate_names[AGGREGATES] = {
    [AGGREGATE_COUNT] = "count", [AGGREGATE_SUM] = "sum",
    [AGGREGATE_AVG] = "avg",     [AGGREGATE_MIN] = "min",
    [AGGREGATE_MAX] = "max",     [AGGREGATE_QUANTILE] = "quantile"};

struct aggregate {
	enum aggregate_kind kind;
	size_t column; /* index of its argument */
	double share;  /* the share of a quantile */
};

struct statement {
	struct sql_slice with,
	    from; /* "WITH ..." and "FROM ..." with what follows each */
	struct sql_slices item, key;
	struct text_list column; /* what is summed up */
	struct aggregate *aggregate;
	size_t aggregates, capacity;
	size_t summed;      /* columns of aggregates; others are the listener's */
	char *rows, *outer; /* the two statements */
};

static bool slice_is(struct sql_slice slice, const char *text)
{
	return slice.length == strlen(text) &&
	       !strncasecmp(slice.text, text, slice.length);
}

static char *slice_text(struct sql_slice slice)
{
	return mem_strndup(slice.text, slice.length);
}

static bool is_clause(struct sql_slice part)
{
	static const char *const clauses[] = {
	    "UNION", "EXCEPT", "INTERSECT", "HAVING", "ORDER",    "LIMIT",
	    "OVER",  "WINDOW", "VALUES",    ";",      "DISTINCT",
	};
	size_t i = 0;

	while (i < sizeof(clauses) / sizeof(*clauses) && !slice_is(part, clauses[i]))
		i++;
	return i < sizeof(clauses) / sizeof(*clauses);
}

/* Find the parts of a statement. Return false if it has another form. */
static bool find_parts(struct statement *statement, const char *sql)
{
	const char *end = sql + strlen(sql), *at = sql;
	const char *words[] = {"SELECT", "FROM", "GROUP", "BY"}, *behind[4];
	struct sql_slice part, found[4];
	size_t n = 0;

	while ((part = sql_next_part(&at, end)).length) {
		if (is_clause(part))
			return false;
		if (n < 4 && slice_is(part, words[n])) {
			found[n] = part;
			behind[n++] = at;
		}
	}
	if (n < 4)
		return false;
	statement->with = sql_slice_between(sql, found[0].text);
	statement->from = sql_slice_between(found[1].text, found[2].text);
	sql_split(sql_slice_between(behind[0], found[1].text), &statement->item);
	sql_split(sql_slice_between(behind[3], end), &statement->key);
	return true;
}

/* "expression AS name", or a column, which is called as its last word is. */
static struct sql_slice read_name(struct sql_slice *item)
{
	const char *at = item->text, *end = at + item->length;
	struct sql_slice part, before = {.text = at}, name = before;

	while ((part = sql_next_part(&at, end)).length) {
		before = name;
		name = part;
	}
	if (slice_is(before, "AS"))
		*item = sql_slice_between(item->text, before.text);
	return name;
}

/* Replace keys that are numbers of items by the items' text. */
static bool read_keys(struct statement *statement)
{
	for (size_t i = 0; i < statement->key.count; i++) {
		struct sql_slice *key = &statement->key.item[i];
		char *end;
		size_t place = strtoul(key->text, &end, 10);

		if (!key->length || (end == key->text + key->length &&
				     (place < 1 || place > statement->item.count)))
			return false;
		if (end == key->text + key->length) {
			*key = statement->item.item[place - 1];
			read_name(key);
		}
	}
	return true;
}

/* Return the index of an aggregate's argument; each text is stored once. Takes ownership.
 */
static size_t add_column(struct statement *statement, char *text)
{
	size_t n = 0;

	while (n < statement->column.count &&
	       strcmp(statement->column.item[n], text) != 0)
		n++;
	if (n == statement->column.count)
		text_list_add(&statement->column, text);
	free(text);
	return n;
}

/* Parse "sum(x)", "quantile(x, 0.5)" or "count(*) FILTER (WHERE x > 0)". Return false for
 * anything else. */
static bool read_aggregate(struct statement *statement, struct sql_slice item)
{
	const char *at = item.text, *end = at + item.length;
	struct sql_slice name = sql_next_part(&at, end),
			 brackets = sql_next_part(&at, end);
	struct sql_slice filter = sql_next_part(&at, end),
			 where = sql_next_part(&at, end);
	struct aggregate aggregate = {.kind = AGGREGATE_COUNT};
	AUTOFREE char *what = NULL, *when = NULL;
	char *text = NULL;
	struct sql_slices argument = {0};
	bool is_known;

	while (aggregate.kind < AGGREGATES &&
	       !slice_is(name, aggregate_names[aggregate.kind]))
		aggregate.kind++;
	if (aggregate.kind == AGGREGATES || *brackets.text != '(' ||
	    sql_next_part(&at, end).length ||
	    (filter.length && (!slice_is(filter, "FILTER") || *where.text != '(')))
		return false;
	brackets =
	    sql_slice_between(brackets.text + 1, brackets.text + brackets.length - 1);
	sql_split(brackets, &argument);
	is_known = argument.count == (aggregate.kind == AGGREGATE_QUANTILE ? 2 : 1) &&
		   strncasecmp(brackets.text, "DISTINCT", 8) != 0;
	what = slice_is(argument.item[0], "*") ? mem_strdup("1")
					       : slice_text(argument.item[0]);
	if (is_known && aggregate.kind == AGGREGATE_QUANTILE) {
		AUTOFREE char *share = slice_text(argument.item[1]);
		char *rest;

		aggregate.share = strtod(share, &rest);
		is_known = !*rest && aggregate.share >= 0 && aggregate.share <= 1;
	}
	free(argument.item);
	if (!is_known)
		return false;
	if (filter.length) { /* "(WHERE condition)" */
		at = where.text + 1;
		sql_next_part(&at, end);
		when = mem_strndup(at, (size_t)(end - 1 - at));
		text = mem_printf("CASE WHEN %s THEN %s END", when, what);
	}
	aggregate.column = add_column(statement, text ? text : mem_strdup(what));
	*MEM_NEXT(statement->aggregate, statement->aggregates, statement->capacity) =
	    aggregate;
	return true;
}

/* Write the statement on the groups. Return false if an item is neither a key nor an
 * aggregate. */
static bool write_outer(struct statement *statement, FILE *file)
{
	for (size_t i = 0; i < statement->item.count; i++) {
		struct sql_slice item = statement->item.item[i], name = read_name(&item);
		const struct sql_slices *keys = &statement->key;
		size_t n = 0;

		while (n < keys->count &&
		       (keys->item[n].length != item.length ||
			strncmp(keys->item[n].text, item.text, item.length) != 0))
			n++;
		if (n == keys->count) {
			n += statement->aggregates;
			if (!read_aggregate(statement, item))
				return false;
		}
		fprintf(file, "%s c%zu AS %.*s", i ? "," : "SELECT", n + 1,
			(int)name.length, name.text);
	}
	fputs(" FROM " GROUPS_TABLE " ORDER BY c1", file);
	for (size_t i = 1; i < statement->key.count; i++)
		fprintf(file, ", c%zu", i + 1);
	return true;
}

static void write_rows(const struct statement *statement, FILE *file)
{
	fprintf(file, "%.*s\nSELECT %s(", (int)statement->with.length,
		statement->with.text, TIMELINE_ROW);
	for (size_t i = 0; i < statement->key.count; i++)
		fprintf(file, "%s%.*s", i ? ", " : "", (int)statement->key.item[i].length,
			statement->key.item[i].text);
	for (size_t i = 0; i < statement->column.count; i++)
		fprintf(file, ", %s", statement->column.item[i]);
	fprintf(file, ")\n%.*s", (int)statement->from.length, statement->from.text);
}

/* Add the columns of a listener, and set where each is in a row, among the keys or behind
 * them. */
static void add_listened(struct statement *statement,
			 const struct group_listener *listener, size_t *place)
{
	const struct sql_slices *keys = &statement->key;

	for (size_t i = 0; listener->columns[i]; i++) {
		const char *text = listener->columns[i];
		size_t n = 0;

		while (n < keys->count && !slice_is(keys->item[n], text))
			n++;
		place[i] = n < keys->count
			       ? n
			       : keys->count + add_column(statement, mem_strdup(text));
	}
}

/* Split a statement; `place` is for a listener's columns. Return false if it has another
 * form. */
static bool read_statement(struct statement *statement, const char *sql,
			   const struct group_listener *listener, size_t *place)
{
	bool is_whole = find_parts(statement, sql) && read_keys(statement);
	size_t size;
	FILE *file;

	if (!is_whole)
		return false;
	file = mem_stream(&statement->outer, &size);
	is_whole = write_outer(statement, file);
	fclose(file);
	statement->summed = statement->column.count;
	if (listener)
		add_listened(statement, listener, place);
	file = mem_stream(&statement->rows, &size);
	write_rows(statement, file);
	fclose(file);
	return is_whole;
}

static void clear_statement(struct statement *statement)
{
	free(statement->item.item);
	free(statement->key.item);
	text_list_clear(&statement->column);
	free(statement->aggregate);
	free(statement->rows);
	free(statement->outer);
}

/* One column of one group; NULL does not count. */
struct sum {
	int64_t count, integer;
	double real;
	bool is_real, overflowed;
	struct cell least, greatest;
	double *value;
	size_t capacity;
};

struct group {
	struct cell *key;
	struct sum *sum;
};

struct groups {
	const struct statement *statement;
	const struct group_listener *listener; /* or NULL */
	const size_t *place;                   /* of its columns in a row */
	unsigned *wanted; /* aggregates of each column: bits 1 << enum aggregate_kind */
	struct group *group;
	size_t count, capacity;
	size_t last;        /* group of the last row; rows often come sorted by group */
	struct texts known; /* the key of each group, as bytes */
	struct bytes key;   /* key of the current row */
};

static void groups_init(struct groups *groups, const struct statement *statement)
{
	*groups = (struct groups){.statement = statement};
	groups->wanted =
	    mem_zalloc((statement->column.count + 1) * sizeof(*groups->wanted));
	for (size_t i = 0; i < statement->aggregates; i++)
		groups->wanted[statement->aggregate[i].column] |=
		    1u << statement->aggregate[i].kind;
}

static struct cell cell_copy(const struct cell *cell)
{
	struct cell copy = *cell;

	if (cell_has_bytes(cell))
		copy.bytes = mem_strndup(cell->size ? cell->bytes : "", cell->size);
	return copy;
}

static void cell_drop(struct cell *cell)
{
	if (cell_has_bytes(cell))
		free((char *)cell->bytes);
}

/* Compare as SQLite does: numbers, texts, blobs. */
static int compare_cells(const struct cell *a, const struct cell *b)
{
	uint32_t size = a->size < b->size ? a->size : b->size;
	bool a_has = cell_has_bytes(a), b_has = cell_has_bytes(b);
	int order;

	if (a_has && a->type == b->type) {
		order = size ? memcmp(a->bytes, b->bytes, size) : 0;
		return order ? order : (a->size > b->size) - (a->size < b->size);
	}
	if (a_has || b_has)
		return a->type < b->type ? -1 : 1;
	if (a->type == CELL_INTEGER && b->type == CELL_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	return (cell_number(a) > cell_number(b)) - (cell_number(a) < cell_number(b));
}

static struct group *find_group(struct groups *groups, const struct cell *row)
{
	struct bytes *key = &groups->key;
	size_t keys = groups->statement->key.count;
	const struct texts_entry *last =
	    groups->count ? &groups->known.entry[groups->last] : NULL;
	struct group *group;

	key->size = 0;
	for (size_t i = 0; i < keys; i++)
		cell_add_key(&row[i], key);
	if (!last || last->size != key->size ||
	    memcmp(last->text, key->data, key->size) != 0)
		groups->last =
		    texts_put_bytes(&groups->known, (const char *)key->data, key->size);
	if (groups->last < groups->count)
		return &groups->group[groups->last];
	group = MEM_NEXT(groups->group, groups->count, groups->capacity);
	group->key = mem_zalloc((keys + 1) * sizeof(*group->key));
	group->sum =
	    mem_zalloc((groups->statement->column.count + 1) * sizeof(*group->sum));
	for (size_t i = 0; i < keys; i++)
		group->key[i] = cell_copy(&row[i]);
	return group;
}

static void add_number(struct sum *sum, const struct cell *cell)
{
	if (cell->type == CELL_REAL)
		sum->is_real = true;
	else if (__builtin_add_overflow(sum->integer, cell->integer, &sum->integer))
		sum->overflowed = true;
	sum->real += cell_number(cell);
}

static void add_extreme(struct cell *extreme, const struct cell *cell, bool is_first,
			int sign)
{
	if (!is_first && sign * compare_cells(cell, extreme) <= 0)
		return;
	cell_drop(extreme);
	*extreme = cell_copy(cell);
}

static void add_cell(struct sum *sum, unsigned wanted, const struct cell *cell)
{
	if (wanted & (1 << AGGREGATE_SUM | 1 << AGGREGATE_AVG))
		add_number(sum, cell);
	if (wanted & 1 << AGGREGATE_MIN)
		add_extreme(&sum->least, cell, !sum->count, -1);
	if (wanted & 1 << AGGREGATE_MAX)
		add_extreme(&sum->greatest, cell, !sum->count, 1);
	if (wanted & 1 << AGGREGATE_QUANTILE) {
		sum->value = mem_grow(sum->value, (size_t)sum->count, &sum->capacity,
				      sizeof(*sum->value));
		sum->value[sum->count] = cell_number(cell);
	}
	sum->count++;
}

/* Pass a row to the listener. Return 0, or -1 with error. */
static int pass_row(const struct groups *groups, const struct cell *row,
		    struct error *error)
{
	const struct group_listener *listener = groups->listener;
	struct cell cell[TIMELINE_MOST_ROW];

	for (size_t i = 0; listener->columns[i]; i++)
		cell[i] = row[groups->place[i]];
	return listener->on_row(listener->context, groups->last, cell, error);
}

/* SQLite converts texts to numbers in sums; leave such statements to it. */
static int add_row(void *context, const struct cell *row, struct error *error)
{
	enum {
		NUMBERS =
		    1 << AGGREGATE_SUM | 1 << AGGREGATE_AVG | 1 << AGGREGATE_QUANTILE
	};
	struct groups *groups = context;
	struct group *group = find_group(groups, row);

	if (groups->listener && pass_row(groups, row, error))
		return -1;
	row += groups->statement->key.count;
	for (size_t i = 0; i < groups->statement->summed; i++) {
		if (cell_has_bytes(&row[i]) && groups->wanted[i] & NUMBERS)
			return error_set(
			    error, "a value has a wrong type; " TIMELINE_MAKE_AGAIN);
		if (row[i].type != CELL_NULL)
			add_cell(&group->sum[i], groups->wanted[i], &row[i]);
	}
	return 0;
}

/* Return 0, or -1 with error after an integer overflow. */
static int aggregate_cell(const struct aggregate *aggregate, const struct sum *sum,
			  struct cell *cell, struct error *error)
{
	size_t count = (size_t)sum->count;

	*cell = cell_of_null();
	if (aggregate->kind == AGGREGATE_COUNT)
		*cell = cell_of_integer(sum->count);
	else if (!count)
		return 0;
	else if (aggregate->kind == AGGREGATE_MIN)
		*cell = sum->least;
	else if (aggregate->kind == AGGREGATE_MAX)
		*cell = sum->greatest;
	else if (aggregate->kind == AGGREGATE_QUANTILE)
		*cell = cell_of_real(quantile_of(sum->value, count, aggregate->share));
	else if (aggregate->kind == AGGREGATE_AVG)
		*cell = cell_of_real(
		    (sum->is_real || sum->overflowed ? sum->real : (double)sum->integer) /
		    (double)count);
	else if (sum->is_real)
		*cell = cell_of_real(sum->real);
	else if (sum->overflowed)
		return error_set(error, "integer overflow");
	else
		*cell = cell_of_integer(sum->integer);
	return 0;
}

/* Store the groups as a temporary table. Return 0, or -1 with error. */
static int store_groups(const struct groups *groups, struct timeline_reader *reader,
			struct error *error)
{
	const struct statement *statement = groups->statement;
	const size_t columns = statement->key.count + statement->aggregates;
	AUTOFREE struct cell *row = mem_zalloc((columns + 1) * sizeof(*row));
	struct timeline_rows *rows =
	    timeline_rows_begin(reader, GROUPS_TABLE, columns, error);
	int status = 0;

	for (size_t i = 0; i < groups->count && !status; i++) {
		const struct group *group = &groups->group[i];
		struct cell *cell = row + statement->key.count;

		memcpy(row, group->key, statement->key.count * sizeof(*row));
		for (size_t k = 0; k < statement->aggregates && !status; k++) {
			const struct aggregate *aggregate = &statement->aggregate[k];

			status = aggregate_cell(aggregate, &group->sum[aggregate->column],
						cell++, error);
		}
		if (!status)
			timeline_rows_add(rows, row);
	}
	return timeline_rows_end(rows) || status ? -1 : 0;
}

static void groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->group[i];

		for (size_t k = 0; k < groups->statement->key.count; k++)
			cell_drop(&group->key[k]);
		for (size_t k = 0; k < groups->statement->column.count; k++) {
			cell_drop(&group->sum[k].least);
			cell_drop(&group->sum[k].greatest);
			free(group->sum[k].value);
		}
		free(group->key);
		free(group->sum);
	}
	free(groups->group);
	free(groups->wanted);
	texts_clear(&groups->known);
	bytes_clear(&groups->key);
}

static int compute_groups(struct groups *groups, struct timeline_reader *reader,
			  const struct query_values *values, struct error *error)
{
	struct timeline_query *rows =
	    timeline_query_new(reader, groups->statement->rows, error);
	AUTOFREE struct cell *value = rows ? query_values_of(values, rows, error) : NULL;
	int status =
	    !value ||
	    timeline_query_ask(rows, value, timeline_query_parameters(rows), error) ||
	    timeline_query_each(rows, add_row, groups, error) ||
	    store_groups(groups, reader, error);

	timeline_query_free(rows);
	return status ? -1 : 0;
}

int query_groups_run(char **sql, struct timeline_reader *reader,
		     const struct query_values *values,
		     const struct group_listener *listener, struct error *error)
{
	struct statement statement = {.aggregates = 0};
	size_t place[TIMELINE_MOST_ROW];
	struct error cause = ERROR_INIT;
	int is_done = 0;

	if (read_statement(&statement, *sql, listener, place)) {
		struct groups groups;

		groups_init(&groups, &statement);
		groups.listener = listener;
		groups.place = place;
		is_done = compute_groups(&groups, reader, values, &cause) == 0;
		groups_clear(&groups);
	}
	if (is_done) {
		free(*sql);
		*sql = statement.outer;
		statement.outer = NULL;
	} else if (listener) {
		is_done = error_set(error, "%s", error_text(&cause));
	}
	error_clear(&cause);
	clear_statement(&statement);
	return is_done;
}
