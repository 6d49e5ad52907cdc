/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_EVENTS_H
#define CT_TIMELINE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

/* A reader of events with all their fields, of any classes, in the timeline's order. It
 * chooses the faster of two queries (docs/benchmarks.md). */
struct events;

struct events_field {
	char *name; /* given by the tracer */
	bool of_context;
};

struct event_row {
	int64_t id; /* event.id */
	nsec_t ts_ns;
	int64_t node;      /* node.id */
	int64_t cpu;       /* -1 if not recorded */
	int64_t tid;       /* -1 if unknown */
	const char *class; /* event_class.name; valid until events_free() */
	const struct events_field *field; /* fields of the class, context first */
	const struct cell *cell; /* value of each field; valid until the next call */
	size_t fields;           /* 0 if the timeline has no fields of the event */
};

/*
 * Select the events of classes whose names match one of the globs, or of all classes if
 * there are none. Borrows the reader and the scope. Return NULL with error, or without if
 * no class matches.
 */
struct events *events_new(struct timeline_reader *reader, const struct scope *scope,
			  const struct text_list *globs, struct error *error);

/* Read the next event. Return 1, 0 at the end, or -1 with error. */
int events_next(struct events *events, struct event_row *row, struct error *error);

void events_free(struct events *events);

#endif
