/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_READER_PRIVATE_H
#define CT_TRACE_READER_PRIVATE_H

#include "base/heap.h"
#include "trace/schema.h"

/* The events that were read of a stream; least_ns > most_ns if there are none. */
struct trace_tally {
	uint64_t events,
	    backward; /* backward: events that are earlier than the one before */
	nsec_t least_ns, most_ns, last_ns;
};

static inline void trace_tally_add(struct trace_tally *tally, nsec_t stamp)
{
	tally->backward += stamp < tally->last_ns;
	if (stamp < tally->least_ns)
		tally->least_ns = stamp;
	if (stamp > tally->most_ns)
		tally->most_ns = stamp;
	tally->last_ns = stamp;
	tally->events++;
}

/* The progress of a stream, common to all kinds of readers; embed it first. */
struct trace_progress {
	nsec_t head_ns; /* lower bound for the stream's next events */
	struct trace_tally tally;
	uint64_t stop_at; /* number of events at which to stop */
	uint32_t index;
	int32_t cpu;
};

/* The base of all readers; embed it first. */
struct trace_reader {
	bool (*step)(struct trace_reader *reader, uint64_t most);
	void (*free)(struct trace_reader *reader); /* frees what the base does not own */
	/*
	 * Implement trace_reader_recorded(), and trace_reader_continue() (with `repeated`
	 * NULL) and trace_reader_repeats(); NULL if unsupported.
	 */
	void (*recorded)(const struct trace_reader *reader, nsec_t until_ns,
			 struct trace_recorded *recorded);
	void (*go_on)(struct trace_reader *reader, const struct trace_period *period,
		      const uint64_t *repeated);
	char *path;
	struct trace_facts facts;
	struct problem_list problems;
	struct schema_event_class **class; /* their addresses never change */
	size_t classes, class_capacity;
	struct trace_progress **stream;
	size_t streams, stream_capacity;
	struct heap heads; /* head_ns of the unfinished streams */
	nsec_t begin_ns;   /* start of reading; earlier events only as `before` of their
			      selection says */
	trace_event_fn *on_event;
	void *context;
	bool has_ended;
	bool reports_losses; /* it adds the problems of lost events itself */
};

/* Initialize a zeroed reader. Copies the path. */
void trace_reader_init(struct trace_reader *reader, const char *path,
		       bool (*step)(struct trace_reader *reader, uint64_t most),
		       void (*free)(struct trace_reader *reader));

/* Add an event class, owned by the reader. Copies the name. */
struct schema_event_class *trace_reader_add_class(struct trace_reader *reader,
						  const char *name);

void trace_class_add_column(struct trace_class *class, const char *name,
			    enum cell_type type, bool context);

/* Add a stream; its index is the number of streams before it. */
void trace_reader_add_stream(struct trace_reader *reader, struct trace_progress *stream);

/*
 * Read a stream up to its first event later than `until`, which becomes its head, or up
 * to stream->stop_at events. Add to its tally. Return false at the end of the stream.
 */
typedef bool trace_run_fn(struct trace_reader *reader, struct trace_progress *stream,
			  nsec_t until);

/* Deliver events of all streams, merged. Return false at the end. */
bool trace_reader_merge(struct trace_reader *reader, uint64_t most, trace_run_fn *run);

/* Read up to the first event, so that the clock, the host and the classes are known. */
void trace_reader_prime(struct trace_reader *reader, trace_run_fn *run);

/* Set the clock from the first stream that has one, and the host unless it is NULL. */
void trace_reader_set_clock(struct trace_reader *reader, const char *host,
			    const struct schema_clock *clock);

struct trace_reader *ctf_trace_open(const char *path, struct error *error);

#endif
