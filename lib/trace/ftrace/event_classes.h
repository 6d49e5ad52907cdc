/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_EVENT_CLASSES_H
#define CT_TRACE_FTRACE_EVENT_CLASSES_H

#include "trace/fields.h"
#include "trace/ftrace/ring.h"
#include "trace/ftrace/syscalls.h"
#include "trace/reader_private.h"

/*
 * The event classes of a trace.dat, with LTTng's names of events and fields, and the way
 * from the kernel's bytes of an event to its cells.
 */
enum call_kind { CALL_ENTRY, CALL_EXIT, CALL_KINDS };

struct event_classes {
	struct trace_reader *base; /* borrowed; owns the classes */
	const struct trace_dat *dat;
	struct class_layout *layout; /* one for each class of the base */
	size_t layout_capacity;
	struct intmap class_of;     /* id of an event type -> class */
	struct intmap name_of;      /* thread -> offset of its name in cmdlines */
	int call_event[CALL_KINDS]; /* id of raw_syscalls' events, or -1 */
	unsigned call_id_offset[CALL_KINDS];
	int32_t call_class[CALL_KINDS][SYSCALLS_MOST +
				       1]; /* -1 if none; the last is for unknown calls */
	unsigned pid_offset;
	char machine[65];
	struct ctf_place *place; /* the fields' locations in the current event */
	size_t places;
};

/*
 * Add the classes that a file describes to a reader. Borrows both until it is cleared.
 * Return 0, or -1 with error.
 */
int event_classes_add(struct event_classes *classes, struct trace_reader *base,
		      const struct trace_dat *dat, struct error *error);

/* Return the class of an event, or -1 if the file does not describe its type. */
int32_t event_classes_find(const struct event_classes *classes,
			   const struct ring_event *event);

/*
 * Return the selected cells of an event. They are valid as long as the event, and until
 * the next call.
 */
const struct cell *event_classes_fetch(struct event_classes *classes, size_t class,
				       const struct ring_event *event);

void event_classes_clear(struct event_classes *classes);

#endif
