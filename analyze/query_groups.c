/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/options.h"
#include "timeline/groups.h"

/* The temporary table of groups that the outer statement reads. */
#define QUERY_GROUPS_TABLE "grouped_rows"

/*
 * SQLite's GROUP BY sorts all rows. So a statement [WITH ...] SELECT ... FROM ... GROUP
 * BY is cut in two: one that gives rows of keys and of what is summed up, for `groups`,
 * and one that makes of the groups, in QUERY_GROUPS_TABLE, what the statement gives.
 */
struct query_groups {
	char *rows, *outer; /* of TIMELINE_ROW; of the groups */
	size_t keys, columns;
	struct aggregate *aggregate;
	size_t aggregates, aggregate_room;
};

/* Tokens [begin, end) of the statement. */
struct part {
	size_t begin, end;
};

struct parts {
	struct part *item;
	size_t count, capacity;
};

/* A statement on its way to be cut. */
struct cutting {
	struct sql_token *token; /* but for blanks */
	size_t tokens, token_room;
	struct part with, items, from; /* "WITH ...", between SELECT and FROM, and on */
	struct parts item, key;
	struct text_list column; /* what is summed up, as texts */
	struct query_groups *groups;
};

static bool is_word(const struct cutting *cutting, size_t n, const char *word)
{
	const struct sql_token *token = &cutting->token[n];

	return n < cutting->tokens && token->length == strlen(word) &&
	       !strncasecmp(token->text, word, token->length);
}

static bool is_one_of(const struct cutting *cutting, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (is_word(cutting, n, *words))
			return true;
	return false;
}

static void read_tokens(struct cutting *cutting, const char *sql)
{
	struct sql_token token;

	while (sql_next(&sql, &token)) {
		if (token.kind == SQL_BLANK)
			continue;
		*MEM_NEXT(cutting->token, cutting->tokens, cutting->token_room) = token;
	}
}

/* Behind the bracket that closes the one at n. */
static size_t behind_bracket(const struct cutting *cutting, size_t n)
{
	size_t depth = 0;

	for (; n < cutting->tokens; n++) {
		depth += is_word(cutting, n, "(");
		if (is_word(cutting, n, ")") && --depth == 0)
			return n + 1;
	}
	return cutting->tokens;
}

/* The next token outside of brackets that is one of the words, or the end. */
static size_t find_outside(const struct cutting *cutting, size_t n, size_t end,
			   const char *const *words)
{
	while (n < end && !is_one_of(cutting, n, words))
		n = is_word(cutting, n, "(") ? behind_bracket(cutting, n) : n + 1;
	return n < end ? n : end;
}

static void split(const struct cutting *cutting, struct part part, struct parts *parts)
{
	static const char *const comma[] = {",", NULL};

	while (part.begin < part.end) {
		size_t end = find_outside(cutting, part.begin, part.end, comma);

		*MEM_NEXT(parts->item, parts->count, parts->capacity) =
		    (struct part){part.begin, end};
		part.begin = end + 1;
	}
}

/* A part's text as it stands; for free(). */
static char *part_text(const struct cutting *cutting, struct part part)
{
	const struct sql_token *last = &cutting->token[part.end - 1];
	const char *begin = cutting->token[part.begin].text;

	if (part.begin >= part.end)
		return mem_strdup("");
	return mem_strndup(begin, (size_t)(last->text + last->length - begin));
}

static bool same_part(const struct cutting *cutting, struct part a, size_t at)
{
	for (size_t i = 0; i < a.end - a.begin; i++) {
		const struct sql_token *x = &cutting->token[a.begin + i];
		const struct sql_token *y = &cutting->token[at + i];

		if (at + i >= cutting->tokens || x->length != y->length ||
		    strncmp(x->text, y->text, x->length) != 0)
			return false;
	}
	return true;
}

/* "expression AS name" without the name. */
static struct part expression(const struct cutting *cutting, struct part item)
{
	if (item.end - item.begin > 2 && is_word(cutting, item.end - 2, "AS"))
		item.end -= 2;
	return item;
}

/* GROUP BY 1 is by the first item. */
static bool find_keys(struct cutting *cutting)
{
	for (size_t i = 0; i < cutting->key.count; i++) {
		struct part *key = &cutting->key.item[i];
		const struct sql_token *token = &cutting->token[key->begin];
		size_t n = 0;

		if (key->end == key->begin)
			return false;
		if (key->end - key->begin > 1 || *token->text < '0' || *token->text > '9')
			continue;
		for (size_t k = 0; k < token->length; k++)
			n = n * 10 + (size_t)(token->text[k] - '0');
		if (n < 1 || n > cutting->item.count)
			return false;
		*key = expression(cutting, cutting->item.item[n - 1]);
	}
	return cutting->key.count > 0;
}

/* Where the parts of the statement are; false: it is another kind of statement. */
static bool find_parts(struct cutting *cutting)
{
	static const char *const select[] = {"SELECT", NULL},
				 *const from[] = {"FROM", NULL},
				 *const group[] = {"GROUP", NULL};
	static const char *const others[] = {"UNION",  "EXCEPT", "INTERSECT", "HAVING",
					     "ORDER",  "LIMIT",  "WINDOW",    "OVER",
					     "VALUES", ";",      NULL};
	size_t end = cutting->tokens;
	size_t at_select = find_outside(cutting, 0, end, select);
	size_t at_from = find_outside(cutting, at_select, end, from);
	size_t at_group = find_outside(cutting, at_from, end, group);

	if (at_group + 2 >= end || !is_word(cutting, at_group + 1, "BY") ||
	    is_word(cutting, at_select + 1, "DISTINCT") ||
	    find_outside(cutting, 0, end, others) < end)
		return false;
	cutting->with = (struct part){0, at_select};
	cutting->items = (struct part){at_select + 1, at_from};
	cutting->from = (struct part){at_from, at_group};
	split(cutting, cutting->items, &cutting->item);
	split(cutting, (struct part){at_group + 2, end}, &cutting->key);
	return find_keys(cutting);
}

/* The longest key that stands at n; the number of keys: none does. */
static size_t find_key(const struct cutting *cutting, size_t n)
{
	size_t found = cutting->key.count, longest = 0;

	if (n && is_word(cutting, n - 1, "."))
		return found;
	for (size_t i = 0; i < cutting->key.count; i++) {
		struct part key = cutting->key.item[i];
		size_t length = key.end - key.begin;

		if (length <= longest || !same_part(cutting, key, n) ||
		    is_word(cutting, n + length, ".") ||
		    is_word(cutting, n + length, "("))
			continue;
		found = i;
		longest = length;
	}
	return found;
}

/* The column that sums up this text. Takes the text. */
static size_t add_column(struct cutting *cutting, char *text)
{
	size_t n = 0;

	while (n < cutting->column.count && strcmp(cutting->column.item[n], text) != 0)
		n++;
	if (n == cutting->column.count)
		text_list_add(&cutting->column, text);
	free(text);
	return n;
}

/* What an aggregate's argument is under a FILTER; for free(). */
static char *filtered(const struct cutting *cutting, struct part argument,
		      struct part condition)
{
	char *what = is_word(cutting, argument.begin, "*") ? mem_strdup("1")
							   : part_text(cutting, argument);
	char *when, *text;

	if (condition.begin >= condition.end)
		return what;
	when = part_text(cutting, condition);
	text = mem_printf("CASE WHEN %s THEN %s END", when, what);
	free(when);
	free(what);
	return text;
}

static const char *const aggregate_name[] = {
    [AGGREGATE_ROWS] = "count(*)",    [AGGREGATE_COUNT] = "count",
    [AGGREGATE_SUM] = "sum",          [AGGREGATE_AVG] = "avg",
    [AGGREGATE_MIN] = "min",          [AGGREGATE_MAX] = "max",
    [AGGREGATE_QUANTILE] = "quantile"};

/* The kind of the aggregate whose name and bracket stand at n; -1: none does. */
static int aggregate_at(const struct cutting *cutting, size_t n, size_t arguments)
{
	if (arguments == 2 && is_word(cutting, n, "quantile"))
		return AGGREGATE_QUANTILE;
	for (int kind = AGGREGATE_COUNT; kind <= AGGREGATE_MAX && arguments == 1; kind++)
		if (is_word(cutting, n, aggregate_name[kind]))
			return kind;
	return -1;
}

/*
 * An aggregate at n, with its FILTER, becomes one of ours: behind it, or n where there is
 * none, or 0 where it is one that we do not know how to sum up.
 */
static size_t take_aggregate(struct cutting *cutting, size_t n)
{
	struct query_groups *groups = cutting->groups;
	struct part condition = {0, 0};
	struct parts arguments = {0};
	size_t end = behind_bracket(cutting, n + 1);
	struct aggregate aggregate = {0};
	struct part first;
	int kind;

	split(cutting, (struct part){n + 2, end - 1}, &arguments);
	kind = aggregate_at(cutting, n, arguments.count);
	first = arguments.count ? arguments.item[0] : condition;
	if (kind == AGGREGATE_QUANTILE) {
		char *share = part_text(cutting, arguments.item[1]), *rest;

		aggregate.share = strtod(share, &rest);
		if (*rest || !(aggregate.share >= 0 && aggregate.share <= 1))
			kind = -2;
		free(share);
	}
	free(arguments.item);
	if (kind == -1)
		return n;
	if (is_word(cutting, end, "FILTER")) {
		condition = (struct part){end + 3, behind_bracket(cutting, end + 1) - 1};
		end = condition.end + 1;
	}
	if (kind < 0 || is_word(cutting, first.begin, "DISTINCT"))
		return 0;
	aggregate.kind = (enum aggregate_kind)kind;
	if (is_word(cutting, first.begin, "*") && condition.begin == condition.end)
		aggregate.kind = AGGREGATE_ROWS;
	else
		aggregate.column =
		    add_column(cutting, filtered(cutting, first, condition));
	groups->aggregate = mem_grow(groups->aggregate, groups->aggregates,
				     &groups->aggregate_room, sizeof(aggregate));
	groups->aggregate[groups->aggregates++] = aggregate;
	return end;
}

/* With a blank before it, if one stood there. */
static void write_token(const struct cutting *cutting, size_t n, FILE *file)
{
	const struct sql_token *token = &cutting->token[n];

	if (token->text > token[-1].text + token[-1].length)
		putc(' ', file);
	fwrite(token->text, 1, token->length, file);
}

/* An item as the outer statement has it. False: it has what cannot be cut. */
static bool write_item(struct cutting *cutting, struct part item, FILE *file)
{
	static const char *const others[] = {"group_concat",
					     "string_agg",
					     "total",
					     "json_group_array",
					     "json_group_object",
					     "median",
					     "percentile",
					     TIMELINE_ROW,
					     "OVER",
					     NULL};
	static const char *const query[] = {"SELECT", "WITH", NULL};
	size_t n = item.begin, next;

	while (n < item.end) {
		size_t key = find_key(cutting, n);

		if (is_one_of(cutting, n, others))
			return false;
		if (key < cutting->key.count) {
			fprintf(file, " c%zu", key + 1);
			n += cutting->key.item[key].end - cutting->key.item[key].begin;
			continue;
		}
		next = is_word(cutting, n + 1, "(") ? take_aggregate(cutting, n) : n;
		if (!next)
			return false;
		if (next > n) {
			fprintf(file, " c%zu",
				cutting->key.count + cutting->groups->aggregates);
			n = next;
			continue;
		}
		next = is_word(cutting, n, "(") && is_one_of(cutting, n + 1, query)
			   ? behind_bracket(cutting, n)
			   : n + 1;
		for (; n < next; n++)
			write_token(cutting, n, file);
	}
	return true;
}

/* Whether an item without AS is a key that is a column: "s.node" is called node. */
static bool is_named_key(const struct cutting *cutting, struct part item)
{
	size_t key = find_key(cutting, item.begin), length = item.end - item.begin;
	enum sql_kind kind = cutting->token[item.end - 1].kind;

	return key < cutting->key.count && (length == 1 || length == 3) &&
	       (kind == SQL_WORD || kind == SQL_QUOTED) &&
	       cutting->key.item[key].end - cutting->key.item[key].begin == length;
}

static bool write_items(struct cutting *cutting, FILE *file)
{
	for (size_t i = 0; i < cutting->item.count; i++) {
		struct part item = cutting->item.item[i];
		const struct sql_token *last = &cutting->token[item.end - 1];
		struct part whole = expression(cutting, item);

		if (whole.end == item.end && !is_named_key(cutting, item))
			return false;
		fputs(i ? "," : "", file);
		if (!write_item(cutting, whole, file))
			return false;
		fprintf(file, " AS %.*s", (int)last->length, last->text);
	}
	return true;
}

static void write_rows(const struct cutting *cutting, const char *with, FILE *file)
{
	AUTOFREE char *from = part_text(cutting, cutting->from);

	fprintf(file, "%s\nSELECT %s(", with, TIMELINE_ROW);
	for (size_t i = 0; i < cutting->key.count; i++) {
		AUTOFREE char *key = part_text(cutting, cutting->key.item[i]);

		fprintf(file, "%s%s", i ? ", " : "", key);
	}
	for (size_t i = 0; i < cutting->column.count; i++)
		fprintf(file, ", %s", cutting->column.item[i]);
	fprintf(file, ")\n%s", from);
}

static bool write_both(struct cutting *cutting)
{
	struct query_groups *groups = cutting->groups;
	AUTOFREE char *with =
	    cutting->with.end ? part_text(cutting, cutting->with) : mem_strdup("");
	size_t size;
	FILE *file = open_memstream(&groups->outer, &size);
	bool is_whole;

	fprintf(file, "%s\nSELECT", with);
	is_whole = write_items(cutting, file);
	fputs("\nFROM " QUERY_GROUPS_TABLE, file);
	fclose(file);
	file = open_memstream(&groups->rows, &size);
	write_rows(cutting, with, file);
	fclose(file);
	groups->keys = cutting->key.count;
	groups->columns = cutting->column.count;
	return is_whole && groups->keys + groups->columns <= TIMELINE_MOST_ROW;
}

static void clear_groups(struct query_groups *groups)
{
	free(groups->rows);
	free(groups->outer);
	free(groups->aggregate);
	*groups = (struct query_groups){.rows = NULL};
}

/* Whether a statement as SQLite spells it can be cut so. It then needs clearing. What
 * names more than keys and aggregates is found out when the two are prepared. */
static bool parse(struct query_groups *groups, const char *sql)
{
	struct cutting cutting = {.groups = groups};
	bool is_whole;

	*groups = (struct query_groups){.rows = NULL};
	read_tokens(&cutting, sql);
	is_whole = find_parts(&cutting) && write_both(&cutting);
	if (!is_whole)
		clear_groups(groups);
	text_list_clear(&cutting.column);
	free(cutting.item.item);
	free(cutting.key.item);
	free(cutting.token);
	return is_whole;
}

/* The groups of a statement on their way into their table. */
struct giving {
	const struct groups *groups;
	size_t next;
};

static int give_group(void *context, struct cell *row, struct error *error)
{
	struct giving *giving = context;

	if (giving->next == giving->groups->count)
		return 0;
	return groups_row(giving->groups, giving->next++, row, error) ? -1 : 1;
}

static int keep_groups(const struct query_groups *cut, struct groups *groups,
		       struct timeline_reader *reader, struct error *error)
{
	struct giving giving = {.groups = groups};

	groups_sort(groups);
	return timeline_reader_keep_rows(reader, QUERY_GROUPS_TABLE,
					 cut->keys + cut->aggregates, give_group, &giving,
					 error);
}

/* Sum up; the table is made before it, so that the outer statement can be looked at. */
static int sum_up(const struct query_groups *cut, struct timeline_reader *reader,
		  const struct query_values *values, struct error *error)
{
	struct timeline_query *rows, *outer = NULL;
	AUTOFREE struct cell *value = NULL;
	struct groups groups;
	int status = -1;

	groups_init(&groups, cut->keys, cut->columns, cut->aggregate, cut->aggregates);
	rows = timeline_query_new(reader, cut->rows, error);
	if (rows && keep_groups(cut, &groups, reader, error) == 0)
		outer = timeline_query_new(reader, cut->outer, error);
	if (outer)
		value = query_values_of(values, rows, error);
	timeline_query_free(outer);
	if (value)
		status = timeline_query_ask(rows, value, timeline_query_parameters(rows),
					    error) ||
			 timeline_query_each(rows, groups_take, &groups, error) ||
			 keep_groups(cut, &groups, reader, error);
	timeline_query_free(rows);
	groups_clear(&groups);
	return status ? -1 : 0;
}

bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values)
{
	struct error error = ERROR_INIT;
	struct query_groups cut;
	bool is_done;

	if (!parse(&cut, *sql))
		return false;
	is_done = sum_up(&cut, reader, values, &error) == 0;
	if (is_done) {
		free(*sql);
		*sql = cut.outer;
		cut.outer = NULL;
	}
	error_clear(&error);
	clear_groups(&cut);
	return is_done;
}
