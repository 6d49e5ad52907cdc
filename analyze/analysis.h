/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_ANALYSIS_H
#define CT_ANALYZE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/request.h"
#include "analyze/result.h"
#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "base/progress.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

struct query_tables;
struct threads;
struct query;

/*
 * One analysis of timelines. Each is one file that ends with its `struct analysis`,
 * and has its line in catalog.c.
 */
struct analysis {
	const char *name;        /* as typed: "sched" */
	const char *summary;     /* its line of `ctanalyze --help` */
	const char *usage;       /* behind its name; NULL: "[OPTION...] TIMELINE" */
	const char *description; /* `ctanalyze NAME --help`: what is printed and which
				    events it needs; lines, the last without an end */
	unsigned heeds;          /* HEEDS_... of request.h: its own options */
	unsigned forms;          /* FORM_... that it has; 0: it has one form only */
	unsigned default_forms;  /* of these, where none is asked for */
	const char *groups; /* words that --group takes, "thread process"; NULL: any */
	const char *default_group; /* the first of these; NULL: none */
	/*
	 * Ask and fill tables and notes; 0, or -1 with error. What the timeline lacks is
	 * a note, no error.
	 */
	int (*run)(struct query *query, struct result *result, struct error *error);
	/*
	 * Or, where it is no matter of tables of one timeline: do all, with the words
	 * behind the name. An exit status; of 1 and 2 with error, or with the talk done.
	 */
	int (*act)(const struct analysis *self, const struct request *request,
		   const struct text_list *words, struct error *error);
	/* `run` gets no timeline but query->words: any number of files or directories.
	 */
	bool many;
	bool writes_files; /* --output is its directory, what it prints goes to standard
			      output */
	bool is_document;  /* fills result->document, and no tables */
	const void *own;   /* of the user's SQL */
};

/* ---- analysis.c */

/* One analysis of one timeline. */
struct query {
	const struct analysis *analysis;
	const struct request *request;
	const char *path; /* of the timeline */
	struct timeline_reader *reader;
	struct query_tables *parquet; /* --tables, which the reader is then of; NULL */
	struct scope scope;           /* --begin --end --timerange --node */
	unsigned forms;               /* FORM_... to fill */
	const char *group;            /* --group or its default; NULL: none */
	const char *tables;           /* only these of its SQL are computed; NULL: all */
	struct threads *threads;      /* read when first asked for */
	struct error threads_error;   /* the threads could not be read */
	struct progress progress;
	const struct text_list *words; /* of analyses of many files; else NULL */
	bool failed;                   /* some of them, and it was told */
};

/* Open the timeline and find the scope; without a path (NULL) there is none, and the
 * scope is everything. 0, or -1 with error. Borrows all. */
int query_open(struct query *query, const struct analysis *analysis,
	       const struct request *request, const char *path, struct error *error);

void query_close(struct query *query);

/* Run its analysis into a result that is to be cleared, complete and in order; 0, or -1
 * with error. */
int query_run(struct query *query, struct result *result, struct error *error);

/* --tid, --pid and --procname. */
bool query_has_thread(struct query *query, int64_t node, int64_t tid, nsec_t at);

/* Return the thread's name at that time, or "" if it is unknown. */
const char *query_thread_name(struct query *query, int64_t node, int64_t tid, nsec_t at);

/* "" for a node that is not there. */
const char *query_node_name(const struct query *query, int64_t node);

/* Where the timeline has no spans. */
extern const char no_spans_note[];

/* Show how far it is, 0 to 1; costs little. */
void query_progress(struct query *query, double share);

/* ---- catalog.c */

/* The analyses that can be named: the program's own, and the user's in SQL. */
struct catalog {
	const struct analysis **item;
	size_t count, capacity;
	struct query_file **file; /* in SQL: ours, then the user's */
	size_t files, file_capacity;
	size_t own;                /* the user's */
	struct query_file *shared; /* relations.sql: what files may name */
};

/* With those of --sql; 0, or -1 with error. */
int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error);

/* NULL with an error that suggests the nearest name. */
const struct analysis *catalog_find(const struct catalog *catalog, const char *name,
				    struct error *error);

/* "  NAME  SUMMARY" a line. */
void catalog_print(const struct catalog *catalog, FILE *file);

/* A line a table and a column of a file, and an example, for --help; for free(). */
char *catalog_help(const struct query_file *file);

/* What it heeds, with what follows from its other members. */
unsigned analysis_heeds(const struct analysis *analysis);

void catalog_clear(struct catalog *catalog);

#endif
