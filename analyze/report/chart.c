/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/chart.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "analyze/report/html.h"
#include "base/mem.h"

enum { HEIGHT = 40 };

static double *new_values(size_t count)
{
	double *value = mem_alloc(count * sizeof(*value));

	for (size_t i = 0; i < count; i++)
		value[i] = (double)NAN;
	return value;
}

void chart_init(struct chart *chart, const struct report *report)
{
	const struct scope *scope = &report->question->scope;

	chart->row = mem_zalloc((scope->nodes + 1) * sizeof(*chart->row));
	chart->rows = 0;
	for (size_t i = 0; i < scope->nodes; i++) {
		struct chart_row *row = &chart->row[chart->rows];

		if (!scope->node[i].chosen)
			continue;
		row->node = scope->node[i].id;
		row->label = mem_strdup(scope->node[i].name);
		row->up = new_values(report->bins);
		row->down = chart->down ? new_values(report->bins) : NULL;
		chart->rows++;
	}
}

struct chart_row *chart_row(struct chart *chart, const struct report *report,
			    int64_t node)
{
	const struct scope *scope = &report->question->scope;
	size_t at = 0;

	for (size_t i = 0; i < scope->nodes; i++) {
		if (scope->node[i].id == node)
			return scope->node[i].chosen ? &chart->row[at] : NULL;
		at += scope->node[i].chosen;
	}
	return NULL;
}

size_t chart_bin(const struct report *report, nsec_t at_ns)
{
	size_t bin;

	if (at_ns <= report->begin_ns)
		return 0;
	bin = (size_t)(nsec_sub(at_ns, report->begin_ns) / report->bin_ns);
	return bin < report->bins ? bin : report->bins - 1;
}

void chart_spread(const struct report *report, double *sum, nsec_t begin_ns,
		  nsec_t end_ns)
{
	size_t last = chart_bin(report, end_ns);

	for (size_t i = chart_bin(report, begin_ns); i <= last; i++) {
		nsec_t from = report->begin_ns + (nsec_t)i * report->bin_ns;
		nsec_t to = from + report->bin_ns;

		from = begin_ns > from ? begin_ns : from;
		to = end_ns < to ? end_ns : to;
		if (to > from)
			sum[i] = (isnan(sum[i]) ? 0 : sum[i]) + (double)(to - from);
	}
}

void chart_hold(const struct report *report, double *sum, double *weight, nsec_t begin_ns,
		nsec_t end_ns, double value)
{
	size_t last = chart_bin(report, end_ns - 1);

	if (end_ns <= report->begin_ns || begin_ns > report->end_ns)
		return;
	for (size_t i = chart_bin(report, begin_ns); i <= last; i++) {
		nsec_t from = report->begin_ns + (nsec_t)i * report->bin_ns;
		nsec_t to = from + report->bin_ns;
		double covered;

		from = begin_ns > from ? begin_ns : from;
		to = end_ns < to ? end_ns : to;
		covered = to > from ? (double)(to - from) : 1;
		if (isnan(sum[i]))
			sum[i] = weight[i] = 0;
		sum[i] = (sum[i] * weight[i] + value * covered) / (weight[i] + covered);
		weight[i] += covered;
	}
}

static double most_of(const double *value, size_t bins)
{
	double most = (double)NAN;

	for (size_t i = 0; value && i < bins; i++)
		if (!isnan(value[i]) && !(most >= value[i]))
			most = value[i];
	return most;
}

static double mean_of(const double *value, size_t bins)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; value && i < bins; i++)
		if (!isnan(value[i])) {
			sum += value[i];
			count++;
		}
	return count ? sum / (double)count : (double)NAN;
}

bool chart_has_values(const struct chart *chart, const struct report *report)
{
	for (size_t i = 0; i < chart->rows; i++)
		if (!isnan(most_of(chart->row[i].up, report->bins)) ||
		    !isnan(most_of(chart->row[i].down, report->bins)))
			return true;
	return false;
}

static double scale_of(const struct chart *chart, const struct report *report)
{
	double most = chart->most;

	for (size_t i = 0; i < chart->rows && chart->most <= 0; i++) {
		most = fmax(most, most_of(chart->row[i].up, report->bins));
		most = fmax(most, most_of(chart->row[i].down, report->bins));
	}
	return most > 0 ? most : 1;
}

/* An area from the base line, in steps; gaps where nothing is known. */
static void draw_area(const struct report *report, const double *value, double base,
		      double scale, const char *class)
{
	double width = (double)report->bin_ns * TIME_UNITS /
		       (double)nsec_sub(report->end_ns, report->begin_ns);
	double y, before = (double)NAN;

	fprintf(report->page, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < report->bins; i++) {
		double x = fmin((double)i * width, TIME_UNITS);

		if (isnan(value[i])) {
			if (!isnan(before))
				fprintf(report->page, "H%.0fV%.3gZ", x, base);
			before = (double)NAN;
			continue;
		}
		y = base - value[i] * scale;
		if (isnan(before))
			fprintf(report->page, "M%.0f %.3gV%.3g", x, base, y);
		else if (fabs(y - before) >= 0.05)
			fprintf(report->page, "H%.0fV%.3g", x, y);
		else
			y = before;
		before = y;
	}
	if (!isnan(before))
		fprintf(report->page, "H%dV%.3gZ", TIME_UNITS, base);
	fputs("\"/>", report->page);
}

/* Where nothing is known of either quantity. */
static void draw_unknown(const struct report *report, const struct chart_row *row)
{
	double width = (double)report->bin_ns * TIME_UNITS /
		       (double)nsec_sub(report->end_ns, report->begin_ns);
	size_t from = 0;

	fputs("<path class=\"unrecorded\" d=\"", report->page);
	for (size_t i = 0; i <= report->bins; i++) {
		bool known = i == report->bins || !isnan(row->up[i]) ||
			     (row->down && !isnan(row->down[i]));

		if (!known)
			continue;
		if (i > from)
			fprintf(report->page, "M%.0f 0H%.0fV%dH%.0fZ",
				(double)from * width, fmin((double)i * width, TIME_UNITS),
				HEIGHT, (double)from * width);
		from = i + 1;
	}
	fputs("\"/>", report->page);
}

void chart_hatch(const struct report *report, int64_t node, double y, double height)
{
	const struct recorded *recorded = &report->question->scope.recorded;
	nsec_t at = report->begin_ns, until;

	while (recorded_gap(recorded, node, &at, report->end_ns, &until)) {
		fprintf(report->page, "M%.0f %.0fH%.0fv%.0fH%.0fz", chart_x(report, at),
			y, chart_x(report, until), height, chart_x(report, at));
		at = until;
	}
}

/* For the script: what the bins hold, with four digits that count. */
static void print_values(FILE *page, const char *name, const double *value, size_t bins)
{
	fprintf(page, " data-%s=\"", name);
	for (size_t i = 0; i < bins; i++) {
		if (!isnan(value[i]))
			fprintf(page, "%.4g", value[i]);
		if (i + 1 < bins)
			fputc(',', page);
	}
	fputc('"', page);
}

static const char *value_text(char text[PRINT_TEXT], const struct report *report,
			      double value, enum unit unit)
{
	struct cell cell = isnan(value) ? cell_of_null() : cell_of_real(value);

	return html_human(text, report, &cell, unit);
}

static void print_side(const struct report *report, const struct chart *chart,
		       const double *value, const char *class)
{
	char mean[PRINT_TEXT], most[PRINT_TEXT];

	if (!value)
		return;
	fprintf(report->page,
		"<span class=\"%s\" data-most=\"%.6g\" title=\"mean %s, at most %s\">%s "
		"<i>&#8804;&#8239;%s</i></span>",
		class, most_of(value, report->bins),
		value_text(mean, report, mean_of(value, report->bins), chart->unit),
		value_text(most, report, most_of(value, report->bins), chart->unit), mean,
		most);
}

static void draw_row(const struct chart *chart, const struct report *report,
		     const struct chart_row *row, double most)
{
	FILE *page = report->page;
	double base = row->down ? HEIGHT / 2.0 : HEIGHT - 1;

	fputs("<div class=\"lab\">", page);
	html_text(page, row->label);
	if (row->source)
		fprintf(page, "<small>%s</small>", row->source);
	fprintf(page,
		"</div><svg class=\"t\" viewBox=\"0 0 %d %d\" height=\"%d\" "
		"preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		TIME_UNITS, HEIGHT, HEIGHT);
	html_text(page, chart->title);
	fputs(", ", page);
	html_text(page, row->label);
	fputc('"', page);
	print_values(page, "up", row->up, report->bins);
	if (row->down)
		print_values(page, "down", row->down, report->bins);
	fputc('>', page);
	draw_unknown(report, row);
	draw_area(report, row->up, base, (base - 1) / most, "up");
	if (row->down)
		draw_area(report, row->down, base, -(base - 1) / most, "down");
	fprintf(page, "<path class=\"base\" d=\"M0 %.3gH%d\"/></svg><div class=\"val\">",
		base, TIME_UNITS);
	print_side(report, chart, row->up, "up");
	print_side(report, chart, row->down, "down");
	fputs("</div>\n", page);
}

void chart_draw(const struct chart *chart, const struct report *report)
{
	char text[PRINT_TEXT], bin[PRINT_TEXT];
	double most = scale_of(chart, report);
	struct cell width = cell_of_integer(report->bin_ns);
	char *legend = mem_printf(
	    "<span class=\"key up\">%s</span>%s%s%s <span>scale to %s, steps of %s<i "
	    "class=\"wide\">; right: mean and greatest step</i></span>",
	    chart->up, chart->down ? " <span class=\"key down\">" : "",
	    chart->down ? chart->down : "", chart->down ? " (downwards)</span>" : "",
	    value_text(text, report, most, chart->unit),
	    html_human(bin, report, &width, UNIT_SPAN));

	chart_begin(report, chart->id, chart->title, legend);
	fprintf(report->page,
		"<div class=\"rows\" data-unit=\"%s\" data-up=\"%s\" data-down=\"%s\">\n",
		unit_name(chart->unit), chart->up, chart->down ? chart->down : "");
	for (size_t i = 0; i < chart->rows; i++)
		draw_row(chart, report, &chart->row[i], most);
	chart_end(report);
	free(legend);
}

void chart_clear(struct chart *chart)
{
	for (size_t i = 0; i < chart->rows; i++) {
		free(chart->row[i].label);
		free(chart->row[i].up);
		free(chart->row[i].down);
	}
	free(chart->row);
}

void chart_begin(const struct report *report, const char *id, const char *title,
		 const char *legend)
{
	fprintf(report->page,
		"<figure class=\"chart\" id=\"%s\" tabindex=\"0\" aria-label=\"%s\">\n"
		"<figcaption><b>%s</b> %s</figcaption>\n",
		id, title, title, legend);
}

void chart_end(const struct report *report)
{
	chart_ticks(report);
	fputs("</div></figure>\n", report->page);
}

static double nice_step(double span, double least)
{
	double step = pow(10, floor(log10(span)));

	while (span / step < least)
		step /= 10;
	if (span / (step * 5) >= least)
		return step * 5;
	return span / (step * 2) >= least ? step * 2 : step;
}

void chart_ticks(const struct report *report)
{
	double span = (double)nsec_sub(report->end_ns, report->begin_ns);
	double step = nice_step(span, 5);
	const char *unit = span >= 2e9 ? "s" : span >= 2e6 ? "ms" : "&#181;s";
	double scale = span >= 2e9 ? 1e9 : span >= 2e6 ? 1e6 : 1e3;

	fputs("<div class=\"ticks\" aria-hidden=\"true\">", report->page);
	for (double at = 0; at <= span; at += step)
		fprintf(report->page,
			"<i style=\"left:%.4g%%\"><b>%.10g&#8239;%s</b></i>",
			at * 100 / span, at / scale, unit);
	fputs("</div>", report->page);
}

double chart_x(const struct report *report, nsec_t at_ns)
{
	double x = (double)nsec_sub(at_ns, report->begin_ns) * TIME_UNITS /
		   (double)nsec_sub(report->end_ns, report->begin_ns);

	return fmin(fmax(x, 0), TIME_UNITS);
}
