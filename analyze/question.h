/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUESTION_H
#define CT_ANALYZE_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/request.h"
#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "base/progress.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

struct analysis;
struct query_tables;
struct threads;

/* One analysis of one timeline. */
struct question {
	const struct analysis *analysis;
	const struct request *request;
	const char *path; /* of the timeline */
	struct timeline_reader *reader;
	struct query_tables *parquet; /* --tables, which the reader is then of; NULL */
	struct scope scope;           /* --begin --end --timerange --node */
	unsigned forms;               /* FORM_... to fill */
	const char *group;            /* --group or its default; NULL: none */
	const char *tables;           /* only these of its SQL are computed; NULL: all */
	struct threads *people;       /* read when first asked for */
	struct progress progress;
	const struct text_list *words; /* of analyses of many files; else NULL */
	bool failed;                   /* some of them, and it was told */
};

/* Open the timeline and find the scope; 0, or -1 with error. Borrows all. */
int question_open(struct question *question, const struct analysis *analysis,
		  const struct request *request, const char *path, struct error *error);

void question_close(struct question *question);

/* Run its analysis into a result that is to be cleared, complete and in order; 0, or -1
 * with error. */
struct result;
int question_answer(struct question *question, struct result *result,
		    struct error *error);

/* --tid, --pid and --procname. */
bool question_has_thread(struct question *question, int64_t node, int64_t tid, nsec_t at);

/* The thread's name; "" if not known. */
const char *question_comm(struct question *question, int64_t node, int64_t tid,
			  nsec_t at);

/* What is known of a thread at a time; NULL: nothing. Good as long as the question. */
struct thread_facts {
	int64_t node, tid, pid;     /* pid -1: not known */
	const char *comm, *process; /* names of thread and process; "" if not known */
	nsec_t begin_ns, end_ns;    /* NSEC_MIN, NSEC_MAX: open */
};

const struct thread_facts *question_thread(struct question *question, int64_t node,
					   int64_t tid, nsec_t at);

/* "" for a node that is not there. */
const char *question_node(const struct question *question, int64_t node);

/* Say of which chosen nodes nothing of it was: no row of theirs is no zero. Where nothing
 * was recorded of any node, that is for result_missing to say. */
void question_note_unrecorded(const struct question *question, struct result *result);

/* Say which events something needs that were not recorded: "a or b,c" of each. */
struct query_need;
int question_note_needs(struct question *question, const struct query_need *need,
			size_t needs, struct result *result, struct error *error);

/* Where the timeline has no spans. */
extern const char no_spans_note[];

/* Show how far it is, 0 to 1; costs little. */
void question_share(struct question *question, double share);

#endif
