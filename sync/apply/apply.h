/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_APPLY_H
#define CT_SYNC_APPLY_APPLY_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "clock/clock.h"
#include "clock/map.h"
#include "input/run.h"
#include "sync/observe/observe.h"

struct apply_request {
	const struct observations *seen;
	const struct source_list *sources; /* those that were observed */
	const struct clock_map *map;       /* its clocks are the traces of `seen` */
	const char *directory;
};

/*
 * Write each CTF trace and each capture of the map again, on its reference's clock, to
 * directory/NAME, and print to `talk` how exact each one is. NAME is the trace's name as
 * a file name (base/names.h). All appear together; if one of the names exists already,
 * none does. A source that cannot be written becomes a problem. Return 0, or -1 with
 * error if the directory cannot be written.
 */
int apply_run(const struct apply_request *request, FILE *talk,
	      struct problem_list *problems, struct error *error);

/*
 * Write a capture again, with its times on the reference's clock, in nanoseconds: to
 * `target`, a new file, or a new directory of the files of a rotated capture. Return 0
 * and what the program prints of it, which the caller frees; or with error, and without
 * the target, 1 if the capture cannot have that clock, or -1 if something failed.
 */
int apply_to_capture(const struct clock *clock, const struct source *source,
		     const struct trace_facts *facts, const char *target,
		     char **exactness, struct error *error);

/* Return the name for a capture's copy: it ends as the capture's own. The caller frees
 * it. */
char *apply_capture_name(const char *trace, const struct source *source);

/* Return the clock's widest bound in nanoseconds, or INFINITY if a side has none. */
double apply_widest_bound(const struct clock *clock);

/*
 * Make `target` (a new directory) a CTF trace that any viewer shows on the
 * reference clock: the streams of the trace at clock->path hard-linked (else copied; not
 * what directories in it hold, as `index`), and a metadata file whose clock class has the
 * fitted frequency and offset, and, in CTF 2, its precision and accuracy: how far a stamp
 * may stray from the fit, and the clock's widest bound (not known where a side has none).
 * Return 0, or with error and without the target 1 if the trace cannot have such a clock
 * (one of several segments, say), or -1 if something failed.
 *
 * residual_ns is how far any stamp may stray from the fit, as a clock class has an
 * integer frequency. It is for viewers that convert the offset and the value one by
 * one, as babeltrace2 does. One that puts their sum into a double (Trace
 * Compass) shows steps of 256 ns with any frequency but 10^9.
 */
int apply_clock(const struct clock *clock, const char *target, double *residual_ns,
		struct error *error);

/*
 * The metadata of a trace, and in it the clock class. CTF 1.8: text in TSDL, plain or
 * wrapped in packets (CTF 1.8.3, section 7.1). CTF 2: a sequence of JSON texts, each
 * behind a record separator. The clock class says what the streams' clock values mean:
 *
 *	ns = offset_s * 10^9 + (value + offset) * 10^9 / frequency
 */
struct clock_class {
	uint64_t frequency; /* cycles a second, 1 to CLOCK_CLASS_FASTEST */
	int64_t offset_s;   /* seconds since the epoch, +-CLOCK_CLASS_FARTHEST */
	uint64_t offset;    /* cycles */
	/*
	 * In cycles; CTF 2 has both (CTF2-SPEC-2.0, 5.6): what a stamp may be off by
	 * itself, and all stamps alike. An accuracy of -1 is not known.
	 */
	int64_t precision, accuracy;
};

/* Limits within which 128-bit integers hold every sum with a clock class. */
#define CLOCK_CLASS_FASTEST  UINT64_C(1000000000000000000)
#define CLOCK_CLASS_FARTHEST INT64_C(9223372036)

/*
 * The text of a metadata file, unwrapped, for the caller to free. NULL with
 * error, which names the file, where there is none or it is no text.
 */
char *metadata_read(const char *path, struct error *error);

/*
 * The clock class that a metadata text describes. 0, or -1 with error where it holds
 * none, more than one, or cannot be understood.
 */
int metadata_clock(const char *text, struct clock_class *class, struct error *error);

/*
 * A text that metadata_clock understood with its clock class's numbers replaced, as
 * plain-text metadata, for the caller to free; nothing else changes.
 */
char *metadata_with_clock(const char *text, const struct clock_class *class);

/*
 * The clock class that shows a trace on the reference clock: for every clock
 * value of the trace, its time by `fitted` is the corrected time by `recorded`
 * as nearly as a whole number of cycles a second allows. It is nearest in the
 * middle of the trace.
 *
 * residual_ns is how far any stamp of the trace may stray from the line of the
 * clock's one segment, the viewer's own rounding included. Viewers cut offset
 * and value to whole nanoseconds each, where the frequency is not 10^9.
 *
 * 0, or -1 with error where the clock leaves what a class can say.
 */
int clock_class_fit(const struct clock *clock, const struct clock_class *recorded,
		    struct clock_class *fitted, double *residual_ns, struct error *error);

#endif
