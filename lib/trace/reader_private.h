/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_READER_PRIVATE_H
#define CT_TRACE_READER_PRIVATE_H

#include "base/heap.h"
#include "trace/schema.h"

/* Events that have been read; least_ns > most_ns: none. */
struct trace_tally {
	uint64_t events, backward; /* of them before the one before */
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

/* What a reader knows of a stream besides what it reads it by; embed it first. */
struct trace_progress {
	nsec_t head_ns; /* no event of this stream to come is before */
	struct trace_tally tally;
	uint64_t stop_at; /* events of the stream */
	uint32_t index;
	int32_t cpu;
};

/* For those who implement a reader: embed this first. */
struct trace_reader {
	bool (*step)(struct trace_reader *reader, uint64_t most);
	void (*free)(struct trace_reader *reader); /* what is not of this */
	/*
	 * Implement trace_reader_recorded(), and trace_reader_continue() (`repeated` is
	 * NULL) and trace_reader_repeats(); NULL if the reader cannot.
	 */
	void (*recorded)(const struct trace_reader *reader, nsec_t until_ns,
			 struct trace_recorded *recorded);
	void (*go_on)(struct trace_reader *reader, const struct trace_period *period,
		      const uint64_t *repeated);
	char *path;
	struct trace_facts facts;
	struct problem_list problems;
	struct schema_event_class **class; /* each stays where it is */
	size_t classes, class_capacity;
	struct trace_progress **stream;
	size_t streams, stream_capacity;
	struct heap heads; /* of the streams that are still read */
	nsec_t begin_ns;   /* before it only what `before` of selections says is wanted */
	trace_event_fn *give;
	void *context;
	bool has_ended;
	bool reports_losses; /* by itself */
};

/* The base of memory that is zero; copies the path. */
void trace_reader_init(struct trace_reader *reader, const char *path,
		       bool (*step)(struct trace_reader *reader, uint64_t most),
		       void (*free)(struct trace_reader *reader));

/* One more event class, which belongs to the reader; copies the name. */
struct schema_event_class *trace_reader_add_class(struct trace_reader *reader,
						  const char *name);

void trace_class_add_column(struct trace_class *class, const char *name,
			    enum cell_type type, bool context);

/* One more stream, which is numbered as it comes. */
void trace_reader_add_stream(struct trace_reader *reader, struct trace_progress *stream);

/*
 * Go on with a stream up to its first event past `until`, whose stamp is then its head,
 * or to stream->stop_at. Adds to its tally. False at its end.
 */
typedef bool trace_run_fn(struct trace_reader *reader, struct trace_progress *stream,
			  nsec_t until);

/* A step of all streams, merged. */
bool trace_reader_merge(struct trace_reader *reader, uint64_t most, trace_run_fn *run);

/* Up to the first event, so that clock, host and classes are known from the start. */
void trace_reader_prime(struct trace_reader *reader, trace_run_fn *run);

/* The clock of the first stream that has one, and the host, which may be NULL. */
void trace_reader_set_clock(struct trace_reader *reader, const char *host,
			    const struct schema_clock *clock);

struct trace_reader *ctf_trace_open(const char *path, struct error *error);
struct trace_reader *babeltrace2_open(const char *path, struct error *error);

#endif
