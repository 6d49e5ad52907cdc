/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SADF_ROWS_H
#define CT_TEST_SADF_ROWS_H

/* Rows of sadf as text. */
#include "input/sadf.h"

#include "rows.h"

static inline const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static inline int take_row(void *context, const struct sadf_row *row)
{
	rows_add(context, "%d: %s %lld/%lld %s %s %s=%g %s %s %s %s\n", (int)row->line,
		 row->host, (long long)row->realtime_ns,
		 (long long)(row->interval_ns / NSEC_PER_SEC), row->item, row->metric,
		 row->text, row->value, or_dash(row->about.activity),
		 or_dash(row->about.unit), or_dash(row->about.item_type),
		 metric_kind_name(row->about.kind));
	return rows_enough(context);
}

static inline int take_mark(void *context, const struct sadf_mark *mark)
{
	rows_add(context, "%d: %s %s %lld '%s'\n", (int)mark->line,
		 mark->kind == SADF_RESTART ? "restart" : "comment", mark->host,
		 (long long)mark->realtime_ns, mark->text);
	return rows_enough(context);
}

#endif
