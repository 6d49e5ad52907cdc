/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings, critical paths and latencies: the parts of page.html that are not tables. */
#include "analyze/report/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/activity.h"
#include "analyze/report/bins.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/bytes.h"
#include "base/gzip.h"
#include "base/mem.h"
#include "base/search.h"

/* Write "{ns:5}": a number with its unit, in bold if it is a finding's value. */
static void put_number(FILE *page, const char *kind, const char *number)
{
	const double value = strtod(number, NULL);
	char text[PRINT_TEXT];

	if (!strcmp(kind, "n"))
		fprintf(page, "<b data-v=\"%.0f\">%.0f</b>", value, value);
	else if (!strcmp(kind, "ns"))
		fprintf(page, "<b data-v=\"%.0f\">%s</b>", value, html_span(text, value));
	else if (!strcmp(kind, "within"))
		fprintf(page, "<b data-v=\"%.0f\">%s</b>", value,
			html_bound(text, nsec_round(value)));
	else if (!strcmp(kind, "percent"))
		fprintf(page, "<b data-v=\"%.6f\">%s</b>", value,
			html_percent(text, value, 100));
	else if (!strcmp(kind, "span"))
		fputs(html_span(text, value), page);
	else if (!strcmp(kind, "share"))
		fputs(html_percent(text, value, 1), page);
	else
		fputs(html_bound(text, *number ? nsec_round(value) : NSEC_MAX), page);
}

/* Write the content of a pair of braces; "{a:clocks|Clocks}" is a link. */
static void put_mark(FILE *page, char *mark)
{
	char *rest;
	const char *kind = strtok_r(mark, ":", &rest);

	if (!strcmp(kind, "dim") || !strcmp(kind, "/dim")) {
		fputs(*kind == '/' ? "</span>" : "<span>", page);
	} else if (!strcmp(kind, "w")) {
		const char *window = strtok_r(NULL, "|", &rest);
		const size_t steps = strcspn(window, "/");

		fprintf(page, "<a href=\"#heat\" data-w=\"%.*s\" data-m=\"%s\">%s</a>",
			(int)steps, window, window + steps + (window[steps] == '/'),
			html_span((char[PRINT_TEXT]){0}, strtod(rest, NULL)));
	} else if (!strcmp(kind, "a") || !strcmp(kind, "request")) {
		const char *target = strtok_r(NULL, "|", &rest);

		if (*kind == 'a')
			fprintf(page, "<a href=\"#%s\">%s</a>", target, rest);
		else
			fprintf(page,
				"<a href=\"#request-%s\" data-request=\"%s\">%s</a>",
				target, target, rest);
	} else {
		put_number(page, kind, rest);
	}
}

static void put_finding(FILE *page, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "{");
		bool is_bracket = text[length] && text[length + 1] == '{';
		AUTOFREE char *plain = mem_strndup(text, length + is_bracket);

		html_text(page, plain);
		text += length + 2 * (size_t)is_bracket;
		if (*text == '{' && !is_bracket) {
			AUTOFREE char *mark =
			    mem_strndup(text + 1, strcspn(text + 1, "}"));

			text += strlen(mark) + 2;
			put_mark(page, mark);
		}
	}
}

/* Return what follows a tag. Also skip the name of a link, unless it is a window. */
static char *skip_tag(char *text)
{
	char *end = text + strcspn(text, ">");
	const bool is_place =
	    !strncmp(text, "<a ", 3) && !memmem(text, (size_t)(end - text), "data-w", 6);

	text = is_place ? strstr(end, "</a") : end;
	if (is_place)
		text += strcspn(text, ">");
	return text + (*text == '>');
}

/* Convert a finding's HTML to plain text, in place: without tags and links within the
 * page, with the signs that tables of a terminal have. */
static void make_plain(char *text)
{
	static const struct {
		const char *from, *to;
	} signs[] = {{"\xc2\xb1\xe2\x80\xaf", "+-"},
		     {"\xe2\x80\xaf", " "},
		     {"\xc2\xb5", "u"},
		     {"&amp;", "&"},
		     {"&lt;", "<"},
		     {"&gt;", ">"},
		     {"&quot;", "\""},
		     {"&#39;", "'"}};
	char *to = text;

	while (*text) {
		size_t i = 0;

		if (*text == '<') {
			text = skip_tag(text);
			continue;
		}
		while (i < sizeof(signs) / sizeof(*signs) &&
		       strncmp(text, signs[i].from, strlen(signs[i].from)) != 0)
			i++;
		if (i < sizeof(signs) / sizeof(*signs)) {
			to = stpcpy(to, signs[i].to);
			text += strlen(signs[i].from);
		} else {
			*to++ = *text++;
		}
	}
	while (to[-1] == ' ')
		to--;
	*to = '\0';
}

int report_keep_findings(struct report *report, struct error *error)
{
	const struct result_table *findings =
	    report_table(report, ANSWER_OWN, "findings");
	struct timeline_rows *rows = timeline_rows_begin(
	    report->query->reader,
	    "told_finding (finding, grade, title, text, node, begin_ns, span_ns)", 7,
	    error);

	for (size_t i = 0; i < findings->rows; i++) {
		const struct cell *row = &findings->cell[i * findings->columns];
		AUTOFREE char *text = NULL;
		size_t size;
		FILE *file;

		if (row[3].type != CELL_TEXT) /* its node is unknown */
			continue;
		file = mem_stream(&text, &size);
		put_finding(file, row[3].bytes);
		fclose(file);
		make_plain(text);
		timeline_rows_add(rows, (const struct cell[]){row[0], row[1], row[2],
							      cell_of_text(text), row[4],
							      row[5], row[6]});
	}
	return timeline_rows_end(rows);
}

void report_findings(struct report *report)
{
	const struct result_table *findings =
	    report_table(report, ANSWER_OWN, "findings");
	FILE *page = report->page;
	size_t same = 0; /* findings of this kind so far */

	for (size_t i = 0; findings && i < findings->rows; i++) {
		const struct cell *row = &findings->cell[i * findings->columns];
		char number[24] = "";

		if (!i || strcmp(row[0].bytes, row[-(int)findings->columns].bytes) != 0)
			same = 0;
		if (++same > 1)
			snprintf(number, sizeof(number), "-%zu", same);
		if (row[3].type != CELL_TEXT) /* its node is unknown */
			continue;
		fprintf(page, "<li class=\"%s\" data-kind=\"%s\"", row[1].bytes,
			row[0].bytes);
		if (row[4].type == CELL_INTEGER)
			fprintf(page, " data-node=\"%zu\"",
				scope_place(&report->query->scope, row[4].integer));
		fprintf(page,
			" id=\"finding-%s%s\"><h3><span class=\"sr\">%s</span>%s</h3><p>",
			row[0].bytes, number,
			strcmp(row[1].bytes, "bad") ? "" : "Problem: ", row[2].bytes);
		put_finding(page, row[3].bytes);
		fputs("</p></li>\n", page);
	}
}

void report_user(struct report *report)
{
	const struct result_table *tasks = report_table(report, ANSWER_OVERVIEW, "tasks");
	const struct result_table *periods =
	    report_table(report, ANSWER_OVERVIEW, "periods");

	if (!tasks->rows && !periods->rows)
		return;
	fputs("<section id=\"user\">\n<h2>Tasks and user space</h2>\n", report->page);
	html_table(report, tasks);
	html_table(report, periods);
	fputs("</section>\n", report->page);
}

/* The classes of colours that the page's style has, by state. */
static const char *const colour[PATH_STATES] = {
    [PATH_RUNNING] = "run",   [PATH_RUNNABLE] = "ready",  [PATH_DISK] = "disk",
    [PATH_NETWORK] = "net",   [PATH_TIMER] = "timer",     [PATH_INTERRUPT] = "irq",
    [PATH_THREAD] = "thread", [PATH_UNKNOWN] = "unknown", [PATH_RESENT] = "resent"};

struct drawing {
	struct report *report;
	const struct node_request *request;
	const struct path *path;
	nsec_t span_ns;
};

/* Write the legend, with each state's share of the whole. */
static void put_legend(const struct drawing *drawing)
{
	nsec_t sum[PATH_STATES] = {0};
	char text[PRINT_TEXT], percent[PRINT_TEXT];

	for (size_t i = 0; i < drawing->path->count; i++) {
		const struct path_segment *at = &drawing->path->segment[i];

		sum[at->state] =
		    nsec_add(sum[at->state], nsec_sub(at->end_ns, at->begin_ns));
	}
	for (int i = 0; i < PATH_STATES; i++)
		if (sum[i])
			fprintf(drawing->report->page,
				"<span class=\"key %s\" data-v=\"%" PRId64
				"\">%s %s, %s</span> ",
				colour[i], sum[i], path_state_name((enum path_state)i),
				html_span(text, (double)sum[i]),
				html_percent(percent, (double)sum[i],
					     (double)drawing->span_ns));
}

static void put_title(const struct drawing *drawing)
{
	const struct node_request *request = drawing->request;
	const struct path_start *start = &request->start;
	const struct report *report = drawing->report;
	struct query *query = report->query;
	char text[PRINT_TEXT], bound[PRINT_TEXT];
	AUTOFREE char *who =
	    start->tid > 0
		? mem_printf(" (%s)", query_thread_name(query, start->node, start->tid,
							start->begin_ns))
		: mem_strdup("");
	AUTOFREE char *port = request->server_port >= 0
				  ? mem_printf(", port %" PRId64, request->server_port)
				  : mem_strdup("");
	AUTOFREE char *title =
	    mem_printf("%s from %s%s to %s%s", html_span(text, (double)drawing->span_ns),
		       query_node_name(query, start->node), who,
		       query_node_name(query, request->server), port);

	fprintf(report->page,
		"<figure class=\"path\" id=\"request-%" PRId64
		"\" data-request=\"%" PRId64 "\"><figcaption><b>",
		request->id, request->id);
	html_text(report->page, title);
	fprintf(report->page,
		"</b> <span>request %" PRId64
		", sent at <a href=\"#timeline\" data-t=\"%" PRId64 "\" data-d=\"%" PRId64
		"\">%s</a>, ways between nodes %s</span><br>",
		request->id, start->begin_ns - report->begin_ns, drawing->span_ns,
		html_human(text, report, cell_of_integer(start->begin_ns), UNIT_INSTANT),
		html_bound(bound, request->bound_ns));
	put_legend(drawing);
	fputs("</figcaption>\n", report->page);
}

/*
 * Write a path for the script, as JSON in an attribute: its parts in order, [node, state,
 * duration, tid, node that a message is from, thread's name], with -1 for unknown
 * numbers.
 */
static void put_path(const struct drawing *drawing)
{
	const struct path *path = drawing->path;
	struct report *report = drawing->report;

	put_title(drawing);
	fputs("<div class=\"drawn\" data-path='[", report->page);
	for (size_t i = 0; i < path->count; i++) {
		const struct path_segment *at = &path->segment[i];

		fprintf(report->page, "%s[%zu,%d,%" PRId64 ",%" PRId64 ",%d",
			i ? "," : "", scope_place(&report->query->scope, at->node),
			at->state, nsec_sub(at->end_ns, at->begin_ns), at->tid,
			at->from_node < 0
			    ? -1
			    : (int)scope_place(&report->query->scope, at->from_node));
		if (at->tid > 0) {
			fputc(',', report->page);
			html_json(report->page, query_thread_name(report->query, at->node,
								  at->tid, at->begin_ns));
		}
		fputc(']', report->page);
	}
	fputs("]'></div></figure>\n", report->page);
}

static int walk_path(struct report *report, size_t i, struct history *history,
		     struct error *error)
{
	const struct path_start *start = &report->request[i].start;

	if (start->end_ns <= start->begin_ns ||
	    !path_walk(&report->path[i], history, start))
		return 0;
	return error->text ? -1 : error_set(error, "report: a path was not followed");
}

int report_walk_paths(struct report *report, struct query *query, struct error *error)
{
	struct history *history;
	const int count =
	    node_requests_slowest(report->request, REPORT_REQUESTS, query, error);
	int status = 0;

	if (count <= 0)
		return count;
	report->requests = (size_t)count;
	history = history_new(query->reader, error);
	for (size_t i = 0; history && i < report->requests && !status; i++)
		status = walk_path(report, i, history, error);
	history_free(history);
	return history ? status : -1;
}

int report_keep_paths(struct report *report, struct error *error)
{
	struct timeline_rows *rows;

	for (size_t i = 0; !report->activity.runs && i < report->requests; i++)
		path_clear(&report->path[i]);
	rows = timeline_rows_begin(report->query->reader,
				   "page_path (request, state, ns)", 3, error);
	for (size_t i = 0; i < report->requests; i++)
		for (size_t k = 0; k < report->path[i].count; k++) {
			const struct path_segment *at = &report->path[i].segment[k];

			timeline_rows_add(
			    rows,
			    (const struct cell[]){
				cell_of_integer(report->request[i].id),
				cell_of_text(path_state_name(at->state)),
				cell_of_integer(nsec_sub(at->end_ns, at->begin_ns))});
		}
	return timeline_rows_end(rows);
}

void report_paths(struct report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->requests; i++) {
		const struct path_start *start = &report->request[i].start;
		const struct drawing drawing = {report, &report->request[i],
						&report->path[i],
						start->end_ns - start->begin_ns};

		if (!drawing.path->count)
			continue;
		if (!any)
			fputs("<h3 class=\"paths\">Critical paths of the slowest "
			      "requests</h3>\n<p class=\"note paths\">What the end of "
			      "each request waited for, "
			      "back to its begin: at every time one node&#8217;s state, "
			      "and the thread that had it.</p>\n",
			      report->page);
		any = true;
		put_path(&drawing);
	}
}

enum { MOST_LOSSES = 8 };

/* Return a cell's string, or "". The caller frees it. */
static char *report_text(const struct result_table *table, size_t row, const char *key)
{
	struct cell cell = report_cell(table, row, key);

	return cell_text(&cell);
}

/* Write "+41 ms: node3 sshd waits ..." and the requests that it is about, from a row of
 * `slow`. */
static void put_loss(const struct report *report, const struct result_table *slow,
		     size_t row)
{
	const double more_ns = report_number(report_cell(slow, row, "more_ns"));
	struct cell port = report_cell(slow, row, "port");
	char more[PRINT_TEXT], mean[PRINT_TEXT], median[PRINT_TEXT];
	AUTOFREE char *client = report_text(slow, row, "client");
	AUTOFREE char *server = report_text(slow, row, "server");
	AUTOFREE char *process = report_text(slow, row, "process");
	AUTOFREE char *why = report_text(slow, row, "why");
	AUTOFREE char *to =
	    port.type == CELL_INTEGER
		? mem_printf("%s to %s, port %" PRId64 "%s%s: ", client, server,
			     port.integer, *process ? ", " : "", process)
		: mem_printf("%s to %s: ", client, server);

	fprintf(report->page, "<li><b data-v=\"%.0f\">+%s</b>: ", more_ns,
		html_span(more, more_ns));
	html_text(report->page, why);
	fputs(" <span>", report->page);
	html_text(report->page, to);
	fprintf(report->page,
		"the slowest %.0f of %.0f took %s, the median is %s</span></li>\n",
		report_number(report_cell(slow, row, "slow")),
		report_number(report_cell(slow, row, "requests")),
		html_span(mean, report_number(report_cell(slow, row, "slowest_ns"))),
		html_span(median, report_number(report_cell(slow, row, "p50_ns"))));
}

void report_why(struct report *report)
{
	const struct result_table *slow = report_table(report, ANSWER_WHY, "slow");
	const struct result_table *lost = report_table(report, ANSWER_WHY, "lost");
	size_t losses = 0;

	while (losses < slow->rows && report_cell(slow, losses, "why").type == CELL_TEXT)
		losses++;
	if (!losses)
		return;
	fputs("<h3 id=\"why\">Where the slow ones lose their time</h3>\n<ul "
	      "class=\"why\">\n",
	      report->page);
	for (size_t i = 0; i < losses && i < MOST_LOSSES; i++)
		put_loss(report, slow, i);
	fputs("</ul>\n", report->page);
	html_table(report, lost);
}

/* Numbers of the requests that were followed. Requests are sorted by group and begin. */
enum followed_column {
	FOLLOWED_COUNT,  /* requests, by group */
	FOLLOWED_BEGIN,  /* by request: since that of the one before it of its group */
	FOLLOWED_NUMBER, /* less that of the one before it, doubled; 1 less if negative */
	FOLLOWED_WEIGHT, /* requests that it stands for */
	FOLLOWED_PARTS,  /* how many it has */
	FOLLOWED_KIND,   /* by part */
	FOLLOWED_TOOK,   /* nanoseconds; the parts of a request add up to its time */
	FOLLOWED_COLUMNS
};

struct column {
	uint64_t *number;
	size_t count, capacity;
};

static void add_number(struct column *column, uint64_t number)
{
	*MEM_NEXT(column->number, column->count, column->capacity) = number;
}

static void add_followed(struct column *column, const struct report *report,
			 const struct cell *row, const struct cell *before)
{
	const bool is_first = !before || before[0].integer != row[0].integer;
	const int64_t begin_ns = is_first ? report->begin_ns : before[1].integer;
	const int64_t more = row[2].integer - (before ? before[2].integer : 0);

	if (is_first)
		add_number(&column[FOLLOWED_COUNT], 0);
	column[FOLLOWED_COUNT].number[column[FOLLOWED_COUNT].count - 1]++;
	add_number(&column[FOLLOWED_BEGIN], (uint64_t)(row[1].integer - begin_ns));
	add_number(&column[FOLLOWED_NUMBER],
		   more < 0 ? 2 * (uint64_t)-more - 1 : 2 * (uint64_t)more);
	add_number(&column[FOLLOWED_WEIGHT], (uint64_t)row[3].integer);
}

static void add_followed_parts(struct column *column, const struct result_table *parts,
			       int64_t request)
{
	const size_t first = PARTITION_POINT(
	    parts->rows, at, parts->cell[at * parts->columns].integer < request);
	size_t at = first;

	for (; at < parts->rows && parts->cell[at * parts->columns].integer == request;
	     at++) {
		const struct cell *part = &parts->cell[at * parts->columns];

		add_number(&column[FOLLOWED_KIND], (uint64_t)part[1].integer);
		add_number(&column[FOLLOWED_TOOK], (uint64_t)part[2].integer);
	}
	add_number(&column[FOLLOWED_PARTS], at - first);
}

/* Append a column: how many bytes a number has, then the lowest byte of each, the next of
 * each, ..., since the high bytes, which are alike, pack well. */
static void put_column(struct bytes *to, const struct column *column)
{
	uint64_t all = 0;
	uint8_t width = 0;

	for (size_t i = 0; i < column->count; i++)
		all |= column->number[i];
	for (; all; all >>= 8)
		width++;
	bytes_add_byte(to, width);
	for (uint8_t k = 0; k < width; k++)
		for (size_t i = 0; i < column->count; i++)
			bytes_add_byte(to, (uint8_t)(column->number[i] >> 8 * k));
}

void report_followed(struct report *report)
{
	const struct result_table *followed =
	    report_table(report, ANSWER_WHY, "followed");
	const struct result_table *parts =
	    report_table(report, ANSWER_WHY, "followed_parts");
	struct column column[FOLLOWED_COLUMNS] = {0};
	struct bytes packed = {0};
	const struct cell *before = NULL;

	for (size_t i = 0; i < followed->rows; i++) {
		const struct cell *row = &followed->cell[i * followed->columns];

		add_followed(column, report, row, before);
		add_followed_parts(column, parts, row[2].integer);
		before = row;
	}
	for (int i = 0; i < FOLLOWED_COLUMNS; i++) {
		put_column(&packed, &column[i]);
		free(column[i].number);
	}
	gzip_write_base64(report->page, packed.data, packed.size);
	bytes_clear(&packed);
}

void report_pack(struct report *report)
{
	report->unpacked = report->page;
	report->page = mem_stream(&report->packing, &report->packing_size);
}

void report_end_pack(struct report *report)
{
	fclose(report->page);
	report->page = report->unpacked;
	report->unpacked = NULL;
	gzip_write_base64(report->page, report->packing, report->packing_size);
	free(report->packing);
}

enum { FEW_PAIRS = 20 };

/*
 * Write the table of pairs for the script, as JSON in an attribute. A few pairs are rows,
 * more are a matrix.
 */
static void put_pairs(const struct report *report, const struct result_table *pairs)
{
	const struct scope *scope = &report->query->scope;
	FILE *page = report->page;

	fputs("<figure id=\"latency\"><figcaption></figcaption>", page);
	fputs("<div id=\"matrix\" class=\"drawn\" data-pairs='{\"nodes\":[", page);
	for (size_t i = 0; i < scope->nodes; i++) {
		fputs(i ? "," : "", page);
		html_json(page, scope->node[i].name);
	}
	fprintf(page, "],\"few\":%d,\"columns\":[", pairs->rows <= FEW_PAIRS);
	for (size_t i = 0; i < pairs->columns; i++)
		fprintf(page, "%s\"%s\"", i ? "," : "", pairs->column[i].key);
	fputs("],\"rows\":[", page);
	html_rows(page, pairs);
	fputs("]}'></div></figure>\n", page);
}

/* Write the pairs, as a table as well: all, or if there are many, those with the longest
 * medians. */
void report_latencies(struct report *report)
{
	const struct result_table *pairs = report_table(report, ANSWER_MESSAGES, "pairs");

	if (pairs && pairs->rows)
		put_pairs(report, pairs);
	html_table(report, pairs && pairs->rows > FEW_PAIRS
			       ? report_table(report, ANSWER_OWN, "slow_pairs")
			       : pairs);
}
