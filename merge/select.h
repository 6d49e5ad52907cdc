/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SELECT_H
#define CT_MERGE_SELECT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"

struct merge_run;

/* What the user wants to keep of a run: --events, --skip, --begin, --end, --node. */
struct selection {
	struct text_list events, skip; /* globs of event class names; none: all, none */
	struct text_list nodes;        /* names or globs; none: all */
	nsec_t begin_ns, end_ns; /* on the timeline's axis; NSEC_MIN, NSEC_MAX: open */
};

bool selection_has_class(const struct selection *selection, const char *name);
bool selection_has_node(const struct selection *selection, const char *name);

/*
 * A misspelt --node would give an empty timeline. 0, or -1 with error, which names the
 * node that is nearest to the first one wished for, if one is near.
 */
int selection_check_nodes(const struct selection *selection, const struct merge_run *run,
			  struct error *error);

bool selection_has_time(const struct selection *selection, nsec_t ts_ns);

void selection_clear(struct selection *selection);

/* Add "net_*,sched_switch" as two globs. */
void selection_split(const struct text_list *words, struct text_list *globs);

#endif
