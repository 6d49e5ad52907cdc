/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was lost, left out or odd. */
#include "analyze/analysis.h"

static const struct result_column problem_columns[] = {
    {"node", "NODE", UNIT_TEXT},    {"place", "PLACE", UNIT_TEXT},
    {"kind", "KIND", UNIT_TEXT},    {"count", "COUNT", UNIT_COUNT},
    {"text", "PROBLEM", UNIT_TEXT}, {NULL, NULL, 0},
};

/* A place that became no source may still begin with the name of a node. */
static const char problem_sql[] =
    "SELECT n.id, n.name, coalesce(p.place, s.name), p.kind, p.count, p.text "
    "FROM problem AS p LEFT JOIN source AS s ON s.id = p.source "
    "LEFT JOIN node AS n ON n.id = coalesce(s.node, (SELECT m.id FROM node AS m"
    " WHERE p.place = m.name OR p.place LIKE m.name || '/%'"
    " OR p.place LIKE m.name || ':%' OR p.place LIKE '%/' || m.name || '/%'"
    " OR p.place LIKE '%/' || m.name)) ORDER BY p.id";

static const struct result_column lost_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"source", "SOURCE", UNIT_TEXT},
    {"events", "EVENTS", UNIT_COUNT},
    {"discarded", "DISCARDED", UNIT_COUNT},
    {"discarded_percent", "SHARE", UNIT_PERCENT},
    {NULL, NULL, 0},
};

static const char lost_sql[] = "SELECT n.id, n.name, s.name, s.events, s.discarded,"
			       " 100.0 * s.discarded / (s.events + s.discarded) "
			       "FROM source AS s JOIN node AS n ON n.id = s.node "
			       "WHERE s.discarded > 0 ORDER BY s.discarded DESC, s.id";

static const struct result_column tie_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"source", "SOURCE", UNIT_TEXT},
    {"quality", "CLOCK", UNIT_TEXT},
    {"text", "PROBLEM", UNIT_TEXT},
    {NULL, NULL, 0},
};

/* Clocks that are not what one would want for reading across nodes. */
static const char tie_sql[] =
    "SELECT n.id, n.name, s.name, s.quality,"
    " CASE WHEN s.reference IS NULL THEN 'left at its own epoch'"
    "  WHEN s.reference <> (SELECT q.id FROM source AS q JOIN meta AS m"
    "   ON m.key = 'reference' AND q.name = m.value LIMIT 1)"
    "  THEN 'on the clock of another island'"
    "  WHEN s.quality = 'incomplete' THEN 'bounded from one side only'"
    "  WHEN s.quality = 'contradictory' THEN 'no possible clock satisfies its messages'"
    "  WHEN s.quality = 'absent' THEN 'nothing ties it to the reference'"
    "  ELSE 'its messages contradict each other' END "
    "FROM source AS s JOIN node AS n ON n.id = s.node "
    "WHERE s.reference IS NULL OR s.quality NOT IN ('exact', 'accurate') "
    "OR s.reference <> (SELECT q.id FROM source AS q JOIN meta AS m"
    " ON m.key = 'reference' AND q.name = m.value LIMIT 1) ORDER BY s.id";

struct filling {
	struct question *question;
	struct result_table *table;
};

static int take(void *context, const struct cell *row)
{
	struct filling *filling = context;
	const struct scope *scope = &filling->question->scope;

	if (row[0].type == CELL_INTEGER ? scope_has_node(scope, row[0].integer)
					: scope->all_nodes)
		result_add(filling->table, row + 1);
	return 0;
}

/* A table that is only there if it has rows. */
static int fill(struct question *question, struct result_table *table, const char *sql,
		struct error *error)
{
	struct filling filling = {question, table};

	return question_ask(question, sql, NULL, take, &filling, error);
}

static int run_problems(struct question *question, struct result *result,
			struct error *error)
{
	struct result_table *problems = result_table_new(
	    result, "problems", "Problems in the input", problem_columns);
	struct result_table *lost = result_table_new(
	    result, "lost", "Sources whose tracer lost events", lost_columns);
	struct result_table *clocks =
	    result_table_new(result, "clocks", "Clocks to be careful with", tie_columns);

	if (fill(question, problems, problem_sql, error) ||
	    fill(question, lost, lost_sql, error) ||
	    fill(question, clocks, tie_sql, error))
		return -1;
	if (!problems->rows && !lost->rows && !clocks->rows)
		result_note(result, "no problem is known");
	return 0;
}

const struct analysis analysis_problems = {
    .name = "problems",
    .summary = "what was lost, left out or odd",
    .description =
	"problems: what was odd in the input, and what was done about it. lost: events\n"
	"that a tracer had no room for. clocks: sources whose clock is not tied to the\n"
	"reference from both sides. Of the whole timeline: --begin and --end do not\n"
	"matter.",
    .run = run_problems,
};
