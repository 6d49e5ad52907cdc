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
 * The events of one CTF trace, of CTF 1.8 or CTF 2, all its streams, in the order of its
 * clock. A caller opens the trace, selects event classes and fields, and steps; it gets
 * those and nothing else. A stream whose own stamps go backwards keeps its event order.
 */
enum trace_reader_kind {
	TRACE_READER_OWN,
	TRACE_READER_BABELTRACE2, /* libbabeltrace2, the reference; 2.0 knows CTF 1.8 only
				   */
};

/*
 * All fields of an event class flattened to the columns of a table: members of
 * structures are joined by `_`, each option of a variant has columns of its own of which
 * only the selected one's are filled, enumerations are their label where there is one,
 * arrays of bytes are blobs, other arrays JSON text. Text that is not UTF-8 is a blob of
 * the same bytes. Several columns may have one name.
 */
struct trace_column {
	char *name;          /* as in the metadata, without LTTng's leading underscore */
	enum cell_type type; /* of its cells that are not null; an enumeration's may
				be text or, without a label, integer */
	bool context;        /* of the event or stream context, not of the payload */
};

struct trace_class {
	char *name;                  /* "event_" and its id where it has none */
	struct trace_column *column; /* see trace_reader_columns */
	size_t columns;
	uint32_t channel; /* the class of its streams: LTTng has one for each channel */
};

struct trace_event {
	nsec_t local_ns;
	uint32_t class;   /* for trace_reader_class */
	uint32_t stream;  /* LTTng writes one a CPU */
	int32_t cpu;      /* -1: not recorded */
	uint64_t ordinal; /* among all events of the stream, from 0 */
	const struct cell
	    *cell; /* as selected; until the function returns. NULL: none are */
};

typedef void trace_event_fn(void *context, const struct trace_event *event);

/* Of what use the events of a class are that lie before the begin. */
enum trace_use {
	TRACE_NEEDED,  /* they are wanted */
	TRACE_COUNTED, /* but for the ordinals of those from the begin on */
	TRACE_UNUSED,
};

/*
 * What of an event class is wanted. A field is named by its path in the payload: members
 * of structures and options of variants joined by dots, "network_header.ipv4.tot_len". It
 * is given as it is: enumerations as their integer, arrays of integers of whole bytes as
 * these, each the most significant one first. What a class or an event lacks is null.
 */
struct trace_selection {
	enum trace_selected {
		SELECT_NOTHING, /* as it is for classes that nobody selects */
		SELECT_EVENTS,  /* without cells */
		SELECT_FIELDS,  /* a cell a path, in their order */
		SELECT_COLUMNS, /* a cell a column */
	} what;
	const char *const *field;
	size_t fields;
	enum trace_use before;
};

/*
 * Where a clock was set back: behind `at_ns`, local times are recorded timestamps and
 * what was added so far, and `size_ns` more.
 */
struct trace_set_back {
	nsec_t at_ns; /* last local time before */
	nsec_t size_ns;
	uint64_t packet; /* ordinal of the first packet after; 0 in an extract */
};

enum { TRACE_MOST_SET_BACKS = 16 };

/* What is known of a source; grows while it is read. */
struct trace_facts {
	uint64_t events;             /* of any class, or captured packets */
	uint64_t bytes, total_bytes; /* read so far, and in all; 0: unknown */
	nsec_t begin_ns, end_ns;     /* stamps of the first and last event, if any */
	uint64_t discarded_events, discarded_packets;
	uint64_t backward; /* stamps before the one before in their stream */
	struct trace_set_back set_back[TRACE_MOST_SET_BACKS]; /* of a capture */
	size_t set_backs;
	char hostname[65]; /* of the trace's environment, or "" */
	unsigned char clock_uuid[16];
	char clock_name[65];
	nsec_t clock_offset_ns; /* since the epoch, at clock value 0 */
	uint64_t clock_frequency;
	bool has_udp_data; /* packet.seq of UDP is set: a capture's, if it is long enough
			    */
	bool has_second_clock; /* a capture's received packets are stamped by another */
	bool has_clock;
	bool has_uuid;       /* the clock has one */
	bool has_no_headers; /* its events of packets never carry headers, as ftrace's */
	bool counts_from_boot; /* nothing in the trace says since when its clock counts */

	/* Where packets of a network are looked for, input/packet_source.h. */
	uint64_t sent, received; /* packet events */
	uint64_t network_events; /* of any kind that could be a packet's */
	uint64_t headerless;     /* received without any recorded header */
	bool has_counted; /* some of its declared messages are counted, so that the order
			     of its events matters */
};

/* 32 hexadecimal digits, with dashes or without. 0, or -1 where it is something else. */
int parse_uuid(const char *text, unsigned char uuid[16]);

struct trace_reader;

/* Return true if path is a directory with a file named metadata, or a trace.dat. */
bool is_trace_path(const char *path);

/*
 * Open the trace in a directory that holds `metadata`, or a trace.dat, for which `kind`
 * does not matter. NULL with error on failure. Safe to call from several threads; one
 * reader is used by one thread at a time.
 */
struct trace_reader *trace_reader_open(const char *path, enum trace_reader_kind kind,
				       struct error *error);

/* The event classes of the trace, up to NULL. */
const struct trace_class *trace_reader_class(const struct trace_reader *reader,
					     uint32_t index);

/* The same class with its columns, which are made at the first call; before a step. */
const struct trace_class *trace_reader_columns(struct trace_reader *reader,
					       uint32_t index);

/* Before the first step; the paths stay the caller's until then. */
void trace_reader_select(struct trace_reader *reader, uint32_t index,
			 const struct trace_selection *selection);

/*
 * What lies before this time may be left out but for what `before` of selections says, up
 * to the first event of each stream that does not. Facts then tell of what was read.
 * Called after selecting, before the first step.
 */
void trace_reader_begin(struct trace_reader *reader, nsec_t local_ns);

/*
 * Read from when to when each stream was recorded, up to `until_ns`. False: this reader
 * cannot tell, or the packets do not say it. The caller clears `recorded`.
 */
bool trace_reader_recorded(struct trace_reader *reader, nsec_t until_ns,
			   struct trace_recorded *recorded);

/*
 * Count no losses before the first packet of this period's stream, because the stream
 * goes on from another trace. Before the first step.
 */
void trace_reader_continue(struct trace_reader *reader,
			   const struct trace_period *period);

/*
 * The same, and give no event of packets before that of this sequence number, because
 * the other trace has them, too. Their events count for ordinals and facts.
 */
void trace_reader_repeats(struct trace_reader *reader, const struct trace_period *period,
			  uint64_t sequence);

/*
 * Read some more, milliseconds of work, and about `most` events at most. Input that
 * breaks ends its stream or packet and becomes a problem. False at the end.
 */
bool trace_reader_step(struct trace_reader *reader, uint64_t most, trace_event_fn *give,
		       void *context);

/* The origin of CLOCK_MONOTONIC on the machine of a trace that does not record it. */
struct clock_origin {
	unsigned char boot_id[16];
	bool has_boot_id;
	bool is_boot_monotonic; /* CLOCK_BOOTTIME has read the same: no suspend */
	nsec_t offset_ns;       /* since the epoch, at value 0; 0: unknown */
};

/*
 * Relate the clock of a trace that counts from the machine's start, if it is
 * CLOCK_MONOTONIC: the boot becomes the clock's uuid, as in LTTng's traces, and
 * timestamps count from the epoch. Call before selecting.
 */
void trace_reader_set_origin(struct trace_reader *reader,
			     const struct clock_origin *origin);

/* What is known of the trace; grows while it is read. */
const struct trace_facts *trace_reader_facts(const struct trace_reader *reader);

/* What was odd; the list belongs to the reader, its caller may move it away. */
struct problem_list *trace_reader_problems(struct trace_reader *reader);

void trace_reader_free(struct trace_reader *reader);

/* "babeltrace2 2.0.4"; the caller frees it. */
char *babeltrace2_version(void);

#endif
