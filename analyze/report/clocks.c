/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure the clocks are over time. */
#include <math.h>

#include "analyze/report/chart.h"
#include "analyze/report/html.h"

static void fill_row(const struct report *report, struct chart_row *row, int64_t node)
{
	for (size_t i = 0; i < report->bins; i++) {
		nsec_t at =
		    report->begin_ns + (nsec_t)i * report->bin_ns + report->bin_ns / 2;
		struct bound bound = bounds_of_node(report->bounds, node, at);

		if (bound.high_ns != NSEC_MAX)
			row->up[i] = (double)bound.high_ns;
		if (bound.low_ns != NSEC_MIN)
			row->down[i] = (double)(0 - bound.low_ns);
	}
}

static void draw_bounds(const struct report *report)
{
	struct chart chart = {.id = "clock-bounds",
			      .title = "Bounds of the clocks",
			      .up = "truth at most so much later",
			      .down = "earlier",
			      .unit = UNIT_SPAN};
	const struct scope *scope = &report->question->scope;

	chart_init(&chart, report);
	for (size_t i = 0; i < scope->nodes; i++) {
		struct chart_row *row = chart_row(&chart, report, scope->node[i].id);

		if (row)
			fill_row(report, row, scope->node[i].id);
	}
	if (chart_has_values(&chart, report))
		chart_draw(&chart, report);
	chart_clear(&chart);
}

int report_clocks(struct report *report, struct error *error)
{
	struct report_wish wish = {.limit = 100};
	const struct result *result = report_ask(report, "clocks", &wish, error);

	if (!result)
		return -1;
	html_section(report->page, "clocks", "Clocks");
	html_note(report->page, "note",
		  "What happened at a node at a time of this page truly happened, by the "
		  "reference clock, within these bounds around it: those of its kernel's "
		  "trace, where "
		  "that was not recorded of its other sources, and where nothing was, "
		  "none.");
	draw_bounds(report);
	html_result(report, result, "bounds", 0);
	html_section_end(report->page);
	return 0;
}
