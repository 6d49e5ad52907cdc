/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_DESCRIBE_H
#define CT_MERGE_DESCRIBE_H

#include <stdio.h>

#include "merge/run.h"

/* What there is to merge, for people and for programs. Times of day are UTC, or local. */

void describe_text(const struct merge_run *run, bool is_local, FILE *file);
void describe_json(const struct merge_run *run, FILE *file);

#endif
