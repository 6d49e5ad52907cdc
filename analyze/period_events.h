/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PERIOD_EVENTS_H
#define CT_ANALYZE_PERIOD_EVENTS_H

#include "analyze/query_values.h"

/*
 * The relations `begin_event` and `end_event` of --from, --to and --group: id, node,
 * ts_ns, and `name` of the group, "cpu=1 tid=42". Also :from_class, :to_class,
 * :from_classes and :to_classes (how many classes there are of that name), :grouped.
 *
 * An event is "CLASS" or "CLASS[FIELD OP VALUE && ...]". A class may have * and ? in it.
 * OP is one of = == != < <= > >=, or ~ for a text with * and ?. A value is a number, or a
 * text with or without quotes. Fields are the event's, and node, cpu, tid and procname;
 * .tid is the event's own where it has one of such a name. Classes and columns are those
 * that event_class and event_column have. 0, or -1 with error.
 */
int period_events(struct query_values *values, struct question *question,
		  struct error *error);

#endif
