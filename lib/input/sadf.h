/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_H
#define CT_INPUT_SADF_H

#include <stdint.h>

#include "base/nsec.h"
#include "input/csv.h"

/*
 * What is known of the metrics of sysstat (sar, sadf), by their names. The
 * texts are constants.
 */
struct sadf_metric {
	const char *activity;  /* "cpu", "memory", "disk", ...; NULL: unknown */
	const char *unit;      /* "percent", "kB", "/s", ...; NULL: unknown */
	const char *item_type; /* "cpu", "disk", "interface", ...; NULL: unknown, none */
	/*
	 * "gauge": a level, at the instant or a mean of the interval; "rate": so many a
	 * second, over the interval; "text": no number; NULL: unknown.
	 */
	const char *kind;
};

/*
 * What sar recorded of a node, as text made by `LC_ALL=C sadf -p -U FILE -- -A`:
 * one value a line, HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between.
 * Stamps are the real-time clock's, and are at the end of their interval.
 *
 * Of interrupts sadf gives the interrupt as item ("27", "sum") and the processor
 * as metric ("cpu0", "all"); they are handed on so.
 */
enum sadf_kind {
	SADF_VALUE,
	SADF_RESTART, /* the node was started, or sar's service was */
	SADF_COMMENT, /* put in by `sadc -C TEXT` */
};

struct sadf_row {
	enum sadf_kind kind;
	const char *host;
	nsec_t realtime_ns;
	const char *text; /* the value as it stands; "(2 CPU)" or ""; the comment */
	uint64_t line;

	/* Of values. */
	nsec_t interval_ns; /* in whole seconds, as sar rounds it */
	const char *item;   /* "cpu0", "eth0", ...; "-" where there is none */
	const char *metric; /* "%usr", "rxkB/s", ... */
	struct sadf_metric about;
	double value; /* NaN of texts */
};

/* NULL where it cannot be read, which is a problem. */
struct sadf *sadf_open(const char *path, struct problem_log *log);

/*
 * The next row; its texts are valid until the next call. sadf repeats comments for each
 * activity; they come once. Lines that are broken are problems and are left out; so is a
 * last line without an end, as its value may be cut. False at the end.
 */
bool sadf_next(struct sadf *sadf, struct sadf_row *row);

void sadf_close(struct sadf *sadf);

#endif
