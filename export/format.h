/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_FORMAT_H
#define CT_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/options.h"
#include "base/problem.h"
#include "base/progress.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/*
 * A format is one file of code, export/NAME.c, with one `const struct export_format`,
 * which stands in the list of formats.c. The program does what all formats share: it
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
	bool force; /* --force has a meaning of the format's own (EXPORT_TO_ITSELF) */
};

struct export
{
	void *options;     /* the format's own */
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
	 * and subdirectories (tables/directory.h has help). When run() is done all of
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

/* Rows that a format may have; the last one stays empty. */
enum { EXPORT_OPTION_ROWS = 24 };

struct export_format {
	const char *name;
	const char *summary; /* a line for --help: lower case, no full stop */
	const char *usage;   /* of --help: "[OPTION...] RUN.db [-o FILE]" */

	/*
	 * The format's own options, nothing where it has none: a struct of so many bytes,
	 * all zero but for what defaults() sets (NULL: nothing). rows() gives the rows
	 * that fill them (at most EXPORT_OPTION_ROWS, not ended), and returns how many.
	 * Not among them may be the common ones: output force begin end node quiet help
	 * version.
	 */
	size_t options_size;
	void (*defaults)(void *options);
	size_t (*rows)(void *options, struct option_row *row);

	/*
	 * Check the options and say what run() wants; `output` is -o or NULL. NULL: a
	 * text file of the timeline. -1 with error is misuse: exit status 2.
	 */
	int (*plan)(const void *options, const char *output, struct export_plan *plan,
		    struct error *error);

	/* 0, or -1 with error: exit status 1. */
	int (*run)(struct export *export, struct error *error);
};

/* Each is the whole of export/NAME.c, or of what stands in export/NAME/, to others. */
extern const struct export_format export_csv, export_graphite, export_json, export_opendc,
    export_parquet, export_perfetto, export_tracekit;

/* All formats, in the order of --help; ends with NULL. */
extern const struct export_format *const export_formats[];

/* By name; NULL with an error that suggests the nearest. */
const struct export_format *export_format_find(const char *name, struct error *error);

/* A format's options as they are without any; NULL where it has none. */
void *export_options_new(const struct export_format *format);
void export_options_free(const struct export_format *format, void *options);

#endif
