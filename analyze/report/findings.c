/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the page opens with, as report.sql tells it, each with a link to its place. */
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report.h"
#include "base/mem.h"

/* "{ns:5}": a number with its unit, bold where it stands for what the page has found. */
static void put_number(FILE *page, const char *kind, const char *number)
{
	const double value = strtod(number, NULL);
	char text[PRINT_TEXT];

	if (!strcmp(kind, "n"))
		fprintf(page, "<b data-v=\"%.0f\">%.0f</b>", value, value);
	else if (!strcmp(kind, "ns"))
		fprintf(page, "<b data-v=\"%.0f\">%s</b>", value, html_span(text, value));
	else if (!strcmp(kind, "within"))
		fprintf(page, "<b data-v=\"%.0f\">%s</b>", value,
			html_bound(text, nsec_round(value)));
	else if (!strcmp(kind, "percent"))
		fprintf(page, "<b data-v=\"%.6f\">%s</b>", value,
			html_percent(text, value, 100));
	else if (!strcmp(kind, "span"))
		fputs(html_span(text, value), page);
	else if (!strcmp(kind, "share"))
		fputs(html_percent(text, value, 1), page);
	else
		fputs(html_bound(text, *number ? nsec_round(value) : NSEC_MAX), page);
}

/* What stands between brackets; "{a:clocks|Clocks}" is a link. */
static void put_mark(FILE *page, char *mark)
{
	char *rest;
	const char *kind = strtok_r(mark, ":", &rest);

	if (!strcmp(kind, "dim") || !strcmp(kind, "/dim")) {
		fputs(*kind == '/' ? "</span>" : "<span>", page);
	} else if (!strcmp(kind, "a") || !strcmp(kind, "request")) {
		const char *target = strtok_r(NULL, "|", &rest);

		if (*kind == 'a')
			fprintf(page, "<a href=\"#%s\">%s</a>", target, rest);
		else
			fprintf(page,
				"<a href=\"#request-%s\" data-request=\"%s\">%s</a>",
				target, target, rest);
	} else {
		put_number(page, kind, rest);
	}
}

static void put_finding(FILE *page, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "{");
		bool is_bracket = text[length] && text[length + 1] == '{';
		char *plain = mem_strndup(text, length + is_bracket);

		html_text(page, plain);
		free(plain);
		text += length + 2 * (size_t)is_bracket;
		if (*text == '{' && !is_bracket) {
			char *mark = mem_strndup(text + 1, strcspn(text + 1, "}"));

			text += strlen(mark) + 2;
			put_mark(page, mark);
			free(mark);
		}
	}
}

void report_findings(const struct report *report)
{
	const struct result_table *findings =
	    report_table(report, ANSWER_OWN, "findings");
	FILE *page = report->page;

	fputs("<section id=\"findings\">\n<h2 class=\"sr\">Findings</h2>\n<ul>\n", page);
	for (size_t i = 0; findings && i < findings->rows; i++) {
		const struct cell *row = &findings->cell[i * findings->columns];

		fprintf(page,
			"<li class=\"%s\" id=\"finding-%s\"><h3><span "
			"class=\"sr\">%s</span>%s</h3><p>",
			row[1].bytes, row[0].bytes,
			strcmp(row[1].bytes, "bad") ? "" : "Problem: ", row[2].bytes);
		put_finding(page, row[3].bytes);
		fputs("</p></li>\n", page);
	}
	fputs("</ul>\n</section>\n", page);
}
