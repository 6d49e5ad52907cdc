/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PERIOD_EVENTS_H
#define CT_ANALYZE_PERIOD_EVENTS_H

#include "analyze/query_values.h"

/*
 * Add the relations `begin_event` and `end_event` for --from, --to and --group, with the
 * columns id, node, source, ts_ns and `name`, which identifies the group: "cpu=1 tid=42".
 * Also add :from_class, :to_class, :from_classes and :to_classes (the number of classes
 * with that name), and :grouped. Return 0, or -1 with error.
 *
 * An event is "CLASS" or "CLASS[FIELD OP VALUE && ...]". CLASS may contain * and ?. OP is
 * one of = == != < <= > >=, or ~ to match a text with * and ?. VALUE is a number, or a
 * text with or without quotes. FIELD is a field of the event, or node, cpu, tid or
 * procname; .tid is the event's own field if it has one. Classes and fields must be in
 * event_class and event_column.
 */
int period_events(struct query_values *values, struct query *query, struct error *error);

#endif
