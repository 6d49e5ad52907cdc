/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_DECLARED_H
#define CT_SYNC_OBSERVE_DECLARED_H

#include "input/declared.h"
#include "sync/observe/observe.h"

/* Report the declared messages that no event belongs to, and the events that became no
 * message, unless one host alone was observed: the other ends are elsewhere. */
void declared_report(const struct observations *seen, const struct declared_list *list,
		     struct problem_list *problems);

/* Print a line for each declared message. */
void declared_print(const struct observations *seen, FILE *file);

#endif
