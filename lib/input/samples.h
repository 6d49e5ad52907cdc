/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_SAMPLES_H
#define CT_INPUT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"
#include "input/csv.h"
#include "problem/problem.h"

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

/*
 * What a node's real-time clock read when its monotonic clock read something
 * else: clock.csv. With it, stamps of the one are placed on the other.
 *
 * The monotonic clock never steps, the real-time clock may. The samples fall
 * into sections without a step: within a section the relation is linear from
 * sample to sample, and beyond the first and last sample of all it goes on at
 * the mean rate of the nearest section (at 1 where that is a single sample).
 */
struct clock_sample {
	nsec_t realtime_ns, monotonic_ns;
};

struct clock_section {
	size_t first, last; /* samples; real time ascends from first to last */
};

struct clock_samples {
	struct clock_sample *sample; /* by ascending monotonic_ns */
	size_t samples;
	struct clock_section *section; /* by ascending monotonic_ns */
	size_t sections;
	bool has_boot;          /* some line says what CLOCK_BOOTTIME read */
	bool is_boot_monotonic; /* the same as CLOCK_MONOTONIC, in all of these lines */
};

/*
 * Read a clock.csv: realtime_ns,monotonic_ns with or without a header line. A third
 * column, boottime_ns, tells whether the machine was ever suspended.
 * Steps of the real-time clock are reported: changes of its offset by more than
 * 1 ms, 1000 ppm and 8 times what is usual between two samples, whichever is
 * most, as coarse or late readings are no steps. Where the monotonic clock
 * falls back while the real-time clock goes on, the node was started anew: what
 * follows is another clock, reported and left out. 0, or -1 where there is no
 * sample at all, which is a problem.
 */
int clock_samples_read(struct clock_samples *samples, const char *path,
		       struct problem_list *problems);

/*
 * An instant of the other clock. `doubt_ns` is how far off it may be because of
 * a step: 0 within a section.
 */
struct clock_place {
	nsec_t ns;
	nsec_t doubt_ns;
};

/*
 * Where a real-time stamp lies on the monotonic axis. Stamps that a step forward
 * leaps over are spread over the time between its two samples. Of stamps that may
 * belong to several times, around a step, the earliest is taken. There must be a
 * sample.
 */
struct clock_place clock_samples_monotonic(const struct clock_samples *samples,
					   nsec_t realtime_ns);

/*
 * The offset of the real-time clock from the monotonic clock in a section, from its first
 * to its last sample. The bounds hold for every sample or, if the samples contradict each
 * other, include the offsets of all. A sample is as exact as its digits, and took at most
 * CLOCK_SAMPLE_NS.
 */
#define CLOCK_SAMPLE_NS (10 * NSEC_PER_USEC)

struct realtime_offset {
	nsec_t from_ns, to_ns; /* on the monotonic clock */
	nsec_t low_ns, high_ns;
	uint64_t samples;
};

struct realtime_offset clock_samples_offset(const struct clock_samples *samples,
					    size_t section);

void clock_samples_clear(struct clock_samples *samples);

#endif
