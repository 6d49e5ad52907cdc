/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/svg.h"
#include "base/utf8.h"

enum { ROWS_SHOWN = 15, ROWS_MOST = 200 };

void html_text(FILE *page, const char *text)
{
	AUTOFREE char *shown = utf8_shorten(text);

	svg_escape(page, shown);
}

void html_json(FILE *page, const char *text)
{
	struct bytes json = {0}, shown = {0};
	AUTOFREE char *shortened = utf8_shorten(text);

	for (size_t length, at = 0; shortened[at]; at += length ? length : 1) {
		length = utf8_length(shortened + at);
		if (length && !utf8_is_control(shortened + at))
			bytes_add(&shown, shortened + at, length);
		else
			bytes_add_text(&shown, UTF8_REPLACEMENT);
	}
	json_add_text(&json, (const char *)shown.data, shown.size);
	for (size_t i = 0; i < json.size; i++)
		if (memchr("<>&'\x7f", json.data[i], 5))
			fprintf(page, "\\u%04x", json.data[i]);
		else
			fputc(json.data[i], page);
	bytes_clear(&json);
	bytes_clear(&shown);
}

static void put_row(FILE *page, const struct cell *row, size_t columns)
{
	for (size_t i = 0; i < columns; i++) {
		fputc(i ? ',' : '[', page);
		if (row[i].type == CELL_INTEGER)
			fprintf(page, "%" PRId64, row[i].integer);
		else if (row[i].type == CELL_REAL && isfinite(row[i].real))
			fprintf(page, "%.6g", row[i].real);
		else if (row[i].type == CELL_TEXT)
			html_json(page, row[i].bytes);
		else
			fputs("null", page);
	}
	fputc(']', page);
}

void html_rows(FILE *page, const struct result_table *table)
{
	for (size_t row = 0; row < table->rows; row++) {
		fputs(row ? ",\n" : "", page);
		put_row(page, &table->cell[row * table->columns], table->columns);
	}
}

const char *html_span(char text[PRINT_TEXT], double ns)
{
	static const struct {
		double unit;
		const char *name;
	} scale[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\xc2\xb5s"}, {1, "ns"}};
	size_t k = 0;
	double value;
	int places;

	while (k < 3 && fabs(ns) < 0.9995 * scale[k].unit)
		k++;
	value = fabs(ns / scale[k].unit);
	places = k == 3            ? 0
		 : value >= 999.95 ? 0
		 : value >= 99.995 ? 1
		 : value >= 9.9995 ? 2
				   : 3;
	snprintf(text, PRINT_TEXT, "%.*f\xe2\x80\xaf%s", places, ns / scale[k].unit,
		 scale[k].name);
	return text;
}

const char *html_bound(char text[PRINT_TEXT], nsec_t ns)
{
	char span[PRINT_TEXT];

	if (ns == NSEC_MAX)
		return "no bound";
	snprintf(text, PRINT_TEXT, "\xc2\xb1\xe2\x80\xaf%.40s",
		 html_span(span, (double)ns));
	return text;
}

const char *html_percent(char text[PRINT_TEXT], double part, double whole)
{
	if (!(whole > 0))
		return "-";
	snprintf(text, PRINT_TEXT, "%.3g\xe2\x80\xaf%%", 100 * part / whole);
	return text;
}

const char *html_human(char text[PRINT_TEXT], const struct report *report,
		       struct cell cell, enum unit unit)
{
	double value = report_number(cell);

	if (cell.type != CELL_INTEGER && cell.type != CELL_REAL)
		return print_human(text, report->result, &cell, unit);
	if (unit == UNIT_SPAN)
		return html_span(text, value);
	if (unit == UNIT_BOUND)
		return html_bound(text, nsec_round(value));
	if (unit == UNIT_PERCENT)
		return html_percent(text, value, 100);
	return print_human(text, report->result, &cell, unit);
}

void html_note(FILE *page, const char *format, ...)
{
	AUTOFREE char *text = MEM_VPRINTF(format);

	fputs("<p class=\"note\">", page);
	html_text(page, text);
	fputs("</p>\n", page);
}

static const struct cell *cell_at(const struct result_table *table, size_t row,
				  size_t column)
{
	return &table->cell[row * table->columns + column];
}

static bool is_constant(const struct report *report, const struct result_table *table,
			size_t column)
{
	char first[PRINT_TEXT], text[PRINT_TEXT];
	const char *want = html_human(first, report, *cell_at(table, 0, column),
				      result_unit(table, 0, column));

	for (size_t row = 1; row < table->rows; row++)
		if (strcmp(want, html_human(text, report, *cell_at(table, row, column),
					    result_unit(table, row, column))) != 0)
			return false;
	return table->rows > 1 && column > 0;
}

/* The greatest number of a column that is shown as bars; 0: it is not. */
static double bar_scale(const struct result_table *table, size_t column)
{
	enum unit unit = table->column[column].unit;
	bool is_order =
	    table->orders && table->order[0].column == column && table->order[0].falling;
	double most = 0;

	if (table->rows < 2 || (!is_order && unit != UNIT_PERCENT) ||
	    unit == UNIT_INSTANT)
		return 0;
	for (size_t row = 0; row < table->rows; row++)
		most = fmax(most, report_number(*cell_at(table, row, column)));
	return unit == UNIT_PERCENT ? fmax(most, 1) : most;
}

static void print_instant(const struct report *report, nsec_t at_ns, const char *text)
{
	if (at_ns < report->begin_ns || at_ns > report->end_ns)
		html_text(report->page, text);
	else
		fprintf(report->page,
			"<a href=\"#timeline\" data-t=\"%" PRId64 "\">%s</a>",
			nsec_sub(at_ns, report->begin_ns), text);
}

static void print_cell(const struct report *report, const struct result_table *table,
		       size_t row, size_t column, double most)
{
	struct cell cell = *cell_at(table, row, column);
	enum unit unit = result_unit(table, row, column);
	bool right = print_is_right(unit) && cell.type != CELL_TEXT;
	const char *tag = column ? "td" : "th scope=\"row\"";
	char text[PRINT_TEXT], plain[PRINT_TEXT];
	double share = most > 0 ? 100 * report_number(cell) / most : 0;

	fprintf(report->page, "<%s", tag);
	if (right)
		fprintf(report->page, " class=\"n%s\"", share > 0 ? " bar" : "");
	if (right && cell.type != CELL_NULL)
		fprintf(report->page, " data-v=\"%s\"", print_plain(plain, &cell));
	if (share > 0)
		fprintf(report->page, " style=\"--w:%.3g%%\"", fmin(share, 100));
	fputc('>', report->page);
	if (unit == UNIT_INSTANT && cell.type == CELL_INTEGER)
		print_instant(report, cell.integer, html_human(text, report, cell, unit));
	else
		html_text(report->page, html_human(text, report, cell, unit));
	fputs(column ? "</td>" : "</th>", report->page);
}

static void print_caption(const struct report *report, const struct result_table *table,
			  size_t rows)
{
	fputs("<caption>", report->page);
	html_text(report->page, table->title);
	if (table->added > rows)
		fprintf(report->page, " <small>%zu of %llu rows</small>", rows,
			(unsigned long long)table->added);
	fputs("</caption>\n", report->page);
}

/* A line below a table: what its rows have in common. */
static void print_constants(const struct report *report, const struct result_table *table,
			    const bool *constant)
{
	const char *before = "<p class=\"note same\">In all rows: ";
	char text[PRINT_TEXT];

	for (size_t i = 0; i < table->columns; i++) {
		struct cell cell = *cell_at(table, 0, i);

		if (!constant[i] || cell.type == CELL_NULL)
			continue;
		fputs(before, report->page);
		html_text(report->page, table->column[i].title);
		fputc(' ', report->page);
		html_text(report->page,
			  html_human(text, report, cell, result_unit(table, 0, i)));
		before = ", ";
	}
	fputs(*before == ',' ? "</p>\n" : "", report->page);
}

void html_table(const struct report *report, const struct result_table *table)
{
	FILE *page = report->page;
	size_t rows = table ? table->rows : 0;
	bool *constant;
	double *most;

	if (!rows)
		return;
	rows = rows > ROWS_MOST ? ROWS_MOST : rows;
	constant = mem_zalloc(table->columns * sizeof(*constant));
	most = mem_zalloc(table->columns * sizeof(*most));
	for (size_t i = 0; i < table->columns; i++) {
		constant[i] = is_constant(report, table, i);
		most[i] = bar_scale(table, i);
	}
	fprintf(page,
		"<div class=\"table\"%s tabindex=\"0\" role=\"region\" aria-label=\"",
		rows > ROWS_SHOWN + 5 ? " data-rows=\"15\"" : "");
	html_text(page, table->title);
	fputs("\">", page);
	fprintf(page, "<table data-table=\"%s\">", table->key);
	print_caption(report, table, rows);
	fputs("<thead><tr>", page);
	for (size_t i = 0; i < table->columns; i++) {
		if (constant[i])
			continue;
		fprintf(page, "<th scope=\"col\"%s>",
			print_is_right(table->column[i].unit) ? " class=\"n\"" : "");
		html_text(page, table->column[i].title);
		fputs("</th>", page);
	}
	fputs("</tr></thead>\n<tbody>\n", page);
	for (size_t row = 0; row < rows; row++) {
		fputs("<tr>", page);
		for (size_t i = 0; i < table->columns; i++)
			if (!constant[i])
				print_cell(report, table, row, i, most[i]);
		fputs("</tr>\n", page);
	}
	fputs("</tbody></table>\n", page);
	print_constants(report, table, constant);
	fputs("</div>\n", page);
	free(constant);
	free(most);
}

void html_notes(const struct report *report, enum report_answer_name answer)
{
	const struct text_list *notes = &report->answer[answer].result.notes;

	for (size_t i = 0; i < notes->count; i++)
		html_note(report->page, "%s", notes->item[i]);
}

void html_answer(const struct report *report, enum report_answer_name answer)
{
	const struct result *result = &report->answer[answer].result;

	for (size_t i = 0; i < result->tables; i++)
		html_table(report, result->table[i]);
	html_notes(report, answer);
}
