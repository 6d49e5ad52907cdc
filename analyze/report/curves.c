/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curves below the timeline: bounds of the clocks, and sar's samples. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/report/html.h"
#include "base/mem.h"

enum {
	MOST_POINTS = 40000, /* of all curves */
	FEWEST_POINTS = 60,  /* of one */
	BOUND_POINTS = 120,
};

static const struct curve {
	const char *title, *unit;
	const char *sql; /* node, end, interval, value; by node and end */
} curves[] = {
    {"CPU busy (sar)", "%",
     "SELECT s.node, s.ts_ns, s.interval_ns, 100 - s.value FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id JOIN metric_item AS i ON i.id = s.item "
     "WHERE m.activity = 'cpu' AND m.name = '%idle' AND i.name = 'all' "
     "AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
    {"Memory in use (sar)", "bytes",
     "SELECT s.node, s.ts_ns, s.interval_ns, s.value * 1024 FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id WHERE m.activity = 'memory' "
     "AND m.name = 'kbmemused' AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
#define SUMMED(activity, names)                                                          \
	"SELECT s.node, s.ts_ns, max(s.interval_ns), sum(s.value) * 1024 "               \
	"FROM metric AS m JOIN sample AS s ON s.metric = m.id "                          \
	"JOIN metric_item AS i ON i.id = s.item WHERE m.activity = '" activity "' "      \
	"AND m.name IN (" names ") AND i.name <> 'lo' AND i.name NOT LIKE 'loop%' "      \
	"AND i.name NOT LIKE 'dm-%' AND s.value IS NOT NULL "                            \
	"GROUP BY s.node, s.ts_ns ORDER BY s.node, s.ts_ns"
    {"Disks, read and written (sar)", "bytes/s", SUMMED("disk", "'rkB/s', 'wkB/s'")},
    {"Network, in and out (sar)", "bytes/s", SUMMED("net", "'rxkB/s', 'txkB/s'")},
};

struct curve_point {
	int64_t node;
	nsec_t end_ns, interval_ns;
	double value;
};

struct curve_reading {
	const struct report *report;
	struct curve_point *point;
	size_t count, capacity;
};

static int add_point(void *context, const struct cell *row)
{
	struct curve_reading *reading = context;
	const struct report *report = reading->report;
	nsec_t end = row[1].integer, interval = (nsec_t)report_number(row[2], 0);

	interval = interval > 0 ? interval : NSEC_PER_SEC;
	if (!scope_has_node(&report->question->scope, row[0].integer) ||
	    end <= report->begin_ns || end - interval >= report->end_ns)
		return 0;
	reading->point = mem_grow(reading->point, reading->count, &reading->capacity,
				  sizeof(*reading->point));
	reading->point[reading->count++] =
	    (struct curve_point){row[0].integer, end, interval, report_number(row[3], 0)};
	return 0;
}

/* Of many points `merge` at a time become their mean by time, as long as none is missing
 * between them. */
static size_t put_curve_node(const struct report *report, const struct curve_point *point,
			     size_t count, size_t merge)
{
	const char *before = "";

	fprintf(report->page, "[%zu,[", report_node_index(report, point->node));
	for (size_t i = 0; i < count;) {
		nsec_t begin = point[i].end_ns - point[i].interval_ns,
		       end = point[i].end_ns;
		double sum = point[i].value * (double)point[i].interval_ns;
		double weight = (double)point[i].interval_ns;
		size_t k = 1;

		while (k < merge && i + k < count &&
		       point[i + k].end_ns - point[i + k].interval_ns <=
			   end + point[i].interval_ns / 2) {
			sum += point[i + k].value * (double)point[i + k].interval_ns;
			weight += (double)point[i + k].interval_ns;
			end = point[i + k].end_ns;
			k++;
		}
		fprintf(report->page, "%s%" PRId64 ",%" PRId64 ",%.5g", before,
			report_offset(report, begin), report_offset(report, end),
			sum / weight);
		before = ",";
		i += k;
	}
	fputs("]]", report->page);
	return count;
}

static void put_curve(const struct curve_reading *reading, const struct curve *curve)
{
	const struct report *report = reading->report;
	size_t nodes = report->question->scope.nodes;
	size_t most = MOST_POINTS / (4 * (nodes ? nodes : 1));
	size_t merge = 1;

	most = most < FEWEST_POINTS ? FEWEST_POINTS : most;
	if (reading->count > most * nodes)
		merge = (reading->count + most * nodes - 1) / (most * nodes);
	fprintf(report->page,
		",\n{\"title\":\"%s\",\"unit\":\"%s\",\"merged\":%zu,\"series\":[",
		curve->title, curve->unit, merge);
	for (size_t i = 0, count; i < reading->count; i += count) {
		const struct curve_point *point = &reading->point[i];

		for (count = 1; i + count < reading->count &&
				reading->point[i + count].node == point->node;)
			count++;
		if (i)
			fputc(',', report->page);
		put_curve_node(report, point, count, merge);
	}
	fputs("]}", report->page);
}

/* The clocks' bounds are a curve: the wider side, over time. */
static void put_bounds(const struct report *report)
{
	const struct scope *scope = &report->question->scope;
	nsec_t span = report->end_ns - report->begin_ns;
	const char *before = "";

	fputs("{\"title\":\"Bound of the clocks, \xc2\xb1\",\"unit\":\"ns\",\"merged\":1,"
	      "\"series\":[",
	      report->page);
	for (size_t i = 0; i < scope->nodes; i++) {
		const char *comma = "";

		if (!scope->node[i].chosen)
			continue;
		fprintf(report->page, "%s[%zu,[", before,
			report_node_index(report, scope->node[i].id));
		for (nsec_t k = 0; k < BOUND_POINTS; k++) {
			nsec_t from = (nsec_t)((double)span / BOUND_POINTS * (double)k);
			nsec_t to =
			    (nsec_t)((double)span / BOUND_POINTS * (double)(k + 1));
			nsec_t width = bound_width(
			    bounds_of_node(report->bounds, scope->node[i].id,
					   report->begin_ns + (from + to) / 2));

			if (width == NSEC_MAX)
				continue;
			fprintf(report->page, "%s%" PRId64 ",%" PRId64 ",%" PRId64, comma,
				from, to, width);
			comma = ",";
		}
		fputs("]]", report->page);
		before = ",\n";
	}
	fputs("]}", report->page);
}

int report_curves(struct report *report, struct error *error)
{
	fputs(",\n\"curves\":[", report->page);
	put_bounds(report);
	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		struct curve_reading reading = {.report = report};
		int status = question_ask(report->question, curves[i].sql, NULL,
					  add_point, &reading, error);

		if (!status && reading.count)
			put_curve(&reading, &curves[i]);
		free(reading.point);
		if (status)
			return -1;
	}
	fputc(']', report->page);
	return 0;
}
