/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CLOCK_SAMPLES_H
#define CT_INPUT_CLOCK_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"
#include "problem/problem.h"

/*
 * Simultaneous readings of a node's real-time and monotonic clocks, from clock.csv. They
 * convert timestamps between the two.
 *
 * The monotonic clock never steps, the real-time clock may. The samples are divided into
 * sections without a step. Within a section the relation is linear between samples;
 * before the first and after the last sample it continues at the mean rate of the nearest
 * section, or at 1 if that has a single sample.
 */
struct clock_sample {
	nsec_t realtime_ns, monotonic_ns;
};

struct clock_section {
	size_t first, last; /* indexes of samples; real time ascends from first to last */
};

struct clock_samples {
	struct clock_sample *sample; /* sorted by monotonic_ns */
	size_t samples;
	struct clock_section *section; /* sorted by monotonic_ns */
	size_t sections;
	bool has_boot;          /* some line says what CLOCK_BOOTTIME read */
	bool is_boot_monotonic; /* the same as CLOCK_MONOTONIC, in all of these lines */
};

/*
 * Read a clock.csv: realtime_ns,monotonic_ns with or without a header line. A third
 * column, boottime_ns, shows whether the machine was ever suspended.
 *
 * Steps of the real-time clock are reported: changes of its offset between two samples by
 * more than the largest of 1 ms, 1000 ppm and 8 times the usual change, so that coarse or
 * late readings do not count. If the monotonic clock goes back while the real-time clock
 * continues, the node was restarted: the samples after that are of another clock, and
 * are reported and skipped. Return 0, or -1 if there are no samples, which is a problem.
 */
int clock_samples_read(struct clock_samples *samples, const char *path,
		       struct problem_list *problems);

/*
 * An instant of the other clock. `doubt_ns` is its largest error because of a step; 0
 * within a section.
 */
struct clock_place {
	nsec_t ns;
	nsec_t doubt_ns;
};

/*
 * Convert a real-time timestamp to the monotonic clock. Timestamps within a forward step
 * are spread over the time between its two samples. If a timestamp belongs to several
 * times, around a step back, the result is the earliest. There must be at least one
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
