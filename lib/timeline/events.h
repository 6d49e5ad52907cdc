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
 * Events of some classes with some of their fields, in the timeline's order: one pass
 * for whatever needs more than one class at a time. Classes of one name (NAME, NAME_2)
 * are one wish; which reading is fastest (docs/benchmarks.md) is not the caller's
 * concern.
 */
enum { EVENTS_FIELDS = 96 };

struct events_wish {
	const char *class; /* name as the tracer has it, or a glob: "syscall_entry_*" */
	/* Names as the tracer has them, of the payload; ends with NULL. A field that a
	 * class does not have is a CELL_NULL. "context:NAME" is of the event's context.
	 */
	const char *field[EVENTS_FIELDS];
	int tag; /* the caller's */
};

#define EVENTS_CONTEXT "context:"

struct event_row {
	int64_t id; /* event.id */
	nsec_t ts_ns;
	int64_t node;      /* node.id */
	int64_t cpu;       /* -1: not recorded */
	int64_t tid;       /* -1: not known */
	int tag;           /* of its wish */
	const char *class; /* event_class.name; valid as long as the events */
	const struct cell
	    *field; /* as many as its wish names; good until the next call */
};

struct events;

/* Borrows the reader and the scope; copies the wishes. NULL with error. A class that the
 * timeline does not have is no error. */
struct events *events_new(struct timeline_reader *reader, const struct scope *scope,
			  const struct events_wish *wish, size_t wishes,
			  struct error *error);

/* Whether a field of the n-th wish is recorded by any class of it. */
bool events_has_field(const struct events *events, size_t wish, size_t field);

/* The next event: 1, or 0 at the end, or -1 with error. */
int events_next(struct events *events, struct event_row *row, struct error *error);

/*
 * Everything that events have: a wish a class name, its index the tag, with all fields of
 * all classes of that name, those of the context first. All zero is none.
 */
struct events_wishes {
	struct events_wish *item;
	size_t count, room;
};

/* Those of classes with such a name; no globs: all. 0, or -1 with error. */
int events_wish_all(struct events_wishes *wishes, struct timeline_reader *reader,
		    const struct text_list *globs, struct error *error);

void events_wishes_clear(struct events_wishes *wishes);

void events_free(struct events *events);

#endif
