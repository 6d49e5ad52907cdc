/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_REPORT_HTML_H
#define CT_REPORT_HTML_H

#include <stdio.h>

#include "analyze/print.h"
#include "analyze/report/report.h"

/* The page, and the files that make it look and move; embedded by the build. */
extern const char *const report_html;
extern const char *const report_css;
extern const char *const report_js;

/*
 * Write a string as content or inside a quoted attribute. & < > " ' are escaped; bytes
 * that are not UTF-8 and characters that HTML does not allow become U+FFFD.
 */
void html_text(FILE *page, const char *text);

/* Write a string as a JSON string that can be used in a script of JSON and in an
 * attribute in single quotes: <, >, & and ' are escaped. Controls (utf8_is_control)
 * become U+FFFD. */
void html_json(FILE *page, const char *text);

/* Each row of a table as an array of JSON, with commas between them. */
void html_rows(FILE *page, const struct result_table *table);

/* A cell with its unit, with four digits that count and the signs that a page can have:
 * "1.234 ms", "± 12.3 µs"; "-" for what is not known. */
const char *html_human(char text[PRINT_TEXT], const struct report *report,
		       struct cell cell, enum unit unit);

/* Format a span, a bound (NSEC_MAX if unknown), a percentage. */
const char *html_span(char text[PRINT_TEXT], double ns);
const char *html_bound(char text[PRINT_TEXT], nsec_t ns);
const char *html_percent(char text[PRINT_TEXT], double part, double whole);

/* Write a paragraph; the string is escaped. */
void html_note(FILE *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write a table under its title, or nothing if it is NULL or has no rows. A column with
 * the same value in all rows goes into the caption. The column that the table is sorted
 * by, and percentages, have bars. Numbers are formatted for people, with the plain one in
 * data-v; data-t has the place of an instant on the page's axis.
 */
void html_table(const struct report *report, const struct result_table *table);

/* All tables and notes of an answer; its notes alone. */
void html_answer(const struct report *report, enum report_answer_name answer);
void html_notes(const struct report *report, enum report_answer_name answer);

#endif
