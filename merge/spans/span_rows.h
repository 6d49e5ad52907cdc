/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_SPAN_ROWS_H
#define CT_MERGE_SPANS_SPAN_ROWS_H

#include "merge/processes.h"
#include "merge/spans/spans.h"
#include "timeline/writer.h"

struct spans_write_config {
	const struct processes *processes;
	struct timeline_writer *writer;
	int threads;                   /* at least 1 */
	void (*beside)(void *context); /* called in one of them first, unless NULL */
	void *context;
};

/* Add the rows after spans_end(). The result does not depend on the threads. Return 0, or
 * -1 with error. */
int spans_write(const struct spans *spans, const struct spans_write_config *of,
		struct error *error);

/* Return the name of an enum span_wait, such as "thread", or NULL for TIMELINE_NONE. */
const char *span_wait_name(int64_t wait);

#endif
