/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TSDL_TSDL_H
#define CT_INPUT_TSDL_TSDL_H

#include "base/error.h"
#include "input/tsdl/field_class.h"

/*
 * The metadata of a CTF 1.8 trace, as LTTng and babeltrace2 write it. What the
 * parser does not know is an error, never a guess.
 */
struct tsdl_clock {
	char *name;
	unsigned char uuid[16];
	bool has_uuid;
	uint64_t frequency;
	int64_t offset_s;
	uint64_t offset; /* in cycles, besides */
};

struct tsdl_stream {
	uint64_t id;
	struct field_class *packet_context, *event_header, *event_context;
};

struct tsdl_event {
	uint64_t id, stream;
	char *name;
	struct field_class *context, *fields;
};

struct tsdl {
	enum byte_order order;
	unsigned char uuid[16];
	bool has_uuid;
	struct field_class *packet_header;
	struct tsdl_clock *clock;
	struct tsdl_stream *stream;
	struct tsdl_event *event; /* of all streams, in their order there */
	size_t clocks, clock_room, streams, stream_room, events, event_room;
	char *hostname, *tracer;      /* of the environment, or NULL */
	uint64_t major, minor, patch; /* of the tracer */
};

/* NULL with error, which names the line. */
struct tsdl *tsdl_parse(const char *text, size_t size, struct error *error);

/*
 * The text of a metadata file, of its packets where it has some, for free().
 * NULL with error.
 */
char *tsdl_read(const char *path, size_t *size, struct error *error);

void tsdl_free(struct tsdl *tsdl);

#endif
