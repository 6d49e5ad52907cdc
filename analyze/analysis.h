/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_ANALYSIS_H
#define CT_ANALYZE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/request.h"
#include "analyze/result.h"
#include "base/error.h"
#include "base/nsec.h"
#include "base/progress.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

struct query_tables;
struct threads;
struct query;

/* An analysis of a timeline: a file of SQL, or a file of C that ends with this struct. */
struct analysis {
	const char *name;        /* as typed: "sched" */
	const char *summary;     /* its line of `ctanalyze --help` */
	const char *usage;       /* arguments; NULL: "[OPTION...] TIMELINE" */
	const char *description; /* for `ctanalyze NAME --help`: output and the events
				    that it needs */
	unsigned heeds;          /* HEEDS_... of its own options */
	unsigned forms;          /* FORM_... that it has; 0: it has one form only */
	unsigned default_forms;
	const char *groups; /* words that --group accepts, "thread process"; NULL: any */
	const char *default_group; /* the first of `groups`; or NULL */
	/* Fill tables and notes. Return 0, or -1 with error. What the timeline lacks is a
	 * note, not an error. */
	int (*run)(struct query *query, struct result *result, struct error *error);
	/* If `run` is NULL: do everything, with the words after the name. Return an exit
	 * status, with error unless it has already been printed. */
	int (*act)(const struct analysis *self, const struct request *request,
		   const struct text_list *words, struct error *error);
	bool many;         /* `run` opens query->words itself: files or directories */
	bool writes_files; /* --output is a directory; tables go to standard output */
	bool is_document;  /* fills result->document instead of tables */
	const void *own;   /* its struct query_file, or NULL */
};

/* A second reader of the rows from which the groups of a relation are computed, so that
 * these are read once. */
struct group_listener {
	const char *relation;
	const char *const *columns; /* expressions on these rows; NULL ends them */
	/* Receives their values, with the number of the row's group: from 0, in the order
	 * of their first rows. Return 0, or -1 with error. */
	int (*on_row)(void *context, size_t group, const struct cell *value,
		      struct error *error);
	void *context;
};

/* An analysis of one timeline. */
struct query {
	const struct analysis *analysis;
	const struct request *request;
	const char *path; /* the timeline's file */
	struct timeline_reader *reader;
	struct query_tables *parquet; /* --tables, which then owns the reader; or NULL */
	struct scope scope;           /* --begin --end --timerange --node */
	unsigned forms;               /* FORM_... to fill */
	const char *group;            /* --group or its default; or NULL */
	const char *tables;           /* only these SQL tables are computed; NULL: all */
	const char *computed;         /* relations that are stored already; or NULL */
	const struct group_listener *listener; /* or NULL */
	struct threads *threads;               /* read on first use */
	struct error threads_error;            /* the threads could not be read */
	struct progress progress;
	const struct text_list
	    *words;  /* the arguments of an analysis of many files; or NULL */
	bool failed; /* some of these files failed; reported */
};

/* Open the timeline and find the scope. Without a timeline, with `path` NULL, the scope
 * is everything. Borrows the arguments. Return 0, or -1 with error. */
int query_open(struct query *query, const struct analysis *analysis,
	       const struct request *request, const char *path, struct error *error);

/* Open the timeline of a query once more, for another thread: checks that the first one
 * has run are not repeated. Return 0, or -1 with error. */
int query_open_again(struct query *query, const struct query *first, struct error *error);

void query_close(struct query *query);

/* Run the analysis. The caller clears the result. Return 0, or -1 with error. */
int query_run(struct query *query, struct result *result, struct error *error);

/* Put the name of an analysis before an error that does not begin with it. Return -1. */
int query_name_error(const struct analysis *analysis, struct error *error);

/* Return true if --tid, --pid and --procname select the thread. */
bool query_has_thread(struct query *query, int64_t node, int64_t tid, nsec_t at);

/* Return the thread's name at that time, or "" if it is unknown. */
const char *query_thread_name(struct query *query, int64_t node, int64_t tid, nsec_t at);

/* Return the last name of the thread that has this tid at that time, or "" if it is
 * unknown. A span without a name has that one. */
const char *query_last_name(struct query *query, int64_t node, int64_t tid, nsec_t at);

/* Return "" for an unknown node. */
const char *query_node_name(const struct query *query, int64_t node);

/* The note for a timeline without spans. */
extern const char no_spans_note[];

/* Show a progress of 0 to 1; cheap enough for every row. */
void query_progress(struct query *query, double share);

#endif
