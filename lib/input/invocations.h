/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_INVOCATIONS_H
#define CT_INPUT_INVOCATIONS_H

#include <stdint.h>

#include "base/json.h"
#include "base/nsec.h"
#include "base/problem.h"

/*
 * One task that ran on a node, as its launcher recorded it: a line of
 * invocations.jsonl. Texts are NULL and numbers INVOCATION_UNKNOWN where the
 * record does not have them. Times are the node's real-time clock's.
 */
#define INVOCATION_UNKNOWN INT64_MIN

struct invocation {
	const char *name;
	const char *node; /* where it ran, if not where the file is */
	int64_t pid;
	nsec_t enqueued_ns, started_ns, ended_ns;
	int64_t status; /* of the exit */
	json_t *rest;   /* all other members; "command" is made of "argv" if it lacks */
	uint64_t line;
};

/*
 * Read an invocations.jsonl, one JSON object a line. Each is handed on; its
 * texts are valid until the callback returns. Lines that are none are reported
 * and left out. 0; -1 where nothing can be read, which is a problem; or what the
 * callback returned, when that was not 0: it ends the reading.
 */
int invocations_read(const char *path,
		     int (*task)(void *context, const struct invocation *invocation),
		     void *context, struct problem_list *problems);

#endif
