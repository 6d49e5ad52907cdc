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

/*
 * Events with all that they have, in the timeline's order: one pass for whoever wants
 * more than one class at a time. Which reading is fastest (docs/benchmarks.md) is not the
 * caller's concern.
 */
struct events;

struct events_field {
	char *name; /* as the tracer has it */
	bool of_context;
};

struct event_row {
	int64_t id; /* event.id */
	nsec_t ts_ns;
	int64_t node;      /* node.id */
	int64_t cpu;       /* -1: not recorded */
	int64_t tid;       /* -1: not known */
	const char *class; /* event_class.name; valid as long as the events */
	const struct events_field *field; /* those of its class, of the context first */
	const struct cell *cell;          /* one a field; until the next call */
	size_t fields;                    /* 0 where the timeline has none of the event */
};

/*
 * Events of classes with such a name; no globs: of all. Borrows the reader and the
 * scope. NULL with error; where globs are given and no class has such a name, without.
 */
struct events *events_new(struct timeline_reader *reader, const struct scope *scope,
			  const struct text_list *globs, struct error *error);

/* The next event: 1, or 0 at the end, or -1 with error. */
int events_next(struct events *events, struct event_row *row, struct error *error);

void events_free(struct events *events);

#endif
