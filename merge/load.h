/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_LOAD_H
#define CT_MERGE_LOAD_H

#include "base/progress.h"
#include "merge/event_class.h"
#include "merge/recording.h"
#include "merge/requests.h"
#include "merge/run.h"
#include "merge/spans/spans.h"
#include "sync/pair/pair.h"
#include "timeline/row_bytes.h"
#include "timeline/writer.h"

/*
 * The events of all sources, each in its own order and already on the timeline's axis,
 * read ahead of the thread that merges them (base/read_ahead.h) until as much waits as
 * PREFETCH_BYTES. The more sources, the shorter the steps.
 *
 * Within a source time never goes back: an event whose stamp is before that of
 * the event ahead of it gets the latter's time, and is counted.
 */
#define PREFETCH_BYTES ((size_t)16 << 20)

struct prefetcher;

/*
 * An event on its way from the thread that read it to the one that writes: copied whole,
 * cells and texts, behind the one before, so that it costs no allocation. The row of its
 * class is made here, too, as the threads that read have more time.
 */
struct row {
	nsec_t ts_ns; /* on the timeline's axis */
	struct event_class *class;
	struct trace_event event; /* cells beside it; NULL: none */
	struct row_bytes bytes;   /* of its class's table, beside it, too; NULL: none */
	uint32_t length;          /* in its block */
	bool selected;            /* else only of use to follow threads */
};

/*
 * Open the run's sources, except those of nodes that are not selected, and begin to read.
 * A source that cannot be opened becomes a problem of the run. The run and the selection
 * must outlive the prefetcher. Set `recording` to the times at which the sources were
 * recorded; the caller frees it.
 */
struct prefetcher *prefetcher_new(struct merge_run *run,
				  const struct event_filter *filter, int threads,
				  struct recording **recording);

/* The n-th class of a source; NULL: there are not so many. */
struct event_class *prefetcher_class(const struct prefetcher *prefetcher, uint32_t source,
				     size_t n);

/* The next event of a source, waited for; NULL at its end. Until prefetcher_next. */
const struct row *prefetcher_head(struct prefetcher *prefetcher, uint32_t source);

/* Go on to the event after prefetcher_head's. */
void prefetcher_next(struct prefetcher *prefetcher, uint32_t source);

/* Draw how far the reading is, after `events` were merged. */
void prefetcher_show(struct prefetcher *prefetcher, uint64_t events,
		     struct progress *progress);

/*
 * End the reading, wherever it is, move facts and problems to the run, and free.
 */
void prefetcher_free(struct prefetcher *prefetcher);

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
 * After the last event: find those of each message, and sort the messages by send time;
 * `count`: how many there were. Touches nothing that is written. 0, or -1 with error.
 */
int links_find(struct links *links, struct message_log *messages, uint64_t *count,
	       struct error *error);

/*
 * After that: add the message rows; an end whose event was not loaded (left out by the
 * user's selection) is NULL, one where both were left out has no row. `requests`
 * gets each of them. 0, or -1 with error.
 */
int links_write(struct links *links, struct requests *requests,
		struct timeline_writer *writer, struct error *error);

void links_free(struct links *links);

/* Everything that takes part when events become rows; all borrowed. */
struct load {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct message_log *messages; /* with their ends */
	struct requests *requests;    /* get each of them */
	struct progress *progress;
	int threads;
	bool payload, has_spans;
	uint64_t events; /* out: rows of `event` */
	uint64_t linked; /* out: messages that are not false */
};

/*
 * Merge the events of all sources into the timeline, in the order of their
 * corrected times; of one time by node and source. Then write what threads and others
 * did, when that was recorded, messages, threads and processes. 0, or -1 with error when
 * writing failed; what cannot be read becomes a problem of the run.
 */
int load_events(struct load *load, struct error *error);

#endif
