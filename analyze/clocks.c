/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the clocks relate, and how sure that is. */
#include "analyze/analysis.h"
#include "analyze/bounds.h"
#include "analyze/message_groups.h"

static const struct result_column clock_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"source", "SOURCE", UNIT_TEXT},
    {"reference", "REFERENCE", UNIT_TEXT},
    {"quality", "QUALITY", UNIT_TEXT},
    {"segments", "SEGMENTS", UNIT_COUNT},
    {"drift_ppm", "DRIFT", UNIT_PPM},
    {"offset_ns", "OFFSET", UNIT_SPAN},
    {"bound_ns", "BOUND", UNIT_BOUND},
    {"worst_bound_ns", "WORST", UNIT_BOUND},
    {"worst_at_ns", "AT", UNIT_INSTANT},
    {NULL, NULL, 0},
};

static const char clock_sql[] =
    "SELECT s.node, s.id, s.begin_ns, s.end_ns, n.name, s.name, r.name, s.quality,"
    " (SELECT count(*) FROM clock AS c WHERE c.source = s.id) "
    "FROM source AS s JOIN node AS n ON n.id = s.node "
    "LEFT JOIN source AS r ON r.id = s.reference ORDER BY s.node, s.id";

static const struct result_column pair_columns[] = {
    {"a", "A", UNIT_TEXT},
    {"b", "B", UNIT_TEXT},
    {"messages_ab", "MESSAGES A>B", UNIT_COUNT},
    {"messages_ba", "B>A", UNIT_COUNT},
    {"rejected", "FALSE", UNIT_COUNT},
    {"violations_before", "VIOLATED BEFORE", UNIT_COUNT},
    {"violations_after", "VIOLATED AFTER", UNIT_COUNT},
    {"min_latency_ab_ns", "MIN A>B", UNIT_SPAN},
    {"min_latency_ba_ns", "MIN B>A", UNIT_SPAN},
    {"quality", "QUALITY", UNIT_TEXT},
    {NULL, NULL, 0},
};

static const char pair_sql[] =
    "SELECT a.node, b.node, a.name, b.name, p.messages_ab, p.messages_ba, p.rejected,"
    " p.violations_before, p.violations_after, p.min_latency_ab_ns,"
    " p.min_latency_ba_ns, p.quality "
    "FROM clock_pair AS p JOIN source AS a ON a.id = p.a JOIN source AS b ON b.id = p.b "
    "ORDER BY p.a, p.b";

static const struct result_column bound_columns[] = {
    {"node", "NODE", UNIT_TEXT},     {"source", "SOURCE", UNIT_TEXT},
    {"at_ns", "TIME", UNIT_INSTANT}, {"low_ns", "LOW", UNIT_SPAN},
    {"high_ns", "HIGH", UNIT_SPAN},  {NULL, NULL, 0},
};

struct filling {
	struct question *question;
	struct bounds *bounds;
	struct result_table *clocks, *pairs, *steps;
};

/* Steps of a source; returns where its bound is widest. */
static struct bound_step add_steps(struct filling *filling, int64_t source,
				   const struct cell *row)
{
	size_t count;
	const struct bound_step *step = bounds_steps(filling->bounds, source, &count);
	struct bound_step worst = {NSEC_MIN, {NSEC_MIN, NSEC_MAX}};

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || bound_width(step[i].bound) > bound_width(worst.bound))
			worst = step[i];
		if (step[i].at_ns < filling->question->scope.begin_ns ||
		    step[i].at_ns > filling->question->scope.end_ns)
			continue;
		result_add(filling->steps,
			   (struct cell[]){row[4], row[5], cell_of_integer(step[i].at_ns),
					   cell_of_side(step[i].bound.low_ns),
					   cell_of_side(step[i].bound.high_ns)});
	}
	return worst;
}

static int take_clock(void *context, const struct cell *row)
{
	struct filling *filling = context;
	int64_t source = row[1].integer;
	struct cell drift = cell_of_null(), offset = cell_of_null();
	struct bound_step worst;
	nsec_t middle, begin, end, bound = NSEC_MAX;

	if (!scope_has_node(&filling->question->scope, row[0].integer))
		return 0;
	worst = add_steps(filling, source, row);
	if (row[2].type == CELL_INTEGER && row[3].type == CELL_INTEGER) {
		middle = row[2].integer + nsec_sub(row[3].integer, row[2].integer) / 2;
		bound = bound_width(bounds_at(filling->bounds, source, middle));
		offset = cell_of_integer(middle -
					 bounds_local(filling->bounds, source, middle));
		begin = bounds_local(filling->bounds, source, row[2].integer);
		end = bounds_local(filling->bounds, source, row[3].integer);
		if (end > begin)
			drift = cell_of_real(
			    1e6 * bounds_rate(filling->bounds, source, begin, end));
	}
	result_add(filling->clocks,
		   (struct cell[]){row[4], row[5], row[6], row[7], row[8], drift, offset,
				   cell_of_side(bound),
				   cell_of_side(bound_width(worst.bound)),
				   cell_of_known(worst.at_ns, NSEC_MIN)});
	return 0;
}

static int take_pair(void *context, const struct cell *row)
{
	struct filling *filling = context;
	const struct scope *scope = &filling->question->scope;

	if (scope_has_node(scope, row[0].integer) &&
	    scope_has_node(scope, row[1].integer))
		result_add(filling->pairs, row + 2);
	return 0;
}

static int run_clocks(struct question *question, struct result *result,
		      struct error *error)
{
	struct filling filling = {
	    .question = question,
	    .bounds = bounds_new(question->reader, error),
	    .clocks = result_table_new(result, "clocks", "Clocks", clock_columns),
	    .pairs = result_table_new(result, "pairs", "Sources with messages between",
				      pair_columns),
	    .steps =
		result_table_new(result, "bounds", "Bounds over time", bound_columns),
	};
	int status = -1;

	result_table_limit(filling.steps, 10);
	if (filling.bounds &&
	    !question_ask(question, clock_sql, NULL, take_clock, &filling, error) &&
	    !question_ask(question, pair_sql, NULL, take_pair, &filling, error))
		status = 0;
	bounds_free(filling.bounds);
	return status;
}

const struct analysis analysis_clocks = {
    .name = "clocks",
    .summary = "how the clocks relate, and how sure that is",
    .description =
	"clocks: what is to be added to each clock in the middle of its source\n"
	"(OFFSET), how that changes (DRIFT), within which BOUND the truth is there, and\n"
	"where the bound is WORST. pairs: messages that tie two sources, and how many\n"
	"were received before they were sent. bounds: the bounds over time.",
    .run = run_clocks,
};
