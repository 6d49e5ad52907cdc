/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long messages took: by pair of nodes, as a distribution and as a matrix. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "analyze/report/chart.h"
#include "analyze/report/html.h"
#include "base/mem.h"

enum { MOST_PAIRS = 60, MOST_MATRIX = 40, BAR_WIDTH = 1000 };

/* A logarithmic axis of latencies, in ns. */
struct log_axis {
	double least, most;
};

static double at(const struct log_axis *axis, double ns)
{
	double share =
	    log(fmax(ns, axis->least) / axis->least) / log(axis->most / axis->least);

	return fmin(fmax(share, 0), 1);
}

static double cell_at(const struct result_table *table, size_t row, const char *key)
{
	struct cell cell = report_cell(table, row, key);

	return report_number(&cell, (double)NAN);
}

static struct log_axis axis_of(const struct result_table *pairs)
{
	struct log_axis axis = {INFINITY, 0};

	for (size_t i = 0; i < pairs->rows; i++) {
		axis.least = fmin(axis.least, cell_at(pairs, i, "min_ns"));
		axis.most = fmax(axis.most, cell_at(pairs, i, "max_ns"));
	}
	axis.least = pow(10, floor(log10(fmax(axis.least, 100))));
	axis.most = pow(10, ceil(log10(fmax(axis.most, axis.least * 10) * 1.0001)));
	return axis;
}

static void draw_axis(const struct report *report, const struct log_axis *axis)
{
	char text[PRINT_TEXT];

	fputs("<div class=\"ticks fixed\" aria-hidden=\"true\">", report->page);
	for (double ns = axis->least; ns <= axis->most * 1.01; ns *= 10) {
		struct cell cell = cell_of_integer((int64_t)(ns + 0.5));
		const char *name = html_human(text, report, &cell, UNIT_SPAN);
		char *end = strchr(text, '.');
		char *unit = end ? strchr(end, ' ') : NULL;

		if (unit) /* whole decades */
			memmove(end, unit, strlen(unit) + 1);
		fprintf(report->page, "<i style=\"left:%.4g%%\"><b>%s</b></i>",
			at(axis, ns) * 100, name);
	}
	fputs("</div>", report->page);
}

static void print_pair(const struct report *report, const struct result_table *table,
		       size_t row)
{
	struct cell from = report_cell(table, row, "from");
	struct cell to = report_cell(table, row, "to");

	html_text(report->page, from.type == CELL_TEXT ? from.bytes : "-");
	fputs(" \xe2\x86\x92 ", report->page);
	html_text(report->page, to.type == CELL_TEXT ? to.bytes : "-");
}

static void draw_pair(const struct report *report, const struct result_table *pairs,
		      size_t row, const struct log_axis *axis)
{
	FILE *page = report->page;
	double least = at(axis, cell_at(pairs, row, "min_ns")) * BAR_WIDTH;
	double median = at(axis, cell_at(pairs, row, "p50_ns")) * BAR_WIDTH;
	double p95 = at(axis, cell_at(pairs, row, "p95_ns")) * BAR_WIDTH;
	double p99 = at(axis, cell_at(pairs, row, "p99_ns")) * BAR_WIDTH;
	double most = at(axis, cell_at(pairs, row, "max_ns")) * BAR_WIDTH;
	struct cell cell = report_cell(pairs, row, "p50_ns");
	struct cell bound = report_cell(pairs, row, "bound_ns");
	char text[PRINT_TEXT], more[PRINT_TEXT];

	fputs("<div class=\"lab\">", page);
	print_pair(report, pairs, row);
	fprintf(page,
		"</div><svg viewBox=\"0 0 %d 20\" height=\"20\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"latency ",
		BAR_WIDTH);
	print_pair(report, pairs, row);
	fprintf(page,
		"\"><path class=\"whisker\" d=\"M%.1f 10H%.1f\"/>"
		"<path class=\"box light\" d=\"M%.1f 5H%.1fV15H%.1fz\"/>"
		"<path class=\"box\" d=\"M%.1f 5H%.1fV15H%.1fz\"/>"
		"<path class=\"median\" d=\"M%.1f 3V17\"/></svg>",
		least, most, p95, p99, p95, least, p95, least, median);
	fprintf(page, "<div class=\"val\">%s <i>%s</i></div>\n",
		html_human(text, report, &cell, UNIT_SPAN),
		html_human(more, report, &bound, UNIT_BOUND));
}

static void draw_pairs(const struct report *report, const struct result_table *pairs)
{
	struct log_axis axis = axis_of(pairs);
	size_t shown = pairs->rows < MOST_PAIRS ? pairs->rows : MOST_PAIRS;

	chart_begin(report, "latency-pairs", "Latency by pair of nodes",
		    "<span class=\"key box\">least to 95&#8239;%</span> "
		    "<span class=\"key light\">to 99&#8239;%</span> "
		    "<span class=\"key whisker\">to the greatest</span> "
		    "<span class=\"key median\">median</span> "
		    "<span>logarithmic<i class=\"wide\">; right: median, and the "
		    "clocks&#8217; bound on each</i></span>");
	fputs("<div class=\"rows\">", report->page);
	for (size_t i = 0; i < shown; i++)
		draw_pair(report, pairs, i, &axis);
	draw_axis(report, &axis);
	fputs("</div></figure>\n", report->page);
	if (shown < pairs->rows)
		html_note(report->page, "note",
			  "%zu of %zu pairs are drawn: the first of the table below.",
			  shown, pairs->rows);
}

/* Bins of all pairs together, of 1, 2, 5, 10, ... */
struct bar {
	int64_t least_ns, below_ns, messages;
};

static size_t collect_bars(const struct result_table *freq, struct bar **bars)
{
	size_t count = 0, room = 0;

	for (size_t i = 0; i < freq->rows; i++) {
		int64_t least = report_cell(freq, i, "least_ns").integer, k;
		size_t n;

		for (n = 0; n < count && (*bars)[n].least_ns != least; n++)
			;
		if (n == count) {
			*bars = mem_grow(*bars, count, &room, sizeof(**bars));
			(*bars)[count++] = (struct bar){
			    .least_ns = least,
			    .below_ns = report_cell(freq, i, "below_ns").integer};
		}
		k = report_cell(freq, i, "messages").integer;
		(*bars)[n].messages += k;
	}
	return count;
}

static void draw_bar(const struct report *report, const struct bar *bar,
		     const struct log_axis *axis, double most)
{
	double x = at(axis, (double)bar->least_ns) * BAR_WIDTH;
	double end = at(axis, (double)bar->below_ns) * BAR_WIDTH;
	double height = 110.0 * (double)bar->messages / most;
	struct cell least = cell_of_integer(bar->least_ns);
	struct cell below = cell_of_integer(bar->below_ns);
	char text[PRINT_TEXT], more[PRINT_TEXT];

	if (bar->messages)
		fprintf(report->page,
			"<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\" data-v=\"%" PRId64 "\"><title>%s to %s: %" PRId64
			" messages</title></rect>",
			x + 1, 118 - height, fmax(end - x - 2, 1), height, bar->messages,
			html_human(text, report, &least, UNIT_SPAN),
			html_human(more, report, &below, UNIT_SPAN), bar->messages);
}

static void draw_histogram(const struct report *report, const struct result_table *freq)
{
	struct log_axis axis = {INFINITY, 0};
	struct bar *bars = NULL;
	size_t count = collect_bars(freq, &bars);
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		if (!bars[i].messages)
			continue;
		axis.least = fmin(axis.least, (double)bars[i].least_ns);
		axis.most = fmax(axis.most, (double)bars[i].below_ns);
		most = fmax(most, (double)bars[i].messages);
	}
	if (most > 0) {
		axis.least = pow(10, floor(log10(fmax(axis.least, 100)) + 1e-9));
		axis.most = pow(10, ceil(log10(fmax(axis.most, axis.least * 10)) - 1e-9));
		chart_begin(
		    report, "latency-histogram", "Latency of all messages",
		    "<span class=\"key bar\">messages in each span of latency</span> "
		    "<span>logarithmic</span>");
		fprintf(report->page,
			"<div class=\"rows\"><div class=\"lab\">messages<small>at most "
			"%.0f</small></div><svg viewBox=\"0 0 %d 120\" height=\"120\" "
			"preserveAspectRatio=\"none\" role=\"img\" "
			"aria-label=\"how many messages took how long\">",
			most, BAR_WIDTH);
		for (size_t i = 0; i < count; i++)
			draw_bar(report, &bars[i], &axis, most);
		fputs("</svg><div class=\"val\"></div>", report->page);
		draw_axis(report, &axis);
		fputs("</div></figure>\n", report->page);
	}
	free(bars);
}

static void matrix_cell(const struct report *report, const struct result_table *pairs,
			const char *from, const char *to, const struct log_axis *axis)
{
	FILE *page = report->page;
	char text[PRINT_TEXT];

	for (size_t i = 0; i < pairs->rows; i++) {
		struct cell a = report_cell(pairs, i, "from");
		struct cell b = report_cell(pairs, i, "to");
		struct cell median = report_cell(pairs, i, "p50_ns");
		struct cell count = report_cell(pairs, i, "messages");

		if (a.type != CELL_TEXT || b.type != CELL_TEXT ||
		    strcmp(a.bytes, from) != 0 || strcmp(b.bytes, to) != 0)
			continue;
		fprintf(page, "<td style=\"--s:%.0f\" data-v=\"%" PRId64 "\">%s",
			at(axis, report_number(&median, 0)) * 100, median.integer,
			html_human(text, report, &median, UNIT_SPAN));
		fprintf(page, "<small>%s</small></td>",
			html_human(text, report, &count, UNIT_COUNT));
		return;
	}
	fputs("<td class=\"none\">\xc2\xb7</td>", page);
}

static void draw_matrix(const struct report *report, const struct result_table *pairs)
{
	const struct scope *scope = &report->question->scope;
	struct log_axis axis = {INFINITY, 0};
	FILE *page = report->page;

	if (scope->nodes > MOST_MATRIX) {
		html_note(page, "note", "Of more than %d nodes no matrix is drawn.",
			  MOST_MATRIX);
		return;
	}
	for (size_t i = 0; i < pairs->rows; i++) {
		axis.least = fmin(axis.least, fmax(cell_at(pairs, i, "p50_ns"), 1));
		axis.most = fmax(axis.most, cell_at(pairs, i, "p50_ns"));
	}
	axis.most = fmax(axis.most, axis.least * 1.01);
	fputs(
	    "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"latency "
	    "from node to node\"><table class=\"matrix\"><caption>Median latency, and "
	    "messages, from node (row) to node (column)</caption>\n<thead><tr><td></td>",
	    page);
	for (size_t i = 0; i < scope->nodes; i++) {
		fputs("<th scope=\"col\">", page);
		html_text(page, scope->node[i].name);
		fputs("</th>", page);
	}
	fputs("</tr></thead>\n<tbody>", page);
	for (size_t i = 0; i < scope->nodes; i++) {
		fputs("<tr><th scope=\"row\">", page);
		html_text(page, scope->node[i].name);
		fputs("</th>", page);
		for (size_t k = 0; k < scope->nodes; k++)
			matrix_cell(report, pairs, scope->node[i].name,
				    scope->node[k].name, &axis);
		fputs("</tr>\n", page);
	}
	fputs("</tbody></table></div>\n", page);
}

int report_latency(struct report *report, struct error *error)
{
	struct report_wish wish = {
	    .limit = REPORT_ALL, .group = "pair", .forms = FORM_STATS | FORM_FREQ};
	const struct result *result;
	const struct result_table *pairs, *freq;

	result = report_ask(report, "messages", &wish, error);
	if (!result)
		return -1;
	html_section(report->page, "latency", "Messages between nodes");
	pairs = result_find(result, "pairs");
	freq = result_find(result, "freq");
	if (freq && freq->rows)
		draw_histogram(report, freq);
	if (pairs && pairs->rows) {
		draw_pairs(report, pairs);
		draw_matrix(report, pairs);
	}
	html_result(report, result, "freq", 0);
	html_section_end(report->page);
	return 0;
}
