/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PARTS_H
#define CT_MERGE_PARTS_H

#include "base/options.h"
#include "base/output_directory.h"
#include "base/progress.h"
#include "merge/requests.h"
#include "merge/run.h"

/*
 * A part: the timeline of one node as a directory of Parquet tables that other parts can
 * be joined with, and a small timeline, part.db, of what the join needs: the short
 * tables, and the messages and requests of which the node knows one end. Whole if part.db
 * is there.
 */
extern const struct output_kind part_directory;

struct part {
	const char *timeline;  /* its path: whole, of one node, and written as a part */
	const char *directory; /* the tables and part.db come to it */
	const struct merge_run *run;
	const struct requests *requests;
	int threads;
	struct progress *progress;
};

/* 0, or -1 with error. The timeline is of no use then. */
int part_write(const struct part *part, struct error *error);

/*
 * Join parts to tables that are one timeline's: DIR/TABLE/part=NODE/ has links to the
 * files of each part, and DIR/TABLE.parquet what stands once. Pairs the messages and
 * requests of which each part has one end, and names the tables of the classes. `parts`
 * are directories; `command` is how it was called. 0, or -1 with error.
 */
int parts_join(const struct text_list *parts, const char *output, const char *command,
	       struct progress *progress, struct error *error);

#endif
