/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_EVENT_FILES_H
#define CT_MERGE_EVENT_FILES_H

#include "base/output_directory.h"
#include "merge/event_class.h"

/*
 * Events as Parquet files in place of a timeline: the tables node, event_class, event and
 * those of the classes (docs/schema.md), not compressed. Classes with different columns
 * are different here, also if they have the same name.
 */
struct event_files;

extern const struct output_kind event_files_directory;

/* Create the files of `event` and of `node`, with the run's nodes; with `payload` there
 * will be files of classes, too. Borrows the directory. Return NULL with error. */
struct event_files *event_files_new(const char *directory, const struct merge_run *run,
				    bool payload, struct error *error);

/* Add an event of a source, in the order of time. Return 0, or -1 if writing failed;
 * event_files_end() then returns an error. */
int event_files_add(struct event_files *files, const struct merge_source *source,
		    struct event_class *class, const struct merged_event *event,
		    struct error *error);

/* Finish the files, if all is `complete`, and free. Texts that were not UTF-8 become a
 * problem in `notes`. Return 0, or -1 with error or with the one that there is. */
int event_files_end(struct event_files *files, bool complete, struct problem_list *notes,
		    struct error *error);

#endif
