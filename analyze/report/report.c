/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run as one page to look at. */
#include <stdlib.h>
#include <unistd.h>

#include "analyze/analysis.h"
#include "analyze/catalog.h"
#include "analyze/print.h"
#include "analyze/report/html.h"
#include "analyze/report/kept.h"
#include "analyze/report/private.h"
#include "base/mem.h"
#include "base/version.h"

static const struct analysis *find(const struct catalog *catalog, const char *name)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (!strcmp(catalog->item[i]->name, name))
			return catalog->item[i];
	return NULL;
}

void report_wish_request(const struct report *report, const struct report_wish *wish,
			 struct request *request)
{
	*request = *report->question->request;
	request->group = (char *)wish->group;
	request->forms = wish->forms;
	request->interval_ns = wish->interval_ns;
	request->limit_given = wish->limit == REPORT_ALL ? 0
			       : wish->limit             ? wish->limit
							 : -1;
}

int report_ask(struct report *report, const char *name, const struct report_wish *wish,
	       struct report_answer *answer, struct error *error)
{
	const struct analysis *analysis = find(report->question->request->catalog, name);
	struct question question = *report->question;
	int status;

	if (kept_find(report->kept, name, wish->group, answer))
		return 1;
	*answer = (struct report_answer){.is_kept = false};
	report_wish_request(report, wish, &answer->request);
	report->done++;
	question_share(report->question,
		       (double)report->done / (double)(report->parts + report->done));
	if (!analysis || !analysis->run)
		return 0;
	question.analysis = analysis;
	question.request = &answer->request;
	question.forms = wish->forms ? wish->forms : analysis->default_forms;
	question.group = wish->group;
	result_init(&answer->result, &answer->request);
	answer->result.begin_ns = report->result->begin_ns;
	answer->result.end_ns = report->result->end_ns;
	status = analysis->run(&question, &answer->result, error);
	if (!status)
		status = result_finish(&answer->result, error);
	report->question->people = question.people;
	report->question->progress = question.progress;
	if (!status)
		return 1;
	report_answer_clear(answer);
	error_prefix(error, "%s", name);
	return -1;
}

void report_answer_clear(struct report_answer *answer)
{
	if (answer->result.request && !answer->is_kept)
		result_clear(&answer->result);
}

size_t report_column(const struct result_table *table, const char *key)
{
	for (size_t i = 0; table && i < table->columns; i++)
		if (!strcmp(table->column[i].key, key))
			return i;
	return SIZE_MAX;
}

struct cell report_cell(const struct result_table *table, size_t row, const char *key)
{
	size_t column = report_column(table, key);

	return column == SIZE_MAX ? cell_of_null()
				  : table->cell[row * table->columns + column];
}

double report_number(const struct cell *cell, double none)
{
	return cell->type == CELL_INTEGER ? (double)cell->integer
	       : cell->type == CELL_REAL  ? cell->real
					  : none;
}

/* As many steps as a screen has pixels; fewer where there are many nodes. */
static void set_axis(struct report *report)
{
	const struct scope *scope = &report->question->scope;
	nsec_t span;

	report->begin_ns = scope->begin_ns;
	report->is_empty = scope->end_ns <= scope->begin_ns;
	report->end_ns = scope->end_ns > scope->begin_ns ? scope->end_ns : //
			     scope->begin_ns + 1;
	span = nsec_sub(report->end_ns, report->begin_ns);
	report->bins = scope->nodes <= 16 ? 600 : scope->nodes <= 64 ? 300 : 120;
	if (span < (nsec_t)report->bins)
		report->bins = (size_t)span;
	report->bin_ns =
	    (span + (nsec_t)report->bins - 1) / (nsec_t)report->bins; /* up */
}

static int write_page(struct report *report, struct error *error)
{
	static int (*const sections[])(struct report *, struct error *) = {
	    report_head,     report_problems, report_nodes,    report_clocks,
	    report_activity, report_latency,  report_critical, report_top,
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !status; i++)
		status = sections[i](report, error);
	if (status)
		return -1;
	fprintf(report->page,
		"</main>\n<footer>Made by ctanalyze %s of clustertrace. Times are of the "
		"reference clock, from the begin of what is shown.</footer>\n<script>\n%s"
		"</script>\n</body>\n</html>\n",
		CT_VERSION, report_js);
	return 0;
}

static int run_report(struct question *question, struct result *result,
		      struct error *error)
{
	struct report report = {.question = question, .result = result, .parts = 10};
	int status;

	if (!question->request->output && isatty(STDOUT_FILENO))
		return error_set(error, "standard output is a terminal, want -o FILE");
	report.page = open_memstream(&result->document, &result->document_size);
	if (!report.page)
		return error_set(error, "report: no memory for the page");
	set_axis(&report);
	report.bounds = bounds_new(question->reader, error);
	status = report.bounds ? write_page(&report, error) : -1;
	kept_free(report.kept);
	bounds_free(report.bounds);
	if (fclose(report.page) && !status)
		status = error_set(error, "report: no memory for the page");
	return status;
}

const struct analysis analysis_report = {
    .name = "report",
    .summary = "the run as one page to look at, in HTML",
    .description =
	"One self-contained HTML file: nodes, problems, clocks with their bounds,\n"
	"processors, memory, disks and network over time, a timeline of all processors\n"
	"with messages drawn, latencies, requests with the critical paths of the\n"
	"slowest, and the greatest users. It needs no network and is readable without\n"
	"scripts; with them, its time axes zoom together. Where there is more than a\n"
	"screen shows it is reduced, and the page says how.",
    .run = run_report,
    .is_document = true,
};
