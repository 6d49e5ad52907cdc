/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_RECORDED_ROWS_H
#define CT_MERGE_SPANS_RECORDED_ROWS_H

#include "merge/recording.h"
#include "merge/run.h"
#include "merge/spans/spans.h"
#include "timeline/writer.h"

/* Rows of `recorded`; `spans` NULL: of nodes only. */
int spans_write_recorded(const struct spans *spans, const struct recording *recording,
			 const struct merge_run *run, const struct selection *selection,
			 struct timeline_writer *writer, struct error *error);

#endif
