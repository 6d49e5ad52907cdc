/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_HTML_H
#define CT_ANALYZE_REPORT_HTML_H

#include "analyze/print.h"
#include "analyze/report/private.h"

/* The files that make the page look and move; embedded by the build. */
extern const char *const report_css;
extern const char *const report_js;

/*
 * A text as content or inside a quoted attribute: & < > " ' are escaped, bytes that are
 * no UTF-8 and characters that HTML does not allow become U+FFFD.
 */
void html_text(FILE *page, const char *text);
void html_bytes(FILE *page, const char *text, size_t size);

/* As print_human, with the signs that a page can have: ± and µ. */
const char *html_human(char text[PRINT_TEXT], const struct report *report,
		       const struct cell *cell, enum unit unit);

/* With a heading that the contents link to. */
void html_section(FILE *page, const char *id, const char *title);
void html_section_end(FILE *page);

/* A paragraph; the text is escaped. */
void html_note(FILE *page, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A table under its title; nothing where it has no rows. Numbers are as people read them,
 * with the plain one in data-v. */
void html_table(const struct report *report, const struct result *result,
		const struct result_table *table, size_t rows);

/* All tables of a result but those named, with so many rows each at most (0: all), and
 * its notes. */
void html_result(const struct report *report, const struct result *result,
		 const char *without, size_t rows);

void html_notes(const struct report *report, const struct result *result);

#endif
