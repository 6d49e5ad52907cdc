/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_APPLY_APPLY_CAPTURE_H
#define CT_SYNC_APPLY_APPLY_CAPTURE_H

#include "clock/clock.h"
#include "input/run.h"

/*
 * Write a capture again, with its times on the reference's clock, in nanoseconds: to
 * `target`, a new file, or a new directory of the files of a rotated capture. Return 0
 * and what the program prints of it, which the caller frees; or with error, and without
 * the target, 1 if the capture cannot have that clock, or -1 if something failed.
 */
int apply_to_capture(const struct clock *clock, const struct source *source,
		     const struct trace_facts *facts, const char *target,
		     char **exactness, struct error *error);

/* Return the name for a capture's copy: it ends as the capture's own. The caller frees
 * it. */
char *apply_capture_name(const char *trace, const struct source *source);

#endif
