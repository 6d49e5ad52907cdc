/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_DECLARED_EVENTS_H
#define CT_INPUT_DECLARED_EVENTS_H

#include "input/declared.h"
#include "trace/reader.h"

/* The declared messages that apply to one trace, and what became of its events. */
struct declared_events;

/*
 * Select the events of a trace that the messages name, except those of classes that are
 * `taken` (by index). The messages are borrowed. Return NULL if the trace has none.
 */
struct declared_events *declared_events_new(struct trace_reader *reader,
					    const struct declared_message *const *message,
					    size_t count, const bool *taken);

typedef void declared_event_fn(void *context, const struct packet_event *event);

/* Pass an event of the trace to `on_event` once for each message that it sends or
 * receives.
 */
void declared_events_add(struct declared_events *events, const struct trace_event *event,
			 declared_event_fn *on_event, void *context);

/* Report the events that were ignored. */
void declared_events_report(const struct declared_events *events, const char *path,
			    struct problem_list *problems);

void declared_events_free(struct declared_events *events);

#endif
