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

#endif
