/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_READER_PRIVATE_H
#define CT_TRACE_READER_PRIVATE_H

#include "base/heap.h"
#include "trace/schema.h"

/* Events that have been read; least_ns > most_ns: none. */
struct ctf_tally {
	uint64_t events, backward; /* of them before the one before */
	nsec_t least_ns, most_ns, last_ns;
};

static inline void ctf_tally_add(struct ctf_tally *tally, nsec_t stamp)
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
struct ctf_progress {
	nsec_t head_ns; /* no event of this stream to come is before */
	struct ctf_tally tally;
	uint64_t stop_at; /* events of the stream */
	uint32_t index;
	int32_t cpu;
};

/* For those who implement a reader: embed this first. */
struct ctf_reader {
	bool (*step)(struct ctf_reader *reader, uint64_t most);
	void (*free)(struct ctf_reader *reader); /* what is not of this */
	/*
	 * Implement ctf_reader_recorded(), and ctf_reader_continue() (`repeated` is
	 * NULL) and ctf_reader_repeats(); NULL if the reader cannot.
	 */
	void (*recorded)(const struct ctf_reader *reader, nsec_t until_ns,
			 struct ctf_recorded *recorded);
	void (*go_on)(struct ctf_reader *reader, const struct ctf_period *period,
		      const uint64_t *repeated);
	char *path;
	struct ctf_facts facts;
	struct problem_list problems;
	struct ctf_event_class **class; /* each stays where it is */
	size_t classes, class_capacity;
	struct ctf_progress **stream;
	size_t streams, stream_capacity;
	struct heap heads; /* of the streams that are still read */
	nsec_t begin_ns;   /* before it only what `before` of selections says is wanted */
	ctf_event_fn *give;
	void *context;
	bool has_ended;
	bool reports_losses; /* by itself */
};

/* The base of memory that is zero; copies the path. */
void ctf_reader_init(struct ctf_reader *reader, const char *path,
		     bool (*step)(struct ctf_reader *reader, uint64_t most),
		     void (*free)(struct ctf_reader *reader));

/* One more event class, which belongs to the reader; copies the name. */
struct ctf_event_class *ctf_reader_add_class(struct ctf_reader *reader, const char *name);

void ctf_class_add_column(struct ctf_class *class, const char *name, enum cell_type type,
			  bool context);

/* One more stream, which is numbered as it comes. */
void ctf_reader_add_stream(struct ctf_reader *reader, struct ctf_progress *stream);

/*
 * Go on with a stream up to its first event past `until`, whose stamp is then its head,
 * or to stream->stop_at. Adds to its tally. False at its end.
 */
typedef bool ctf_run_fn(struct ctf_reader *reader, struct ctf_progress *stream,
			nsec_t until);

/* A step of all streams, merged. */
bool ctf_reader_merge(struct ctf_reader *reader, uint64_t most, ctf_run_fn *run);

/* Up to the first event, so that clock, host and classes are known from the start. */
void ctf_reader_prime(struct ctf_reader *reader, ctf_run_fn *run);

/* The clock of the first stream that has one, and the host, which may be NULL. */
void ctf_reader_set_clock(struct ctf_reader *reader, const char *host,
			  const struct schema_clock *clock);

struct ctf_reader *ctf_own_open(const char *path, struct error *error);
struct ctf_reader *ctf_babeltrace2_open(const char *path, struct error *error);

#endif
