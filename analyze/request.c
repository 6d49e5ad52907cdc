/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

/* An option, and by which bits an analysis heeds it; 0: every one does. */
struct heeded_row {
	char letter;
	const char *name;
	enum option_kind kind;
	size_t target; /* offset in struct request */
	const char *argument, *help;
	double least, most;
	unsigned heeds;
};

static const struct heeded_row all_rows[] = {
    {0, "begin", OPTION_STRING, offsetof(struct request, begin), "TIME",
     "nothing before: nanoseconds, seconds, +seconds of the run, or UTC", 0, 0,
     HEEDS_SPAN_OF_TIME},
    {0, "end", OPTION_STRING, offsetof(struct request, end), "TIME", "nothing after", 0,
     0, HEEDS_SPAN_OF_TIME},
    {0, "timerange", OPTION_STRING, offsetof(struct request, timerange), "BEGIN,END",
     "both at once", 0, 0, HEEDS_SPAN_OF_TIME},
    {0, "node", OPTION_LIST, offsetof(struct request, node_words), "GLOB,...",
     "only nodes with such a name", 0, 0, HEEDS_NODES},
    {0, "cpu", OPTION_LIST, offsetof(struct request, cpu_words), "N,N-N,...",
     "only these processors", 0, 0, HEEDS_CPU},
    {0, "procname", OPTION_LIST, offsetof(struct request, name_words), "GLOB,...",
     "only threads with such a name, or of such a process", 0, 0, HEEDS_THREAD},
    {0, "tid", OPTION_LIST, offsetof(struct request, tid_words), "N,...",
     "only these threads", 0, 0, HEEDS_THREAD},
    {0, "pid", OPTION_LIST, offsetof(struct request, pid_words), "N,...",
     "only threads of these processes", 0, 0, HEEDS_THREAD},
    {0, "events", OPTION_LIST, offsetof(struct request, event_words), "GLOB,...",
     "only events of classes with such a name", 0, 0, HEEDS_EVENTS},
    {0, "min", OPTION_STRING, offsetof(struct request, min), "SPAN",
     "nothing that took less: 20us, 1.5ms, 2s; without a unit in microseconds", 0, 0,
     HEEDS_SPAN},
    {0, "max", OPTION_STRING, offsetof(struct request, max), "SPAN",
     "nothing that took more", 0, 0, HEEDS_SPAN},
    {0, "minsize", OPTION_STRING, offsetof(struct request, min_size), "SIZE",
     "nothing that moved less: 4096, 64k, 1MiB", 0, 0, HEEDS_SIZE},
    {0, "maxsize", OPTION_STRING, offsetof(struct request, max_size), "SIZE",
     "nothing that moved more", 0, 0, HEEDS_SIZE},
    {0, "irq", OPTION_LIST, offsetof(struct request, irq_words), "N,N-N,...",
     "only hard interrupts of these numbers", 0, 0, HEEDS_IRQ},
    {0, "softirq", OPTION_LIST, offsetof(struct request, softirq_words), "N,N-N,...",
     "only softirqs of these numbers", 0, 0, HEEDS_IRQ},
    {0, "group", OPTION_STRING, offsetof(struct request, group), "WHAT",
     "add up by this, see the analysis's own help", 0, 0, HEEDS_GROUP},
    {0, "interval", OPTION_STRING, offsetof(struct request, interval_text), "SPAN",
     "a row for each such span of time", 0, 0, HEEDS_INTERVAL},
    {0, "measure", OPTION_LIST, offsetof(struct request, measure_words), "GLOB,...",
     "only columns with such a name", 0, 0, HEEDS_MEASURE},
    {0, "request", OPTION_STRING, offsetof(struct request, request_text), "N",
     "of this request, by the number of one of its messages", 0, 0, HEEDS_REQUEST},
    {0, "metric", OPTION_LIST, offsetof(struct request, metric_words), "GLOB,...",
     "only metrics with such a name", 0, 0, HEEDS_METRIC},
    {0, "item", OPTION_LIST, offsetof(struct request, item_words), "GLOB,...",
     "only of devices, interfaces or processors with such a name", 0, 0, HEEDS_METRIC},
    {0, "alias", OPTION_LIST, offsetof(struct request, aliases), "NAME=ALIAS",
     "what to call a device or interface", 0, 0, HEEDS_METRIC},
    {0, "plot", OPTION_STRING, offsetof(struct request, plot), "DIR",
     "draw each metric of all nodes into a file of DIR", 0, 0, HEEDS_METRIC},
    {0, "from", OPTION_STRING, offsetof(struct request, from), "EVENT",
     "what begins a period: CLASS, or CLASS[CONDITION]", 0, 0, HEEDS_PERIOD},
    {0, "to", OPTION_STRING, offsetof(struct request, to), "EVENT", "what ends it", 0, 0,
     HEEDS_PERIOD},
    {0, "detail", OPTION_INT, offsetof(struct request, detail_given), "N",
     "draw up to N spans one by one (default: 100000); more are summed by steps", 0,
     2147483647, HEEDS_DETAIL},
    {0, "stats", OPTION_FLAG, offsetof(struct request, stats), NULL,
     "counts, sums and distributions", 0, 0, HEEDS_FORMS},
    {0, "top", OPTION_FLAG, offsetof(struct request, top), NULL, "the longest", 0, 0,
     HEEDS_FORMS},
    {0, "freq", OPTION_FLAG, offsetof(struct request, freq), NULL, "how often how long",
     0, 0, HEEDS_FORMS},
    {0, "log", OPTION_FLAG, offsetof(struct request, log), NULL,
     "every one, in order of time", 0, 0, HEEDS_FORMS},
    {0, "limit", OPTION_INT, offsetof(struct request, limit_given), "N",
     "at most N rows a table, 0: all", 0, 2147483647, HEEDS_TABLES | HEEDS_LIMIT},
    {0, "sort", OPTION_STRING, offsetof(struct request, sort), "COLUMN,...",
     "order of rows; -COLUMN: falling", 0, 0, HEEDS_TABLES},
    {0, "table", OPTION_STRING, offsetof(struct request, table), "NAME",
     "this table only", 0, 0, HEEDS_TABLES},
    {0, "format", OPTION_STRING, offsetof(struct request, format_text), "FORMAT",
     "table, csv, json or markdown", 0, 0, HEEDS_TABLES},
    {0, "local-time", OPTION_FLAG, offsetof(struct request, local_time), NULL,
     "times of day by the zone of this machine instead of UTC", 0, 0,
     HEEDS_TABLES | HEEDS_EVENTS},
    {0, "list", OPTION_FLAG, offsetof(struct request, list), NULL,
     "name the analyses that there are", 0, 0, 0},
    {0, "sql", OPTION_LIST, offsetof(struct request, sql), "PATH",
     "add the analysis in this SQL file, or all in this directory", 0, 0, 0},
    {0, "print-sql", OPTION_STRING, offsetof(struct request, print_sql), "DIALECT",
     "print the statements instead: sqlite (the default), duckdb or spark", 0, 0, 0},
    {0, "tables", OPTION_STRING, offsetof(struct request, tables), "DIR",
     "ask the Parquet tables in DIR, by the program duckdb, instead of a timeline", 0, 0,
     0},
    {'o', "output", OPTION_STRING, offsetof(struct request, output), "FILE",
     "write to FILE instead of standard output", 0, 0, 0},
    {'q', "quiet", OPTION_FLAG, offsetof(struct request, quiet), NULL, "no progress", 0,
     0, 0},
};

enum { ROWS = sizeof(all_rows) / sizeof(*all_rows) };

_Static_assert((int)ROWS <= (int)REQUEST_ROWS, "rows have room");

static void *target_of(const struct request *request, const struct heeded_row *row)
{
	return (char *)request + row->target;
}

size_t request_rows(struct request *request, struct option_row *rows, unsigned heeds)
{
	size_t kept = 0;

	for (size_t i = 0; i < ROWS; i++) {
		const struct heeded_row *row = &all_rows[i];

		if (row->heeds && !(row->heeds & heeds))
			continue;
		rows[kept++] = (struct option_row){
		    .letter = row->letter,
		    .name = row->name,
		    .kind = row->kind,
		    .target = target_of(request, row),
		    .argument = row->argument,
		    .help = row->help,
		    .least = row->least,
		    .most = row->most,
		};
	}
	rows[kept] = (struct option_row){0};
	return kept;
}

static bool is_given(const struct request *request, const struct heeded_row *row)
{
	const void *target = target_of(request, row);

	switch (row->kind) {
	case OPTION_FLAG:
		return *(const bool *)target;
	case OPTION_STRING:
		return *(char *const *)target;
	case OPTION_LIST:
		return ((const struct text_list *)target)->count;
	case OPTION_INT:
		return *(const int *)target != -1;
	case OPTION_DOUBLE:
		break;
	}
	return false;
}

const char *request_unheeded(const struct request *request, unsigned heeds)
{
	for (size_t i = 0; i < ROWS; i++)
		if (all_rows[i].heeds && !(all_rows[i].heeds & heeds) &&
		    is_given(request, &all_rows[i]))
			return all_rows[i].name;
	return NULL;
}

void request_init(struct request *request)
{
	*request = (struct request){.limit_given = -1,
				    .detail_given = -1,
				    .min_ns = NSEC_MIN,
				    .max_ns = NSEC_MAX,
				    .most_bytes = INT64_MAX};
}

static int check_span(const char *text, const char *name, nsec_t *span,
		      struct error *error)
{
	if (!text || request_parse_span(text, span) == 0)
		return 0;
	return error_misuse(error,
			    "--%s: '%s' is no span of time, want one such as 20us, 1.5ms "
			    "or 2s",
			    name, text);
}

static int check_size(const char *text, const char *name, int64_t *bytes,
		      struct error *error)
{
	if (!text || request_parse_size(text, bytes) == 0)
		return 0;
	return error_misuse(error,
			    "--%s: '%s' is no size, want one such as 4096, 64k or 1MiB",
			    name, text);
}

static int check_amounts(struct request *request, struct error *error)
{
	if (check_span(request->min, "min", &request->min_ns, error) ||
	    check_span(request->max, "max", &request->max_ns, error) ||
	    check_span(request->interval_text, "interval", &request->interval_ns,
		       error) ||
	    check_size(request->min_size, "minsize", &request->least_bytes, error) ||
	    check_size(request->max_size, "maxsize", &request->most_bytes, error))
		return -1;
	if (request->min && request->max && request->min_ns > request->max_ns)
		return error_misuse(error, "--min is more than --max");
	if (request->least_bytes > request->most_bytes)
		return error_misuse(error, "--minsize is more than --maxsize");
	if (request->interval_text && request->interval_ns <= 0)
		return error_misuse(error, "--interval: want more than nothing");
	return 0;
}

/* "a,b" and "c" as a, b, c. */
static void split(const struct text_list *words, struct text_list *parts)
{
	for (size_t i = 0; i < words->count; i++)
		for (const char *at = words->item[i]; *at;) {
			size_t length = strcspn(at, ",");
			char *part = mem_strndup(at, length);

			if (length)
				text_list_add(parts, part);
			free(part);
			at += length + (at[length] == ',');
		}
}

/* "4", "4-7". */
static int parse_range(const char *word, struct range *range)
{
	const char *dash = strchr(word, '-');
	char *first;
	int status;

	if (!dash || dash == word) {
		status = number_integer(word, &range->least);
		range->most = range->least;
		return status;
	}
	first = mem_strndup(word, (size_t)(dash - word));
	status = number_integer(first, &range->least) ||
		 number_integer(dash + 1, &range->most);
	free(first);
	return status || range->most < range->least ? -1 : 0;
}

static int check_ranges(const struct text_list *words, const char *name,
			struct range_list *ranges, struct error *error)
{
	struct text_list parts = {0};
	int status = 0;

	split(words, &parts);
	for (size_t i = 0; i < parts.count && !status; i++) {
		ranges->item = mem_grow(ranges->item, ranges->count, &ranges->room,
					sizeof(*ranges->item));
		if (parse_range(parts.item[i], &ranges->item[ranges->count++]))
			status = error_misuse(
			    error, "--%s: '%s' is no number, want some such as 0,4-7",
			    name, parts.item[i]);
	}
	text_list_clear(&parts);
	return status;
}

bool range_list_has(const struct range_list *list, int64_t value)
{
	for (size_t i = 0; i < list->count; i++)
		if (value >= list->item[i].least && value <= list->item[i].most)
			return true;
	return list->count == 0;
}

/* "[A,B]" and "A,B" become begin and end; either may be empty. */
static int check_timerange(struct request *request, struct error *error)
{
	const char *text = request->timerange, *comma;
	size_t length;

	if (!text)
		return 0;
	if (request->begin || request->end)
		return error_misuse(error,
				    "--timerange gives both times, want it without "
				    "--begin and --end");
	length = strlen(text);
	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	comma = memchr(text, ',', length);
	if (!comma)
		return error_misuse(error, "--timerange: '%s' is no pair, want BEGIN,END",
				    request->timerange);
	if (comma > text)
		request->begin = mem_strndup(text, (size_t)(comma - text));
	if (comma + 1 < text + length)
		request->end =
		    mem_strndup(comma + 1, (size_t)(text + length - comma - 1));
	return 0;
}

static int check_format(struct request *request, struct error *error)
{
	static const char *const names[] = {"table", "csv", "json", "markdown"};

	if (!request->format_text)
		return 0;
	for (int i = 0; i < 4; i++)
		if (!strcmp(request->format_text, names[i])) {
			request->format = (enum format)i;
			return 0;
		}
	return error_misuse(error,
			    "--format: no format '%s', want table, csv, json or markdown",
			    request->format_text);
}

int request_check(struct request *request, struct error *error)
{
	if (check_timerange(request, error) || check_format(request, error) ||
	    check_amounts(request, error) ||
	    check_ranges(&request->cpu_words, "cpu", &request->cpus, error) ||
	    check_ranges(&request->tid_words, "tid", &request->tids, error) ||
	    check_ranges(&request->pid_words, "pid", &request->pids, error) ||
	    check_ranges(&request->irq_words, "irq", &request->irqs, error) ||
	    check_ranges(&request->softirq_words, "softirq", &request->softirqs, error))
		return -1;
	if (request->request_text &&
	    (number_integer(request->request_text, &request->request) ||
	     request->request <= 0))
		return error_misuse(error, "--request: '%s' is no number of a message",
				    request->request_text);
	split(&request->node_words, &request->nodes);
	split(&request->event_words, &request->events);
	split(&request->name_words, &request->names);
	split(&request->measure_words, &request->measures);
	split(&request->metric_words, &request->metrics);
	split(&request->item_words, &request->items);
	request->forms =
	    (request->stats ? FORM_STATS : 0u) | (request->top ? FORM_TOP : 0u) |
	    (request->freq ? FORM_FREQ : 0u) | (request->log ? FORM_LOG : 0u);
	return 0;
}

void request_clear(struct request *request)
{
	char *const texts[] = {
	    request->begin,       request->end,      request->timerange,
	    request->min,         request->max,      request->interval_text,
	    request->format_text, request->output,   request->table,
	    request->sort,        request->plot,     request->from,
	    request->to,          request->group,    request->request_text,
	    request->min_size,    request->max_size, request->print_sql,
	    request->tables};
	struct text_list *lists[] = {
	    &request->node_words,    &request->cpu_words,     &request->tid_words,
	    &request->pid_words,     &request->name_words,    &request->sql,
	    &request->measure_words, &request->measures,      &request->metric_words,
	    &request->item_words,    &request->aliases,       &request->metrics,
	    &request->items,         &request->nodes,         &request->names,
	    &request->irq_words,     &request->softirq_words, &request->event_words,
	    &request->events};
	struct range_list *ranges[] = {&request->cpus, &request->tids, &request->pids,
				       &request->irqs, &request->softirqs};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		text_list_clear(lists[i]);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		free(ranges[i]->item);
	request_init(request);
}
