/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_ANALYSIS_H
#define CT_ANALYZE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/question.h"
#include "analyze/request.h"
#include "analyze/result.h"
#include "base/error.h"

/*
 * One question over a timeline. Each is one file that ends with its `struct analysis`,
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
	const char *groups;      /* words that --group takes, "thread process", the first
				    is the default; NULL: any, and none by default */
	/*
	 * Ask and fill tables and notes; 0, or -1 with error. What the timeline lacks is
	 * a note, no error: result_missing().
	 */
	int (*run)(struct question *question, struct result *result, struct error *error);
	/*
	 * Or, where it is no matter of tables of one timeline: do all, with the words
	 * behind the name. An exit status; of 1 and 2 with error, or with the talk done.
	 */
	int (*act)(const struct analysis *self, const struct request *request,
		   const struct text_list *words, struct error *error);
	/* `run` gets no timeline but question->words: any number of files or directories.
	 */
	bool many;
	bool writes_files; /* --output is its directory, what it prints goes to standard
			      output */
	bool is_document;  /* fills result->document, and no tables */
	const void *own;   /* of the user's SQL */
};

/* ---- catalog.c */

/* The analyses that can be named: the program's own, and the user's in SQL. */
struct catalog {
	const struct analysis **item;
	size_t count, capacity;
	struct query_file **file; /* in SQL: ours, then the user's */
	size_t files, file_room;
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
