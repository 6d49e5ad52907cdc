/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/period_events.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "timeline/names.h"

enum { MOST_FIELDS = 8 };

/* A condition on a field. */
struct term {
	const char *field, *op, *parameter; /* as SQL has them */
	bool is_number, is_pattern;
};

/* The event of --from or --to. */
struct side {
	const char *option, *class; /* "from" */
	struct term *term;
	size_t terms, capacity;
	struct text_list key; /* fields of --group */
	int64_t classes;
	struct text_list found;    /* fields that some class has */
	bool has_node, has_thread; /* the SELECT of the current class reads them */
	FILE *sql;
};

struct reading {
	struct query *query;
	struct query_values *values;
	struct side side[2];
	struct side *now;
	struct error *error;
};

static const char *store_text(struct reading *reading, const char *text, size_t length)
{
	return query_file_store_text(&reading->values->relations, text, length);
}

static const struct {
	const char *text, *sql;
} ops[] = {{"==", "="}, {"!=", "<>"}, {"<=", "<="}, {">=", ">="},
	   {"=", "="},  {"<", "<"},   {">", ">"},   {"~", "LIKE"}};

/* Translate a glob to a LIKE pattern with the escape character !. The caller frees it. */
static char *like_pattern(const char *glob)
{
	char *like = mem_alloc(2 * strlen(glob) + 1), *end = like;

	for (const char *at = glob; *at; at++) {
		if (strchr("%_!", *at))
			*end++ = '!';
		*end++ = *at == '*' ? '%' : *at == '?' ? '_' : *at;
	}
	*end = '\0';
	return like;
}

/* Parse a number, or a string if it is quoted or not a number. */
static struct cell read_value(const char *text, bool is_quoted)
{
	int64_t integer;
	double real;

	if (is_quoted || number_real(text, &real))
		return cell_of_text(text);
	return number_integer(text, &integer) ? cell_of_real(real)
					      : cell_of_integer(integer);
}

/* "FIELD OP VALUE" */
static int parse_term(struct reading *reading, struct side *side, const char *text)
{
	size_t length = strcspn(text, "=!<>~"), op = 0, size;
	AUTOFREE char *value = NULL, *like = NULL;
	struct cell cell;
	struct term *term;
	bool is_quoted;

	while (op < sizeof(ops) / sizeof(*ops) &&
	       strncmp(text + length, ops[op].text, strlen(ops[op].text)) != 0)
		op++;
	if (op == sizeof(ops) / sizeof(*ops) || !length)
		return error_set(reading->error,
				 "invalid condition '%s' (expected FIELD = VALUE)", text);
	term = MEM_NEXT(side->term, side->terms, side->capacity);
	*term = (struct term){.op = ops[op].sql,
			      .is_pattern = *ops[op].text == '~',
			      .field = store_text(reading, text, length)};
	text += length + strlen(ops[op].text);
	text += strspn(text, " ");
	size = strlen(text);
	is_quoted = size > 1 && strchr("\"'", *text) && text[size - 1] == *text;
	value = is_quoted ? mem_strndup(text + 1, size - 2) : mem_strdup(text);
	like = like_pattern(value);
	cell = term->is_pattern ? cell_of_text(like) : read_value(value, is_quoted);
	term->is_number = cell.type != CELL_TEXT;
	term->parameter =
	    query_values_add(reading->values, cell, ":%s_%zu", side->option, side->terms);
	return 0;
}

/* The end of a term: before "&&", but not within quotes. */
static size_t term_length(const char *text, size_t length)
{
	char quote = 0;

	for (size_t i = 0; i < length; i++) {
		if (quote)
			quote = text[i] == quote ? '\0' : quote;
		else if (text[i] == '"' || text[i] == '\'')
			quote = text[i];
		else if (text[i] == '&' && i + 1 < length && text[i + 1] == '&')
			return i;
	}
	return length;
}

static int parse_side(struct reading *reading, struct side *side, const char *typed)
{
	const char *text = store_text(reading, typed, strlen(typed)),
		   *open = strchr(text, '[');
	size_t length = strlen(text);

	side->class = store_text(reading, text, open ? (size_t)(open - text) : length);
	if (!*side->class)
		return error_set(reading->error, "missing event class in '%s'", typed);
	if (!open)
		return 0;
	if (text[length - 1] != ']')
		return error_set(reading->error, "missing ] in '%s'", typed);
	length -= (size_t)(open + 1 - text) + 1;
	for (const char *at = open + 1;;) {
		size_t part = term_length(at, length);

		if (parse_term(reading, side, store_text(reading, at, part)))
			return -1;
		if (part == length)
			return 0;
		at += part + 2;
		length -= part + 2;
	}
}

/* Parse "FIELD" or "BEGIN_FIELD=END_FIELD", separated by commas, and add the labels of
 * groups. */
static int parse_group(struct reading *reading, const char *group)
{
	struct query_values *values = reading->values;
	size_t count = 0;

	for (const char *at = group; at && *(at += strspn(at, ","));) {
		size_t length = strcspn(at, ","), begin = strcspn(at, ",=");
		const char *label = *at == '.' ? at + 1 : at;
		AUTOFREE char *text = mem_printf("%s%.*s=", count++ ? " " : "",
						 (int)(at + begin - label), label);
		char *field = mem_strndup(at, begin);

		query_values_add(values, cell_of_text(text), ":group_%zu", count);
		text_list_add(&reading->side[0].key, field);
		free(field);
		begin = begin < length ? begin + 1 : 0;
		field = mem_strndup(at + begin, length - begin);
		text_list_add(&reading->side[1].key, field);
		free(field);
		at += length;
	}
	query_values_add(values, cell_of_integer(count > 0), ":grouped");
	return count > MOST_FIELDS
		   ? error_misuse(reading->error, "--group: more than %d fields",
				  MOST_FIELDS)
		   : 0;
}

/* Return the SQL of a field of a class, and whether it is text. Return NULL if the class
 * lacks the field, or with error. The caller frees the result. */
static char *field_sql(struct reading *reading, const struct cell *class,
		       const char *field, bool *is_text)
{
	static const char *const known[][2] = {{"node", "n.name"},
					       {"procname", "t.comm"},
					       {"cpu", "e.cpu"},
					       {"tid", "e.tid"}};
	const struct cell key[] = {*class, cell_of_text(field + (*field == '.'))};
	struct text_list column = {0};
	char *sql = NULL;

	for (size_t i = 0; i < 4 && *field != '.' && !sql; i++)
		if (!strcmp(field, known[i][0])) {
			*is_text = i < 2;
			reading->now->has_node |= i == 0;
			reading->now->has_thread |= i == 1;
			sql = mem_strdup(known[i][1]);
		}
	if (!sql &&
	    !query_texts(reading->query->reader,
			 "WITH c AS (SELECT * FROM event_column WHERE class = ? AND "
			 "name = ? AND context = 0 ORDER BY position LIMIT 1) SELECT "
			 "column_name FROM c UNION ALL SELECT type FROM c",
			 key, &column, reading->error) &&
	    column.count == 2) {
		AUTOFREE char *name = name_quote(column.item[0]);

		sql = mem_printf("q.%s", name);
		*is_text = !strcmp(column.item[1], "TEXT");
	}
	if (sql)
		text_list_add(&reading->now->found, field);
	text_list_clear(&column);
	return sql;
}

/* Write a condition, " AND q.irq > :from_1". If a number and a text are compared, it is
 * false. */
static void write_term(struct reading *reading, const struct cell *class,
		       const struct term *term, FILE *sql)
{
	bool is_text = false;
	AUTOFREE char *field = field_sql(reading, class, term->field, &is_text);

	if (!field || (term->is_pattern && !is_text) ||
	    (!term->is_pattern && !is_text && !term->is_number))
		fputs(" AND 1 = 0", sql);
	else
		fprintf(sql, " AND %s %s %s%s%s", field, term->op,
			is_text && term->is_number && !term->is_pattern ? "'' || " : "",
			term->parameter, term->is_pattern ? " ESCAPE '!'" : "");
}

/* Write the name of an event's group, from the fields of --group. */
static void write_name(struct reading *reading, const struct cell *class, FILE *sql)
{
	const struct text_list *key = &reading->now->key;

	fputs("''", sql);
	for (size_t i = 0; i < key->count; i++) {
		bool is_text = false;
		AUTOFREE char *field = field_sql(reading, class, key->item[i], &is_text);

		fprintf(sql, " || :group_%zu || coalesce(%s%s, '-')", i + 1,
			field ? field : "NULL", is_text ? "" : " || ''");
	}
}

/* Write what the options select. */
static void write_conditions(struct reading *reading, const struct cell *class, FILE *sql)
{
	const struct request *request = reading->query->request;
	struct side *side = reading->now;

	fputs(" WHERE e.id = q.id AND e.ts_ns BETWEEN :begin_ns AND :end_ns", sql);
	if (!reading->query->scope.all_nodes)
		fputs(" AND e.node IN (SELECT id FROM chosen_node)", sql);
	if (request->cpus.count)
		fputs(" AND e.cpu IN (SELECT cpu FROM chosen_cpu)", sql);
	if (request->names.count || request->tids.count || request->pids.count) {
		fputs(" AND t.id IN (SELECT id FROM chosen_thread)", sql);
		side->has_thread = true;
	}
	for (size_t i = 0; i < side->terms; i++)
		write_term(reading, class, &side->term[i], sql);
}

/* Add the SELECT of a class (a row of event_class: id, name, table) if it matches. Only
 * what it reads is joined: SQLite would look up each event. */
static int add_class_select(void *context, const struct cell *row, struct error *error)
{
	struct reading *reading = context;
	struct side *side = reading->now;
	AUTOFREE char *quoted = NULL, *name = NULL, *conditions = NULL;
	size_t size;
	FILE *text;

	(void)error;
	if (row[1].type != CELL_TEXT || row[2].type != CELL_TEXT ||
	    fnmatch(side->class, row[1].bytes, 0) != 0)
		return 0;
	side->has_node = side->has_thread = false;
	text = mem_stream(&name, &size);
	write_name(reading, row, text);
	fclose(text);
	text = mem_stream(&conditions, &size);
	write_conditions(reading, row, text);
	fclose(text);
	quoted = name_quote(row[2].bytes);
	fprintf(side->sql,
		"%sSELECT e.id, e.node, e.ts_ns, %s AS name FROM %s AS q CROSS JOIN "
		"event AS e%s%s%s",
		side->classes++ ? "\nUNION ALL " : "", name, quoted,
		side->has_node ? " LEFT JOIN node AS n ON n.id = e.node" : "",
		side->has_thread
		    ? " LEFT JOIN known_thread AS t ON t.node = e.node AND t.tid = e.tid "
		      "AND e.ts_ns >= t.from_ns AND e.ts_ns < t.until_ns"
		    : "",
		conditions);
	return reading->error->text ? -1 : 0;
}

static int read_side(struct reading *reading, struct side *side, const char *relation)
{
	char *text;
	size_t size;
	int status;

	reading->now = side;
	side->sql = mem_stream(&text, &size);
	status = query_rows(reading->query->reader,
			    "SELECT id, name, table_name FROM event_class "
			    "WHERE events > 0 ORDER BY id",
			    NULL, add_class_select, reading, reading->error);
	if (!side->classes)
		fputs("SELECT 0 AS id, 0 AS node, 0 AS ts_ns, '' AS name "
		      "WHERE 1 = 0",
		      side->sql);
	fclose(side->sql);
	query_values_add_relation(reading->values, relation, text);
	query_values_add(reading->values, cell_of_integer(side->classes), ":%s_classes",
			 side->option);
	query_values_add(reading->values, cell_of_text(side->class), ":%s_class",
			 side->option);
	return status;
}

/* A field that no class has is a user error. */
static int check_field(const struct reading *reading, const char *field)
{
	const struct side *side = reading->side;

	if (text_list_has(&side[0].found, field) || text_list_has(&side[1].found, field))
		return 0;
	return error_set(reading->error, "no field '%s' in %s or %s",
			 field + (*field == '.'), side[0].class, side[1].class);
}

static int check_fields(const struct reading *reading)
{
	int status = 0;

	for (size_t i = 0; i < 2; i++) {
		const struct side *side = &reading->side[i];

		if (!reading->side[0].classes || !reading->side[1].classes)
			return 0;
		for (size_t k = 0; k < side->key.count && !status; k++)
			status = check_field(reading, side->key.item[k]);
		for (size_t k = 0; k < side->terms && !status; k++)
			status = check_field(reading, side->term[k].field);
	}
	return status;
}

static int read_periods(struct reading *reading)
{
	const struct request *request = reading->query->request;
	struct error *error = reading->error;

	if (!request->from || !request->to)
		return error_misuse(error, "missing --%s, the event that %s a period",
				    request->from ? "to" : "from",
				    request->from ? "ends" : "begins");
	if (!reading->query->reader)
		return error_set(error, "missing TIMELINE, which has the event classes");
	if (parse_side(reading, &reading->side[0], request->from))
		return error_prefix(error, "--from");
	if (parse_side(reading, &reading->side[1], request->to))
		return error_prefix(error, "--to");
	if (parse_group(reading, request->group) ||
	    read_side(reading, &reading->side[0], "begin_event") ||
	    read_side(reading, &reading->side[1], "end_event"))
		return -1;
	return check_fields(reading);
}

int period_events(struct query_values *values, struct query *query, struct error *error)
{
	struct reading reading = {.query = query,
				  .values = values,
				  .side = {{.option = "from"}, {.option = "to"}},
				  .error = error};
	int status = read_periods(&reading);

	for (size_t i = 0; i < 2; i++) {
		free(reading.side[i].term);
		text_list_clear(&reading.side[i].key);
		text_list_clear(&reading.side[i].found);
	}
	return status;
}
