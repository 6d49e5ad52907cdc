/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CRITICAL_REQUEST_PATH_H
#define CT_ANALYZE_CRITICAL_REQUEST_PATH_H

#include "analyze/critical/path.h"
#include "analyze/exchange.h"

/* What to say where interrupts are not recorded (ACTIVITY_ASSUME). */
extern const char assumed_note[];

/* Every node of the timeline, in the time that was asked for; to be cleared. 0, or -1
 * with error. */
int scope_of_all_nodes(struct scope *scope, struct question *question,
		       struct error *error);

/*
 * From the sending of a request to the arrival of the last of its response: back from
 * that message, as far as the client's thread. `scope` is of all nodes. 0, or -1 with
 * error.
 */
int request_path(struct path *path, struct question *question, const struct scope *scope,
		 const struct exchange *exchange, struct error *error);

/* The same, of what was read. */
void request_path_walk(struct path *path, const struct past *past,
		       const struct exchange *exchange);

#endif
