/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql-texts COUNT SEED: draw COUNT texts of SQL with all that could be lexed in two ways.
 * Those that our lexer accepts are compared with SQLite's library, and with what tells
 * SQLite's and DuckDB's shells where a statement ends; a line of JSON each is printed for
 * the comparison with DuckDB: {"sql": TEXT, "columns": [STRING or null, ...]}, or without
 * columns if they are unknown. Exit status 1 if SQLite reads one differently.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../bench/random.h"
#include "analyze/query_file.h"
#include "analyze/query_text.h"
#include "base/json.h"
#include "base/mem.h"

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { MOST_COLUMNS = 64 };

/* Our lexer's reading of the columns of a SELECT. */
struct columns {
	bool is_known;
	size_t count;
	char *string[MOST_COLUMNS]; /* NULL: not a single string */
};

static const char *draw(uint64_t *state, const char *const *list, size_t count)
{
	return list[random_next(state) % count];
}

/* The inside of strings and comments. */
static void draw_inside(uint64_t *state, FILE *out, bool is_string)
{
	static const char *const odd[] = {"'",
					  "\"",
					  "`",
					  "[",
					  "]",
					  "\\",
					  "\\'",
					  "$$",
					  "$a$",
					  "--",
					  "/*",
					  "*/",
					  ";",
					  "\n",
					  "\r\n",
					  "\r",
					  "\t",
					  "\xc2\xa0",
					  ".shell x",
					  "#",
					  "E'",
					  "U&'",
					  "x'",
					  "\xe2\x80\xa8",
					  "\xef\xbb\xbf",
					  "\\u0027",
					  "\f",
					  "?1",
					  ":a",
					  "$1",
					  "{",
					  "}",
					  "%",
					  "\xe2\x80\x8b",
					  "//",
					  "\n.quit\n"};

	for (uint64_t n = random_next(state) % 4; n > 0; n--) {
		const char *text = draw(state, odd, COUNT(odd));

		if (random_next(state) % 3 == 0)
			text = "a";
		if (is_string && !strcmp(text, "'") && random_next(state) % 8)
			text = "''"; /* as it should be */
		fputs(text, out);
	}
}

static void draw_blank(uint64_t *state, FILE *out)
{
	static const char *const blank[] = {
	    " ", "\n", "\t", "\r\n", "\f", "\v", "\xc2\xa0", "", "", "\xef\xbb\xbf"};

	switch (random_next(state) % 12) {
	case 0:
		fputs("--", out);
		draw_inside(state, out, false);
		fputs("\n", out);
		break;
	case 1:
		fputs("/*", out);
		draw_inside(state, out, false);
		fputs("*/", out);
		break;
	case 2:
		fputs(draw(state, blank, COUNT(blank)), out);
		break;
	default:
		putc(' ', out);
	}
}

static void draw_item(uint64_t *state, FILE *out)
{
	static const char *const prefix[] = {"E", "e", "U&", "x", "N", "b", "_utf8", "r"};
	static const char *const other[] = {
	    "1",        "1_0",        "0x1F",   "1e5",        ".5",      "1.",
	    "\"a\"",    "\"a\"\"b\"", "`a`",    "[a]",        "$1",      "?",
	    "@a",       "a.b",        "a::int", "1 go",       "1\ngo\n", "1\n/\n",
	    "$$a$$",    "$b$'$b$",    "(1)",    "('a')",      "''",      "''''",
	    "{'a': 1}", "x'00'",      "1;",     "'a' || 'b'", "'a' 'b'", "'a'\n'b'",
	    "1 -- a",   "- -1",       "1 / 2",  "1 /* / */",  "&'a'"};

	switch (random_next(state) % 8) {
	case 0:
		fputs(draw(state, other, COUNT(other)), out);
		return;
	case 1:
		if (random_next(state) % 4 == 0)
			fputs(draw(state, prefix, COUNT(prefix)), out);
		break;
	default:
		break;
	}
	putc('\'', out);
	draw_inside(state, out, true);
	putc('\'', out);
	if (random_next(state) % 6 == 0)
		fputs(" AS x", out);
}

static char *draw_text(uint64_t *state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs("SELECT", out);
	for (uint64_t n = 1 + random_next(state) % 4; n > 0; n--) {
		draw_blank(state, out);
		draw_item(state, out);
		draw_blank(state, out);
		if (n > 1)
			putc(',', out);
	}
	if (random_next(state) % 4 == 0)
		draw_blank(state, out);
	fclose(out);
	return text;
}

/* The content of a string in quotes. */
static char *unquote(const struct sql_token *token)
{
	char *text = mem_zalloc(token->length), *to = text;

	for (size_t i = 1; i + 1 < token->length; i++) {
		*to++ = token->text[i];
		i += token->text[i] == '\'';
	}
	return text;
}

/* Take a token of the current column, the `n`-th of it. */
static void see_token(struct columns *columns, const struct sql_token *token, size_t n)
{
	char **string = &columns->string[columns->count - 1];

	if (n == 0 && token->kind == SQL_STRING)
		*string = unquote(token);
	if (n > 0 && (token->kind != SQL_WORD || n > 2)) { /* not an alias */
		free(*string);
		*string = NULL;
	}
}

static void find_columns(const char *text, struct columns *columns)
{
	struct sql_token token;
	size_t depth = 0, n = 0;
	bool has_select = false;

	*columns = (struct columns){.count = 1, .is_known = true};
	while (sql_next(&text, &token) && columns->count < MOST_COLUMNS) {
		if (token.kind == SQL_BLANK)
			continue;
		if (!has_select) {
			columns->is_known &= token.kind == SQL_WORD && token.length == 6;
			has_select = true;
			continue;
		}
		depth += *token.text == '(' && token.kind == SQL_OPERATOR;
		depth -= *token.text == ')' && token.kind == SQL_OPERATOR && depth > 0;
		if (*token.text == ',' && token.kind == SQL_OPERATOR && !depth) {
			columns->count++;
			n = 0;
		} else {
			see_token(columns, &token, n++);
		}
	}
	columns->count -= !n && columns->count > 1; /* DuckDB allows a comma at the end */
}

/* Return what SQLite reads differently, or NULL. */
static const char *compare_sqlite(sqlite3 *db, const char *sql,
				  const struct columns *columns)
{
	sqlite3_stmt *row = NULL;
	const char *rest, *difference = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &row, &rest) != SQLITE_OK || !row)
		return NULL; /* then it does not run it */
	if (rest[strspn(rest, " \t\r\n;")])
		difference = "another statement";
	else if (columns->is_known && (size_t)sqlite3_column_count(row) != columns->count)
		difference = "another number of columns";
	else if (sqlite3_step(row) == SQLITE_ROW)
		for (size_t i = 0; columns->is_known && i < columns->count; i++)
			if (columns->string[i] &&
			    strcmp((const char *)sqlite3_column_text(row, (int)i),
				   columns->string[i]) != 0)
				difference = "another string";
	sqlite3_finalize(row);
	return difference;
}

/* Return true if a shell takes a part of the statement, up to a line's end, for all. */
static bool ends_early(const char *sql)
{
	for (const char *line = strchr(sql, '\n'); line; line = strchr(line + 1, '\n')) {
		AUTOFREE char *part = mem_strndup(sql, (size_t)(line - sql));

		if (sqlite3_complete(part))
			return true;
	}
	return false;
}

static void print_text(const char *sql, const struct columns *columns)
{
	struct bytes line = {0};

	bytes_add_text(&line, "{\"sql\": ");
	json_add_word(&line, sql);
	for (size_t i = 0; columns->is_known && i < columns->count; i++) {
		bytes_add_text(&line, i ? ", " : ", \"columns\": [");
		if (columns->string[i])
			json_add_word(&line, columns->string[i]);
		else
			bytes_add_text(&line, "null");
	}
	bytes_add_text(&line, columns->is_known ? "]}\n" : "}\n");
	fwrite(line.data, 1, line.size, stdout);
	bytes_clear(&line);
}

/* Return 1 if one of the two reads the text differently. */
static int try_text(sqlite3 *db, const char *text)
{
	struct error error = ERROR_INIT;
	struct query_file *file = query_file_parse("fuzz.sql", text, &error);
	struct columns columns;
	const char *difference;

	error_clear(&error);
	if (!file)
		return 0;
	find_columns(file->block[0].sql, &columns);
	difference = compare_sqlite(db, file->block[0].sql, &columns);
	if (ends_early(file->block[0].sql))
		difference = "an end for a shell";
	if (difference)
		fprintf(stderr, "%s for SQLite: %s\n", difference, file->block[0].sql);
	print_text(file->block[0].sql, &columns);
	for (size_t i = 0; i < columns.count; i++)
		free(columns.string[i]);
	query_file_free(file);
	return difference != NULL;
}

int main(int argc, char **argv)
{
	uint64_t state;
	int found = 0;
	sqlite3 *db;

	if (argc != 3 || strtoull(argv[2], NULL, 0) == 0) {
		fputs("usage: sql-texts COUNT SEED\n", stderr);
		return 2;
	}
	state = strtoull(argv[2], NULL, 0) * RANDOM_SEED;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return 1;
	for (long n = atol(argv[1]); n > 0; n--) {
		char *text = draw_text(&state);

		found |= try_text(db, text);
		free(text);
	}
	sqlite3_close(db);
	return found;
}
