/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_CHARGE_H
#define CT_EXPORT_OPENDC_CHARGE_H

#include "export/opendc/usage.h"

/* Whose task processor time and memory are. */
struct opendc_charger {
	struct opendc_cluster *cluster;
	struct opendc_tasks *tasks;
	struct opendc_usage *usage;
	struct opendc_claim *active; /* scratch: claims of one stretch */
	size_t room;
};

struct opendc_stretch {
	int64_t node, process; /* indexes; process OPENDC_NONE: not known */
	nsec_t begin_ns, end_ns;
	double share; /* of that time it ran: 1, or less where that is a mean */
	double mhz;
};

/*
 * Count a stretch of processor time to its task, and in the node's account. Time of a
 * process outside of its own invocations is its nearest ancestor's; where several of one
 * process run at once they share it equally. 0, or -1 with error.
 */
int opendc_charge(struct opendc_charger *charger, const struct opendc_stretch *stretch,
		  struct error *error);

/* The task that a process works for at a time; OPENDC_NONE. Of several the last begun. */
int64_t opendc_task_at(const struct opendc_charger *charger, int64_t process,
		       nsec_t when);

/* A process has these bytes of memory from now on: its task's peak may rise. */
void opendc_hold(struct opendc_charger *charger, int64_t process, nsec_t when,
		 int64_t bytes);

void opendc_charger_clear(struct opendc_charger *charger);

#endif
