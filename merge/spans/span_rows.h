/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_SPAN_ROWS_H
#define CT_MERGE_SPANS_SPAN_ROWS_H

#include "merge/processes.h"
#include "merge/spans/spans.h"
#include "timeline/writer.h"

/* Add the rows. */
int spans_write(struct spans *spans, const struct processes *processes,
		struct timeline_writer *writer, struct error *error);

/* Return the name of an enum span_wait, such as "thread", or NULL for TIMELINE_NONE. */
const char *span_wait_name(int64_t wait);

#endif
