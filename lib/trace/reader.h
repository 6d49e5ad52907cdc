/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_READER_H
#define CT_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "problem/problem.h"
#include "trace/recorded.h"

/*
 * A reader of all events of one trace: CTF 1.8, CTF 2 or trace.dat.
 *
 * Events of all streams are merged in the order of the trace's clock. A caller opens the
 * trace, selects event classes and fields, and steps; only what is selected is delivered.
 * A stream whose own timestamps go backwards keeps its order.
 */

/*
 * A field of an event class as a column of a table.
 *
 * Structures are flattened: members are joined by `_`. Each option of a variant has its
 * own columns, and only those of the selected option are filled. Enumerations become
 * their label, or the integer if it has no label; arrays of bytes become blobs, other
 * arrays JSON text. Text that is not valid UTF-8 becomes a blob of the same bytes.
 * Several columns may have the same name.
 */
struct trace_column {
	char *name;          /* as in the metadata, without LTTng's leading underscore */
	enum cell_type type; /* type of the cells that are not NULL; an enumeration's
				cells are text or, without a label, integers */
	bool context; /* from the event's or stream's context, not from the payload */
};

struct trace_class {
	char *name; /* "event_" and its id if the metadata gives no name */
	struct trace_column *column; /* set by trace_reader_columns() */
	size_t columns;
	uint32_t channel; /* id of its stream class; LTTng has one for each channel */
};

struct trace_event {
	nsec_t local_ns;
	uint32_t class;          /* index for trace_reader_class() */
	uint32_t stream;         /* index of the stream; LTTng writes one for each CPU */
	int32_t cpu;             /* -1 if not recorded */
	uint64_t ordinal;        /* index among all events of the stream, from 0 */
	const struct cell *cell; /* the selected cells, valid until the callback returns;
				    NULL if no cells are selected */
};

typedef void trace_event_fn(void *context, const struct trace_event *event);

/* The use of an event class's events before the reader's start. */
enum trace_use {
	TRACE_NEEDED,  /* they are delivered */
	TRACE_COUNTED, /* they only count for the ordinals of later events */
	TRACE_UNUSED,
};

/*
 * The selection of an event class's events and fields.
 *
 * A field is named by its path in the payload: members of structures and options of
 * variants joined by dots, "network_header.ipv4.tot_len". It is delivered raw:
 * enumerations as their integer, arrays of integers of whole bytes as bytes, each integer
 * with its most significant byte first. A field that a class or an event lacks is NULL.
 */
struct trace_selection {
	enum trace_selected {
		SELECT_NOTHING, /* default for classes that are never selected */
		SELECT_EVENTS,  /* without cells */
		SELECT_FIELDS,  /* one cell for each path, in their order */
		SELECT_COLUMNS, /* one cell for each column */
	} what;
	const char *const *field;
	size_t fields;
	enum trace_use before;
};

/*
 * A step back of a capture's clock. After `at_ns`, a local time is the recorded timestamp
 * plus the sizes of all steps so far.
 */
struct trace_set_back {
	nsec_t at_ns; /* last local time before the step */
	nsec_t size_ns;
	uint64_t packet; /* ordinal of the first packet after the step; 0 in an extract */
};

enum { TRACE_MOST_SET_BACKS = 16 };

/*
 * The second clock of a capture, which stamps received packets. At `local_ns`, by the
 * clock of sent ones, it leads that one by `ahead_ns`, or by up to `high_ns` more.
 */
struct trace_second_clock {
	const char *scale; /* "TAI" or "GPS", or "" if it runs freely */
	nsec_t local_ns, ahead_ns;
	nsec_t high_ns;  /* NSEC_MAX if nothing bounds it */
	double fast_ppb; /* it runs faster by this; 0 if unclear */
};

/* The facts of a source; they grow while it is read. */
struct trace_facts {
	uint64_t events;             /* events of all classes, or captured packets */
	uint64_t bytes, total_bytes; /* read so far, and in total; 0 if unknown */
	nsec_t begin_ns, end_ns; /* timestamps of the earliest and latest event; valid if
				    there are events */
	uint64_t discarded_events, discarded_packets;
	uint64_t backward; /* number of timestamps that are earlier than the one before in
			      their stream */
	struct trace_set_back set_back[TRACE_MOST_SET_BACKS]; /* a capture's only */
	size_t set_backs;
	char hostname[65]; /* from the trace's environment; "" if unknown */
	unsigned char clock_uuid[16];
	char clock_name[65];
	nsec_t clock_offset_ns; /* ns since the epoch, at clock value 0 */
	uint64_t clock_frequency;
	bool has_udp_data; /* packet.seq of UDP is set: a capture's, if it is long enough
			    */
	bool has_second_clock; /* a capture's received packets have timestamps from
				  another clock */
	struct trace_second_clock second_clock;
	bool has_clock;
	bool has_uuid;         /* the clock has a uuid */
	bool has_no_headers;   /* the packet events never have headers, as in ftrace */
	bool counts_from_boot; /* the clock's origin is the machine's start and is not
				  recorded */
};

/*
 * Parse a uuid: 32 hexadecimal digits, with or without dashes. Return 0, or -1 if `text`
 * is something else.
 */
int parse_uuid(const char *text, unsigned char uuid[16]);

struct trace_reader;

/* Return true if path is a directory with a file named metadata, or a trace.dat. */
bool is_trace_path(const char *path);

/*
 * Open a trace: a directory that contains `metadata`, or a trace.dat. Return NULL with
 * error. Safe to call from several threads; each reader must be used by one thread at a
 * time.
 */
struct trace_reader *trace_reader_open(const char *path, struct error *error);

/* Return the event class of an index, or NULL if `index` is past the last one. */
const struct trace_class *trace_reader_class(const struct trace_reader *reader,
					     uint32_t index);

/*
 * Return the same class with its columns, which the first call makes. Call before the
 * first step.
 */
const struct trace_class *trace_reader_columns(struct trace_reader *reader,
					       uint32_t index);

/*
 * Select a class's events and fields. Borrows the paths until the first step. Call before
 * the first step.
 */
void trace_reader_select(struct trace_reader *reader, uint32_t index,
			 const struct trace_selection *selection);

/*
 * Let the reader skip events before `local_ns`, except those that a selection's `before`
 * still needs. In each stream, skipping ends at the first event that is not earlier than
 * `local_ns`. The facts then cover only what was read. Call after selecting and before
 * the first step.
 */
void trace_reader_begin(struct trace_reader *reader, nsec_t local_ns);

/*
 * Read when each stream was recorded, up to `until_ns`. Return false if this reader
 * cannot determine it or the packets do not record it. The caller clears `recorded`.
 */
bool trace_reader_recorded(struct trace_reader *reader, nsec_t until_ns,
			   struct trace_recorded *recorded);

/*
 * Do not count losses before the first packet of this period's stream, because another
 * trace contains the packets before it. Call before the first step.
 */
void trace_reader_continue(struct trace_reader *reader,
			   const struct trace_period *period);

/*
 * Like trace_reader_continue(), and deliver no events of packets before the one with this
 * sequence number, because the other trace contains them, too. Those events still count
 * for ordinals and facts.
 */
void trace_reader_repeats(struct trace_reader *reader, const struct trace_period *period,
			  uint64_t sequence);

/*
 * Deliver up to about `most` events to `on_event`, some milliseconds of work. Damaged
 * input ends its stream or packet and becomes a problem. Return false at the end.
 */
bool trace_reader_step(struct trace_reader *reader, uint64_t most,
		       trace_event_fn *on_event, void *context);

/* The origin of CLOCK_MONOTONIC on the machine of a trace that does not record it. */
struct clock_origin {
	unsigned char boot_id[16];
	bool has_boot_id;
	bool is_boot_monotonic; /* CLOCK_BOOTTIME has read the same: no suspend so far */
	nsec_t offset_ns;       /* since the epoch, at value 0; 0 if unknown */
};

/*
 * Set the origin of a clock that counts from the machine's start, if it is
 * CLOCK_MONOTONIC: the boot id becomes the clock's uuid, as in LTTng's traces, and
 * timestamps count from the epoch. Call before selecting.
 */
void trace_reader_set_origin(struct trace_reader *reader,
			     const struct clock_origin *origin);

/* Return the reader's facts, which grow while it reads. */
const struct trace_facts *trace_reader_facts(const struct trace_reader *reader);

/*
 * Return the problems found so far. The list belongs to the reader; the caller may move
 * it away.
 */
struct problem_list *trace_reader_problems(struct trace_reader *reader);

void trace_reader_free(struct trace_reader *reader);

#endif
