/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

static const struct {
	const char *temporary;
	const char *keep; /* for Spark: evaluates a view once */
	struct {
		const char *ours, *theirs;
	} function[4];
	char quote;
	bool has_escapes; /* a backslash in a string is an escape */
	const char *blob; /* the function in place of X'00', which is text there */
} dialects[SQL_DIALECTS] = {
    [SQL_SQLITE] = {"CREATE TEMPORARY TABLE",
		    NULL,
		    {{"least", "min"}, {"greatest", "max"}},
		    '"',
		    false,
		    NULL},
    [SQL_DUCKDB] = {"CREATE OR REPLACE TEMPORARY TABLE",
		    NULL,
		    {{"quantile", "quantile_cont"}},
		    '"',
		    false,
		    "unhex"},
    [SQL_SPARK] = {"CREATE OR REPLACE TEMPORARY VIEW",
		   "CACHE LAZY TABLE",
		   {{"quantile", "percentile"}},
		   '`',
		   true,
		   NULL},
};

static size_t blank_length(const char *text)
{
	size_t length = 0;

	for (;;) {
		const char *end;

		while (text[length] == ' ' || text[length] == '\t' ||
		       text[length] == '\r' || text[length] == '\n')
			length++;
		if (text[length] == '-' && text[length + 1] == '-')
			end = strchr(text + length, '\n');
		else if (text[length] == '/' && text[length + 1] == '*')
			end = (end = strstr(text + length + 2, "*/")) ? end + 1 : NULL;
		else
			return length;
		length = end ? (size_t)(end - text) + 1 : strlen(text);
	}
}

static size_t word_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
	       (unsigned char)text[length] >= 0x80)
		length++;
	return length;
}

/* Return the length of a quoted token. A doubled quote is a part of it; without a closing
 * quote it extends to the end. */
static size_t quoted_length(const char *text)
{
	size_t length = 1;

	for (; text[length]; length++)
		if (text[length] == *text && text[++length] != *text)
			return length;
	return length;
}

bool sql_next(const char **at, struct sql_token *token)
{
	const char *text = *at;

	*token = (struct sql_token){SQL_BLANK, text, blank_length(text)};
	if (token->length)
		;
	else if ((token->length = word_length(text)))
		token->kind = SQL_WORD;
	else if (*text == ':' && (token->length = word_length(text + 1))) {
		token->kind = SQL_VALUE;
		token->length++;
	} else if (*text == '\'' || *text == '"') {
		token->kind = *text == '"' ? SQL_QUOTED : SQL_STRING;
		token->length = quoted_length(text);
	} else if (*text) {
		token->kind = *text == ';' ? SQL_END : SQL_OPERATOR;
		token->length = 1;
	}
	*at += token->length;
	return token->length > 0;
}

struct sql_slice sql_slice_between(const char *begin, const char *end)
{
	while (begin < end && strchr(" \t\r\n", *begin))
		begin++;
	while (begin < end && strchr(" \t\r\n", end[-1]))
		end--;
	return (struct sql_slice){begin, (size_t)(end - begin)};
}

struct sql_slice sql_next_part(const char **at, const char *end)
{
	struct sql_slice part = {.text = *at};
	struct sql_token token;
	size_t depth = 0;

	while (*at < end && sql_next(at, &token)) {
		if (token.kind == SQL_BLANK && !depth)
			continue;
		if (!part.length)
			part.text = token.text;
		part.length = (size_t)(*at - part.text);
		depth += *token.text == '(';
		depth -= depth && *token.text == ')';
		if (!depth)
			break;
	}
	return part;
}

void sql_split(struct sql_slice list, struct sql_slices *items)
{
	const char *at = list.text, *end = at + list.length, *begin = at;
	struct sql_slice part;

	do {
		part = sql_next_part(&at, end);
		if (!part.length || *part.text == ',') {
			*MEM_NEXT(items->item, items->count, items->capacity) =
			    sql_slice_between(begin, part.length ? part.text : end);
			begin = at;
		}
	} while (part.length);
}

static bool is_word(const struct sql_token *token, const char *word)
{
	return token->length == strlen(word) &&
	       !strncasecmp(token->text, word, token->length);
}

bool sql_has(const char *text, const char *word)
{
	enum sql_kind kind = *word == ':' ? SQL_VALUE : SQL_WORD;
	size_t length = strlen(word);
	struct sql_token token;

	if (!strstr(text, word)) /* mostly, and much quicker */
		return false;
	while (sql_next(&text, &token))
		if (token.kind == kind && token.length == length &&
		    !strncmp(token.text, word, length))
			return true;
	return false;
}

/* Find a comment in a blank that ends elsewhere in another dialect. Return the fault and
 * set `at`, or return NULL. */
static const char *find_comment_fault(const struct sql_token *token, size_t *at)
{
	const char *text = token->text, *end = text + token->length;

	for (const char *byte = text; byte < end; byte++) {
		const char *comment_end;

		*at = (size_t)(byte - text);
		if (byte[0] == '-') { /* blank_length saw two */
			comment_end = memchr(byte, '\n', (size_t)(end - byte));
			byte = comment_end ? comment_end : end - 1;
		} else if (byte[0] == '/') {
			const char *inner;

			comment_end = strstr(byte + 2, "*/");
			inner = strstr(byte + 2, "/*");
			if (!comment_end || comment_end >= end)
				return "a comment without its end";
			if (inner && inner < comment_end)
				return "a comment within a comment";
			byte = comment_end + 1;
		}
	}
	return NULL;
}

static const char *find_quotes_fault(const struct sql_token *token)
{
	size_t quotes = 0;

	for (size_t i = 0; i < token->length; i++) {
		quotes += token->text[i] == *token->text;
		if (token->text[i] == '$' && token->text[i + 1] == '{')
			return "quotes with ${, where the shell of Spark puts a variable";
	}
	return quotes % 2 == 0 ? NULL : "quotes without their end";
}

/* Return true if the word is the prefix of a string. X'00' is a blob, which sql_write
 * translates, but E'\'' and N'x' differ between dialects. */
static bool is_prefix(const struct sql_token *token)
{
	return token->text[token->length] == '\'' &&
	       (token->length != 1 || (*token->text | 0x20) != 'x');
}

static const char *find_token_fault(const struct sql_token *token, size_t *at)
{
	static const char operators[] = "()+-*/%<>=!|&~,.";

	*at = 0;
	switch (token->kind) {
	case SQL_BLANK:
		return find_comment_fault(token, at);
	case SQL_WORD:
		for (; *at < token->length; ++*at)
			if ((unsigned char)token->text[*at] >= 0x80)
				return "a character outside quotes that is not ASCII";
		*at = 0;
		return is_prefix(token) ? "a string with a prefix" : NULL;
	case SQL_STRING:
	case SQL_QUOTED:
		return find_quotes_fault(token);
	case SQL_OPERATOR:
		if (!strchr(operators, *token->text))
			return "a character that has no meaning in all dialects";
		return *token->text == '&' && strchr("'\"", token->text[1]) &&
			       token->text[1]
			   ? "a string with a prefix"
			   : NULL;
	case SQL_VALUE:
	case SQL_END:
		break;
	}
	return NULL;
}

const char *sql_find_fault(const char *text, const char **what)
{
	struct sql_token token;
	size_t at;

	while (sql_next(&text, &token))
		if ((*what = find_token_fault(&token, &at)))
			return token.text + at;
	return NULL;
}

enum { SQL_DEPTH_MOST = 200 };

#define FORBIDDEN                                                                        \
	"readfile writefile edit load_extension fts3_tokenizer sha3_query getenv "       \
	"current_setting write_log java_method reflect try_reflect transform"

/* The state of a SELECT's list of tables, within one pair of brackets. */
struct sql_from {
	bool is_list;     /* a comma is followed by a table */
	bool wants_table; /* the next name is a table */
};

static bool is_any_word(const struct sql_token *token, const char *words)
{
	for (const char *at = words; *at;) {
		size_t length = strcspn(at, " ");

		if (length == token->length && !strncasecmp(at, token->text, length))
			return true;
		at += length + (at[length] == ' ');
	}
	return false;
}

/* Follow a word. Return true if it names a table. */
static bool see_word(struct sql_from *from, const struct sql_token *token,
		     bool is_after_distinct)
{
	bool named = from->wants_table;

	if (is_any_word(token, "FROM JOIN PIVOT UNPIVOT DESCRIBE SUMMARIZE TABLE SHOW")) {
		if (!is_after_distinct) /* IS DISTINCT FROM x */
			from->is_list = from->wants_table = true;
		return false;
	}
	if (is_any_word(token, "LATERAL ONLY"))
		return false;
	from->wants_table = false;
	if (!is_any_word(token,
			 "SELECT VALUES WITH WHERE GROUP ORDER HAVING LIMIT WINDOW "
			 "UNION EXCEPT INTERSECT QUALIFY"))
		return named;
	from->is_list = false;
	return false;
}

/* Follow a bracket, a comma or a dot, which follows the name of a table if `is_table`.
 * Return true if it makes that name a function or, in Spark, the format of a file, or is
 * nested too deep. */
static bool see_operator(struct sql_from *from, size_t *depth, char byte, bool is_table)
{
	struct sql_from *now = &from[*depth];

	if ((byte == '.' && is_table) ||
	    (byte == '(' && (is_table || *depth + 1 == SQL_DEPTH_MOST)))
		return true;
	if (byte == '(')
		from[++*depth] = (struct sql_from){now->wants_table, now->wants_table};
	else if (byte == ')')
		*depth -= *depth > 0;
	now->wants_table = byte == ',' && now->is_list;
	return false;
}

static bool is_path(const struct sql_token *token)
{
	return token->kind == SQL_QUOTED && (memchr(token->text, '/', token->length) ||
					     memchr(token->text, '.', token->length));
}

static bool has_table_function(const char *text)
{
	struct sql_from from[SQL_DEPTH_MOST] = {0};
	struct sql_token token, last[2] = {{.text = ""}, {.text = ""}};
	bool is_table = false; /* `last` names a table */
	size_t depth = 0;

	while (sql_next(&text, &token)) {
		bool named = from[depth].wants_table, is_below = is_word(&last[0], ".");

		if (token.kind == SQL_BLANK)
			continue;
		/* Spark: TRANSFORM ... USING 'command', csv.`file` */
		if ((token.kind == SQL_STRING && (named || is_word(&last[0], "USING"))) ||
		    (is_path(&token) && (named || is_below)))
			return true;
		if (token.kind == SQL_OPERATOR) {
			if (see_operator(from, &depth, *token.text, is_table))
				return true;
			is_table = false;
		} else if (token.kind == SQL_WORD && !is_below) {
			is_table = see_word(&from[depth], &token,
					    is_word(&last[0], "DISTINCT") &&
						is_any_word(&last[1], "IS NOT"));
		} else {
			is_table = named && token.kind == SQL_QUOTED;
			from[depth].wants_table = false;
		}
		last[1] = last[0];
		last[0] = token;
	}
	return false;
}

/* Return a word with which a statement is not a SELECT, or a function that reads, writes
 * or runs more than tables in the shell of SQLite, DuckDB or Spark; or NULL. */
static const char *find_forbidden_word(const char *text, struct sql_token *token)
{
	bool is_first = true, is_below = false;

	for (; sql_next(&text, token); is_below = is_word(token, ".")) {
		size_t blank = blank_length(text);
		bool is_name = token->kind == SQL_WORD && !is_below;
		bool is_call = text[blank] == '('; /* also with a schema before it */
		struct sql_token name = *token;

		if (token->kind == SQL_BLANK)
			continue;
		if (token->kind == SQL_QUOTED) {
			name.text++;
			name.length -= 2;
		}
		if ((is_first && !is_any_word(token, "( SELECT WITH VALUES")) ||
		    (is_name && is_any_word(token, "INSERT INTO UPDATE DELETE MERGE")) ||
		    (is_call && is_any_word(&name, FORBIDDEN)))
			return token->text;
		is_first = false;
	}
	return NULL;
}

int sql_check_select(const char *text, const char *option, struct error *error)
{
	struct sql_token token;

	if (find_forbidden_word(text, &token))
		return error_set(
		    error, "%s: '%.*s' cannot be used (expected a SELECT of tables)",
		    option, (int)token.length, token.text);
	return has_table_function(text) ? error_set(error,
						    "%s: a function or a file cannot be "
						    "used as a table; name the tables",
						    option)
					: 0;
}

static void add_name(struct text_list *names, const struct sql_token *token)
{
	bool is_quoted = token->kind == SQL_QUOTED;
	AUTOFREE char *name =
	    mem_strndup(token->text + is_quoted, token->length - 2 * (size_t)is_quoted);

	text_list_add(names, name);
}

/* An item's name is its last word, with or without AS. */
void sql_columns(const char *text, struct text_list *names)
{
	struct sql_token token, last = {.length = 0};
	bool is_item = false, more = true;
	size_t depth = 0;

	while (more) {
		more = sql_next(&text, &token);
		if (more && token.kind == SQL_BLANK)
			continue;
		depth -= more && is_word(&token, ")");
		if (depth == 0 && is_item &&
		    (!more || is_word(&token, ",") || is_word(&token, "FROM") ||
		     is_word(&token, "WHERE") || is_word(&token, "UNION"))) {
			add_name(names, &last);
			if (!more || *token.text != ',')
				return;
		}
		is_item |= depth == 0 && is_word(&token, "SELECT");
		depth += more && is_word(&token, "(");
		last = token;
	}
}

/* The macros; $ and @ are their arguments. */
static const struct {
	const char *name, *text;
	size_t arguments;
} macros[] = {
    {"distribution",
     "min($) AS min_ns, avg($) AS mean_ns, quantile($, 0.5) AS p50_ns, "
     "quantile($, 0.95) AS p95_ns, quantile($, 0.99) AS p99_ns, max($) AS max_ns",
     1},
    /* On one line, so that errors name the right line of the file. */
    {"frequency",
     "WITH counted AS (SELECT min($) AS least, count(*) AS spans FROM @ "
     "GROUP BY length($ || ''), substr($ || '', 1, 1)) "
     "SELECT nullif(b.least_ns, -4611686018427387904) AS from_ns, b.below_ns AS to_ns, "
     "sum(spans) AS count, 1e2 * sum(spans) / (SELECT sum(spans) FROM counted) AS "
     "percent "
     "FROM counted JOIN duration_bin AS b ON least >= b.least_ns AND least < b.below_ns "
     "GROUP BY b.least_ns, b.below_ns",
     2},
    {"thread_group",
     "CASE WHEN :group <> 'name' THEN $.node END AS node, "
     "CASE WHEN :group = 'thread' THEN $.tid END AS tid, "
     "CASE WHEN :group = 'thread' THEN $.thread END AS thread, "
     "CASE WHEN :group IN ('thread', 'process') THEN @.pid END AS pid, "
     "CASE WHEN :group = 'thread' THEN coalesce(@.comm, $.comm) END AS comm, "
     "CASE WHEN :group = 'name' AND $.comm IS NOT NULL AND coalesce(@.pid, $.tid) = "
     "$.tid THEN $.comm WHEN :group IN ('process', 'name') "
     "THEN coalesce(@.process, @.comm, $.comm) END AS process",
     2},
};

enum { MACROS = sizeof(macros) / sizeof(*macros) };

/* If `word` calls a macro, write its expansion and advance `at` past the call. */
static bool expand_macro(FILE *file, const struct sql_token *word, const char **at)
{
	struct sql_slices argument = {0};
	const char *behind = *at;
	struct sql_slice group = sql_next_part(&behind, *at + strlen(*at));
	bool is_call =
	    group.length > 1 && *group.text == '(' && group.text[group.length - 1] == ')';
	size_t n = 0;

	while (n < MACROS && !is_word(word, macros[n].name))
		n++;
	if (n == MACROS || !is_call)
		return false;
	sql_split(sql_slice_between(group.text + 1, group.text + group.length - 1),
		  &argument);
	is_call = argument.count == macros[n].arguments;
	for (const char *byte = macros[n].text; is_call && *byte; byte++)
		if (*byte == '$' || *byte == '@')
			fwrite(argument.item[*byte == '@'].text, 1,
			       argument.item[*byte == '@'].length, file);
		else
			putc(*byte, file);
	free(argument.item);
	if (is_call)
		*at = behind;
	return is_call;
}

char *sql_expand(const char *text)
{
	char *expanded;
	size_t size;
	FILE *file = mem_stream(&expanded, &size);
	struct sql_token token;

	while (sql_next(&text, &token))
		if (token.kind != SQL_WORD || !expand_macro(file, &token, &text))
			fwrite(token.text, 1, token.length, file);
	fclose(file);
	return expanded;
}

void sql_write_temporary(FILE *file, const char *name, const char *select,
			 enum sql_dialect dialect)
{
	fprintf(file, "%s %s AS\n%s;\n\n", dialects[dialect].temporary, name, select);
	if (dialects[dialect].keep)
		fprintf(file, "%s %s;\n\n", dialects[dialect].keep, name);
}

/* Write a word; translate the name of a function. */
static void write_word(FILE *file, const struct sql_token *token,
		       enum sql_dialect dialect)
{
	if (token->text[token->length] == '(')
		for (size_t i = 0; dialects[dialect].function[i].ours; i++) {
			const char *ours = dialects[dialect].function[i].ours;

			if (strlen(ours) == token->length &&
			    !strncmp(ours, token->text, token->length)) {
				fputs(dialects[dialect].function[i].theirs, file);
				return;
			}
		}
	fwrite(token->text, 1, token->length, file);
}

/* Write text in quotes: of a string if they are single, else of a name. */
static void write_quoted(FILE *file, const char *text, size_t size, char quote,
			 enum sql_dialect dialect)
{
	bool has_escapes = quote == '\'' && dialects[dialect].has_escapes;

	putc(quote, file);
	for (size_t i = 0; i < size; i++) {
		if (text[i] == quote || (text[i] == '\\' && has_escapes))
			putc(has_escapes ? '\\' : quote, file);
		putc(text[i], file);
	}
	putc(quote, file);
}

/* Write a token that is in quotes, where a doubled one is a single one. */
static void write_quoted_token(FILE *file, const struct sql_token *token,
			       enum sql_dialect dialect)
{
	AUTOFREE char *text = mem_alloc(token->length);
	size_t size = 0;

	for (size_t i = 1; i + 1 < token->length; i++) {
		text[size++] = token->text[i];
		i += token->text[i] == *token->text;
	}
	write_quoted(file, text, size,
		     token->kind == SQL_STRING ? '\'' : dialects[dialect].quote, dialect);
}

static void write_value(FILE *file, const struct cell *cell, enum sql_dialect dialect)
{
	switch (cell->type) {
	case CELL_NULL:
	case CELL_BLOB:
		fputs("NULL", file);
		break;
	case CELL_INTEGER:
		fprintf(file, cell->integer < 0 ? "(%lld)" : "%lld",
			(long long)cell->integer);
		break;
	case CELL_REAL: /* with an exponent it is a double everywhere */
		fprintf(file, "%.17e", cell->real);
		break;
	case CELL_TEXT:
		write_quoted(file, cell->bytes, cell->size, '\'', dialect);
		break;
	}
}

void sql_write(FILE *file, const char *text, enum sql_dialect dialect, sql_value *value,
	       void *context)
{
	struct sql_token token;

	while (sql_next(&text, &token)) {
		AUTOFREE char *name = mem_strndup(token.text, token.length);
		const struct cell *cell =
		    token.kind == SQL_VALUE && value ? value(context, name) : NULL;

		if (cell && cell->type == CELL_BLOB) {
			sql_write(file, cell->bytes, dialect, value, context);
		} else if (cell) {
			write_value(file, cell, dialect);
		} else if (token.kind == SQL_WORD && *text == '\'' &&
			   dialects[dialect].blob) {
			fprintf(file, "%s(", dialects[dialect].blob);
			sql_next(&text, &token);
			write_quoted_token(file, &token, dialect);
			putc(')', file);
		} else if (token.kind == SQL_WORD) {
			write_word(file, &token, dialect);
		} else if (token.kind == SQL_QUOTED || token.kind == SQL_STRING) {
			write_quoted_token(file, &token, dialect);
		} else {
			fwrite(token.text, 1, token.length, file);
		}
	}
}
