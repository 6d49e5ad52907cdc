/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SADF_SADF_H
#define CT_INPUT_SADF_SADF_H

#include <stdint.h>

#include "base/nsec.h"
#include "base/problem.h"
#include "input/sadf/metrics.h"

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

/*
 * Read a binary log of sar by running this machine's sadf on it, without a
 * shell. Where sadf is not there or fails, the problem has the first line that
 * it said; the rows before are used. Returns as sadf_read does.
 */
int sadf_read_binary(const char *path, const struct sadf_sink *sink,
		     struct problem_list *problems);

#endif
