/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is: nodes, what was recorded of them, and which events. */
#include "analyze/analysis.h"

static const struct result_column node_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"hostname", "HOSTNAME", UNIT_TEXT},
    {"kernel", "KERNEL", UNIT_TEXT},
    {"cpus", "CPUS", UNIT_COUNT},
    {"cpu_hertz", "CLOCK", UNIT_HERTZ},
    {"memory_bytes", "MEMORY", UNIT_BYTES},
    {"sources", "SOURCES", UNIT_COUNT},
    {"events", "EVENTS", UNIT_COUNT},
    {"discarded", "DISCARDED", UNIT_COUNT},
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"span_ns", "SPAN", UNIT_SPAN},
    {"samples", "SAMPLES", UNIT_COUNT},
    {"processes", "PROCESSES", UNIT_COUNT},
    {"problems", "PROBLEMS", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const char node_sql[] =
    "SELECT n.id, n.name, n.hostname, n.kernel, n.cpus, n.cpu_mhz * 1e6,"
    " n.mem_kib * 1024, count(s.id), coalesce(sum(s.events), 0),"
    " coalesce(sum(s.discarded), 0), min(s.begin_ns), max(s.end_ns) - min(s.begin_ns),"
    " (SELECT count(*) FROM sample WHERE sample.node = n.id),"
    " (SELECT count(*) FROM process WHERE process.node = n.id AND pid <> 0),"
    " (SELECT count(*) FROM problem AS p JOIN source AS q ON q.id = p.source"
    "  WHERE q.node = n.id) "
    "FROM node AS n LEFT JOIN source AS s ON s.node = n.id GROUP BY n.id ORDER BY n.id";

static const struct result_column source_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"source", "SOURCE", UNIT_TEXT},
    {"kind", "KIND", UNIT_TEXT},
    {"events", "EVENTS", UNIT_COUNT},
    {"discarded", "DISCARDED", UNIT_COUNT},
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"span_ns", "SPAN", UNIT_SPAN},
    {"path", "PATH", UNIT_TEXT},
    {NULL, NULL, 0},
};

static const char source_sql[] =
    "SELECT n.id, n.name, s.name, s.kind, s.events, s.discarded, s.begin_ns,"
    " s.end_ns - s.begin_ns, s.path "
    "FROM source AS s JOIN node AS n ON n.id = s.node ORDER BY n.id, s.id";

static const struct result_column class_columns[] = {
    {"class", "CLASS", UNIT_TEXT},
    {"kind", "KIND", UNIT_TEXT},
    {"events", "EVENTS", UNIT_COUNT},
    {NULL, NULL, 0},
};

/* By name, as a tracer's update makes two classes of one. */
static const char class_sql[] =
    "SELECT name, kind, sum(events) FROM event_class GROUP BY name, kind";

struct filling {
	struct question *question;
	struct result_table *table;
};

static int take_of_node(void *context, const struct cell *row)
{
	struct filling *filling = context;

	if (scope_has_node(&filling->question->scope, row[0].integer))
		result_add(filling->table, row + 1);
	return 0;
}

static int take(void *context, const struct cell *row)
{
	result_add(context, row);
	return 0;
}

static int run_nodes(struct question *question, struct result *result,
		     struct error *error)
{
	struct filling nodes = {question,
				result_table_new(result, "nodes", "Nodes", node_columns)};
	struct filling sources = {
	    question, result_table_new(result, "sources", "Sources", source_columns)};
	struct result_table *classes =
	    result_table_new(result, "classes", "Events by class", class_columns);

	result_table_sort(classes, "-events,class");
	result_table_limit(classes, 20);
	if (question_ask(question, node_sql, NULL, take_of_node, &nodes, error) ||
	    question_ask(question, source_sql, NULL, take_of_node, &sources, error) ||
	    question_ask(question, class_sql, NULL, take, classes, error))
		return -1;
	return 0;
}

const struct analysis analysis_nodes = {
    .name = "nodes",
    .summary = "the machines, their sources, and which events there are",
    .description =
	"Tables: nodes; sources, with the clock's name; classes of events with how\n"
	"many there are. Of the whole timeline: --begin and --end do not matter.",
    .run = run_nodes,
};
