/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"

/* An option with the HEEDS_ bits of the analyses that accept it; 0: all do. */
struct heeded_row {
	struct option_row row; /* without its target */
	size_t target;         /* offset in struct request */
	unsigned heeds;
	enum { AS_IT_IS, SPAN, SIZE, RANGES } meaning;
	size_t meant; /* offset of what was understood */
};

#define ROW(letter, name, kind, target, argument, help, most, heeds, meaning, meant)     \
	{                                                                                \
		{letter, name, OPTION_##kind, NULL, argument, help, 0, most},            \
		    offsetof(struct request, target), heeds, meaning,                    \
		    offsetof(struct request, meant)                                      \
	}
#define FLAG(letter, name, target, help, heeds)                                          \
	ROW(letter, name, FLAG, target, NULL, help, 0, heeds, AS_IT_IS, target)
#define NUMBER(name, target, argument, help, heeds)                                      \
	ROW(0, name, INT, target, argument, help, 2147483647, heeds, AS_IT_IS, target)
#define TEXT(letter, kind, name, target, argument, help, heeds)                          \
	ROW(letter, name, kind, target, argument, help, 0, heeds, AS_IT_IS, target)
#define MEANT(kind, name, target, argument, help, heeds, meaning, meant)                 \
	ROW(0, name, kind, target, argument, help, 0, heeds, meaning, meant)

static const struct heeded_row all_rows[] = {
    TEXT(0, STRING, "begin", begin, "TIME",
	 "ignore everything before this: nanoseconds, seconds, +seconds of the run, or "
	 "UTC",
	 HEEDS_SPAN_OF_TIME),
    TEXT(0, STRING, "end", end, "TIME", "ignore everything after this",
	 HEEDS_SPAN_OF_TIME),
    TEXT(0, STRING, "timerange", timerange, "BEGIN,END", "same as --begin and --end",
	 HEEDS_SPAN_OF_TIME),
    TEXT(0, WORDS, "node", nodes, "GLOB,...", "only nodes whose names match GLOB",
	 HEEDS_NODES),
    MEANT(WORDS, "cpu", cpu_words, "N,N-N,...", "only these processors", HEEDS_CPU,
	  RANGES, cpus),
    TEXT(0, WORDS, "procname", names, "GLOB,...",
	 "only threads whose names, or whose processes' names, match GLOB", HEEDS_THREAD),
    MEANT(WORDS, "tid", tid_words, "N,...", "only these threads", HEEDS_THREAD, RANGES,
	  tids),
    MEANT(WORDS, "pid", pid_words, "N,...", "only threads of these processes",
	  HEEDS_THREAD, RANGES, pids),
    TEXT(0, WORDS, "events", events, "GLOB,...",
	 "only events of classes whose names match GLOB", HEEDS_EVENTS),
    MEANT(STRING, "min", min, "SPAN",
	  "ignore what took less: 20us, 1.5ms, 2s; a number without a unit is in "
	  "microseconds",
	  HEEDS_SPAN, SPAN, min_ns),
    MEANT(STRING, "max", max, "SPAN", "ignore what took more", HEEDS_SPAN, SPAN, max_ns),
    MEANT(STRING, "minsize", min_size, "SIZE",
	  "ignore what moved fewer bytes: 4096, 64k, 1MiB", HEEDS_SIZE, SIZE,
	  least_bytes),
    MEANT(STRING, "maxsize", max_size, "SIZE", "ignore what moved more bytes", HEEDS_SIZE,
	  SIZE, most_bytes),
    MEANT(WORDS, "irq", irq_words, "N,N-N,...", "only hard interrupts with these numbers",
	  HEEDS_IRQ, RANGES, irqs),
    MEANT(WORDS, "softirq", softirq_words, "N,N-N,...",
	  "only softirqs with these numbers", HEEDS_IRQ, RANGES, softirqs),
    TEXT(0, STRING, "group", group, "WHAT",
	 "group by this; the help of the analysis lists the groupings", HEEDS_GROUP),
    MEANT(STRING, "interval", interval_text, "SPAN",
	  "one row for each step of this length", HEEDS_INTERVAL, SPAN, interval_ns),
    TEXT(0, WORDS, "measure", measures, "GLOB,...", "only columns whose names match GLOB",
	 HEEDS_MEASURE),
    TEXT(0, STRING, "request", request_text, "N", "the request that message N belongs to",
	 HEEDS_REQUEST),
    TEXT(0, WORDS, "metric", metrics, "GLOB,...", "only metrics whose names match GLOB",
	 HEEDS_METRIC),
    TEXT(0, WORDS, "item", items, "GLOB,...",
	 "only metrics of devices, interfaces or processors whose names match GLOB",
	 HEEDS_METRIC),
    TEXT(0, LIST, "alias", aliases, "NAME=ALIAS", "print a device or interface as ALIAS",
	 HEEDS_METRIC),
    TEXT(0, STRING, "plot", plot, "DIR", "draw pictures into DIR, each with all nodes",
	 HEEDS_METRIC),
    TEXT(0, STRING, "from", from, "EVENT",
	 "the event that begins a period: CLASS, or CLASS[CONDITION]", HEEDS_PERIOD),
    TEXT(0, STRING, "to", to, "EVENT", "the event that ends it", HEEDS_PERIOD),
    NUMBER("detail", detail_given, "N",
	   "draw up to N spans one by one (default: 60000); more are summed by steps of "
	   "time",
	   HEEDS_DETAIL),
    TEXT(0, LIST, "against", against, "TIMELINE",
	 "compare with this run; several runs may be named one by one", HEEDS_AGAINST),
    FLAG(0, "stats", stats, "print counts, sums and distributions", HEEDS_FORMS),
    FLAG(0, "top", top, "print the longest", HEEDS_FORMS),
    FLAG(0, "freq", freq, "print a histogram of durations", HEEDS_FORMS),
    FLAG(0, "log", log, "print every one, in order of time", HEEDS_FORMS),
    NUMBER("limit", limit_given, "N", "at most N rows per table; 0: all",
	   HEEDS_TABLES | HEEDS_LIMIT),
    TEXT(0, STRING, "sort", sort, "COLUMN,...",
	 "sort the rows by these columns; -COLUMN: in descending order", HEEDS_TABLES),
    TEXT(0, STRING, "table", table, "NAME", "this table only", HEEDS_TABLES),
    TEXT(0, WORD, "format", format, "FORMAT=table|csv|json|markdown",
	 "table, csv, json or markdown", HEEDS_TABLES),
    FLAG(0, "local-time", local_time,
	 "print times of day in this machine's time zone instead of UTC",
	 HEEDS_TABLES | HEEDS_EVENTS),
    FLAG(0, "list", list, "list the analyses", 0),
    TEXT(0, LIST, "sql", sql, "PATH",
	 "add the analysis in this SQL file, or all in this directory", 0),
    TEXT(0, OPTIONAL_WORD, "print-sql", print_sql, "DIALECT=sqlite|duckdb|spark",
	 "print the SQL statements instead of running them: for sqlite (the default), "
	 "duckdb or spark",
	 0),
    TEXT(0, STRING, "tables", tables, "DIR",
	 "query the Parquet tables in DIR with the program duckdb, instead of a timeline",
	 0),
    TEXT('o', STRING, "output", output, "FILE",
	 "write to FILE instead of standard output", 0),
    FLAG('q', "quiet", quiet, "show no progress", 0),
};

enum { ROWS = sizeof(all_rows) / sizeof(*all_rows) };

_Static_assert((int)ROWS <= (int)REQUEST_ROWS, "rows have room");

static void *at_offset(const struct request *request, size_t offset)
{
	return (char *)request + offset;
}

size_t request_rows(struct request *request, struct option_row *rows, unsigned heeds)
{
	size_t count = 0;

	for (size_t i = 0; i < ROWS; i++) {
		const struct heeded_row *row = &all_rows[i];

		if (row->heeds && !(row->heeds & heeds))
			continue;
		rows[count] = row->row;
		rows[count++].target = at_offset(request, row->target);
	}
	rows[count] = (struct option_row){0};
	return count;
}

static bool is_given(const struct request *request, const struct heeded_row *row)
{
	const void *target = at_offset(request, row->target);

	switch (row->row.kind) {
	case OPTION_FLAG:
		return *(const bool *)target;
	case OPTION_STRING:
		return *(char *const *)target;
	case OPTION_LIST:
	case OPTION_WORDS:
		return ((const struct text_list *)target)->count;
	case OPTION_INT:
	case OPTION_WORD:
	case OPTION_OPTIONAL_WORD:
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
			return all_rows[i].row.name;
	return NULL;
}

void request_init(struct request *request)
{
	*request = (struct request){.format = -1,
				    .print_sql = -1,
				    .limit_given = -1,
				    .detail_given = -1,
				    .min_ns = NSEC_MIN,
				    .max_ns = NSEC_MAX,
				    .most_bytes = INT64_MAX};
}

struct amount_unit {
	const char *name;
	double size;
};

static const struct amount_unit spans[] = {
    {"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
    {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"", 1e3},
};

static const struct amount_unit sizes[] = {
    {"", 1},         {"B", 1},        {"k", 0x1p10},   {"K", 0x1p10},
    {"M", 0x1p20},   {"G", 0x1p30},   {"T", 0x1p40},   {"KiB", 0x1p10},
    {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
    {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
};

static int parse_amount(const char *text, const struct amount_unit *unit, size_t units,
			int64_t *amount)
{
	size_t length = strspn(text, "0123456789.");
	AUTOFREE char *digits = mem_strndup(text, length);
	double value;
	int status = number_real(digits, &value);

	for (size_t i = 0; i < units && !status; i++)
		if (!strcmp(text + length, unit[i].name)) {
			value *= unit[i].size;
			*amount = value < 9e18 ? nsec_round(value) : 0;
			return value < 9e18 ? 0 : -1;
		}
	return -1;
}

int request_parse_span(const char *text, nsec_t *span)
{
	return parse_amount(text, spans, sizeof(spans) / sizeof(*spans), span);
}

int request_parse_size(const char *text, int64_t *bytes)
{
	return parse_amount(text, sizes, sizeof(sizes) / sizeof(*sizes), bytes);
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
	for (size_t i = 0; i < words->count; i++) {
		ranges->item = mem_grow(ranges->item, ranges->count, &ranges->capacity,
					sizeof(*ranges->item));
		if (parse_range(words->item[i], &ranges->item[ranges->count++]))
			return error_misuse(
			    error,
			    "--%s: invalid number '%s' (expected a list such as 0,4-7)",
			    name, words->item[i]);
	}
	return 0;
}

/* Parse an option's argument as its row says. Return 0, or -1 with error (misuse). */
static int parse_option_argument(struct request *request, const struct heeded_row *row,
				 struct error *error)
{
	void *target = at_offset(request, row->target);
	void *meant = at_offset(request, row->meant);
	const char *text;

	if (row->meaning == RANGES)
		return check_ranges(target, row->row.name, meant, error);
	if (row->meaning == AS_IT_IS)
		return 0;
	text = *(char *const *)target;
	if (!text || !(row->meaning == SPAN ? request_parse_span(text, meant)
					    : request_parse_size(text, meant)))
		return 0;
	return row->meaning == SPAN
		   ? error_misuse(error,
				  "--%s: invalid time span '%s' (expected one such as "
				  "20us, 1.5ms or 2s)",
				  row->row.name, text)
		   : error_misuse(error,
				  "--%s: invalid size '%s' (expected one such as 4096, "
				  "64k or 1MiB)",
				  row->row.name, text);
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
				    "--timerange cannot be used with --begin or --end");
	length = strlen(text);
	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	comma = memchr(text, ',', length);
	if (!comma)
		return error_misuse(
		    error, "--timerange: invalid value '%s' (expected BEGIN,END)",
		    request->timerange);
	if (comma > text)
		request->begin = mem_strndup(text, (size_t)(comma - text));
	if (comma + 1 < text + length)
		request->end =
		    mem_strndup(comma + 1, (size_t)(text + length - comma - 1));
	return 0;
}

int request_check(struct request *request, struct error *error)
{
	if (check_timerange(request, error))
		return -1;
	for (size_t i = 0; i < ROWS; i++)
		if (parse_option_argument(request, &all_rows[i], error))
			return -1;
	if (request->min && request->max && request->min_ns > request->max_ns)
		return error_misuse(error, "--min is more than --max");
	if (request->least_bytes > request->most_bytes)
		return error_misuse(error, "--minsize is more than --maxsize");
	if (request->interval_text && request->interval_ns <= 0)
		return error_misuse(error, "--interval: must be more than 0");
	if (request->request_text &&
	    (number_integer(request->request_text, &request->request) ||
	     request->request <= 0))
		return error_misuse(error, "--request: invalid message number '%s'",
				    request->request_text);
	request->forms =
	    (request->stats ? FORM_STATS : 0u) | (request->top ? FORM_TOP : 0u) |
	    (request->freq ? FORM_FREQ : 0u) | (request->log ? FORM_LOG : 0u);
	return 0;
}

void request_clear(struct request *request)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct heeded_row *row = &all_rows[i];
		void *target = at_offset(request, row->target);
		void *meant = at_offset(request, row->meant);

		if (row->row.kind == OPTION_STRING)
			free(*(char **)target);
		if (row->row.kind == OPTION_LIST || row->row.kind == OPTION_WORDS)
			text_list_clear(target);
		if (row->meaning == RANGES)
			free(((struct range_list *)meant)->item);
	}
	request_init(request);
}
