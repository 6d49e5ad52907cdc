/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SELECT_H
#define CT_MERGE_SELECT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"

/* What the user wants to keep of a run: --events, --skip, --begin, --end, --node. */
struct selection {
	struct text_list events, skip; /* globs of event class names; none: all, none */
	struct text_list nodes;        /* names or globs; none: all */
	nsec_t begin_ns, end_ns; /* on the timeline's axis; NSEC_MIN, NSEC_MAX: open */
};

bool selection_has_class(const struct selection *selection, const char *name);
bool selection_has_node(const struct selection *selection, const char *name);
bool selection_has_time(const struct selection *selection, nsec_t ts_ns);

/*
 * An instant: nanoseconds since the epoch; seconds since then, with a fraction or
 * in up to 11 digits; seconds from `origin` on, as "+12.5"; or UTC, as
 * 2026-11-21T02:38:57.7, and 02:38:57.7 of origin's day. 0, or -1 with error.
 */
int selection_parse_time(const char *text, nsec_t origin, nsec_t *instant,
			 struct error *error);

void selection_clear(struct selection *selection);

#endif
