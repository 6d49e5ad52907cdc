/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <langinfo.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

struct table {
	struct table_column *column;
	size_t columns;
	char **text; /* row by row */
	size_t texts, room;
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *table = mem_zalloc(sizeof(*table));

	table->columns = count;
	table->column = mem_zalloc((count + 1) * sizeof(*columns));
	for (size_t i = 0; i < count; i++)
		table->column[i] = (struct table_column){
		    .title = mem_strdup(columns[i].title), .right = columns[i].right};
	return table;
}

void table_add(struct table *table, const char *const *texts)
{
	for (size_t i = 0; i < table->columns; i++) {
		table->text = mem_grow(table->text, table->texts, &table->room,
				       sizeof(*table->text));
		table->text[table->texts++] = mem_strdup(texts[i] ? texts[i] : "");
	}
}

/* How many characters wide the terminal is that a file leads to; 0: it is none, or does
 * not say. */
static size_t terminal_width(FILE *file)
{
	struct winsize size;

	if (!isatty(fileno(file)) || ioctl(fileno(file), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

bool table_on_terminal(FILE *file)
{
	return terminal_width(file) > 0;
}

static size_t count_characters(const char *text)
{
	size_t count = 0;

	for (; *text; count++) {
		size_t length = utf8_length(text);

		text += length ? length : 1;
	}
	return count;
}

static size_t column_width(const struct table *table, size_t column)
{
	size_t width = count_characters(table->column[column].title);

	for (size_t at = column; at < table->texts; at += table->columns) {
		size_t length = count_characters(table->text[at]);

		if (length > width)
			width = length;
	}
	return width;
}

/* "+-1.5 us" as "±1.5 µs", where the terminal can show it. For free(). */
static char *typeset(const char *text)
{
	char *out = mem_zalloc(strlen(text) + 3);
	size_t length = strlen(text), at = 0;
	bool micro = length > 3 && strcmp(text + length - 3, " us") == 0;

	if (strncmp(text, "+-", 2) == 0) {
		at = (size_t)sprintf(out, "\u00b1");
		text += 2;
		length -= 2;
	}
	if (micro)
		sprintf(out + at, "%.*s\u00b5s", (int)(length - 2), text);
	else
		strcpy(out + at, text);
	return out;
}

/* Some columns, by their numbers, with every row. */
static void print_columns(const struct table *table, const size_t *column, size_t count,
			  bool typesets, FILE *file)
{
	struct libscols_table *scols = scols_new_table();

	for (size_t i = 0; i < count; i++)
		scols_table_new_column(scols, table->column[column[i]].title, 0,
				       table->column[column[i]].right ? SCOLS_FL_RIGHT
								      : 0);
	for (size_t row = 0; row < table->texts; row += table->columns) {
		struct libscols_line *line = scols_table_new_line(scols, NULL);

		for (size_t i = 0; i < count; i++) {
			const char *text = table->text[row + column[i]];

			if (typesets && table->column[column[i]].right)
				scols_line_refer_data(line, i, typeset(text));
			else
				scols_line_set_data(line, i, text);
		}
	}
	scols_table_set_stream(scols, file);
	/* Never cut a number to the width of a terminal. */
	scols_table_set_termforce(scols, SCOLS_TERMFORCE_NEVER);
	scols_print_table(scols);
	scols_unref_table(scols);
}

/* How many of the first columns name a row: text, and not half of the width. */
static size_t count_keys(const struct table *table, size_t width)
{
	size_t used = 0, keys = 0;

	while (keys < table->columns && !table->column[keys].right) {
		used += column_width(table, keys) + 1;
		if (used > width / 2)
			break;
		keys++;
	}
	return keys;
}

/* As many columns as fit, then the rest below, with those that name a row. */
static void print_folded(const struct table *table, size_t width, bool typesets,
			 FILE *file)
{
	size_t *column = mem_zalloc((table->columns + 1) * sizeof(*column));
	size_t keys = count_keys(table, width), next = 0;

	while (next < table->columns) {
		size_t count = 0, used = 0;

		if (next)
			fputc('\n', file);
		for (size_t i = 0; next && i < keys; i++) {
			column[count++] = i;
			used += column_width(table, i) + 1;
		}
		do {
			used += column_width(table, next) + 1;
			column[count++] = next++;
		} while (next < table->columns &&
			 used + column_width(table, next) <= width);
		print_columns(table, column, count, typesets, file);
	}
	free(column);
}

void table_print(const struct table *table, FILE *file)
{
	size_t width = terminal_width(file);
	bool typesets = false;

	if (width) {
		setlocale(LC_CTYPE, "");
		typesets = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	}
	print_folded(table, width ? width : SIZE_MAX, typesets, file);
	fflush(file);
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->texts; i++)
		free(table->text[i]);
	free(table->text);
	for (size_t i = 0; i < table->columns; i++)
		free((char *)table->column[i].title);
	free(table->column);
	free(table);
}

const char *table_library_version(void)
{
	const char *version = "";

	scols_get_library_version(&version);
	return version;
}
