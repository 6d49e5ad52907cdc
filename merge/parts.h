/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PARTS_H
#define CT_MERGE_PARTS_H

#include "base/options.h"
#include "base/output_directory.h"
#include "base/progress.h"
#include "merge/requests.h"
#include "merge/run.h"

/*
 * A part: the timeline of one node as a directory of Parquet tables, which can be joined
 * with other parts, and a small timeline, part.db, with the rest that the join needs: the
 * short tables, and the messages and requests with one end on the node. The part is
 * complete if part.db exists.
 */
extern const struct output_kind part_directory;

struct part {
	const char *timeline;  /* its path: whole, of one node, and written as a part */
	const char *directory; /* for the tables and part.db */
	const struct merge_run *run;
	const struct requests *requests;
	int threads;
	struct progress *progress;
};

/* Write a part. Return 0, or -1 with error; then the timeline must not be used. */
int part_write(const struct part *part, struct error *error);

/*
 * Join parts to the tables of one timeline: DIR/TABLE/part=NODE/ has links to the files
 * of each part, and DIR/TABLE.parquet is a table that is not split. Pair the messages and
 * requests that each part has one end of, and name the tables of the classes. `parts`
 * are directories; `command` is the command line. Return 0, or -1 with error.
 */
int parts_join(const struct text_list *parts, const char *output, const char *command,
	       struct progress *progress, struct error *error);

#endif
