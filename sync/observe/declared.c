/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/declared.h"

#include <inttypes.h>
#include <string.h>

static const struct declared_counts *find_counts(const struct observations *seen,
						 const char *name)
{
	static const struct declared_counts none;

	for (size_t i = 0; i < seen->declareds; i++)
		if (strcmp(seen->declared[i].name, name) == 0)
			return &seen->declared[i];
	return &none;
}

static void report_missing(const struct observations *seen,
			   const struct declared_message *message,
			   struct problem_list *problems)
{
	const struct declared_counts *counts = find_counts(seen, message->name);

	if (!counts->sent)
		problem_add(problems, message->path, PROBLEM_DECLARED, 1,
			    "message %s: no trace has a matching event %s", message->name,
			    message->end[0].event);
	if (!counts->received)
		problem_add(problems, message->path, PROBLEM_DECLARED, 1,
			    "message %s: no trace has a matching event %s", message->name,
			    message->end[1].event);
}

static void report_counts(const struct declared_counts *counts,
			  struct problem_list *problems)
{
	if (counts->unmatched_sent)
		problem_add(problems, "", PROBLEM_DECLARED, counts->unmatched_sent,
			    "message %s: %" PRIu64 " of %" PRIu64
			    " sends without a receive",
			    counts->name, counts->unmatched_sent, counts->sent);
	if (counts->unmatched_received)
		problem_add(problems, "", PROBLEM_DECLARED, counts->unmatched_received,
			    "message %s: %" PRIu64 " of %" PRIu64
			    " receives without a send",
			    counts->name, counts->unmatched_received, counts->received);
	if (counts->ambiguous)
		problem_add(problems, "", PROBLEM_DECLARED, counts->ambiguous,
			    "message %s: %" PRIu64
			    " events ignored, because their key was sent several times",
			    counts->name, counts->ambiguous);
}

static bool has_one_host(const struct observations *seen)
{
	for (size_t i = 1; i < seen->traces; i++)
		if (seen->trace[i].host_index != seen->trace->host_index)
			return false;
	return true;
}

void declared_report(const struct observations *seen, const struct declared_list *list,
		     struct problem_list *problems)
{
	if (has_one_host(seen))
		return;
	for (size_t i = 0; i < list->count; i++)
		report_missing(seen, list->item[i], problems);
	for (size_t i = 0; i < seen->declareds; i++)
		report_counts(&seen->declared[i], problems);
}

void declared_print(const struct observations *seen, FILE *file)
{
	for (size_t i = 0; i < seen->declareds; i++) {
		const struct declared_counts *counts = &seen->declared[i];

		fprintf(file,
			"declared  %s: %" PRIu64 " messages; sent %" PRIu64 ", %" PRIu64
			" unmatched; received %" PRIu64 ", %" PRIu64
			" unmatched; ambiguous %" PRIu64 "; within a node %" PRIu64 "\n",
			counts->name, counts->messages, counts->sent,
			counts->unmatched_sent, counts->received,
			counts->unmatched_received, counts->ambiguous, counts->inside);
	}
}
