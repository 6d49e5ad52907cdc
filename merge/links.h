/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_LINKS_H
#define CT_MERGE_LINKS_H

#include "merge/event_class.h"
#include "merge/requests.h"
#include "merge/spans/spans.h"
#include "sync/pair/message_log.h"
#include "timeline/writer.h"

/* An event that is, or can be, a packet's. */
struct event_link {
	int64_t id;              /* 0: it was not loaded */
	struct span_cause cause; /* as spans_event has it */
	struct sent_packet sent; /* as sent_packets_event has it */
	nsec_t ts_ns;            /* on the timeline's axis */
	enum event_tag tag;
	uint32_t bytes; /* as kernel_packet_bytes has it */
};

/*
 * From messages to the events that they were made of. While events are loaded,
 * those that can be a packet's are noted with the id that they got; afterwards
 * the messages become rows. Memory is some kilobytes a stream and some
 * megabytes to sort the messages, the rest is in unnamed files.
 */
struct links;

struct links *links_new(const struct merge_run *run, const struct selection *selection);

/* An event that can be what a message was made of (EVENT_LINKED) was loaded. By ascending
 * ordinal within a stream. */
int links_note(struct links *links, uint32_t source, const struct trace_event *event,
	       const struct event_link *link, struct error *error);

/*
 * Find the events of each message, sort the messages by send time, and set `count` to
 * their number. Call after the last event. Does not use the writer. Return 0, or -1 with
 * error.
 */
int links_find(struct links *links, struct message_log *messages, uint64_t *count,
	       struct error *error);

/*
 * Add the message rows. Call after links_find(). An end whose event was not loaded,
 * because it is not selected, is NULL; a message with two such ends has no row. Return 0,
 * or -1 with error.
 */
int links_write(struct links *links, struct timeline_writer *writer, struct error *error);

/* Pass the same messages to `requests`, if need be in another thread meanwhile. Return 0,
 * or -1 with error. */
int links_pass(struct links *links, struct requests *requests, struct error *error);

void links_free(struct links *links);

#endif
