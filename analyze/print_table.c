/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/print_private.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/utf8.h"

static const struct table_unit percents[] = {{1, "%"}, {0, NULL}};
static const struct table_unit rates[] = {{1, "/s"}, {0, NULL}};
static const struct table_unit ppms[] = {{1, "ppm"}, {0, NULL}};
static const struct table_unit plain[] = {{1, ""}, {0, NULL}};

/* On a terminal a column has one unit; NULL: its cells stand as they are. */
static const struct table_unit *const units[UNIT_COUNT_OF] = {
    [UNIT_SPAN] = table_spans,
    [UNIT_BOUND] = table_spans,
    [UNIT_BYTES] = table_sizes,
    [UNIT_BYTE_RATE] = table_byte_rates,
    [UNIT_RATE] = rates,
    [UNIT_PERCENT] = percents,
    [UNIT_RATIO] = plain,
    [UNIT_PPM] = ppms,
    [UNIT_HERTZ] = table_frequencies,
    [UNIT_NUMBER] = plain,
};

static bool cut_end(char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	bool is_there = length > tail && !strcmp(text + length - tail, end);

	if (is_there)
		text[length - tail] = '\0';
	return is_there;
}

/* What two columns are called says nothing where one is shown without the other: then it
 * is the column's name, "SENT BYTES". For free(). */
static char *make_title(const struct result_table *table, size_t column)
{
	const char *title = table->column[column].title;
	char *own;
	bool is_own = true;

	for (size_t i = 0; i < table->columns; i++)
		is_own &= i == column || strcmp(table->column[i].title, title) != 0;
	if (is_own)
		return mem_strdup(title);
	own = mem_strdup(table->column[column].key);
	cut_end(own, "_ns");
	if (cut_end(own, "_bytes_per_second"))
		strcat(own, "_rate");
	for (char *at = own; *at; at++)
		*at = *at == '_' ? ' ' : (char)toupper((unsigned char)*at);
	return own;
}

/* For people at a terminal: what is in the column, rather than how each cell is told. */
static void describe_column(const struct result *result, const struct result_table *table,
			    size_t index, struct table_column *column)
{
	enum unit unit = table->column[index].unit;

	column->title = make_title(table, index);
	column->units = units[unit];
	column->is_bound = unit == UNIT_BOUND;
	if (unit == UNIT_INSTANT)
		column->unit = result->zone.name;
	if (unit == UNIT_PERCENT && strchr(column->title, '%'))
		column->units = plain;
}

static const char *text_of(const struct result *result, const struct result_table *table,
			   const struct table_column *column, size_t row, size_t index,
			   char number[PRINT_TEXT])
{
	const struct cell *cell = &table->cell[row * table->columns + index];
	char plain_text[PRINT_TEXT];

	if (!column->units || (cell->type != CELL_INTEGER && cell->type != CELL_REAL))
		return print_cell_of(number, result, table, row, index);
	snprintf(number, PRINT_TEXT, "%s%s", column->is_bound ? "+-" : "",
		 print_plain(plain_text, cell));
	return number;
}

static void print_one(const struct result *result, const struct result_table *table,
		      FILE *file)
{
	struct table_column *column = mem_zalloc((table->columns + 1) * sizeof(*column));
	const char **text = mem_zalloc((table->columns + 1) * sizeof(*text));
	char(*number)[PRINT_TEXT] = mem_zalloc((table->columns + 1) * sizeof(*number));
	bool on_terminal = table_on_terminal(file);
	struct table *printed;

	for (size_t i = 0; i < table->columns; i++) {
		column[i].right = print_is_right(table->column[i].unit);
		if (on_terminal)
			describe_column(result, table, i, &column[i]);
		else
			column[i].title = print_title(result, &table->column[i]);
	}
	printed = table_new(column, table->columns);
	table_keep_narrow(printed);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++)
			text[i] = text_of(result, table, &column[i], row, i, number[i]);
		table_add(printed, text);
	}
	table_print(printed, file);
	table_free(printed);
	for (size_t i = 0; i < table->columns; i++)
		free((char *)column[i].title);
	free(number);
	free(text);
	free(column);
}

static void print_line(FILE *file, const char *text)
{
	utf8_print(file, text);
	fputc('\n', file);
}

void print_tables(const struct question *question, const struct result *result,
		  FILE *file)
{
	bool first = true;

	(void)question;
	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		char *left_out;

		if (!print_wants(result, table))
			continue;
		left_out = print_left_out(table);
		fprintf(file, "%s%s%s%s\n", first ? "" : "\n", table->title,
			left_out ? ", " : "", left_out ? left_out : "");
		free(left_out);
		if (table->rows)
			print_one(result, table, file);
		else
			fputs("nothing\n", file);
		first = false;
	}
	if (result->notes.count && !first)
		fputc('\n', file);
	for (size_t i = 0; i < result->notes.count; i++)
		print_line(file, result->notes.item[i]);
}
