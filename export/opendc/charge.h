/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_CHARGE_H
#define CT_EXPORT_OPENDC_CHARGE_H

#include "export/opendc/tasks.h"

/*
 * Whose task processor time and memory are, and the work of tasks by their fragments.
 *
 * Fragments begin at the multiples of the interval since the epoch, but for a task's
 * first, and whole milliseconds after the task's begin: those of the interval, rounded
 * up. So their lengths sum to the task's, and what a task works within a fragment never
 * exceeds what its processors can do in it.
 */
struct opendc_charger {
	struct opendc_cluster *cluster;
	struct opendc_tasks *tasks;
	struct export *export;
	const struct opendc_choice *choice;
	struct timeline_query *spans; /* what a thread ran */
	struct opendc_step *step; /* of the processors' speed, by processor, then time */
	size_t steps, step_room;
	struct opendc_claim *active; /* scratch: claims of one stretch */
	size_t room;
	double work;  /* of all tasks, in MHz times nanoseconds */
	bool sampled; /* some of it is by samples */
};

struct opendc_stretch {
	int64_t node, process; /* indexes; process OPENDC_NONE: not known */
	nsec_t begin_ns, end_ns;
	double share; /* of that time it ran: 1, or less where that is a mean */
	double mhz;
};

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

/*
 * Begin: read the speeds of processors, which nodes without any get as theirs, and add up
 * what each node ran, idle or of whom nothing is known. Tasks are of no more fragments
 * than files can have, or it is an error: a stamp far off, say, makes tasks of years. 0,
 * or -1 with error.
 */
int opendc_charger_init(struct opendc_charger *charger, struct error *error);

/* Charge what the process ran. 0, or -1 with error. */
int opendc_charge_process(struct opendc_charger *charger, int64_t process,
			  struct error *error);

/* Count a stretch that samples tell of to its task, and in the node's account. */
void opendc_charge_sampled(struct opendc_charger *charger,
			   const struct opendc_stretch *stretch);

/* The work of a task by fragments in which it worked, each once. Gives back how many. */
size_t opendc_sum_work(struct opendc_task *task);

/* Whether what nodes ran went where it should, to 1 ppm: 0, or -1 with error. */
int opendc_check_accounts(const struct opendc_charger *charger, struct error *error);

/* The task that a process works for at a time; OPENDC_NONE. Of several the last begun. */
int64_t opendc_task_at(const struct opendc_charger *charger, int64_t process,
		       nsec_t when);

/* A process has these bytes of memory from now on: its task's peak may rise. */
void opendc_hold(struct opendc_charger *charger, int64_t process, nsec_t when,
		 int64_t bytes);

void opendc_charger_clear(struct opendc_charger *charger);

/*
 * Samples of processes (proc.csv of a run, opendc/samples.c). Of nodes without events of
 * their scheduler: add processes that only samples tell of; and charge the processor time
 * between samples, spread evenly; `sampled` says whether there was any. Of all nodes:
 * the memory. 0, or -1 with error.
 */
int opendc_find_sampled(struct opendc_cluster *cluster, struct export *export,
			struct error *error);
int opendc_charge_samples(struct opendc_charger *charger, struct error *error);
int opendc_hold_samples(struct opendc_charger *charger, struct error *error);

/*
 * Memory of tasks by the kernel's events (opendc/pages.c): rss_stat, which tells a
 * process's resident memory, and mm_page_alloc and mm_page_free, by which a task holds
 * the pages that its threads allocated since the trace began, until anybody frees them.
 * 0, or -1 with error.
 */
int opendc_hold_pages(struct opendc_charger *charger, struct error *error);

#endif
