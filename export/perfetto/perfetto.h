/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PERFETTO_H
#define CT_EXPORT_PERFETTO_PERFETTO_H

#include "base/error.h"
#include "base/problem.h"
#include "base/progress.h"
#include "export/perfetto/names.h"
#include "export/perfetto/rows.h"
#include "export/perfetto/writer.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/* What a trace may hold, for --tracks. */
enum perfetto_part {
	PART_STATES = 1 << 0,
	PART_CPUS = 1 << 1,
	PART_INTERRUPTS = 1 << 2,
	PART_SYSCALLS = 1 << 3,
	PART_DISKS = 1 << 4,
	PART_MESSAGES = 1 << 5,
	PART_SAMPLES = 1 << 6,
	PART_CLOCKS = 1 << 7,
	PART_TASKS = 1 << 8,
};

/* What the parts share; all borrowed. */
struct perfetto {
	struct timeline_reader *timeline;
	const struct scope *scope;
	struct perfetto_names *names;
	struct perfetto_rows *rows;
	struct perfetto_writer *writer;
	struct problem_list *notes; /* what the user should know */
	struct progress *progress;
	unsigned parts; /* of enum perfetto_part */
};

/*
 * Put the parts on their tracks, each what lies within the scope. 0, or -1; with
 * error, or without where it is the file that cannot be written.
 */
int perfetto_add_spans(struct perfetto *perfetto, struct error *error);
int perfetto_add_messages(struct perfetto *perfetto, struct error *error);
int perfetto_add_samples(struct perfetto *perfetto, struct error *error);
int perfetto_add_clocks(struct perfetto *perfetto, struct error *error);
int perfetto_add_tasks(struct perfetto *perfetto, struct error *error);

#endif
