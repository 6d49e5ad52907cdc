/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_H
#define CT_INPUT_SADF_H

#include <stdint.h>

#include "base/nsec.h"
#include "base/problem.h"

/*
 * What is known of the metrics of sysstat (sar, sadf), by their names. The
 * texts are constants.
 */
enum metric_kind {
	METRIC_UNKNOWN,
	METRIC_GAUGE, /* a level: at the instant, or a mean of the interval */
	METRIC_RATE,  /* so many a second, over the interval */
	METRIC_TEXT,  /* no number */
};

struct sadf_metric {
	const char *activity;  /* "cpu", "memory", "disk", ...; NULL: unknown */
	const char *unit;      /* "percent", "kB", "/s", ...; NULL: unknown */
	const char *item_type; /* "cpu", "disk", "interface", ...; NULL: unknown, none */
	enum metric_kind kind;
};

/* "gauge", "rate", "text"; "" for unknown. */
const char *metric_kind_name(enum metric_kind kind);

/*
 * What sar recorded of a node, as text made by `LC_ALL=C sadf -p -U FILE -- -A`:
 * one value a line, HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between.
 * Stamps are the real-time clock's, and are at the end of their interval.
 *
 * Of interrupts sadf gives the interrupt as item ("27", "sum") and the processor
 * as metric ("cpu0", "all"); they are handed on so.
 */
struct sadf_row {
	const char *host;
	nsec_t interval_ns; /* in whole seconds, as sar rounds it */
	nsec_t realtime_ns;
	const char *item;   /* "cpu0", "eth0", ...; "-" where there is none */
	const char *metric; /* "%usr", "rxkB/s", ... */
	struct sadf_metric about;
	const char *text; /* the value as it stands */
	double value;     /* NaN if about.kind is METRIC_TEXT */
	uint64_t line;
};

enum sadf_mark_kind {
	SADF_RESTART, /* the node was started, or sar's service was */
	SADF_COMMENT, /* put in by `sadc -C TEXT` */
};

struct sadf_mark {
	enum sadf_mark_kind kind;
	const char *host;
	nsec_t realtime_ns;
	const char *text; /* of a comment; of a restart "(2 CPU)" or "" */
	uint64_t line;
};

/*
 * Who gets rows and marks, in the order of the file; texts are valid until the
 * call returns. What is above 0 ends the reading. sadf repeats comments for each
 * activity; they are handed on once. `mark` may be NULL.
 */
struct sadf_sink {
	int (*row)(void *context, const struct sadf_row *row);
	int (*mark)(void *context, const struct sadf_mark *mark);
	void *context;
};

/*
 * Read such a text. 0; -1 where nothing was read, which is a problem; or what
 * the sink returned. Lines that are broken are reported and left out; so is
 * a last line without an end, as its value may be cut.
 */
int sadf_read(const char *path, const struct sadf_sink *sink,
	      struct problem_list *problems);

#endif
