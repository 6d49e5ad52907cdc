/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_READER_H
#define CT_INPUT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/problem.h"
#include "input/reader_choice.h"

/*
 * Reading the events of one CTF trace, all its streams, in the order of its
 * clock. A caller says once which event classes and which of their fields it
 * wants; it gets those fields and nothing else, typed, whatever code decodes
 * them. A stream whose own stamps go backwards keeps its event order.
 */
enum value_type {
	VALUE_NONE, /* this event has no such field */
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_ARRAY, /* of unsigned integers */
};

#define VALUE_ARRAY_MOST 16 /* longer arrays are cut to this */

struct value {
	enum value_type type;
	unsigned count; /* elements of an array, cut or not */
	union {
		uint64_t u;
		int64_t i;
		double real;
		const char *text; /* borrowed until the event function returns */
		uint64_t item[VALUE_ARRAY_MOST];
	};
};

/*
 * An event class that is wanted. A field is named by its path: members of
 * structures and options of variants, joined by dots, without the leading
 * underscores that LTTng adds: "network_header.ipv4.tot_len".
 */
struct event_wish {
	const char *name;
	int tag; /* handed back with each event */
	const char *const *field;
	size_t fields;
};

struct event {
	nsec_t local_ns;
	int tag;
	unsigned stream;           /* LTTng writes one stream a CPU */
	uint64_t ordinal;          /* among all events of the stream, from 0 */
	const struct value *value; /* one a wished field, in the wish's order */
};

typedef void event_fn(void *context, const struct event *event);

struct reader_facts {
	uint64_t events; /* of any class */
	uint64_t bytes, total_bytes;
	nsec_t begin_ns, end_ns; /* stamps of the first and last event, if any */
	uint64_t discarded_events, discarded_packets;
	uint64_t backward; /* stamps before the one before in their stream */
	char hostname[65]; /* of the trace's environment, or "" */
	unsigned char clock_uuid[16];
	nsec_t clock_offset_ns; /* since the epoch, at clock value 0 */
	uint64_t clock_frequency;
	int has_clock;
	int has_uuid;     /* of the clock */
	int is_partial;   /* packets were left out by their times; lacks their events */
	int is_mapped;    /* its files, while they are read: see mapped.h */
	uint64_t *wished; /* per wish: events seen */
	int *defined;     /* per wish: whether the trace has such an event class */
};

struct reader;

/* What of a trace is wanted; stays the caller's and must outlive the reader. */
struct reader_wishes {
	const struct event_wish *wish;
	size_t count;
};

/*
 * Open the trace in a directory that holds `metadata`. NULL with error on
 * failure. Safe to call from several threads; one reader is used by one thread
 * at a time. Either kind gives the same events.
 */
struct reader *reader_open(const char *path, enum reader_kind kind,
			   const struct reader_wishes *wishes, struct error *error);

/* The same, of the kind that is the default. */
struct reader *ctf_reader_open(const char *path, const struct event_wish *wishes,
			       size_t count, struct error *error);

/* Why libbabeltrace2 reads although READER_AUTO was asked for; else NULL. */
const char *reader_why(const struct reader *reader);

/* Read some more. 1: there may be more; 0: the end. */
int reader_step(struct reader *reader, event_fn *give, void *context);

/*
 * Do something of what steps will have to do, while another thread is in one or not; what
 * they give is the same. False where there is nothing to do now. For any thread, as
 * long as the reader is there.
 */
bool reader_help(struct reader *reader);

const struct reader_facts *reader_facts(const struct reader *reader);

/* What was odd; the list belongs to the reader, its caller may move it away. */
struct problem_list *reader_problems(struct reader *reader);

void reader_free(struct reader *reader);

/* "babeltrace2 2.0.4"; the caller frees it. */
char *ctf_library_version(void);

#endif
