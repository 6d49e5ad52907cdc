/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { LEAST_WRAPPED = 30 }; /* characters of a line, for a column that is wrapped */
enum { WIDE = 80 };          /* most characters of a line for table_keep_narrow() */

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

/*
 * Decode the character at `text`. Return its number of bytes, or 0 if the locale cannot
 * show it or it is a control.
 */
static size_t next_character(const char *text, int *width)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t length = mbrtowc(&c, text, strlen(text), &state);

	*width = length && length <= MB_LEN_MAX ? wcwidth(c) : -1;
	return *width < 0 || utf8_is_control(text) ? 0 : length;
}

/* Return the number of columns that a text without controls takes on a screen. */
static size_t text_width(const char *text)
{
	size_t sum = 0, length;
	int width;

	for (; *text; text += length) {
		length = next_character(text, &width);
		sum += length ? (size_t)width : 1;
		length += !length;
	}
	return sum;
}

/* Copy a text, with each byte that the locale cannot show as \x1b, and the backslash of a
 * literal "\x" as \x5c. The caller frees the result. */
static char *escape_text(const char *text)
{
	struct bytes shown = {0};

	while (*text) {
		int width;
		size_t length = next_character(text, &width);

		if (length && strncmp(text, "\\x", 2) != 0) {
			bytes_add(&shown, text, length);
			text += length;
		} else {
			bytes_print(&shown, "\\x%02x", (unsigned char)*text++);
		}
	}
	bytes_add_byte(&shown, 0);
	return (char *)shown.data;
}

static size_t column_width(const struct table *table, size_t column)
{
	const char *unit = table->column[column].unit;
	size_t width = text_width(table->column[column].title);

	if (unit && text_width(unit) > width)
		width = text_width(unit);
	for (size_t at = column; at < table->texts; at += table->columns) {
		size_t length = text_width(table->text[at]);

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

/* Replace a text by what a terminal or a file can show: escaped, and where `typesets`
 * with "+-1.5" as "±1.5". */
static void prepare_text(char **text, bool typesets)
{
	char *shown = escape_text(*text);

	free(*text);
	*text = shown;
	if (typesets && strncmp(shown, "+-", 2) == 0) {
		*text = mem_printf("\u00b1%s", shown + 2);
		free(shown);
	}
}

static void prepare_texts(struct table *table, bool typesets)
{
	for (size_t i = 0; i < table->columns; i++) {
		struct table_column *column = &table->column[i];

		prepare_text((char **)&column->title, false);
		if (typesets && column->unit && !strcmp(column->unit, "us"))
			column->unit = "\u00b5s";
	}
	for (size_t i = 0; i < table->texts; i++)
		prepare_text(&table->text[i],
			     typesets && table->column[i % table->columns].right);
}

/* Print a cell. The `blanks` before it are printed only if text follows. */
static void print_cell(const char *text, size_t width, bool right, int *blanks,
		       FILE *file)
{
	int fill = (int)(width - text_width(text));

	if (right)
		*blanks += fill;
	if (*text)
		fprintf(file, "%*s%s", *blanks, "", text);
	*blanks = (*text ? 0 : *blanks) + (right ? 0 : fill) + 1;
}

/* Print a text of several lines of at most `width` columns, broken at blanks, each but
 * the first indented. */
static void print_wrapped(const char *text, size_t width, size_t indent, FILE *file)
{
	while (text_width(text) > width) {
		const char *end = text, *blank = NULL;
		size_t used = 0;

		while (*end && used < width) {
			int wide;
			const size_t length = next_character(end, &wide);

			if (*end == ' ')
				blank = end;
			used += length ? (size_t)wide : 1;
			end += length ? length : 1;
		}
		if (*end == ' ')
			blank = end;
		end = blank && blank > text ? blank : end;
		fprintf(file, "%.*s\n%*s", (int)(end - text), text, (int)indent, "");
		text = end + strspn(end, " ");
	}
	fputs(text, file);
}

/* Print some columns, given by their indexes: titles, units if a column has one, rows. A
 * last column of text that is wider than the rest of the line is wrapped. */
static void print_columns(const struct table *table, const size_t *column, size_t count,
			  size_t line_width, FILE *file)
{
	enum { TITLES, UNITS, ROWS };
	AUTOFREE size_t *width = mem_alloc(count * sizeof(*width));
	const size_t last = count - 1;
	size_t indent = 0;
	bool has_units = false, wraps;

	for (size_t i = 0; i < count; i++) {
		const char *unit = table->column[column[i]].unit;

		width[i] = column_width(table, column[i]);
		has_units |= unit && *unit;
		indent += i < last ? width[i] + 1 : 0;
	}
	wraps = !table->column[column[last]].right &&
		indent + LEAST_WRAPPED <= line_width && indent + width[last] > line_width;
	for (size_t line = TITLES; line < ROWS + table->texts / table->columns; line++) {
		int blanks = 0;

		if (line == UNITS && !has_units)
			continue;
		for (size_t i = 0; i < count; i++) {
			const struct table_column *at = &table->column[column[i]];
			const char *text =
			    line == TITLES ? at->title
			    : line == UNITS
				? at->unit
				: table->text[(line - ROWS) * table->columns + column[i]];

			if (i < last || !wraps) {
				print_cell(text ? text : "", width[i], at->right, &blanks,
					   file);
				continue;
			}
			fprintf(file, "%*s", text && *text ? blanks : 0, "");
			print_wrapped(text ? text : "", line_width - indent, indent,
				      file);
		}
		fputc('\n', file);
	}
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
static void print_folded(const struct table *table, size_t width, FILE *file)
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
			 (used + column_width(table, all[next]) <= width ||
			  (next + 1 == columns && !table->column[all[next]].right &&
			   used + LEAST_WRAPPED <= width)));
		print_columns(table, column, count, width, file);
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

/* Print the omitted columns, wrapped: "in these rows: CPUS 1, CLOCK 2.596 GHz", or
 * "CLOCK -" if it is unknown. */
static void print_omitted(const struct table *table, size_t width, FILE *file)
{
	size_t at = 0;

	for (size_t i = 0; i < table->columns; i++) {
		const struct table_column *column = &table->column[i];
		bool has_unit = column->unit && strcmp(table->text[i], "-") != 0;
		const char *unit = has_unit ? column->unit : "";
		size_t length = text_width(column->title) + 1 +
				text_width(table->text[i]) +
				(*unit ? 1 + text_width(unit) : 0);

		if (!table->is_omitted[i])
			continue;
		if (!at)
			at = (size_t)fprintf(file, "in these rows: ");
		else if (at + 2 + length > width - 1)
			at = (size_t)fprintf(file, ",\n  ") - 2;
		else
			at += (size_t)fprintf(file, ", ");
		fprintf(file, "%s %s%s%s", column->title, table->text[i],
			*unit ? " " : "", unit);
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
	prepare_texts(table, typesets);
	if (width || (table->is_narrow && table_width(table) > WIDE + 1))
		mark_omitted(table);
	if (table->texts) {
		print_omitted(table, width && width < WIDE ? width : WIDE, file);
		print_folded(table, width ? width : SIZE_MAX, file);
	}
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
