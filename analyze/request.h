/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REQUEST_H
#define CT_ANALYZE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"

/* Options that only some analyses heed; what one does not heed is misuse there. */
enum {
	HEEDS_CPU = 1 << 0,          /* --cpu */
	HEEDS_THREAD = 1 << 1,       /* --procname --tid --pid */
	HEEDS_SPAN = 1 << 2,         /* --min --max */
	HEEDS_GROUP = 1 << 3,        /* --group */
	HEEDS_INTERVAL = 1 << 4,     /* --interval */
	HEEDS_FORMS = 1 << 5,        /* --stats --top --freq --log; set by `forms` */
	HEEDS_TABLES = 1 << 6,       /* --format --table --sort --limit; set by `run` */
	HEEDS_METRIC = 1 << 8,       /* --metric --item --alias --plot */
	HEEDS_PERIOD = 1 << 9,       /* --from --to */
	HEEDS_SIZE = 1 << 13,        /* --minsize --maxsize */
	HEEDS_IRQ = 1 << 14,         /* --irq --softirq */
	HEEDS_REQUEST = 1 << 12,     /* --request */
	HEEDS_SPAN_OF_TIME = 1 << 7, /* --begin --end --timerange */
	HEEDS_MEASURE = 1 << 11,     /* --measure */
	HEEDS_EVENTS = 1 << 15,      /* --events */
	HEEDS_LIMIT = 1 << 16,       /* --limit of an analysis without tables */
	HEEDS_DETAIL = 1 << 17,      /* --detail */
	HEEDS_AGAINST = 1 << 18,     /* --against */
	HEEDS_NODES = 1 << 10,       /* --node */
	HEEDS_SCOPE = HEEDS_SPAN_OF_TIME | HEEDS_NODES, /* set by `run` */
};

/* The forms of an analysis: sums, the longest, a histogram of durations, all rows. */
enum { FORM_STATS = 1, FORM_TOP = 2, FORM_FREQ = 4, FORM_LOG = 8 };

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_MARKDOWN };

/* Ranges of integers: "0,4-7". An empty list contains every integer. */
struct range_list {
	struct range {
		int64_t least, most;
	} * item;
	size_t count, capacity;
};

bool range_list_has(const struct range_list *list, int64_t value);

struct catalog;

/* The options of the command line. */
struct request {
	/* as typed */
	char *begin, *end, *timerange, *min, *max, *interval_text;
	char *min_size, *max_size;
	struct text_list cpu_words, tid_words, pid_words, irq_words, softirq_words;
	bool stats, top, freq, log;
	int limit_given, detail_given; /* -1 without the option */
	/* for all */
	char *output, *table, *sort, *group, *tables;
	int format, print_sql; /* enum format and sql_dialect; -1 without the option */
	bool quiet, local_time, list;
	const struct catalog *catalog; /* the program's, of all analyses */
	struct text_list sql, aliases; /* NAME=ALIAS */
	struct text_list against;      /* paths of timelines */
	char *plot, *from, *to, *request_text;
	/* as understood by request_check */
	struct text_list nodes, names, metrics, items, events, measures; /* globs */
	struct range_list cpus, tids, pids, irqs, softirqs;
	nsec_t min_ns, max_ns;           /* NSEC_MIN, NSEC_MAX: open */
	int64_t least_bytes, most_bytes; /* 0, INT64_MAX: open */
	nsec_t interval_ns;              /* 0 without the option */
	int64_t request;                 /* message.id; 0 without the option */
	unsigned forms;                  /* 0 without options for them */
};

/* Rows of the option table, without the last. */
enum { REQUEST_ROWS = 42 };

void request_init(struct request *request);

/* Fill `rows`, which has space for REQUEST_ROWS + 1, with the options that every analysis
 * accepts and those of the bits in `heeds`. Return their number. */
size_t request_rows(struct request *request, struct option_row *rows, unsigned heeds);

/* Parse the arguments of all options. Return 0, or -1 with error (misuse). */
int request_check(struct request *request, struct error *error);

/* Return an option that was given but needs none of these bits, or NULL. */
const char *request_unheeded(const struct request *request, unsigned heeds);

/* Parse a time span: "1.5ms", "20us", "3s", "700ns", or microseconds without a unit.
 * Return 0, or -1. */
int request_parse_span(const char *text, nsec_t *span);

/* Parse a size: "4096", "4k" or "4KiB", or "4kB" (4000 bytes). Return 0, or -1. */
int request_parse_size(const char *text, int64_t *bytes);

void request_clear(struct request *request);

#endif
