/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "timeline/names.h"

enum { MOST_FIELDS = 8 };

/* One condition of an event. */
struct term {
	char *field, *value;
	const char *op; /* as SQL has it */
	bool is_number, is_pattern;
	const char *parameter; /* ":from_1" */
};

/* What --from or --to asks for. */
struct side {
	const char *option; /* "from" */
	char *class;
	struct term *term;
	size_t terms, room;
	struct text_list key; /* fields that tell groups apart */
	int64_t classes;
	struct text_list found; /* fields that some class has */
	FILE *sql;
};

/* A class that is meant, and its columns. */
struct columns {
	struct text_list name, column, type;
};

struct reading {
	struct question *question;
	struct query_values *values;
	struct side side[2];
	struct text_list label; /* what the fields of a group are called */
	struct side *now;
	struct error *error;
};

static char *trimmed(const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	return mem_strndup(text, length);
}

static const struct {
	const char *text, *sql;
} ops[] = {{"==", "="}, {"!=", "<>"}, {"<=", "<="}, {">=", ">="},
	   {"=", "="},  {"<", "<"},   {">", ">"},   {"~", "LIKE"}};

/* "FIELD OP VALUE" */
static int parse_term(struct side *side, const char *text, struct error *error)
{
	size_t length = strcspn(text, "=!<>~"), op = 0, quoted;
	struct term *term;
	double number;

	while (op < sizeof(ops) / sizeof(*ops) &&
	       strncmp(text + length, ops[op].text, strlen(ops[op].text)) != 0)
		op++;
	if (op == sizeof(ops) / sizeof(*ops) || !length)
		return error_set(error, "'%s' is no condition, want FIELD = VALUE", text);
	side->term = mem_grow(side->term, side->terms, &side->room, sizeof(*side->term));
	term = &side->term[side->terms++];
	*term = (struct term){.op = ops[op].sql,
			      .is_pattern = *ops[op].text == '~',
			      .field = trimmed(text, length)};
	text += length + strlen(ops[op].text);
	term->value = trimmed(text, strlen(text));
	quoted = strlen(term->value);
	if (quoted > 1 && strchr("\"'", term->value[0]) &&
	    term->value[quoted - 1] == term->value[0]) {
		memmove(term->value, term->value + 1, quoted - 2);
		term->value[quoted - 2] = '\0';
	} else {
		term->is_number = number_real(term->value, &number) == 0;
	}
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

static int parse_side(struct side *side, const char *text, struct error *error)
{
	const char *open = strchr(text, '[');
	size_t length = strlen(text);

	side->class = trimmed(text, open ? (size_t)(open - text) : length);
	if (!*side->class)
		return error_set(error, "'%s' names no class of events", text);
	if (!open)
		return 0;
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (text[length - 1] != ']')
		return error_set(error, "'%s' ends without a ]", text);
	length -= (size_t)(open + 1 - text) + 1;
	for (const char *at = open + 1;;) {
		size_t part = term_length(at, length);
		char *term = trimmed(at, part);
		int status = parse_term(side, term, error);

		free(term);
		if (status || part == length)
			return status;
		at += part + 2;
		length -= part + 2;
	}
}

/* "FIELD" or "BEGIN_FIELD=END_FIELD", with commas between. */
static int parse_group(struct reading *reading, const char *group)
{
	char *all = mem_strdup(group ? group : ""), *word, *rest;

	for (word = strtok_r(all, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(word, '=');

		if (equals)
			*equals = '\0';
		text_list_add(&reading->label, *word == '.' ? word + 1 : word);
		text_list_add(&reading->side[0].key, word);
		text_list_add(&reading->side[1].key, equals ? equals + 1 : word);
	}
	free(all);
	return reading->label.count > MOST_FIELDS
		   ? error_misuse(reading->error, "--group: more than %d fields",
				  MOST_FIELDS)
		   : 0;
}

/* The value of a term as a parameter. A pattern's * and ? are those of LIKE. */
static void bind_term(struct query_values *values, const struct side *side,
		      struct term *term, size_t n)
{
	struct cell cell = cell_of_text(term->value);
	char *like, *end;
	int64_t integer;

	if (term->is_number && !term->is_pattern) {
		double real = 0;

		number_real(term->value, &real);
		cell = number_integer(term->value, &integer) ? cell_of_real(real)
							     : cell_of_integer(integer);
	}
	if (!term->is_pattern) {
		term->parameter =
		    query_values_add(values, cell, ":%s_%zu", side->option, n + 1);
		return;
	}
	like = end = mem_alloc(2 * strlen(term->value) + 1);
	for (const char *at = term->value; *at; at++) {
		if (strchr("%_!", *at))
			*end++ = '!';
		*end++ = *at == '*' ? '%' : *at == '?' ? '_' : *at;
	}
	*end = '\0';
	term->parameter =
	    query_values_add(values, cell_of_text(like), ":%s_%zu", side->option, n + 1);
	free(like);
}

/* The SQL of a field of an event, and whether it is a text; NULL: the class has none. */
static char *field_sql(struct side *side, const struct columns *columns,
		       const char *field, bool *is_text)
{
	static const char *const known[][2] = {{"node", "n.name"},
					       {"cpu", "e.cpu"},
					       {"tid", "e.tid"},
					       {"procname", "t.comm"}};

	for (size_t i = 0; i < 4 && *field != '.'; i++)
		if (!strcmp(field, known[i][0])) {
			*is_text = i == 0 || i == 3;
			text_list_add(&side->found, field);
			return mem_strdup(known[i][1]);
		}
	for (size_t i = 0; i < columns->name.count; i++)
		if (!strcmp(columns->name.item[i], field + (*field == '.'))) {
			char *quoted = name_quote(columns->column.item[i]);
			char *sql = mem_printf("q.%s", quoted);

			*is_text = !strcmp(columns->type.item[i], "TEXT");
			text_list_add(&side->found, field);
			free(quoted);
			return sql;
		}
	return NULL;
}

/* " AND q.irq > :from_1"; what does not compare, a number and a text, holds never. */
static void write_term(struct side *side, const struct columns *columns,
		       const struct term *term)
{
	bool is_text = false;
	char *field = field_sql(side, columns, term->field, &is_text);

	if (!field || (term->is_pattern && !is_text) ||
	    (!term->is_pattern && !is_text && !term->is_number))
		fputs(" AND 1 = 0", side->sql);
	else
		fprintf(side->sql, " AND %s %s %s%s", field, term->op,
			is_text && term->is_number && !term->is_pattern ? "'' || " : "",
			term->parameter);
	if (field && term->is_pattern && is_text)
		fputs(" ESCAPE '!'", side->sql);
	free(field);
}

/* "'cpu=' || coalesce(e.cpu || '', '-') || ' tid=' || ..." */
static void write_key(struct side *side, const struct columns *columns)
{
	fputs("''", side->sql);
	for (size_t i = 0; i < side->key.count; i++) {
		bool is_text;
		char *field = field_sql(side, columns, side->key.item[i], &is_text);

		fprintf(side->sql, " || :group_%zu || coalesce(%s || '', '-')", i + 1,
			field ? field : "NULL");
		free(field);
	}
}

static void write_class(struct reading *reading, const char *table,
			const struct columns *columns)
{
	struct side *side = reading->now;
	char *quoted = name_quote(table);

	fputs(side->classes++ ? "\nUNION ALL " : "", side->sql);
	fputs("SELECT e.id, e.node, e.ts_ns, ", side->sql);
	write_key(side, columns);
	fprintf(side->sql,
		" AS name FROM %s AS q CROSS JOIN event AS e JOIN chosen_node AS n ON "
		"n.id = e.node LEFT JOIN known_thread AS t ON t.node = e.node AND "
		"t.tid = e.tid AND e.ts_ns >= t.from_ns AND e.ts_ns < t.until_ns "
		"WHERE e.id = q.id AND e.ts_ns BETWEEN :begin_ns AND :end_ns "
		"AND (:all_cpus = 1 OR e.cpu IN (SELECT cpu FROM chosen_cpu)) "
		"AND (:all_threads = 1 OR t.id IN (SELECT id FROM chosen_thread))",
		quoted);
	for (size_t i = 0; i < side->terms; i++)
		write_term(side, columns, &side->term[i]);
	free(quoted);
}

static int take_column(void *context, const struct cell *row)
{
	struct columns *columns = context;

	text_list_add(&columns->name, row[0].bytes);
	text_list_add(&columns->column, row[1].bytes);
	text_list_add(&columns->type, row[2].bytes);
	return 0;
}

/* A row of event_class: id, name, table. */
static int take_class(void *context, const struct cell *row)
{
	struct reading *reading = context;
	struct columns columns = {.name = {0}};
	int status;

	if (row[1].type != CELL_TEXT || row[2].type != CELL_TEXT ||
	    fnmatch(reading->now->class, row[1].bytes, 0) != 0)
		return 0;
	status = question_ask(reading->question,
			      "SELECT name, column_name, type FROM event_column "
			      "WHERE class = ? AND context = 0 ORDER BY position",
			      row, take_column, &columns, reading->error);
	if (!status)
		write_class(reading, row[2].bytes, &columns);
	text_list_clear(&columns.name);
	text_list_clear(&columns.column);
	text_list_clear(&columns.type);
	return status;
}

static int read_side(struct reading *reading, struct side *side, const char *relation)
{
	char *text;
	size_t size;
	int status;

	reading->now = side;
	side->sql = open_memstream(&text, &size);
	for (size_t i = 0; i < side->terms; i++)
		bind_term(reading->values, side, &side->term[i], i);
	status = question_ask(reading->question,
			      "SELECT id, name, table_name FROM event_class "
			      "WHERE events > 0 ORDER BY id",
			      NULL, take_class, reading, reading->error);
	if (!side->classes)
		fputs("SELECT 0 AS id, 0 AS node, 0 AS ts_ns, '' AS name WHERE 1 = 0",
		      side->sql);
	fclose(side->sql);
	query_values_add_relation(reading->values, relation, NULL, text);
	query_values_add(reading->values, cell_of_integer(side->classes), ":%s_classes",
			 side->option);
	query_values_add(reading->values, cell_of_text(side->class), ":%s_class",
			 side->option);
	return status;
}

/* A field that no class has is a mistake of the user's. */
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

static void add_labels(struct reading *reading)
{
	query_values_add(reading->values, cell_of_integer(reading->label.count > 0),
			 ":grouped");
	for (size_t i = 0; i < reading->label.count; i++) {
		char *label = mem_printf("%s%s=", i ? " " : "", reading->label.item[i]);

		query_values_add(reading->values, cell_of_text(label), ":group_%zu",
				 i + 1);
		free(label);
	}
}

static void clear_side(struct side *side)
{
	for (size_t i = 0; i < side->terms; i++) {
		free(side->term[i].field);
		free(side->term[i].value);
	}
	free(side->term);
	free(side->class);
	text_list_clear(&side->key);
	text_list_clear(&side->found);
}

static int read_all(struct reading *reading)
{
	const struct request *request = reading->question->request;
	struct error *error = reading->error;

	if (!request->from || !request->to)
		return error_misuse(
		    error, "--%s is missing, want the event that %s a period",
		    request->from ? "to" : "from", request->from ? "ends" : "begins");
	if (!reading->question->reader)
		return error_set(error, "classes and fields are looked up in the "
					"timeline, want TIMELINE");
	if (parse_side(&reading->side[0], request->from, error))
		return error_prefix(error, "--from");
	if (parse_side(&reading->side[1], request->to, error))
		return error_prefix(error, "--to");
	if (parse_group(reading, request->group) ||
	    read_side(reading, &reading->side[0], "begin_event") ||
	    read_side(reading, &reading->side[1], "end_event"))
		return -1;
	add_labels(reading);
	return check_fields(reading);
}

int period_events(struct query_values *values, struct question *question,
		  struct error *error)
{
	struct reading reading = {.question = question,
				  .values = values,
				  .side = {{.option = "from"}, {.option = "to"}},
				  .error = error};
	int status = read_all(&reading);

	clear_side(&reading.side[0]);
	clear_side(&reading.side[1]);
	text_list_clear(&reading.label);
	return status;
}
