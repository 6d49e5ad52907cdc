/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_PASS_H
#define CT_MERGE_SPANS_PASS_H

#include "base/error.h"

/* Fill the tables of spans of a timeline that is otherwise whole. 0, or -1 with error. */
int spans_add_to_file(const char *path, struct error *error);

#endif
