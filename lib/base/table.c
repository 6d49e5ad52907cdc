/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <langinfo.h>
#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { WIDE = 80 }; /* most characters of a line for table_keep_narrow() */

const struct table_unit table_spans[] = {
    {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}, {0, NULL}};

const struct table_unit table_sizes[] = {
    {0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"},
    {0x1p10, "KiB"}, {1, "B"},        {0, NULL}};

const struct table_unit table_byte_rates[] = {
    {0x1p30, "GiB/s"}, {0x1p20, "MiB/s"}, {0x1p10, "KiB/s"}, {1, "B/s"}, {0, NULL}};

const struct table_unit table_frequencies[] = {
    {1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}, {1, "Hz"}, {0, NULL}};

struct table {
	struct table_column *column;
	size_t columns;
	char **text; /* row by row */
	size_t texts, text_capacity;
	bool is_narrow;   /* omit columns in files too */
	bool *is_omitted; /* by column: printed above the table */
};

struct table *table_new(const struct table_column *columns, size_t count)
{
	struct table *table = mem_zalloc(sizeof(*table));

	table->columns = count;
	table->column = mem_zalloc((count + 1) * sizeof(*columns));
	table->is_omitted = mem_zalloc((count + 1) * sizeof(*table->is_omitted));
	for (size_t i = 0; i < count; i++) {
		table->column[i] = columns[i];
		table->column[i].title = mem_strdup(columns[i].title);
	}
	return table;
}

void table_add(struct table *table, const char *const *texts)
{
	for (size_t i = 0; i < table->columns; i++) {
		*MEM_NEXT(table->text, table->texts, table->text_capacity) =
		    utf8_shorten(texts[i] ? texts[i] : "");
	}
}

void table_keep_narrow(struct table *table)
{
	table->is_narrow = true;
}

/* Return the width of the terminal in characters, or 0 if it is unknown or the file is
 * not a terminal. */
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
	const char *unit = table->column[column].unit;
	size_t width = count_characters(table->column[column].title);

	if (unit && strlen(unit) > width)
		width = strlen(unit);
	for (size_t at = column; at < table->texts; at += table->columns) {
		size_t length = count_characters(table->text[at]);

		if (length > width)
			width = length;
	}
	return width;
}

/* Return true if a cell is a number, or two numbers separated by a slash, of which one
 * may be "none". */
static bool is_numeric(const char *text)
{
	bool has_number = strpbrk(text, "0123456789");

	while (has_number && *text) {
		size_t length = strcspn(text, "/");

		if (strspn(text, "0123456789.+-e") < length &&
		    (length != 4 || strncmp(text, "none", 4) != 0))
			return false;
		text += length + (text[length] == '/');
	}
	return has_number;
}

/* Find the next number of a cell, without its sign. Return false if there is none. */
static bool next_number(const char *text, const char **begin, char **end, double *size)
{
	*begin = text + strcspn(text, "0123456789");
	if (!**begin)
		return false;
	*size = strtod(*begin, end);
	return true;
}

/* Return the largest unit in which the geometric mean of a column's least and greatest
 * number is at least 1. A column can contain both 1 ns and 1 s. */
static const struct table_unit *choose_unit(const struct table *table, size_t column)
{
	const struct table_unit *unit = table->column[column].units;
	double least = HUGE_VAL, most = 0, size;

	for (size_t at = column; at < table->texts; at += table->columns) {
		const char *text = table->text[at], *begin;
		char *end;

		if (!is_numeric(text))
			continue;
		for (; next_number(text, &begin, &end, &size); text = end) {
			if (size > 0 && size < least)
				least = size;
			if (size > most)
				most = size;
		}
	}
	while (unit[1].name && !(most > 0 && sqrt(least) * sqrt(most) >= unit->size))
		unit++;
	return unit;
}

/* Return the number of decimals of a number that is shown in a unit. */
static int count_digits(const struct table_column *column, const struct table_unit *unit,
			double shown, bool is_integer)
{
	int digits, most = is_integer ? (int)log10(unit->size) : 15;

	if (column->resolution > 0)
		digits = (int)ceil(log10(unit->size / column->resolution) - 1e-9);
	else if (!(shown > 0))
		digits = 0;
	else
		digits = (shown < 1 || column->is_bound ? 2 : 3) -
			 (int)floor(log10(shown * 1.00005)); /* 9.99996 is 10.00 */
	return digits < 0 ? 0 : digits > most ? most : digits;
}

/* Round a bound up, so that it is still a bound. The factor allows for rounding errors.
 */
static double round_up(double bound, int digits)
{
	double scale = pow(10, digits);

	return ceil(bound * scale * (1 - 1e-12)) / scale;
}

/* Convert the numbers of a cell to a unit; signs and slashes stay. The caller frees the
 * result. */
static char *scale_text(const struct table_column *column, const struct table_unit *unit,
			const char *text)
{
	char *out = mem_strdup(""), *end;
	const char *begin;
	double size;

	while (next_number(text, &begin, &end, &size)) {
		double shown = size / unit->size;
		bool is_integer = strspn(begin, "0123456789") == (size_t)(end - begin);
		int digits = count_digits(column, unit, shown, is_integer);
		char *more;

		if (column->is_bound)
			shown = round_up(shown, digits);
		/* A double does not hold all digits of a large integer. */
		if (is_integer && unit->size == 1)
			more = mem_printf("%s%.*s", out, (int)(end - text), text);
		else
			more = mem_printf("%s%.*s%.*f", out, (int)(begin - text), text,
					  shown > 0 ? digits : 0, shown);
		free(out);
		out = more;
		text = end;
	}
	return out;
}

/* Return the length of a number's fraction, including the point. */
static size_t fraction_length(const char *text)
{
	const char *point = strchr(text, '.');

	return point ? strlen(point) : 0;
}

/* Append blanks to the cells of a column, so that decimal points are aligned. */
static void align_points(struct table *table, size_t column)
{
	size_t most = 0;

	for (size_t at = column; at < table->texts; at += table->columns) {
		if (strchr(table->text[at], '/'))
			return;
		if (fraction_length(table->text[at]) > most)
			most = fraction_length(table->text[at]);
	}
	for (size_t at = column; at < table->texts; at += table->columns) {
		AUTOFREE char *text = table->text[at];

		table->text[at] =
		    mem_printf("%s%*s", text, (int)(most - fraction_length(text)), "");
	}
}

/* Convert a column to one unit, with few digits. */
static void scale_column(struct table *table, size_t index)
{
	struct table_column *column = &table->column[index];
	const struct table_unit *unit = choose_unit(table, index);

	for (size_t at = index; at < table->texts; at += table->columns)
		if (is_numeric(table->text[at])) {
			AUTOFREE char *text = table->text[at];

			table->text[at] = scale_text(column, unit, text);
		}
	column->unit = unit->name;
	align_points(table, index);
}

/* Copy a cell, turning "+-1.5" and "us" into "±1.5" and "µs" if the terminal can show
 * them. The caller frees the result. */
static char *typeset_text(const char *text, bool typesets)
{
	if (typesets && strncmp(text, "+-", 2) == 0)
		return mem_printf("\u00b1%s", text + 2);
	return mem_strdup(typesets && strcmp(text, "us") == 0 ? "\u00b5s" : text);
}

/* Add a line of units, if a column has one. */
static void print_units(const struct table *table, const size_t *column, size_t count,
			bool typesets, struct libscols_table *scols)
{
	struct libscols_line *line = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *unit = table->column[column[i]].unit;

		if (!unit || !*unit)
			continue;
		if (!line)
			line = scols_table_new_line(scols, NULL);
		scols_line_refer_data(line, i, typeset_text(unit, typesets));
	}
}

/* Print all rows of some columns, given by their indexes. */
static void print_columns(const struct table *table, const size_t *column, size_t count,
			  bool typesets, FILE *file)
{
	struct libscols_table *scols = scols_new_table();

	for (size_t i = 0; i < count; i++)
		scols_table_new_column(scols, table->column[column[i]].title, 0,
				       table->column[column[i]].right ? SCOLS_FL_RIGHT
								      : 0);
	print_units(table, column, count, typesets, scols);
	for (size_t row = 0; row < table->texts; row += table->columns) {
		struct libscols_line *line = scols_table_new_line(scols, NULL);

		for (size_t i = 0; i < count; i++) {
			bool right = table->column[column[i]].right;

			scols_line_refer_data(line, i,
					      typeset_text(table->text[row + column[i]],
							   typesets && right));
		}
	}
	scols_table_set_stream(scols, file);
	/* Never truncate a number to the terminal's width. */
	scols_table_set_termforce(scols, SCOLS_TERMFORCE_NEVER);
	scols_print_table(scols);
	scols_unref_table(scols);
}

/* Return how many of the first columns identify a row: those of text that take up at most
 * half of the width. */
static size_t count_keys(const struct table *table, const size_t *column, size_t columns,
			 size_t width)
{
	size_t used = 0, keys = 0;

	while (keys < columns && !table->column[column[keys]].right) {
		used += column_width(table, column[keys]) + 1;
		if (used > width / 2)
			break;
		keys++;
	}
	return keys;
}

/* Print as many columns as fit, and the others below, with the ones that identify a row.
 */
static void print_folded(const struct table *table, size_t width, bool typesets,
			 FILE *file)
{
	AUTOFREE size_t *all = mem_zalloc((table->columns + 1) * sizeof(*all));
	AUTOFREE size_t *column = mem_zalloc((table->columns + 1) * sizeof(*column));
	size_t columns = 0, next = 0, keys;

	for (size_t i = 0; i < table->columns; i++)
		if (!table->is_omitted[i])
			all[columns++] = i;
	keys = count_keys(table, all, columns, width);
	while (next < columns) {
		size_t count = 0, used = 0;

		if (next)
			fputc('\n', file);
		for (size_t i = 0; next && i < keys; i++) {
			column[count++] = all[i];
			used += column_width(table, all[i]) + 1;
		}
		do {
			used += column_width(table, all[next]) + 1;
			column[count++] = all[next++];
		} while (next < columns &&
			 used + column_width(table, all[next]) <= width);
		print_columns(table, column, count, typesets, file);
	}
}

/* Return true if no other column has this title: without its neighbours, a duplicate
 * title is ambiguous. */
static bool has_own_title(const struct table *table, size_t column)
{
	for (size_t i = 0; i < table->columns; i++)
		if (i != column &&
		    !strcmp(table->column[i].title, table->column[column].title))
			return false;
	return true;
}

static bool is_constant(const struct table *table, size_t column)
{
	for (size_t at = column; at < table->texts; at += table->columns)
		if (strcmp(table->text[at], table->text[column]) != 0)
			return false;
	return true;
}

/* Mark the columns to omit: those with equal cells, except the first, which identifies
 * the row. */
static void mark_omitted(struct table *table)
{
	for (size_t i = 1; i < table->columns && table->texts > table->columns; i++)
		table->is_omitted[i] = is_constant(table, i) && has_own_title(table, i);
}

/* Print the omitted columns, wrapped: "in these rows: CPUS 1, CLOCK 2.596 GHz". */
static void print_omitted(const struct table *table, size_t width, bool typesets,
			  FILE *file)
{
	size_t at = 0;

	for (size_t i = 0; i < table->columns; i++) {
		const struct table_column *column = &table->column[i];
		AUTOFREE char *text = NULL, *unit = NULL;
		size_t length;

		if (!table->is_omitted[i])
			continue;
		text = typeset_text(table->text[i], typesets && column->right);
		unit = typeset_text(column->unit ? column->unit : "", typesets);
		length = count_characters(column->title) + 1 + count_characters(text) +
			 (*unit ? 1 + count_characters(unit) : 0);
		if (!at)
			at = (size_t)fprintf(file, "in these rows: ");
		else if (at + 2 + length > width - 1)
			at = (size_t)fprintf(file, ",\n  ") - 2;
		else
			at += (size_t)fprintf(file, ", ");
		fprintf(file, "%s ", column->title);
		utf8_print(file, text);
		fprintf(file, "%s%s", *unit ? " " : "", unit);
		at += length;
	}
	if (at)
		fputc('\n', file);
}

static size_t table_width(const struct table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->columns; i++)
		width += column_width(table, i) + 1;
	return width;
}

void table_print(struct table *table, FILE *file)
{
	size_t width = terminal_width(file);
	bool typesets = false;

	if (width) {
		setlocale(LC_CTYPE, "");
		typesets = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	}
	for (size_t i = 0; i < table->columns; i++)
		if (!width)
			table->column[i].unit = NULL;
		else if (table->column[i].units)
			scale_column(table, i);
	if (width || (table->is_narrow && table_width(table) > WIDE + 1))
		mark_omitted(table);
	print_omitted(table, width && width < WIDE ? width : WIDE, typesets, file);
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
	free(table->is_omitted);
	free(table);
}

const char *table_library_version(void)
{
	const char *version = "";

	scols_get_library_version(&version);
	return version;
}
