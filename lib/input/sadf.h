/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_H
#define CT_INPUT_SADF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"
#include "problem/problem.h"

struct problem_log;

/* A metric of sysstat (sar, sadf), by its name. The strings are constants. */
struct sadf_metric {
	const char *activity; /* "cpu", "memory", "disk", ...; NULL if unknown */
	const char *unit;     /* "percent", "kB", "/s", ...; NULL if unknown */
	const char
	    *item_type; /* "cpu", "disk", "interface", ...; NULL if unknown or none */
	/*
	 * "gauge": a level, at the instant or averaged over the interval; "rate": a
	 * number per second, over the interval; "text": not a number; NULL if unknown.
	 */
	const char *kind;
};

/*
 * A reader of what sar recorded on a node, in the form that `LC_ALL=C sadf -p -U FILE --
 * -A` prints: one value per line, HOST INTERVAL SECONDS ITEM METRIC VALUE, separated by
 * tabs. Timestamps are of the real-time clock, at the end of their interval.
 *
 * For interrupts sadf prints the interrupt as item ("27", "sum") and the processor as
 * metric ("cpu0", "all"); the rows keep that.
 */
enum sadf_kind {
	SADF_VALUE,
	SADF_RESTART, /* the node or sar's service was started */
	SADF_COMMENT, /* added by `sadc -C TEXT` */
};

struct sadf_row {
	enum sadf_kind kind;
	const char *host;
	nsec_t realtime_ns;
	const char
	    *text; /* the unparsed value; for a restart "(2 CPU)" or ""; the comment */
	uint64_t line;

	/* Only for values. */
	nsec_t interval_ns; /* in whole seconds, as sar rounds it */
	const char *item;   /* "cpu0", "eth0", ...; "-" if there is none */
	const char *metric; /* "%usr", "rxkB/s", ... */
	struct sadf_metric about;
	double value; /* NaN if the value is text */
};

/* Open a file. Return NULL with a problem if it cannot be read. */
struct sadf *sadf_open(const char *path, struct problem_log *log);

/*
 * Read the next row. Its strings are valid until the next call. sadf repeats comments for
 * each activity; they are delivered once. Damaged lines are skipped with a problem, and
 * so is a last line without a line end, because its value may be truncated. Return false
 * at the end.
 */
bool sadf_next(struct sadf *sadf, struct sadf_row *row);

void sadf_close(struct sadf *sadf);

#endif
