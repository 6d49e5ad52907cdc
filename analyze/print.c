/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/csv_text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/utf8.h"

static void format_bytes(char text[PRINT_TEXT], double bytes, const char *behind)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	size_t i = 0;

	while (fabs(bytes) >= 1024 && i < 5) {
		bytes /= 1024;
		i++;
	}
	snprintf(text, PRINT_TEXT, i ? "%.1f %s%s" : "%.0f %s%s", bytes, names[i],
		 behind);
}

static const char *format_instant(char text[PRINT_TEXT], const struct result *result,
				  nsec_t instant)
{
	char whole[NSEC_TEXT];
	bool is_one_day =
	    zone_is_one_day(&result->zone, result->begin_ns, result->end_ns);

	zone_format(whole, &result->zone, instant);
	snprintf(text, PRINT_TEXT, "%s", is_one_day ? strchr(whole, ' ') + 1 : whole);
	return text;
}

static void format_hertz(char text[PRINT_TEXT], double hertz)
{
	if (fabs(hertz) >= 1e9)
		snprintf(text, PRINT_TEXT, "%.3f GHz", hertz / 1e9);
	else if (fabs(hertz) >= 1e6)
		snprintf(text, PRINT_TEXT, "%.1f MHz", hertz / 1e6);
	else
		snprintf(text, PRINT_TEXT, "%.0f Hz", hertz);
}

const char *print_human(char text[PRINT_TEXT], const struct result *result,
			const struct cell *cell, enum unit unit)
{
	static const struct {
		int places;
		const char *behind;
	} as_it_is[UNIT_COUNT_OF] = {[UNIT_RATE] = {1, "/s"},
				     [UNIT_PERCENT] = {2, " %"},
				     [UNIT_RATIO] = {3, ""},
				     [UNIT_PPM] = {3, " ppm"}};
	double value = cell_number(cell);
	char span[NSEC_TEXT];

	if (cell->type == CELL_NULL)
		return "-";
	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		return cell->bytes;
	if (unit == UNIT_INSTANT)
		return format_instant(text, result,
				      cell_integer(cell, nsec_round(cell->real)));
	if (unit == UNIT_SPAN || unit == UNIT_BOUND)
		snprintf(text, PRINT_TEXT, "%s%s", unit == UNIT_BOUND ? "+-" : "",
			 nsec_format_span(span, value));
	else if (unit == UNIT_BYTES || unit == UNIT_BYTE_RATE)
		format_bytes(text, value, unit == UNIT_BYTES ? "" : "/s");
	else if (unit == UNIT_HERTZ)
		format_hertz(text, value);
	else if (as_it_is[unit].places)
		snprintf(text, PRINT_TEXT, "%.*f%s", as_it_is[unit].places, value,
			 as_it_is[unit].behind);
	else if (cell->type == CELL_INTEGER)
		snprintf(text, PRINT_TEXT, "%" PRId64, cell->integer);
	else
		snprintf(text, PRINT_TEXT, "%.6g", value);
	return text;
}

const char *print_plain(char text[PRINT_TEXT], const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		return "";
	case CELL_INTEGER:
		snprintf(text, PRINT_TEXT, "%" PRId64, cell->integer);
		return text;
	case CELL_REAL:
		return number_print(text, cell->real);
	case CELL_TEXT:
	case CELL_BLOB:
		break;
	}
	return cell->bytes;
}

/* Return a column's heading. With --local-time, append the zone to columns of instants.
 * The caller frees it. */
static char *print_title(const struct result *result, const struct result_column *column)
{
	bool is_local = result->request && result->request->local_time;

	return is_local && column->unit == UNIT_INSTANT
		   ? mem_printf("%s/%s", column->title, result->zone.name)
		   : mem_strdup(column->title);
}

bool print_is_right(enum unit unit)
{
	return unit != UNIT_TEXT;
}

/* Format a cell for people. */
static const char *print_cell_of(char text[PRINT_TEXT], const struct result *result,
				 const struct result_table *table, size_t row,
				 size_t column)
{
	return print_human(text, result, &table->cell[row * table->columns + column],
			   result_unit(table, row, column));
}

/* Return "10 of 1234 rows (see --limit)", or NULL if no row is omitted. The caller frees
 * it. */
static char *count_omitted_rows(const struct result_table *table)
{
	if (table->added == table->rows)
		return NULL;
	return mem_printf("%zu of %" PRIu64 " rows (see --limit)", table->rows,
			  table->added);
}

static const struct table_unit percents[] = {{1, "%"}, {0, NULL}};
static const struct table_unit rates[] = {{1, "/s"}, {0, NULL}};
static const struct table_unit ppms[] = {{1, "ppm"}, {0, NULL}};
static const struct table_unit plain[] = {{1, ""}, {0, NULL}};

/* On a terminal, all cells of a column have one of these units. NULL: each has its own.
 */
static const struct table_unit *const unit_steps[UNIT_COUNT_OF] = {
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

/* Return a column's title. If another column has the same title, derive it from the key:
 * "SENT BYTES". The caller frees it. */
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

/* Describe a column for a terminal: its unit applies to all of its cells. */
static void describe_column(const struct result *result, const struct result_table *table,
			    size_t index, struct table_column *column)
{
	enum unit unit = table->column[index].unit;

	column->title = make_title(table, index);
	column->units = unit_steps[unit];
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
	snprintf(number, PRINT_TEXT, "%s%.60s", column->is_bound ? "+-" : "",
		 print_plain(plain_text, cell));
	return number;
}

static void print_columns(const struct result *result, const struct result_table *table,
			  FILE *file)
{
	AUTOFREE struct table_column *column =
	    mem_zalloc((table->columns + 1) * sizeof(*column));
	AUTOFREE const char **text = mem_zalloc((table->columns + 1) * sizeof(*text));
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
}

static void print_line(FILE *file, const char *text)
{
	utf8_print(file, text);
	fputc('\n', file);
}

/* Return true if a table is empty and such that it is then printed only if requested by
 * name. */
static bool is_omitted(const struct result *result, const struct result_table *table)
{
	return table->is_optional && !table->rows && !result->request->table;
}

static void print_tables(const struct result *result, FILE *file)
{
	const char *before = "";

	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		AUTOFREE char *left_out = count_omitted_rows(table);

		if (is_omitted(result, table))
			continue;
		fprintf(file, "%s%s%s%s\n", before, table->title, left_out ? ", " : "",
			left_out ? left_out : "");
		before = "\n";
		if (table->rows)
			print_columns(result, table, file);
		else
			fputs("nothing\n", file);
	}
	if (result->notes.count && result->tables)
		fputc('\n', file);
	for (size_t i = 0; i < result->notes.count; i++)
		print_line(file, result->notes.item[i]);
}

static void print_csv_cell(FILE *file, const struct cell *cell)
{
	char text[PRINT_TEXT];

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		csv_put_text(file, cell->bytes, cell->size);
	else
		fputs(print_plain(text, cell), file);
}

static void print_csv_table(const struct result_table *table, FILE *file)
{
	for (size_t i = 0; i < table->columns; i++) {
		if (i)
			csv_put_comma(file);
		csv_put_text(file, table->column[i].key, strlen(table->column[i].key));
	}
	csv_put_end(file);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++) {
			if (i)
				csv_put_comma(file);
			print_csv_cell(file, &table->cell[row * table->columns + i]);
		}
		csv_put_end(file);
	}
}

static void print_json_text(FILE *file, const char *text, size_t size)
{
	struct bytes json = {.size = 0};

	json_add_text(&json, text, size);
	fwrite(json.data, 1, json.size, file);
	bytes_clear(&json);
}

static void print_json_member(FILE *file, const char *before, const char *text)
{
	fputs(before, file);
	print_json_text(file, text, strlen(text));
}

static void print_json_cell(FILE *file, const struct cell *cell)
{
	char text[PRINT_TEXT];

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		print_json_text(file, cell->bytes, cell->size);
	else if (cell->type == CELL_NULL ||
		 (cell->type == CELL_REAL && !isfinite(cell->real)))
		fputs("null", file);
	else
		fputs(print_plain(text, cell), file);
}

static void print_json_table(const struct result_table *table, FILE *file)
{
	print_json_member(file, "  {\"name\": ", table->key);
	print_json_member(file, ", \"title\": ", table->title);
	fputs(",\n   \"columns\": [", file);
	for (size_t i = 0; i < table->columns; i++) {
		print_json_member(file, i ? ",\n    {\"name\": " : "\n    {\"name\": ",
				  table->column[i].key);
		print_json_member(file, ", \"unit\": ", unit_name(table->column[i].unit));
		fputc('}', file);
	}
	fprintf(file, "],\n   \"found\": %" PRIu64 ",\n   \"rows\": [", table->added);
	for (size_t row = 0; row < table->rows; row++) {
		fputs(row ? ",\n    {" : "\n    {", file);
		for (size_t i = 0; i < table->columns; i++) {
			print_json_member(file, i ? ", " : "", table->column[i].key);
			fputs(": ", file);
			print_json_cell(file, &table->cell[row * table->columns + i]);
		}
		fputc('}', file);
	}
	fputs("]}", file);
}

static void print_json(const struct query *query, const struct result *result, FILE *file)
{
	print_json_member(file, "{\"analysis\": ", query->analysis->name);
	print_json_member(file, ", \"timeline\": ", query->path);
	fprintf(file,
		",\n \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ",\n \"tables\": [",
		result->begin_ns, result->end_ns);
	for (size_t i = 0; i < result->tables; i++) {
		fputs(i ? ",\n" : "\n", file);
		print_json_table(result->table[i], file);
	}
	fputs("],\n \"notes\": [", file);
	for (size_t i = 0; i < result->notes.count; i++)
		print_json_member(file, i ? ",\n  " : "\n  ", result->notes.item[i]);
	fputs("]}\n", file);
}

/* Print text in a Markdown table. Escape what would end the cell or is markup. */
static void print_markdown_text(FILE *file, const char *text)
{
	while (*text) {
		size_t length = utf8_length(text);

		if (*text == '\n' || *text == '\r')
			fputs("<br>", file);
		else if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else if (strchr("|\\`*_[]~", *text))
			fprintf(file, "\\%c", *text);
		else if (length && !utf8_is_control(text))
			fwrite(text, 1, length, file);
		else
			for (size_t i = 0; i < (length ? length : 1); i++)
				fprintf(file, "\\\\x%02x", (unsigned char)text[i]);
		text += length ? length : 1;
	}
}

static void print_head(const struct result *result, const struct result_table *table,
		       FILE *file)
{
	for (size_t i = 0; i < table->columns; i++) {
		AUTOFREE char *title = print_title(result, &table->column[i]);

		fputs("| ", file);
		print_markdown_text(file, title);
		fputc(' ', file);
	}
	fputs("|\n", file);
	for (size_t i = 0; i < table->columns; i++)
		fputs(print_is_right(table->column[i].unit) ? "|---:" : "|---", file);
	fputs("|\n", file);
}

static void print_markdown_table(const struct result *result,
				 const struct result_table *table, FILE *file)
{
	char text[PRINT_TEXT];

	print_head(result, table, file);
	for (size_t row = 0; row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++) {
			fputs("| ", file);
			print_markdown_text(file,
					    print_cell_of(text, result, table, row, i));
			fputc(' ', file);
		}
		fputs("|\n", file);
	}
}

static void print_markdown(const struct result *result, FILE *file)
{
	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		AUTOFREE char *left_out = count_omitted_rows(table);

		if (is_omitted(result, table))
			continue;
		fputs("## ", file);
		print_markdown_text(file, table->title);
		fputs("\n\n", file);
		if (table->rows)
			print_markdown_table(result, table, file);
		else
			fputs("nothing\n", file);
		if (left_out)
			fprintf(file, "\n%s\n", left_out);
		fputc('\n', file);
	}
	for (size_t i = 0; i < result->notes.count; i++) {
		fputs("- ", file);
		print_markdown_text(file, result->notes.item[i]);
		fputc('\n', file);
	}
}

void print_result(const struct query *query, const struct result *result, FILE *file)
{
	if (result->document) {
		fwrite(result->document, 1, result->document_size, file);
		return;
	}
	switch (query->request->format) {
	case FORMAT_CSV:
		if (result->tables)
			print_csv_table(result->table[0], file);
		break;
	case FORMAT_JSON:
		print_json(query, result, file);
		break;
	case FORMAT_MARKDOWN:
		print_markdown(result, file);
		break;
	default:
		print_tables(result, file);
		break;
	}
}
