/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_RECORDED_H
#define CT_TRACE_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * A period in which a stream was recorded without a gap, according to the headers of its
 * packets: a packet without events counts, too. Packets with consecutive sequence numbers
 * leave no gap, whatever their times, because LTTng may start a packet with its first
 * event. Without sequence numbers the times decide.
 */
struct trace_period {
	nsec_t begin_ns, end_ns; /* NSEC_MIN, NSEC_MAX if not recorded */
	nsec_t first_end_ns;     /* end of the first packet; NSEC_MAX if unknown */
	nsec_t first_event_ns;   /* first event of the first packet, or NSEC_MAX */
	bool has_last_events;    /* the last packet has events */
	uint32_t channel;        /* as in struct trace_class */
	int32_t cpu;             /* -1: not recorded */
	uint64_t instance;       /* number of the stream in its channel, or the CPU */
	unsigned sequence_size, discarded_size; /* bits of the counters, or 0 */
	uint64_t first_sequence, last_sequence, first_discarded, last_discarded;
};

/* A time span in which events were lost; exactly when is unknown. What was lost before
 * the first packet of a stream is not among them, but in `first_discarded`. */
struct trace_loss {
	nsec_t begin_ns, end_ns;
	uint32_t channel;
	int32_t cpu;
};

struct trace_recorded {
	unsigned char uuid[16];      /* all 0 if the trace has none */
	struct trace_period *period; /* grouped by stream, in the order of its packets */
	size_t periods, period_capacity;
	struct trace_loss *loss;
	size_t losses, loss_capacity;
};

struct ctf_streams;
struct schema;

/*
 * Read the headers of all packets, in each stream up to the first packet that starts
 * after `until_ns`.
 */
void ctf_streams_recorded(const struct ctf_streams *streams, const struct schema *schema,
			  nsec_t until_ns, struct trace_recorded *recorded);

void trace_recorded_clear(struct trace_recorded *recorded);

/* A period among those of other traces. Callers set `order_ns` on a common axis. */
struct trace_piece {
	const struct trace_period *of;
	const unsigned char *uuid; /* the trace's; all traces of a session have one */
	uint32_t host, trace;
	nsec_t order_ns; /* begin_ns, or the first event if that is not recorded */
	bool is_later;   /* its trace has an earlier one of the stream */
};

struct trace_piece trace_piece_of(const struct trace_recorded *recorded, size_t period,
				  uint32_t host, uint32_t trace);

/* Compare by host and stream. */
int trace_piece_compare_streams(const struct trace_piece *a, const struct trace_piece *b);

/* Compare pieces, or structs that begin with one, for qsort(3): by stream, then in the
 * order of recording. */
int trace_piece_compare(const void *a, const void *b);

/* The relation of a period of a stream to the previous one, maybe of another trace. */
struct trace_junction {
	bool repeats; /* its packets are also in the other trace: snapshots repeat some */
	bool is_following;        /* there is no gap */
	uint64_t events, packets; /* lost in between */
};

/* `last_end_ns` and `next_begin_ns` are the pieces' times on a common axis. */
struct trace_junction trace_pieces_join(const struct trace_piece *last_piece,
					nsec_t last_end_ns,
					const struct trace_piece *next_piece,
					nsec_t next_begin_ns);

struct problem_list;

/* Report what was lost between a trace and the one before. */
void trace_report_missing(const char *path, uint64_t packets, uint64_t events,
			  struct problem_list *problems);

/* Return how much a counter of `size` bits, which may wrap, has grown; 0 if it fell. */
static inline uint64_t counter_growth(unsigned size, uint64_t from, uint64_t to)
{
	uint64_t growth = (to - from) & UINT64_MAX >> (64 - size);

	return growth >> (size - 1) ? 0 : growth;
}

#endif
