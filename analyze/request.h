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
	HEEDS_LIMIT = 1 << 16,       /* --limit, where there is no table */
	HEEDS_DETAIL = 1 << 17,      /* --detail */
	HEEDS_NODES = 1 << 10,       /* --node */
	HEEDS_SCOPE = HEEDS_SPAN_OF_TIME | HEEDS_NODES, /* set by `run` */
};

/* How much is said: of each thing, the longest, how often how long, and everything. */
enum { FORM_STATS = 1, FORM_TOP = 2, FORM_FREQ = 4, FORM_LOG = 8 };

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_MARKDOWN };

/* What integers were asked for: "0,4-7". None: all. */
struct range_list {
	struct range {
		int64_t least, most;
	} * item;
	size_t count, capacity;
};

bool range_list_has(const struct range_list *list, int64_t value);

struct catalog;

/* What was asked for on the command line. */
struct request {
	/* as typed */
	char *begin, *end, *timerange, *min, *max, *interval_text;
	char *min_size, *max_size;
	struct text_list cpu_words, tid_words, pid_words, irq_words, softirq_words;
	bool stats, top, freq, log;
	int limit_given, detail_given; /* -1: not given */
	/* for all */
	char *output, *table, *sort, *group, *tables;
	int format, print_sql; /* enum format and sql_dialect; -1: not given */
	bool quiet, local_time, list;
	const struct catalog *catalog; /* the program's, of all analyses */
	struct text_list sql, aliases; /* NAME=ALIAS */
	char *plot, *from, *to, *request_text;
	/* as understood by request_check */
	struct text_list nodes, names, metrics, items, events, measures; /* globs */
	struct range_list cpus, tids, pids, irqs, softirqs;
	nsec_t min_ns, max_ns;           /* NSEC_MIN, NSEC_MAX: open */
	int64_t least_bytes, most_bytes; /* 0, INT64_MAX: open */
	nsec_t interval_ns;              /* 0: none */
	int64_t request;                 /* message.id; 0: none was asked for */
	unsigned forms;                  /* 0: none was asked for */
};

/* Rows of the option table, without the last. */
enum { REQUEST_ROWS = 41 };

void request_init(struct request *request);

/* Fill the rows, for options_parse, with those of which `heeds` has a bit, or which are
 * for all. Returns how many; `rows` has room for REQUEST_ROWS + 1. */
size_t request_rows(struct request *request, struct option_row *rows, unsigned heeds);

/* Understand what was typed. 0, or -1 with error: misuse. */
int request_check(struct request *request, struct error *error);

/* An option that was given and that needs one of these bits; NULL: none. */
const char *request_unheeded(const struct request *request, unsigned heeds);

/* A span as typed: "1.5ms", "20us", "3s", "700ns"; without a unit it is microseconds. 0,
 * or -1. */
int request_parse_span(const char *text, nsec_t *span);

/* A size as typed: "4096", "4k" and "4KiB", "4kB" of 1000; to bytes. 0, or -1. */
int request_parse_size(const char *text, int64_t *bytes);

void request_clear(struct request *request);

#endif
