/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PART_H
#define CT_MERGE_PART_H

#include "base/options.h"
#include "base/output.h"
#include "base/progress.h"
#include "merge/requests.h"
#include "merge/run.h"
#include "tables/table_write.h"

/*
 * A part: the timeline of one node as a directory of Parquet tables that other parts can
 * be joined with, and a small timeline, part.db, of what the join needs: the short
 * tables, and the messages and requests of which the node knows one end. Whole if part.db
 * is there.
 */
#define PART_DB "part.db"

/* Its tables, DIR/tables/NAME.parquet; besides, those of the classes. Ends with NULL. */
extern const char *const part_tables[];

/* What stands in part.db; ends with NULL. */
extern const char *const part_short_tables[];

/*
 * A directory that is new, empty, or was made in this way, which is replaced; `list` is
 * the name of its list of files, and its file `mark` is there if and only if all is. 0,
 * or -1 with error.
 */
struct part_output {
	struct output_directory directory;
	struct output_kind kind;
	const char *mark;
};

int part_output_open(struct part_output *output, const char *path, const char *list,
		     const char *mark, struct error *error);
int part_output_commit(struct part_output *output, struct error *error);
void part_output_discard(struct part_output *output);

/* What a part is made of. */
struct part {
	const char *timeline; /* its path: whole, of one node, and written as a part */
	const struct merge_run *run;
	const struct requests *requests;
	int threads;
	struct progress *progress;
};

/* Write the tables and part.db into the directory. 0, or -1 with error. */
int part_write(const struct part *part, struct part_output *output, struct error *error);

/* The file of a table below a directory: DIR/NAME.parquet. For free(). */
char *part_table_file(const char *directory, const char *table);

/* Tables of a timeline, as question_of_part has them, and below which directory. */
struct part_files {
	const struct text_list *tables;
	const char *below;
	int64_t first;
	int threads;
};

/* Write them by the work's `timeline` and `directory`; clears it. 0, or -1 with error. */
int part_write_tables(struct table_work *work, struct timeline_reader *timeline,
		      const struct part_files *files, struct error *error);

/*
 * Add the rows of a SELECT of one timeline to a table of another, `how` is INSERT or
 * such. 0, or -1 with error.
 */
struct part_copy {
	struct timeline_reader *from, *to;
	const char *how, *table;
};

int part_copy_rows(const struct part_copy *copy, const char *select,
		   const struct cell *value, size_t values, struct error *error);

/* Run one statement that gives no rows. 0, or -1 with error. */
int part_run(struct timeline_reader *timeline, const char *sql, const struct cell *value,
	     size_t values, struct error *error);

struct cell part_text(const char *text);

/* Where a part is linked to: `top` is what becomes `output`. */
struct part_link {
	const char *part, *node, *top, *output;
};

/* TABLE/part=NODE/ gets the part's file of the table that is `own` there. 0, or -1. */
int part_link_table(const struct part_link *link, const char *own, const char *table,
		    struct error *error);

#endif
