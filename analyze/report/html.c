/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/html.h"

#include <stdarg.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "base/markup.h"
#include "base/mem.h"
#include "base/utf8.h"

/* A tab or newline would be blanks to HTML, and is shown like other controls. */
static bool is_shown(const char *text, size_t length)
{
	return length && (unsigned char)*text >= ' ' && markup_allows(text, length);
}

void html_bytes(FILE *page, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		size_t length = utf8_length_within(text + at, size - at);
		const char *entity = markup_entity(text[at]);

		if (entity)
			fputs(entity, page);
		else if (is_shown(text + at, length))
			fwrite(text + at, 1, length, page);
		else
			fputs(UTF8_REPLACEMENT, page);
		at += length ? length : 1;
	}
}

void html_text(FILE *page, const char *text)
{
	html_bytes(page, text, strlen(text));
}

/* Put other bytes in place of as many. */
static void swap(char text[PRINT_TEXT], const char *from, const char *to)
{
	char *at = strstr(text, from);

	if (!at || strlen(text) + strlen(to) >= PRINT_TEXT)
		return;
	memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
	memcpy(at, to, strlen(to));
}

const char *html_human(char text[PRINT_TEXT], const struct report *report,
		       const struct cell *cell, enum unit unit)
{
	const char *told = print_human(text, report->result, cell, unit);

	if (told != text) /* a constant */
		return told;
	if (unit == UNIT_BOUND)
		swap(text, "+-", "\xc2\xb1");
	if (unit == UNIT_BOUND || unit == UNIT_SPAN)
		swap(text, " us", " \xc2\xb5s");
	return text;
}

void html_section(FILE *page, const char *id, const char *title)
{
	fprintf(page, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void html_section_end(FILE *page)
{
	fputs("</section>\n", page);
}

void html_note(FILE *page, const char *class, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	fprintf(page, "<p class=\"%s\">", class);
	html_text(page, text);
	fputs("</p>\n", page);
	free(text);
}

static void print_cell(const struct report *report, const struct cell *cell,
		       enum unit unit)
{
	char text[PRINT_TEXT], plain[PRINT_TEXT];
	bool right = print_is_right(unit);

	if (right && unit != UNIT_TEXT && cell->type != CELL_NULL)
		fprintf(report->page, "<td class=\"n\" data-v=\"%s\">",
			cell->type == CELL_TEXT ? "" : print_plain(plain, cell));
	else
		fputs(right ? "<td class=\"n\">" : "<td>", report->page);
	if (cell->type == CELL_TEXT)
		html_bytes(report->page, cell->bytes, cell->size);
	else
		html_text(report->page, html_human(text, report, cell, unit));
	fputs("</td>", report->page);
}

static void print_head(FILE *page, const struct result_table *table)
{
	fputs("<thead><tr>", page);
	for (size_t i = 0; i < table->columns; i++) {
		const struct result_column *column = &table->column[i];

		fprintf(page, "<th scope=\"col\"%s>",
			print_is_right(column->unit) ? " class=\"n\"" : "");
		html_text(page, column->title);
		fputs("</th>", page);
	}
	fputs("</tr></thead>\n<tbody>\n", page);
}

void html_table(const struct report *report, const struct result *result,
		const struct result_table *table, size_t rows)
{
	FILE *page = report->page;

	(void)result;
	if (!table || !table->rows)
		return;
	if (!rows || rows > table->rows)
		rows = table->rows;
	fputs("<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"", page);
	html_text(page, table->title);
	fprintf(page, "\"><table data-table=\"%s\"><caption>", table->key);
	html_text(page, table->title);
	if (table->added > rows)
		fprintf(page, " <small>%zu of %llu rows</small>", rows,
			(unsigned long long)table->added);
	fputs("</caption>\n", page);
	print_head(page, table);
	for (size_t row = 0; row < rows; row++) {
		fputs("<tr>", page);
		for (size_t i = 0; i < table->columns; i++)
			print_cell(report, &table->cell[row * table->columns + i],
				   table->column[i].unit);
		fputs("</tr>\n", page);
	}
	fputs("</tbody></table></div>\n", page);
}

void html_notes(const struct report *report, const struct result *result)
{
	for (size_t i = 0; i < result->notes.count; i++)
		html_note(report->page, "note", "%s", result->notes.item[i]);
}

/* Whether a word stands in a list of words. */
static bool has_word(const char *words, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = words; at && (at = strstr(at, word)); at += size)
		if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' '))
			return true;
	return false;
}

void html_result(const struct report *report, const struct result *result,
		 const char *without, size_t rows)
{
	for (size_t i = 0; i < result->tables; i++)
		if (!has_word(without, result->table[i]->key))
			html_table(report, result, result->table[i], rows);
	html_notes(report, result);
}
