/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report's begin: what the run was, its problems, and its nodes. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "analyze/report/html.h"
#include "base/mem.h"

static const char page_begin[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>";

static const char contents[] =
    "<nav aria-label=\"contents\"><a href=\"#nodes\">Nodes</a>"
    "<a href=\"#clocks\">Clocks</a><a href=\"#resources\">Resources</a>"
    "<a href=\"#timeline\">Timeline</a><a href=\"#latency\">Messages</a>"
    "<a href=\"#requests\">Requests</a><a href=\"#top\">Top</a><span id=\"tools\" "
    "hidden></span></nav>\n";

enum { PROBLEM_ROWS = 50 };

struct facts {
	char *name, *recipe;
};

static int take_fact(void *context, const struct cell *row)
{
	struct facts *facts = context;
	char **to = row[0].type == CELL_TEXT && !strcmp(row[0].bytes, "recipe")
			? &facts->recipe
			: &facts->name;

	if (row[1].type == CELL_TEXT && row[1].size && !*to)
		*to = mem_strndup(row[1].bytes, row[1].size);
	return 0;
}

static int take_count(void *context, const struct cell *row)
{
	struct cell *cells = context;

	for (size_t i = 0; i < 4; i++)
		cells[i] = row[i];
	return 0;
}

static void tile(const struct report *report, const char *name, const struct cell *value,
		 enum unit unit)
{
	char text[PRINT_TEXT], plain[PRINT_TEXT];

	fprintf(report->page, "<div><dt>%s</dt><dd data-v=\"%s\">", name,
		print_plain(plain, value));
	html_text(report->page, html_human(text, report, value, unit));
	fputs("</dd></div>\n", report->page);
}

/* The day, and the time to the second; tables have the rest. */
static void tile_begin(const struct report *report)
{
	char text[NSEC_TEXT], *day = nsec_format_utc(text, report->begin_ns);
	char *second = strchr(day, '.');

	if (second)
		*second = '\0';
	fprintf(report->page,
		"<div><dt>begin, UTC</dt><dd data-v=\"%" PRId64 "\">%s</dd></div>\n",
		report->begin_ns, report->is_empty ? "-" : day);
}

static const char message_sql[] =
    "SELECT m.src_node, m.dst_node, count(*) " REPORT_MESSAGES " GROUP BY 1, 2";

struct message_count {
	const struct scope *scope;
	int64_t messages;
};

static int count_messages(void *context, const struct cell *row)
{
	struct message_count *count = context;

	if (scope_has_node(count->scope, row[0].integer) ||
	    scope_has_node(count->scope, row[1].integer))
		count->messages += row[2].integer;
	return 0;
}

/* The greatest WORST of the table of clocks; NULL where one is open, or there is none. */
static int find_clock_bound(struct report *report, struct cell *bound,
			    struct error *error)
{
	struct report_wish wish = {.limit = REPORT_ALL};
	const struct result *result = report_ask(report, "clocks", &wish, error);
	struct result_table *table;
	bool open = false;

	*bound = cell_of_null();
	if (!result)
		return -1;
	table = result_find(result, "clocks");
	for (size_t i = 0; table && i < table->rows && !open; i++) {
		struct cell worst = report_cell(table, i, "worst_bound_ns");

		open = worst.type != CELL_INTEGER;
		if (open || bound->type != CELL_INTEGER || worst.integer > bound->integer)
			*bound = open ? cell_of_null() : worst;
	}
	return 0;
}

static void print_tiles(const struct report *report, const struct cell counts[4],
			const struct cell *bound)
{
	const struct scope *scope = &report->question->scope;
	struct cell span =
	    report->is_empty
		? cell_of_null()
		: cell_of_integer(nsec_sub(report->end_ns, report->begin_ns));
	struct cell nodes;
	size_t chosen = 0;

	for (size_t i = 0; i < scope->nodes; i++)
		chosen += scope->node[i].chosen;
	nodes = cell_of_integer((int64_t)chosen);
	fputs("<dl class=\"tiles\">\n", report->page);
	tile_begin(report);
	tile(report, "span", &span, UNIT_SPAN);
	tile(report, "nodes", &nodes, UNIT_COUNT);
	tile(report, "events in the timeline", &counts[0], UNIT_COUNT);
	tile(report, "messages between nodes", &counts[1], UNIT_COUNT);
	tile(report, "samples", &counts[2], UNIT_COUNT);
	tile(report, "widest clock bound", bound, UNIT_BOUND);
	fputs("</dl>\n", report->page);
}

int report_head(struct report *report, struct error *error)
{
	static const char fact_sql[] =
	    "SELECT key, value FROM meta WHERE key IN ('name', 'run', 'recipe') ORDER BY "
	    "key";
	static const char count_sql[] =
	    "SELECT (SELECT coalesce(sum(events), 0) FROM event_class),"
	    " NULL, (SELECT count(*) FROM sample),"
	    " (SELECT count(*) FROM problem)";
	struct facts facts = {0};
	struct message_count messages = {.scope = &report->question->scope};
	const struct cell scope[] = {cell_of_integer(report->begin_ns),
				     cell_of_integer(report->end_ns)};
	struct cell counts[4] = {{0}}, bound;
	FILE *page = report->page;
	int status =
	    question_ask(report->question, fact_sql, NULL, take_fact, &facts, error) ||
		    question_ask(report->question, count_sql, NULL, take_count, counts,
				 error)
		? -1
		: 0;
	const char *name = facts.name ? facts.name : "run";

	if (!status)
		status = question_ask(report->question, message_sql, scope,
				      count_messages, &messages, error);
	counts[1] = cell_of_integer(messages.messages);
	if (!status)
		status = find_clock_bound(report, &bound, error);
	if (!status) {
		fputs(page_begin, page);
		html_text(page, name);
		fprintf(
		    page,
		    "</title>\n<style>\n%s</style>\n</head>\n"
		    "<body data-span=\"%" PRId64 "\" data-bin=\"%" PRId64 "\">\n"
		    "<svg class=\"defs\" aria-hidden=\"true\"><pattern id=\"hatch\" "
		    "patternUnits=\"userSpaceOnUse\" width=\"6000\" height=\"6\"><path "
		    "d=\"M0 6L6000 0\"/></pattern></svg>\n<header><h1>",
		    report_css, nsec_sub(report->end_ns, report->begin_ns),
		    report->bin_ns);
		html_text(page, name);
		fputs("</h1>\n", page);
		if (!report->question->scope.all_time)
			html_note(page, "note", "Part of the run, as was asked for.");
		print_tiles(report, counts, &bound);
		fprintf(page, "</header>\n%s<main>\n", contents);
	}
	free(facts.name);
	free(facts.recipe);
	return status;
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->type == CELL_TEXT && b->type == CELL_TEXT && a->size == b->size &&
	       memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* One row for what is the same of many nodes: "node1 and 19 more". */
static struct result_table *fold_problems(struct result *result,
					  const struct result_table *all)
{
	enum { NODE, PLACE, KIND, COUNT, TEXT, COLUMNS };
	struct result_table *folded =
	    result_table_new(result, "problems", all->title, all->column);
	bool *done = mem_zalloc(all->rows * sizeof(*done) + 1);

	folded->limit = 0;
	for (size_t i = 0; i < all->rows; i++) {
		const struct cell *row = &all->cell[i * all->columns];
		struct cell cells[COLUMNS];
		size_t more = 0;
		char *place = NULL;

		if (done[i])
			continue;
		memcpy(cells, row, sizeof(cells));
		for (size_t k = i + 1; k < all->rows; k++) {
			const struct cell *other = &all->cell[k * all->columns];

			if (!same(&row[KIND], &other[KIND]) ||
			    !same(&row[TEXT], &other[TEXT]))
				continue;
			done[k] = true;
			more++;
			cells[COUNT].integer += other[COUNT].integer;
		}
		if (more) {
			place = mem_printf("and %zu more", more);
			cells[PLACE] = cell_of_text(place);
		}
		result_add(folded, cells);
		free(place);
	}
	free(done);
	return folded;
}

int report_problems(struct report *report, struct error *error)
{
	struct report_wish wish = {.limit = REPORT_ALL};
	struct result *result = report_ask(report, "problems", &wish, error);
	size_t rows = 0;

	if (!result)
		return -1;
	for (size_t i = 0; i < result->tables; i++)
		rows += result->table[i]->rows;
	if (rows) {
		fputs("<section id=\"problems\" class=\"problems\">\n<h2>Problems</h2>\n",
		      report->page);
		html_table(report, result,
			   fold_problems(result, result_find(result, "problems")),
			   PROBLEM_ROWS);
		html_result(report, result, "problems", PROBLEM_ROWS);
		html_section_end(report->page);
	}
	return 0;
}

int report_nodes(struct report *report, struct error *error)
{
	struct report_wish wish = {.limit = REPORT_ALL};
	const struct result *result = report_ask(report, "nodes", &wish, error);

	if (!result)
		return -1;
	html_section(report->page, "nodes", "Run and nodes");
	html_table(report, result, result_find(result, "nodes"), 0);
	fputs("<details><summary>Sources, and events by class</summary>\n", report->page);
	html_result(report, result, "nodes", 0);
	fputs("</details>\n", report->page);
	html_section_end(report->page);
	return 0;
}
