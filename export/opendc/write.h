/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_WRITE_H
#define CT_EXPORT_OPENDC_WRITE_H

#include "export/opendc/opendc.h"
#include "export/opendc/usage.h"

/*
 * Write the fragments of all tasks, and with what they came to the tasks themselves.
 * Tasks get their capacities. 0, or -1 with error.
 */
int opendc_write(struct opendc_tasks *tasks, const struct opendc_cluster *cluster,
		 struct opendc_usage *usage, const struct opendc_choice *choice,
		 struct export *export, struct error *error);

/* topology.json, after that: the nodes, by the names of their hosts. */
int opendc_write_topology(const struct opendc_cluster *cluster,
			  const struct opendc_tasks *tasks,
			  const struct opendc_choice *choice, struct export *export,
			  struct error *error);

/* Kilobytes, of 1000 bytes, that a task needs. */
int64_t opendc_memory_kb(const struct opendc_task *task,
			 const struct opendc_choice *choice);

#endif
