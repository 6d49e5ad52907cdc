/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_MESSAGES_CSV_H
#define CT_SYNC_OBSERVE_MESSAGES_CSV_H

#include "sync/observe/observe.h"

/* Read messages from a CSV file of send_node,send_ns,recv_node,recv_ns, with or without a
 * header line; "-" is standard input. Broken lines become a problem. Return 0, or -1 with
 * error, which names file and line. Clear the observations in any case. */
int observe_messages(const char *path, struct observations *seen,
		     struct problem_list *problems, struct error *error);

/* Add the messages of such a file to observations of sources. Names are those of their
 * traces. With `keeps_ends` the messages have ends, without events. Return 0, or -1 with
 * error. */
int observe_more_messages(const char *path, bool keeps_ends, struct observations *seen,
			  struct problem_list *problems, struct error *error);

#endif
