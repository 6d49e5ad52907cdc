/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_FORMAT_H
#define CT_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/options.h"
#include "base/output.h"
#include "base/progress.h"
#include "problem/problem.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/* A format: export/NAME.c with a `const struct export_format` that is listed in
 * ctexport.c. The program does what all formats share: it parses the options, opens the
 * timeline and the output, calls run(), and moves the output into place, or removes it
 * after an error or a signal. */
enum export_target {
	EXPORT_TO_FILE,      /* -o FILE or standard output: export->file */
	EXPORT_TO_DIRECTORY, /* -o DIR, which is required: export->directory */
	EXPORT_TO_ITSELF, /* the format decides; data to stdout, and -o is the format's */
};

/* The plan of one export, set by plan() from the options. */
struct export_plan {
	enum export_target target; /* EXPORT_TO_FILE */
	bool binary;               /* no terminal may be its standard output */
};

struct export
{
	char *output;      /* -o, or NULL */
	bool force, quiet; /* --force, --quiet */

	const char *path; /* path of the timeline, for messages */
	struct timeline_reader *timeline;
	struct scope scope; /* --begin, --end, --node */

	/* EXPORT_TO_FILE: buffered; the format does not close it */
	FILE *file;
	const char *file_name; /* for messages: -o, or "standard output" */
	/* A second file that the format opened, or empty. The program commits both. */
	struct output second;

	/* EXPORT_TO_DIRECTORY: an empty directory in which the format creates files and
	 * subdirectories (tables/dataset.h helps). After run() it is synced and moved to
	 * -o at once. */
	const char *directory;

	/* a line on a terminal; the program ends it */
	struct progress progress;
	/* Notes for the user, such as what was omitted and why. They do not change the
	 * exit status. */
	struct problem_list notes;
};

struct export_format {
	const char *name;
	const char *summary; /* a line for --help: lower case, no full stop */
	const char *usage;   /* for --help: "[OPTION...] RUN.db [-o FILE]" */

	/* The format's own options, or NULL. Their targets are variables of the format.
	 * Their names must differ from the common ones: output force begin end node quiet
	 * help version. */
	const struct option_row *rows;

	enum export_target target; /* unless plan() sets another */

	/* Check the options and fill `plan`; `output` is -o or NULL. Return 0, or -1 with
	 * error (misuse). NULL if there is nothing to check. */
	int (*plan)(const char *output, struct export_plan *plan, struct error *error);

	/* Return 0, or -1 with error: exit status 1. */
	int (*run)(struct export *export, struct error *error);
};

enum { EXPORT_BUFFER = 64 * 1024 }; /* bytes that are worth a write */

/* Once `bytes` holds at least `at_least` bytes, write them to the export's file and empty
 * it. Return 0, or -1 with error. */
int export_write(const struct export *export, struct bytes *bytes, size_t at_least,
		 struct error *error);

/* The formats. */
extern const struct export_format export_csv, export_graphite, export_json, export_opendc,
    export_parquet, export_perfetto, export_tracekit;

/* The SQL of formats, built in from files. A line "--- NAME" begins a statement, one
 * SELECT. "--- table NAME" and "--- table NAME (COLUMNS)" store its rows in a temporary
 * table of that name, which later statements can use, with an index on the columns ("a;
 * b, c": two indexes). */
extern const char graphite_sql[], manifest_sql[], opendc_sql[], perfetto_sql[],
    tracekit_sql[];

struct statement {
	char *name, *sql;
};

/* Return 0, or -1 with error, which stops the iteration. */
typedef int statement_fn(void *context, const struct statement *statement,
			 struct error *error);

/* Run a file's statements in order, with these values of parameters: make the tables, and
 * pass the other statements to `on_statement`. Return 0, or -1 with error. */
int statement_each(struct timeline_reader *timeline, const char *file,
		   const struct cell *value, statement_fn *on_statement, void *context,
		   struct error *error);

/* Run a statement that returns notes: subject (NULL: the timeline), kind, count, text.
 * Return 0, or -1 with error. */
int statement_notes(struct export *export, const struct statement *statement,
		    const struct cell *value, struct error *error);

/* Write a JSON object from a statement on several lines. Return 0, or -1 with error if it
 * is not one. The close reports errors of writing. */
int statement_json(FILE *file, const struct cell *object, struct error *error);

/* Make the table `chosen` of all nodes: id, name, and whether the scope has it. */
int statement_chosen(const struct export *export, struct error *error);

#endif
