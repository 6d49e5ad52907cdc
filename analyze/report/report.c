/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run as one page to look at. */
#include "analyze/report/report.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyze/catalog.h"
#include "analyze/query.h"
#include "analyze/report/activity.h"
#include "analyze/report/facts.h"
#include "analyze/report/html.h"
#include "analyze/report/sections.h"
#include "analyze/report/timeline.h"
#include "analyze/report/traffic.h"
#include "base/bytes.h"
#include "base/chart.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/version.h"
#include "problem/problem.h"
#include "timeline/reader.h"

enum {
	WORKERS = 2,
	ROWS = 40,
	DETAIL = 60000, /* unless --detail says how many; a tenth for MANY lanes */
	MANY = 48,
};

/* The requests to other analyses: only the tables that the page shows. */
static const struct report_query {
	const char *analysis, *group, *tables;
	unsigned forms;
	int limit;        /* rows a table; -1: as the analysis has it */
	const char *bins; /* the table of the page that its groups' rows are added to */
} queries[ANSWERS] = {
    [ANSWER_NODES] = {"nodes", NULL, NULL, 0, -1, NULL},
    [ANSWER_CLOCKS] = {"clocks", NULL, "clocks pairs", 0, -1, NULL},
    [ANSWER_PROBLEMS] = {"problems", NULL, NULL, 0, -1, NULL},
    [ANSWER_MESSAGES] = {"messages", "none", "pairs slowest", FORM_STATS | FORM_TOP, -1,
			 "pairs"},
    [ANSWER_REQUESTS] = {"requests", "pair", "totals parts slowest",
			 FORM_STATS | FORM_TOP, ROWS, NULL},
    [ANSWER_WHY] = {"why", "pair", "slow lost groups kinds followed followed_parts", 0,
		    -1, NULL},
    [ANSWER_SYSCALLS] = {"syscalls", "syscall", "syscalls", FORM_STATS, ROWS, "syscalls"},
    [ANSWER_IO] = {"io", "process", "disks requests", FORM_STATS, ROWS, NULL},
    [ANSWER_NET] = {"net", NULL, "interfaces over_time", 0, -1, NULL},
    [ANSWER_MEMORY] = {"mem", NULL, "nodes processes", 0, ROWS, NULL},
    [ANSWER_OVERVIEW] = {"overview", NULL, "tasks periods", 0, ROWS, NULL},
    [ANSWER_LINES] = {"report", NULL, "gaps curves tasks periods density", 0, -1, NULL},
    [ANSWER_OWN] = {"report", NULL,
		    "name home messages links again folded processors threads "
		    "threads_named handlers interrupts "
		    "slow_pairs findings found",
		    0, -1, NULL},
};

/* The tasks of two threads: first the values of the tables that the others read and what
 * needs none of these, then the longest first. */
enum {
	TASK_CHECK_MESSAGES = ANSWER_OWN,
	TASK_CHECK_REQUESTS,
	TASK_ACTIVITY,
	TASK_BINS,
	TASKS,
	FIRST_TASKS = 3
};
static const int tasks[TASKS] = {
    TASK_CHECK_REQUESTS, TASK_CHECK_MESSAGES, ANSWER_LINES,  TASK_ACTIVITY,
    ANSWER_WHY,          ANSWER_REQUESTS,     ANSWER_NET,    ANSWER_SYSCALLS,
    ANSWER_MESSAGES,     TASK_BINS,           ANSWER_IO,     ANSWER_NODES,
    ANSWER_CLOCKS,       ANSWER_PROBLEMS,     ANSWER_MEMORY, ANSWER_OVERVIEW};

/* Return true if facts.sql needs the task's result. */
static bool is_of_facts(int task)
{
	return task >= TASK_CHECK_MESSAGES || task == ANSWER_MESSAGES ||
	       task == ANSWER_NET || task == ANSWER_CLOCKS || task == ANSWER_PROBLEMS;
}

struct work {
	struct report *report;
	struct query second;       /* for the second thread */
	pthread_t first;           /* the one that has the report's own query */
	size_t done;               /* tasks, when the threads begin */
	struct error error[TASKS]; /* in the order of `tasks` */
	atomic_size_t failed;      /* the first task that failed; TASKS if all succeed */
};

/* Return false if almost every sent packet is a message, so that nothing can have been
 * sent again. The search for retransmissions takes longer than all the rest. */
static bool may_resend(struct query *query, struct error *error)
{
	static const char sql[] =
	    "SELECT coalesce(sum(events), 0) > (SELECT count(*) * 1.0005 FROM message)"
	    " FROM event_class WHERE name = 'net_dev_queue' OR (name = 'packet' AND NOT"
	    " EXISTS (SELECT 1 FROM event_class WHERE name = 'net_dev_queue' AND events "
	    "> 0))";
	int64_t may = 0;

	return query_integer(query->reader, sql, NULL, &may, error) > 0 && may;
}

static int run_answer(struct report *report, struct query *asker, int name,
		      struct error *error)
{
	const struct report_query *wanted = &queries[name];
	struct report_answer *answer = &report->answer[name];
	const struct analysis *analysis =
	    catalog_find(report->query->request->catalog, wanted->analysis, error);
	struct query query = *asker;
	const bool may = name == ANSWER_NET && may_resend(asker, error);
	struct group_listener listener;
	int status;

	if (!analysis)
		return -1;
	if (name == ANSWER_NET && report->is_facts && !may)
		return 0;
	answer->request = *report->query->request;
	answer->request.table = answer->request.sort = NULL;
	answer->request.limit_given = wanted->limit;
	answer->request.quiet = true;
	if (name == ANSWER_NET)
		answer->request.interval_ns = report->activity.grid.step_ns;
	query.analysis = analysis;
	query.request = &answer->request;
	progress_init(&query.progress, true);
	query.forms = wanted->forms ? wanted->forms : analysis->default_forms;
	if (name == ANSWER_MESSAGES && report->is_facts)
		query.forms = FORM_STATS;
	query.group = wanted->group;
	query.tables = !may               ? wanted->tables
		       : report->is_facts ? "resent"
					  : "interfaces over_time resent";
	result_init(&answer->result, &answer->request);
	answer->result.begin_ns = report->result->begin_ns;
	answer->result.end_ns = report->result->end_ns;
	status =
	    name == ANSWER_NET ? traffic_keep(&query, &report->activity.grid, error) : 0;
	query.computed = name == ANSWER_NET ? TRAFFIC_RELATION : NULL;
	if (wanted->bins) {
		listener = bin_tables_listener(report->bins, wanted->bins);
		query.listener = &listener;
	}
	if (!status)
		status = (analysis->run == run_report ? query_file_run : analysis->run)(
		    &query, &answer->result, error);
	if (!status)
		status = result_finish(&answer->result, error);
	if (wanted->bins)
		bin_tables_sort(report->bins, wanted->bins);
	asker->threads = query.threads;
	return status ? query_name_error(analysis, error) : 0;
}

/* Check the values of columns that several tasks read. Return 0, or -1 with error. */
static int check_messages(struct timeline_reader *reader, struct error *error)
{
	static const char *const columns[] = {
	    "src_node",       "dst_node",   "send_event",
	    "recv_event",     "send_ns",    "recv_ns",
	    "latency_ns",     "sport",      "dport",
	    "bytes",          "send_tid",   "send_first_recv",
	    "send_last_recv", "recv_batch", "low_ns",
	    "high_ns",        NULL};

	return timeline_reader_check(reader, "message", columns, error);
}

static int check_requests(struct timeline_reader *reader, struct error *error)
{
	static const char *const columns[] = {"last_message",  "client",
					      "server",        "client_port",
					      "server_port",   "client_tid",
					      "server_tid",    "given_ns",
					      "begin_ns",      "arrived_ns",
					      "responded_ns",  "end_ns",
					      "request_bytes", "response_bytes",
					      "there_ns",      "queue_ns",
					      "running_ns",    "runnable_ns",
					      "disk_ns",       "node_ns",
					      "other_ns",      "unknown_ns",
					      "back_ns",       "bound_ns",
					      "resent_ns",     NULL};

	return timeline_reader_check(reader, "request", columns, error);
}

static int do_task(struct report *report, struct query *query, int task,
		   struct error *error)
{
	if (task == TASK_CHECK_MESSAGES)
		return check_messages(query->reader, error);
	if (task == TASK_CHECK_REQUESTS)
		return check_requests(query->reader, error);
	if (task == TASK_ACTIVITY)
		return activity_read(&report->activity, report->bins, query, error);
	if (task == TASK_BINS)
		return bin_tables_read(report->bins, query, report->is_facts, error)
			   ? query_name_error(report->query->analysis, error)
			   : 0;
	if (run_answer(report, query, task, error))
		return -1;
	if (task == ANSWER_WHY)
		return report_walk_paths(report, query, error);
	if (task == ANSWER_LINES && !report->is_facts)
		return bin_tables_read_one(report->bins, "periods", query, error);
	if (task == ANSWER_NET && report_table(report, ANSWER_NET, "over_time"))
		bin_tables_add(report->bins, "interfaces",
			       report_table(report, ANSWER_NET, "over_time"));
	return 0;
}

/* Run a task, unless an earlier one failed, so that the error is always that of the first
 * task that fails, whichever thread is faster. */
static void run_task(void *context, size_t index)
{
	struct work *all = context;
	struct query *query =
	    pthread_equal(pthread_self(), all->first) ? all->report->query : &all->second;
	int task;

	index += all->done;
	task = tasks[index];
	if (index > all->failed || (all->report->is_facts && !is_of_facts(task)))
		return;
	if (do_task(all->report, query, task, &all->error[index])) {
		size_t first = all->failed;

		while (index < first &&
		       !atomic_compare_exchange_weak(&all->failed, &first, index))
			;
	}
}

static int ask_all(struct report *report, struct error *error)
{
	struct timeline_reader *first = report->query->reader, *second;
	struct work all = {.report = report, .first = pthread_self(), .failed = TASKS};

	if (query_open_again(&all.second, report->query, error))
		return -1;
	second = all.second.reader;
	parallel_run(WORKERS, FIRST_TASKS, run_task, &all);
	timeline_reader_skip_checks(first, second);
	timeline_reader_skip_checks(second, first);
	all.done = FIRST_TASKS;
	parallel_run(WORKERS, TASKS - FIRST_TASKS, run_task, &all);
	query_close(&all.second);
	for (size_t i = 0; i < TASKS; i++) {
		if (i == all.failed)
			*error = all.error[i];
		else
			error_clear(&all.error[i]);
	}
	return all.failed < TASKS ? -1 : 0;
}

const struct result_table *report_table(const struct report *report,
					enum report_answer_name answer, const char *key)
{
	return result_find(&report->answer[answer].result, key);
}

struct cell report_cell(const struct result_table *table, size_t row, const char *key)
{
	for (size_t i = 0; table && row < table->rows && i < table->columns; i++)
		if (!strcmp(table->column[i].key, key))
			return table->cell[row * table->columns + i];
	return cell_of_null();
}

double report_number(struct cell cell)
{
	return cell.type == CELL_INTEGER ? (double)cell.integer
	       : cell.type == CELL_REAL  ? cell.real
					 : 0;
}

size_t scope_place(const struct scope *scope, int64_t node)
{
	size_t at = 0;

	for (size_t i = 0; i < scope->nodes && scope->node[i].id != node; i++)
		at += scope->node[i].chosen;
	return at;
}

static void set_axis(struct report *report)
{
	const struct scope *scope = &report->query->scope;

	report->begin_ns = scope->begin_ns;
	report->is_empty = scope->end_ns <= scope->begin_ns;
	report->end_ns = report->is_empty ? scope->begin_ns + 1 : scope->end_ns;
}

static void put_facts(struct report *report)
{
	const struct scope *scope = &report->query->scope;
	const struct result_table *nodes = report_table(report, ANSWER_NODES, "nodes");
	char text[PRINT_TEXT], count[PRINT_TEXT], day[NSEC_TEXT];
	const double messages = report_number(
	    report_cell(report_table(report, ANSWER_OWN, "messages"), 0, "messages"));
	size_t chosen = 0;
	double events = 0;

	for (size_t i = 0; i < scope->nodes; i++)
		chosen += scope->node[i].chosen;
	for (size_t i = 0; nodes && i < nodes->rows; i++)
		events += report_number(report_cell(nodes, i, "events"));
	fprintf(report->page,
		"<p class=\"facts\"><span data-v=\"%zu\">%zu node%s</span> <span "
		"data-v=\"%.0f\">%s events</span> <span data-v=\"%.0f\">%s "
		"messages</span> ",
		chosen, chosen, chosen == 1 ? "" : "s", events,
		chart_label_count(text, (size_t)events), messages,
		chart_label_count(count, (size_t)messages));
	if (!report->is_empty) {
		nsec_format_utc(day, report->begin_ns);
		fprintf(report->page, "<span>%s from %.19s UTC</span>",
			html_span(text, (double)(report->end_ns - report->begin_ns)),
			day);
	}
	if (!scope->all_time || !scope->all_nodes)
		fputs(" <span>the selected part of the run</span>", report->page);
	fputs("</p>\n", report->page);
}

static void put_name(struct report *report)
{
	struct cell name =
	    report_cell(report_table(report, ANSWER_OWN, "name"), 0, "name");

	html_text(report->page, name.type == CELL_TEXT ? name.bytes : "run");
}

/* The names that page.html can use, apart from tables, their rows in JSON, and whole
 * answers. */
static const char *const version = CT_VERSION;
static const struct part {
	const char *name;
	void (*put)(struct report *report);
	const char *const *text; /* instead: as it is */
} parts[] = {{"name", put_name, NULL},
	     {"style", NULL, &report_css},
	     {"facts", put_facts, NULL},
	     {"findings", report_findings, NULL},
	     {"lanes", report_lanes, NULL},
	     {"spans", report_spans, NULL},
	     {"bins", report_bins, NULL},
	     {"reduction", report_reduction, NULL},
	     {"changes", report_changes, NULL},
	     {"map_before", report_map_before, NULL},
	     {"user", report_user, NULL},
	     {"paths", report_paths, NULL},
	     {"why", report_why, NULL},
	     {"followed", report_followed, NULL},
	     {"latencies", report_latencies, NULL},
	     {"pack", report_pack, NULL},
	     {"/pack", report_end_pack, NULL},
	     {"version", NULL, &version},
	     {"script", NULL, &report_js}};

/* "facts", "answer ANALYSIS", "notes ANALYSIS", "table ANALYSIS TABLE", "rows ...". */
static void put_part(struct report *report, char *words)
{
	char *rest;
	const char *what = strtok_r(words, " ", &rest), *of = strtok_r(NULL, " ", &rest);

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(parts[i].name, what) && parts[i].put)
			parts[i].put(report);
		else if (!strcmp(parts[i].name, what))
			fputs(*parts[i].text, report->page);
	for (enum report_answer_name i = 0; of && i < ANSWERS; i++) {
		const struct result_table *table = report_table(report, i, rest);

		if (strcmp(queries[i].analysis, of) != 0)
			continue;
		if (!strcmp(what, "answer"))
			html_answer(report, i);
		else if (!strcmp(what, "notes"))
			html_notes(report, i);
		else if (!strcmp(what, "table"))
			html_table(report, table);
		else if (table)
			html_rows(report->page, table);
	}
}

/* Write page.html, with each "{{...}}" replaced by the part that it names. */
static int write_page(struct report *report)
{
	const char *at = report_html, *mark;

	while ((mark = strstr(at, "{{")) && !report->failed) {
		size_t length = strcspn(mark + 2, "}");
		AUTOFREE char *words = mem_strndup(mark + 2, length);

		fwrite(at, 1, (size_t)(mark - at), report->page);
		put_part(report, words);
		at = mark + 2 + length + 2;
	}
	if (report->unpacked)
		report_end_pack(report);
	fputs(at, report->page);
	return report->failed ? -1 : 0;
}

/* Store counts that SQL cannot compute: problems that are failures, selected nodes
 * without a trace, and all selected nodes. */
static int keep_counts(const struct report *report, struct error *error)
{
	const struct scope *scope = &report->query->scope;
	const struct result_table *problems =
	    report_table(report, ANSWER_PROBLEMS, "problems");
	const struct bin_grid *grid = &report->activity.grid;
	int64_t bad = 0, silent = 0, nodes = 0;
	struct timeline_rows *rows = timeline_rows_begin(
	    report->query->reader, "page_fact (bad, silent, nodes, step_ns, steps)", 5,
	    error);

	for (size_t i = 0; problems && i < problems->rows; i++) {
		struct cell kind = report_cell(problems, i, "kind");

		bad += kind.type == CELL_TEXT &&
		       problem_is_failure(problem_kind_of(kind.bytes));
	}
	for (size_t i = 0; i < scope->nodes; i++) {
		silent += scope->node[i].chosen && !scope->node[i].recorded_ns;
		nodes += scope->node[i].chosen;
	}
	timeline_rows_add(
	    rows,
	    (const struct cell[]){cell_of_integer(bad), cell_of_integer(silent),
				  cell_of_integer(nodes), cell_of_integer(grid->step_ns),
				  cell_of_integer((int64_t)grid->steps)});
	return timeline_rows_end(rows);
}

/* Store a table for report.sql, under its columns' names. Without a table, of packets
 * that were sent again, none were searched for. */
static int keep_table(const struct report *report, const struct result_table *table,
		      const char *name, struct error *error)
{
	struct timeline_rows *rows;
	struct bytes named = {0};

	bytes_print(&named, "%s ", name);
	for (size_t i = 0; table && i < table->columns; i++)
		bytes_print(&named, "%s\"%s\"", i ? ", " : "(", table->column[i].key);
	bytes_print(&named, "%s)", table ? "" : "(src_node, dst_node, ts_ns");
	bytes_add(&named, "", 1);
	rows = timeline_rows_begin(report->query->reader, (const char *)named.data,
				   table ? table->columns : 3, error);
	for (size_t i = 0; table && i < table->rows; i++)
		timeline_rows_add(rows, &table->cell[i * table->columns]);
	bytes_clear(&named);
	return timeline_rows_end(rows);
}

static int keep_tables(struct report *report, struct error *error)
{
	static const struct {
		const char *name;
		enum report_answer_name answer;
		const char *table;
	} tables[] = {{"page_problems", ANSWER_PROBLEMS, "problems"},
		      {"page_lost", ANSWER_PROBLEMS, "lost"},
		      {"page_clocks", ANSWER_CLOCKS, "clocks"},
		      {"page_ties", ANSWER_CLOCKS, "pairs"},
		      {"page_requests", ANSWER_REQUESTS, "slowest"},
		      {"page_why", ANSWER_WHY, "slow"},
		      {"page_pairs", ANSWER_MESSAGES, "pairs"},
		      {"page_messages", ANSWER_MESSAGES, "slowest"},
		      {"page_again", ANSWER_NET, "resent"}};
	struct timeline_reader *reader = report->query->reader;
	int status = keep_counts(report, error);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !status; i++)
		status = keep_table(
		    report, report_table(report, tables[i].answer, tables[i].table),
		    tables[i].name, error);
	return status || bin_tables_keep(report->bins, reader, error) ||
		       activity_keep(&report->activity, reader, error) ||
		       report_keep_paths(report, error)
		   ? -1
		   : 0;
}

/* Run all queries, down to the findings. */
int report_prepare(struct report *report, struct error *error)
{
	struct query *query = report->query;
	int64_t id[2];

	set_axis(report);
	if (scope_is_window(&query->scope)) {
		if (scope_message_ids(&query->scope, query->reader, id, error))
			return -1;
		timeline_reader_limit_checks(query->reader, id, query->scope.end_ns);
	}
	if (activity_begin(&report->activity, query, error))
		return -1;
	report->bins = bin_tables_new(&report->activity.grid, &query->scope);
	report->detail = query->request->detail_given >= 0
			     ? (size_t)query->request->detail_given
			 : report->activity.lanes > MANY ? DETAIL / 10
							 : DETAIL;
	query_progress(query, 0.1);
	if (ask_all(report, error) || keep_tables(report, error) ||
	    (!report->is_facts && run_answer(report, query, ANSWER_OWN, error)))
		return -1;
	query_progress(query, 0.9);
	return 0;
}

void report_clear(struct report *report)
{
	for (int i = 0; i < ANSWERS; i++)
		if (report->answer[i].result.request)
			result_clear(&report->answer[i].result);
	for (size_t i = 0; i < report->requests; i++)
		path_clear(&report->path[i]);
	activity_clear(&report->activity, &report->query->scope);
	bin_tables_free(report->bins);
	if (report->changes.request)
		result_clear(&report->changes);
	free(report->map_before);
}

int run_findings(struct query *query, struct result *result, struct error *error)
{
	struct report report = {.query = query, .result = result, .error = error};
	int status;

	status = report_prepare(&report, error) || report_keep_findings(&report, error) ||
			 query_file_run(query, result, error)
		     ? -1
		     : 0;
	report_clear(&report);
	return status;
}

int run_report(struct query *query, struct result *result, struct error *error)
{
	struct report report = {.query = query, .result = result, .error = error};
	int status;

	if (!query->request->output && isatty(STDOUT_FILENO))
		return error_set(error, "standard output is a terminal; give -o FILE");
	report.page = mem_stream(&result->document, &result->document_size);
	if (!report.page)
		return error_set(error, "report: no memory for the page");
	status = report_prepare(&report, error) || report_compare(&report, error) ||
			 write_page(&report)
		     ? -1
		     : 0;
	report_clear(&report);
	if (fclose(report.page) && !status)
		status = error_set(error, "report: no memory for the page");
	return status;
}
