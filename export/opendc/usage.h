/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_USAGE_H
#define CT_EXPORT_OPENDC_USAGE_H

#include "export/opendc/tasks.h"

/*
 * The work that tasks did, by their fragments. It comes in the order of time and is
 * wanted in the order of tasks: what does not fit into memory is sorted and put aside,
 * and merged at the end.
 *
 * Fragments begin at the multiples of the interval since the epoch, but for a task's
 * first, and whole milliseconds after the task's begin: those of the interval, rounded
 * up. So their lengths sum to the task's, and what a task works within a fragment never
 * exceeds what its processors can do in it.
 */
struct opendc_usage;

/* Whether tasks are of so many fragments as files can have: 0, or -1 with error. A stamp
 * far off, say, makes tasks of years. */
int opendc_usage_check(const struct opendc_tasks *tasks, int64_t interval_ms,
		       struct error *error);

/* Borrows the tasks. */
struct opendc_usage *opendc_usage_new(struct opendc_tasks *tasks, int64_t interval_ms);

/*
 * A task worked from begin to end at some MHz. Time ahead of its begin counts with its
 * first fragment; time after its end with a later one, which is there if the end is
 * moved. 0, or -1 with error, which is final.
 */
int opendc_usage_add(struct opendc_usage *usage, int64_t task, nsec_t begin_ns,
		     nsec_t end_ns, double mhz, struct error *error);

/* All is added: go back to the first task. 0, or -1 with error. */
int opendc_usage_finish(struct opendc_usage *usage, struct error *error);

struct opendc_work {
	uint32_t index; /* of the fragment */
	double work;    /* MHz times nanoseconds */
};

/* The fragments of a task in which it worked, by index; for one task after the other,
 * from the first. Theirs until the next call. 0, or -1 with error. */
int opendc_usage_next(struct opendc_usage *usage, const struct opendc_work **work,
		      size_t *count, struct error *error);

void opendc_usage_free(struct opendc_usage *usage);

/* How a task is cut: lengths of the first, of the others but the last, and of all, in
 * milliseconds; and how many they are. */
struct opendc_cuts {
	int64_t first_ms, interval_ms, all_ms;
	uint64_t fragments;
};

void opendc_cut(const struct opendc_task *task, int64_t interval_ms,
		struct opendc_cuts *cuts);

/* Length of the n-th fragment. */
int64_t opendc_length(const struct opendc_cuts *cuts, uint64_t index);

#endif
