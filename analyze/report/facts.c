/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of a run that compare holds against another's. */
#include "analyze/report/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/catalog.h"
#include "analyze/query.h"
#include "analyze/report/activity.h"
#include "analyze/report/against.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"

enum { EIGHTHS = 8 };

/* Store the steps in which threads of selected nodes waited for processors. */
static int keep_waits(const struct report *report, struct error *error)
{
	const struct scope *scope = &report->query->scope;
	struct timeline_rows *rows = timeline_rows_begin(
	    report->query->reader, "page_wait (node, step, wait_ns)", 3, error);

	for (size_t i = 0; i < scope->nodes; i++) {
		const struct scope_node *node = &scope->node[i];
		const struct bin_series *waits =
		    &report->activity.waiting[scope_place(scope, node->id)];

		for (size_t k = 0; node->chosen && k < waits->count; k++)
			timeline_rows_add(
			    rows,
			    (const struct cell[]){cell_of_integer(node->id),
						  cell_of_integer(waits->item[k].step),
						  cell_of_integer(waits->item[k].value)});
	}
	return timeline_rows_end(rows);
}

/* The durations of requests to a port, messages of a pair or requests to a disk. */
struct duration_group {
	const char *kind;
	struct cell node, what;
	uint16_t *bucket[EIGHTHS];
	size_t count[EIGHTHS], capacity[EIGHTHS];
};

struct durations {
	size_t steps;
	struct texts keys;
	struct bytes key;
	struct duration_group *group;
	size_t count, capacity;
	uint16_t *sorted; /* buckets that the last quantile was computed from */
	size_t sorts, sort_capacity;
};

static void add_duration(void *context, const char *kind, const struct cell *key,
			 uint32_t step, uint32_t bucket)
{
	struct durations *durations = context;
	const bool is_request = !strcmp(kind, "requests");
	const size_t eighth = (size_t)step * EIGHTHS / durations->steps;
	struct duration_group *group;
	size_t at;

	key += is_request; /* all clients of a port together */
	durations->key.size = 0;
	bytes_add(&durations->key, kind, strlen(kind));
	cell_add_key(&key[0], &durations->key);
	cell_add_key(&key[1], &durations->key);
	at = texts_put_bytes(&durations->keys, (const char *)durations->key.data,
			     durations->key.size);
	if (at == durations->count)
		*MEM_NEXT(durations->group, durations->count, durations->capacity) =
		    (struct duration_group){.kind = kind, .node = key[0], .what = key[1]};
	group = &durations->group[at];
	*MEM_NEXT(group->bucket[eighth], group->count[eighth], group->capacity[eighth]) =
	    (uint16_t)bucket;
}

static int compare_buckets(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Sort the buckets of an eighth, or of all for -1. */
static void sort_buckets(struct durations *durations, const struct duration_group *group,
			 int eighth)
{
	durations->sorts = 0;
	for (int i = 0; i < EIGHTHS; i++)
		for (size_t k = 0; (eighth < 0 || eighth == i) && k < group->count[i];
		     k++)
			*MEM_NEXT(durations->sorted, durations->sorts,
				  durations->sort_capacity) = group->bucket[i][k];
	SORT(durations->sorted, durations->sorts, compare_buckets);
}

/* Store the quantiles of a group in an eighth, or in all for -1. */
static void add_quantiles(struct timeline_rows *rows, struct durations *durations,
			  const struct duration_group *group, int eighth)
{
	static const struct {
		const char *measure;
		double share, slower; /* number of slower ones */
	} quantiles[] = {{"median", 0.5, 0.5}, {"99 %", 0.99, 0.01}};

	sort_buckets(durations, group, eighth);
	for (size_t i = 0; durations->sorts && i < 2; i++) {
		const size_t rank =
		    (size_t)((double)(durations->sorts - 1) * quantiles[i].share);

		timeline_rows_add(
		    rows, (const struct cell[]){
			      cell_of_text(group->kind), group->node, group->what,
			      cell_of_integer(eighth), cell_of_text(quantiles[i].measure),
			      cell_of_real(quantiles[i].slower),
			      cell_of_real(bin_bucket_ns(durations->sorted[rank]))});
	}
}

static int keep_quantiles(const struct report *report, struct error *error)
{
	struct durations durations = {.steps = report->activity.grid.steps};
	struct timeline_rows *rows = timeline_rows_begin(
	    report->query->reader,
	    "page_quantile (kind, a, b, eighth, measure, share, value)", 7, error);

	bin_tables_each(report->bins, add_duration, &durations);
	for (size_t i = 0; i < durations.count; i++)
		for (int eighth = -1; eighth < EIGHTHS; eighth++)
			add_quantiles(rows, &durations, &durations.group[i], eighth);
	for (size_t i = 0; i < durations.count; i++)
		for (int k = 0; k < EIGHTHS; k++)
			free(durations.group[i].bucket[k]);
	free(durations.sorted);
	free(durations.group);
	texts_clear(&durations.keys);
	bytes_clear(&durations.key);
	return timeline_rows_end(rows);
}

/* Add the table `facts` of a report that is prepared, and with_map also `heat`. */
static int add_facts(struct report *report, bool with_map, struct result *result,
		     struct error *error)
{
	struct query *query = report->query;
	const struct analysis *own = query->analysis;
	const char *tables = query->tables;
	int status = keep_waits(report, error) || keep_quantiles(report, error) ? -1 : 0;

	query->analysis = catalog_find(query->request->catalog, "facts", error);
	query->tables = with_map ? "facts heat" : NULL;
	if (!status)
		status = query->analysis ? query_file_run(query, result, error) : -1;
	query->analysis = own;
	query->tables = tables;
	return status;
}

int run_facts(struct query *query, struct result *result, struct error *error)
{
	struct report report = {
	    .query = query, .result = result, .is_facts = true, .error = error};
	int status =
	    report_prepare(&report, error) || add_facts(&report, false, result, error)
		? -1
		: 0;

	report_clear(&report);
	return status;
}

/* Begin the facts of a run, which need no option for tables. */
static void begin_facts(struct compared_run *facts, const struct request *request)
{
	facts->request = *request;
	facts->request.table = facts->request.sort = NULL;
	facts->request.limit_given = -1;
	facts->request.quiet = true;
	result_init(&facts->result, &facts->request);
}

int compared_run_read(struct compared_run *facts, const struct query *query,
		      const char *path, bool with_map, struct error *error)
{
	struct report report = {
	    .is_facts = true, .result = &facts->result, .error = error};
	struct query own;
	int status;

	begin_facts(facts, query->request);
	if (query_open(&own, query->analysis, &facts->request, path, error))
		return -1;
	report.query = &own;
	status = report_prepare(&report, error) ||
			 add_facts(&report, with_map, &facts->result, error)
		     ? error_prefix(error, "%s", path)
		     : 0;
	facts->result.begin_ns = own.scope.begin_ns;
	facts->result.end_ns = own.scope.end_ns;
	facts->step_ns = report.activity.grid.step_ns;
	report_clear(&report);
	query_close(&own);
	return status;
}

void compared_run_clear(struct compared_run *facts)
{
	result_clear(&facts->result);
}

static nsec_t span_of(const struct result *result)
{
	return nsec_sub(result->end_ns, result->begin_ns);
}

/* Write the map of a run as JSON: a row is [measure, name, node, series]. */
static char *map_of(const struct compared_run *facts, const char *path)
{
	const struct result_table *heat = result_find(&facts->result, "heat");
	struct bin_series series = {0};
	const char *before = "";
	char *text = NULL, *values;
	size_t size;
	FILE *file = mem_stream(&text, &size);

	fputs("{\"file\":", file);
	html_json(file, path);
	fprintf(file, ",\"span\":%lld,\"stepNs\":%lld,\"rows\":[",
		(long long)span_of(&facts->result), (long long)facts->step_ns);
	for (size_t i = 0; i < heat->rows; i++) {
		const struct cell *row = &heat->cell[i * heat->columns];
		const struct cell *next = row + heat->columns;
		AUTOFREE char *measure = cell_text(&row[0]), *name = cell_text(&row[1]);
		AUTOFREE char *node = cell_text(&row[2]);

		bin_raise(&series, (uint32_t)row[3].integer,
			  (int64_t)cell_number(&row[4]));
		if (i + 1 < heat->rows && next[0].size == row[0].size &&
		    next[1].size == row[1].size &&
		    !memcmp(next[0].bytes, row[0].bytes, row[0].size) &&
		    !memcmp(next[1].bytes, row[1].bytes, row[1].size))
			continue;
		fprintf(file, "%s[\"%s\",", before, measure);
		html_json(file, name);
		fputc(',', file);
		html_json(file, node);
		values = bin_text(&series, true);
		fprintf(file, ",\"%s\"]", values);
		free(values);
		series.count = 0;
		before = ",\n";
	}
	fputs("]}", file);
	fclose(file);
	bin_clear(&series);
	return text;
}

int report_compare(struct report *report, struct error *error)
{
	struct query *query = report->query;
	const struct text_list *paths = &query->request->against;
	struct against *against;
	struct compared_run facts;
	int status;

	if (!paths->count)
		return 0;
	against = against_new();
	begin_facts(&facts, query->request);
	status = add_facts(report, false, &facts.result, error);
	if (!status)
		against_add(against, result_find(&facts.result, "facts"), 0, query->path,
			    report->end_ns - report->begin_ns);
	compared_run_clear(&facts);
	for (size_t i = 0; i < paths->count && !status; i++) {
		status = compared_run_read(&facts, query, paths->item[i], i == 0, error);
		if (!status)
			against_add(against, result_find(&facts.result, "facts"), 1,
				    paths->item[i], span_of(&facts.result));
		if (!status && i == 0)
			report->map_before = map_of(&facts, paths->item[i]);
		compared_run_clear(&facts);
	}
	result_init(&report->changes, query->request);
	if (!status)
		against_print(against, &report->changes);
	against_free(against);
	return status ? -1 : result_finish(&report->changes, error);
}

void report_map_before(struct report *report)
{
	fputs(report->map_before ? report->map_before : "null", report->page);
}

void report_changes(struct report *report)
{
	const struct text_list *notes = &report->changes.notes;

	if (!report->changes.request)
		return;
	fputs("<section id=\"against\">\n<h2>Against ", report->page);
	for (size_t i = 0; i < report->query->request->against.count; i++) {
		fputs(i ? ", " : "", report->page);
		html_text(report->page, report->query->request->against.item[i]);
	}
	fputs("</h2>\n", report->page);
	html_table(report, result_find(&report->changes, "changes"));
	for (size_t i = 0; i < notes->count; i++)
		html_note(report->page, "%s", notes->item[i]);
	fputs("</section>\n", report->page);
}
