/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_CHECK_H
#define CT_EXPORT_OPENDC_CHECK_H

#include "export/opendc/ids.h"
#include "export/opendc/input.h"

/* What is kept of each task while a trace is checked. */
struct opendc_checked {
	int64_t submission_ms, duration_ms;
	double cpu_capacity, gpu_capacity; /* NaN: not there */
	int64_t sum_ms;                    /* of its fragments */
	uint64_t fragments;
	int64_t last_ms; /* end of its last fragment, where that has a stamp */
	bool timed;      /* duration_ms is there */
};

/* A relation as one of the two told it: parent, child. */
struct opendc_relation {
	uint32_t parent, child;
};

struct opendc_check {
	struct report report;
	struct opendc_ids ids;
	struct opendc_checked *task;
	size_t tasks, task_room;
	/* By the children's lists of parents, and by the parents' of children. */
	struct opendc_relation *relation[2];
	size_t relations[2], relation_room[2];
	bool told[2]; /* whether there is such a column */
};

/* Lists of the second reading of the tasks, when all ids are known. */
void opendc_check_list(struct opendc_check *check, int64_t task, int which,
		       const struct parquet_list *list);

/* Whether relations are told by both, and make no circle. */
void opendc_check_relations(struct opendc_check *check);

#endif
