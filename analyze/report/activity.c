/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nodes did over time, by kernel events where these were traced, else by samples:
 * processors, memory, disks, network; and the timeline of all processors. */
#include <math.h>
#include <stdlib.h>

#include "analyze/report/chart.h"
#include "analyze/report/html.h"
#include "analyze/report/lanes.h"
#include "base/mem.h"

enum { CHART_CPU, CHART_MEMORY, CHART_DISK, CHART_NET, CHARTS };

struct gathering {
	struct report *report;
	struct chart chart[CHARTS];
	double **known; /* a row of CHART_CPU each: time that is known of processors */
	double *weight; /* a bin each; of the row of samples at hand */
	struct lanes lanes;
};

static const struct chart charts[CHARTS] = {
    [CHART_CPU] = {.id = "cpu",
		   .title = "Processors",
		   .up = "busy",
		   .unit = UNIT_PERCENT,
		   .most = 100},
    [CHART_MEMORY] = {.id = "memory",
		      .title = "Memory",
		      .up = "in use",
		      .unit = UNIT_BYTES},
    [CHART_DISK] = {.id = "disk",
		    .title = "Disks",
		    .up = "read",
		    .down = "written",
		    .unit = UNIT_BYTE_RATE},
    [CHART_NET] = {.id = "network",
		   .title = "Network",
		   .up = "received",
		   .down = "sent",
		   .unit = UNIT_BYTE_RATE},
};

/* node, cpu, tid, name, begin_ns, end_ns: who ran where, by processor and time. */
static const char running_sql[] =
    "SELECT s.node, s.cpu, s.tid, coalesce(s.comm, t.comm, ''), max(s.begin_ns, ?1),"
    " min(s.end_ns, ?2) FROM thread_state AS s LEFT JOIN thread AS t ON t.id = s.thread "
    "WHERE s.state = 'running' AND s.end_ns > ?1 AND s.begin_ns < ?2 "
    "ORDER BY s.node, s.cpu, s.begin_ns";

static int add_running(void *context, const struct cell *row)
{
	struct gathering *gathering = context;
	struct chart *chart = &gathering->chart[CHART_CPU];
	int64_t node = row[0].integer, cpu = row[1].integer;
	nsec_t begin_ns = row[4].integer, end_ns = row[5].integer;
	struct chart_row *bar = chart_row(chart, gathering->report, node);

	if (!bar)
		return 0;
	chart_spread(gathering->report, gathering->known[bar - chart->row], begin_ns,
		     end_ns);
	if (row[2].integer == 0) {
		lanes_find(&gathering->lanes, node, cpu);
		return 0;
	}
	chart_spread(gathering->report, bar->up, begin_ns, end_ns);
	lanes_add(&gathering->lanes, node, cpu, row[3].bytes, begin_ns, end_ns);
	return 0;
}

/* A request counts when it ends, as in sar's sums. */
static const char disk_sql[] =
    "SELECT node, end_ns, operation = 'read', bytes FROM block_request "
    "WHERE cut < 2 AND operation <> 'discard' AND end_ns BETWEEN ?1 AND ?2";

static int add_disk(void *context, const struct cell *row)
{
	struct gathering *gathering = context;
	struct chart_row *bar =
	    chart_row(&gathering->chart[CHART_DISK], gathering->report, row[0].integer);
	double *value;
	size_t bin;

	if (!bar)
		return 0;
	value = row[2].integer ? bar->up : bar->down;
	bin = chart_bin(gathering->report, row[1].integer);
	value[bin] = (isnan(value[bin]) ? 0 : value[bin]) + report_number(&row[3], 0);
	return 0;
}

static bool has_any(const double *value, size_t bins)
{
	for (size_t i = 0; value && i < bins; i++)
		if (!isnan(value[i]))
			return true;
	return false;
}

/* How long the bin is, as far as the node was recorded in it; the last one may be cut by
 * the end. 0: less than half of it was recorded. */
static double seconds_of(const struct report *report, int64_t node, size_t bin)
{
	const struct recorded *recorded = &report->question->scope.recorded;
	nsec_t begin = report->begin_ns + (nsec_t)bin * report->bin_ns;
	nsec_t left = report->end_ns - begin;
	nsec_t whole = left > 0 && left < report->bin_ns ? left : report->bin_ns;
	nsec_t known = recorded_within(recorded, node, begin, begin + whole);

	return known < whole - known ? 0 : (double)known / 1e9;
}

static void finish_cpu(struct gathering *gathering)
{
	struct chart *chart = &gathering->chart[CHART_CPU];

	for (size_t r = 0; r < chart->rows; r++) {
		struct chart_row *row = &chart->row[r];

		for (size_t i = 0; i < gathering->report->bins; i++) {
			double known = gathering->known[r][i];

			if (known > 0)
				row->up[i] =
				    100 * (isnan(row->up[i]) ? 0 : row->up[i]) / known;
		}
		if (has_any(row->up, gathering->report->bins))
			row->source = "events";
	}
}

/* Bytes become rates. While a node was recorded, and if it has any, nothing is none. */
static void finish_rates(const struct report *report, struct chart *chart)
{
	for (size_t r = 0; r < chart->rows; r++) {
		struct chart_row *row = &chart->row[r];

		if (!has_any(row->up, report->bins) && !has_any(row->down, report->bins))
			continue;
		row->source = "events";
		for (size_t i = 0; i < report->bins; i++) {
			double seconds = seconds_of(report, row->node, i);

			if (seconds <= 0) {
				row->up[i] = row->down[i] = (double)NAN;
				continue;
			}
			row->up[i] = (isnan(row->up[i]) ? 0 : row->up[i]) / seconds;
			row->down[i] = (isnan(row->down[i]) ? 0 : row->down[i]) / seconds;
		}
	}
}

static int take_count(void *context, const struct cell *row)
{
	*(int64_t *)context = row[0].type == CELL_INTEGER ? row[0].integer : 0;
	return 0;
}

static int read_activity(struct gathering *gathering, struct error *error)
{
	static const char count_sql[] =
	    "SELECT count(*) FROM thread_state WHERE state = 'running'";
	struct report *report = gathering->report;
	const struct cell scope[] = {cell_of_integer(report->begin_ns),
				     cell_of_integer(report->end_ns)};
	int64_t spans = 0;

	if (question_ask(report->question, count_sql, NULL, take_count, &spans, error))
		return -1;
	lanes_init(&gathering->lanes, report, (uint64_t)spans);
	if (question_ask(report->question, running_sql, scope, add_running, gathering,
			 error) ||
	    question_ask(report->question, disk_sql, scope, add_disk, gathering, error))
		return -1;
	lanes_finish(&gathering->lanes);
	finish_cpu(gathering);
	finish_rates(report, &gathering->chart[CHART_DISK]);
	return 0;
}

/* Packets over time are what the analysis of the network counted. */
static int add_traffic(struct gathering *gathering, struct error *error)
{
	struct report *report = gathering->report;
	struct report_wish wish = report_wish_of(report, "net", NULL, 0);
	const struct result *result = report_ask(report, "net", &wish, error);
	struct result_table *table;

	if (!result)
		return -1;
	table = result_find(result, "over_time");
	for (size_t i = 0; table && i < table->rows; i++) {
		struct cell begin = report_cell(table, i, "begin_ns");
		struct cell node = report_cell(table, i, "node");
		struct cell interface = report_cell(table, i, "interface");
		struct cell in = report_cell(table, i, "received_bytes");
		struct cell out = report_cell(table, i, "sent_bytes");
		struct chart *chart = &gathering->chart[CHART_NET];

		if (interface.type == CELL_TEXT && !strcmp(interface.bytes, "lo"))
			continue;
		for (size_t r = 0; r < chart->rows; r++) {
			size_t bin = chart_bin(report, begin.integer);
			struct chart_row *row = &chart->row[r];

			if (strcmp(row->label, node.bytes) != 0)
				continue;
			row->up[bin] = (isnan(row->up[bin]) ? 0 : row->up[bin]) +
				       report_number(&in, 0);
			row->down[bin] = (isnan(row->down[bin]) ? 0 : row->down[bin]) +
					 report_number(&out, 0);
		}
	}
	finish_rates(report, &gathering->chart[CHART_NET]);
	return 0;
}

/* Which samples stand in for events: of all items but these, added up. */
static const struct sampled {
	int chart;
	bool down;
	const char *sql;
} sampled[] = {
    {CHART_CPU, false,
     "SELECT s.node, s.ts_ns, s.interval_ns, 100 - s.value FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id JOIN metric_item AS i ON i.id = s.item "
     "WHERE m.activity = 'cpu' AND m.name = '%idle' AND i.name = 'all' "
     "AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
    {CHART_MEMORY, false,
     "SELECT s.node, s.ts_ns, s.interval_ns, s.value * 1024 FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id WHERE m.activity = 'memory' "
     "AND m.name = 'kbmemused' AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
#define SUMMED(activity, name)                                                           \
	"SELECT s.node, s.ts_ns, max(s.interval_ns), sum(s.value) * 1024 "               \
	"FROM metric AS m JOIN sample AS s ON s.metric = m.id "                          \
	"JOIN metric_item AS i ON i.id = s.item WHERE m.activity = '" activity "' "      \
	"AND m.name = '" name "' AND i.name <> 'lo' AND i.name NOT LIKE 'loop%' "        \
	"AND i.name NOT LIKE 'dm-%' AND s.value IS NOT NULL "                            \
	"GROUP BY s.node, s.ts_ns ORDER BY s.node, s.ts_ns"
    {CHART_DISK, false, SUMMED("disk", "rkB/s")},
    {CHART_DISK, true, SUMMED("disk", "wkB/s")},
    {CHART_NET, false, SUMMED("net", "rxkB/s")},
    {CHART_NET, true, SUMMED("net", "txkB/s")},
};

struct sampling {
	struct gathering *gathering;
	const struct sampled *of;
};

static int take_sample(void *context, const struct cell *cells)
{
	struct sampling *sampling = context;
	const struct report *report = sampling->gathering->report;
	struct chart *chart = &sampling->gathering->chart[sampling->of->chart];
	struct chart_row *row = chart_row(chart, report, cells[0].integer);
	nsec_t at = cells[1].integer, interval;

	if (!row || (row->source && !strcmp(row->source, "events")))
		return 0;
	row->source = "samples";
	interval = cells[2].type == CELL_INTEGER && cells[2].integer > 0
		       ? cells[2].integer
		       : NSEC_PER_SEC;
	if (at - interval <= report->end_ns && at > report->begin_ns)
		chart_hold(report, sampling->of->down ? row->down : row->up,
			   sampling->gathering->weight, at - interval, at,
			   report_number(&cells[3], 0));
	return 0;
}

static int add_samples(struct gathering *gathering, struct error *error)
{
	for (size_t i = 0; i < sizeof(sampled) / sizeof(*sampled); i++) {
		struct sampling sampling = {gathering, &sampled[i]};

		if (question_ask(gathering->report->question, sampled[i].sql, NULL,
				 take_sample, &sampling, error))
			return -1;
	}
	return 0;
}

static int add_tables(struct report *report, struct error *error)
{
	static const struct {
		const char *analysis, *group, *without;
	} tables[] = {{"cpu", "process", "processes cpus"},
		      {"mem", NULL, "pages processes"},
		      {"io", NULL, "files requests"},
		      {"net", NULL, "flows pairs over_time"}};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct report_wish wish =
		    report_wish_of(report, tables[i].analysis, tables[i].group, 0);
		const struct result *result =
		    report_ask(report, tables[i].analysis, &wish, error);

		if (!result)
			return -1;
		html_result(report, result, tables[i].without, REPORT_ROWS);
	}
	return 0;
}

static int draw(struct gathering *gathering, struct error *error)
{
	struct report *report = gathering->report;
	int status;

	html_section(report->page, "resources", "Resources");
	html_note(report->page, "note",
		  "Beside each node's name: whether its values come of kernel events, or "
		  "of the samples that sar took. Memory is always sampled. What was not "
		  "recorded is hatched.");
	for (size_t i = 0; i < CHARTS; i++)
		if (chart_has_values(&gathering->chart[i], report))
			chart_draw(&gathering->chart[i], report);
		else
			html_note(report->page, "note", "%s: not recorded",
				  charts[i].title);
	status = add_tables(report, error);
	html_section_end(report->page);
	if (status)
		return -1;
	html_section(report->page, "timeline", "Timeline of the cluster");
	if (report->is_empty)
		html_note(report->page, "note", "nothing was recorded");
	else
		status = lanes_draw(&gathering->lanes, error);
	html_section_end(report->page);
	return status;
}

/* A node of which no processor is known to have run anything is there, too. */
static void add_nodes(struct gathering *gathering)
{
	const struct scope *scope = &gathering->report->question->scope;

	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen &&
		    !lanes_has_node(&gathering->lanes, scope->node[i].id))
			lanes_find(&gathering->lanes, scope->node[i].id, -1);
}

int report_activity(struct report *report, struct error *error)
{
	struct gathering gathering = {.report = report};
	size_t rows;
	int status;

	for (size_t i = 0; i < CHARTS; i++) {
		gathering.chart[i] = charts[i];
		chart_init(&gathering.chart[i], report);
	}
	rows = gathering.chart[CHART_CPU].rows;
	gathering.known = mem_alloc((rows + 1) * sizeof(*gathering.known));
	for (size_t i = 0; i < rows; i++)
		gathering.known[i] = mem_zalloc(report->bins * sizeof(double));
	gathering.weight = mem_zalloc(report->bins * sizeof(double));
	status = read_activity(&gathering, error) || add_traffic(&gathering, error) ||
			 add_samples(&gathering, error)
		     ? -1
		     : 0;
	add_nodes(&gathering);
	if (!status)
		status = draw(&gathering, error);
	for (size_t i = 0; i < rows; i++)
		free(gathering.known[i]);
	for (size_t i = 0; i < CHARTS; i++)
		chart_clear(&gathering.chart[i]);
	free(gathering.known);
	free(gathering.weight);
	lanes_clear(&gathering.lanes);
	return status;
}
