/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_EVENT_FORMAT_H
#define CT_TRACE_FTRACE_EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* The kernel's description of an event, /sys/kernel/tracing/events/SYSTEM/NAME/format. */
enum field_place {
	FIELD_PLACED,   /* the value is at its offset */
	FIELD_DATA_LOC, /* a word is at its offset: size << 16 | offset of the value */
	FIELD_REL_LOC,  /* like FIELD_DATA_LOC, but the offset counts from the end of the
			   word */
};

struct event_field {
	char *type, *name;     /* as the kernel declares it, without brackets */
	unsigned offset, size; /* bytes */
	unsigned element;      /* bytes of an array's element; 0 if not an array */
	bool is_signed;
	enum field_place place;
};

struct event_format {
	char *system, *name;
	unsigned id;
	struct event_field *field; /* the fields that all events share come first */
	size_t fields, capacity;
};

/*
 * Parse a description. `long_size` is the bytes of a long on that machine. Copies the
 * system's name. Return 0, or -1 if the event has no name. The caller clears `format` in
 * both cases.
 */
int event_format_parse(struct event_format *format, const char *system, const char *text,
		       unsigned long_size);

void event_format_clear(struct event_format *format);

/* Return the field of a name, or NULL. */
const struct event_field *event_format_field(const struct event_format *format,
					     const char *name);

/*
 * Return the number that follows a word within the first `length` bytes of a line, at
 * most UINT16_MAX; 0 if the word is not there.
 */
unsigned format_number_after(const char *line, size_t length, const char *word);

#endif
