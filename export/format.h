/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_FORMAT_H
#define CT_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/options.h"
#include "base/progress.h"
#include "problem/problem.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * A format is one file of code, export/NAME.c, with one `const struct export_format`,
 * which stands in the list of ctexport.c. The program does what all formats share: it
 * parses the options, opens the timeline and the output, calls run(), and puts the
 * output in its place, or removes it, also where a signal comes.
 */
enum export_target {
	EXPORT_TO_FILE,      /* -o FILE or standard output: export->file */
	EXPORT_TO_DIRECTORY, /* -o DIR, which must be given: export->directory */
	EXPORT_TO_ITSELF, /* the format knows; data to stdout, and -o is the format's */
};

/* What this call of the format wants; set by plan(), which sees its options. */
struct export_plan {
	enum export_target target; /* EXPORT_TO_FILE */
	bool binary;               /* no terminal may be its standard output */
};

struct export
{
	char *output;      /* -o as given, NULL: none */
	bool force, quiet; /* --force, --quiet */

	const char *path; /* of the timeline, for messages */
	struct timeline_reader *timeline;
	struct scope scope; /* --begin, --end, --node */

	/* EXPORT_TO_FILE: write here; buffered, and never closed by the format. */
	FILE *file;
	const char *file_name; /* for messages: as given, or "standard output" */

	/*
	 * EXPORT_TO_DIRECTORY: an empty directory, in which the format makes any files
	 * and subdirectories (tables/dataset.h has help). When run() is done all of
	 * it is synced and moved to -o at once.
	 */
	const char *directory;

	/* A line on a terminal while work goes on; the program ends it. */
	struct progress progress;
	/*
	 * What the user should know though the work was done: a fall-back, what was
	 * left out and why. The program prints them; they do not change its status.
	 */
	struct problem_list notes;
};

struct export_format {
	const char *name;
	const char *summary; /* a line for --help: lower case, no full stop */
	const char *usage;   /* of --help: "[OPTION...] RUN.db [-o FILE]" */

	/*
	 * The format's own options, NULL where it has none; their targets are variables
	 * of the format. Not among them may be the common ones: output force begin end
	 * node quiet help version.
	 */
	const struct option_row *rows;

	enum export_target target; /* unless plan() sets another */

	/*
	 * Check the options and say what run() wants; `output` is -o or NULL. NULL: there
	 * is nothing to check. -1 with error is misuse: exit status 2.
	 */
	int (*plan)(const char *output, struct export_plan *plan, struct error *error);

	/* 0, or -1 with error: exit status 1. */
	int (*run)(struct export *export, struct error *error);
};

enum { EXPORT_BUFFER = 64 * 1024 }; /* bytes that are worth a write */

/* Write bytes to the export's file and empty them, where there are at least so many. 0,
 * or -1 with error. */
int export_write(const struct export *export, struct bytes *bytes, size_t at_least,
		 struct error *error);

/* Each is the whole of export/NAME.c, or of what stands in export/NAME/, to others. */
extern const struct export_format export_csv, export_graphite, export_json, export_opendc,
    export_parquet, export_perfetto, export_tracekit;

/*
 * The SQL of formats: files that are built in. In them a line "--- NAME" begins a
 * statement, which is one SELECT. Of "--- table NAME" and "--- table NAME (COLUMNS)" the
 * rows become a temporary table of that name, with an index over the columns ("a; b, c":
 * two); later statements may name it.
 */
extern const char graphite_sql[], opendc_sql[], perfetto_sql[], tracekit_sql[];

struct statement {
	char *name, *sql;
};

/* 0, or -1 with error, which ends the walk. */
typedef int statement_take(void *context, const struct statement *statement,
			   struct error *error);

/* A file's statements in their order: make the tables, with these values of parameters,
 * and hand on all others. 0, or -1 with error. */
int statement_each(struct timeline_reader *timeline, const char *file,
		   const struct cell *value, statement_take *take, void *context,
		   struct error *error);

/* Ask for notes: whose (NULL: the timeline's), kind, count, text. 0, or -1 with error. */
int statement_notes(struct export *export, const struct statement *statement,
		    const struct cell *value, struct error *error);

/* Write an object of JSON that a statement made, on many lines; what could not be written
 * is told when the file is closed. 0, or -1 with error: it is none. */
int statement_json(FILE *file, const struct cell *object, struct error *error);

/* Make the table `chosen` of all nodes: id, name, and whether the scope has it. */
int statement_chosen(const struct export *export, struct error *error);

#endif
