/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/readers.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/mem.h"
#include "base/read_ahead.h"

enum {
	MOST_AHEAD = 1 << 17, /* packets that are read and not yet handed over; or */
	MOST_AHEAD_A_SOURCE = 1
			      << 9, /* or, if that is more, this number for each source */
	BLOCK_BYTES = 1 << 14,
};

struct reading {
	struct packet_source *source;
	struct read_step *step; /* while it is read */
	bool has_udp_data;      /* all sources distinguish datagrams by their data */
	bool begun;             /* it had an event, so its axis has an origin */
	nsec_t begin_ns;        /* local time */
	uint64_t events, bytes, total_bytes; /* as of the last step */
	nsec_t read_ns;                      /* local time up to which it was read */
	struct packet_event *head,
	    *end;          /* its block: events that were read but not delivered */
	uint32_t group;    /* group of sources that are aligned with each other */
	nsec_t to_axis_ns; /* local time plus this is the common axis */
	bool shares_clock; /* with another trace, until both are aligned */
	uint32_t other;    /* that trace */
	nsec_t shift_ns;   /* local time plus this is the other's */
};

struct readers {
	struct reading *reading;
	size_t count;
	struct read_ahead *ahead;
	struct heap heads; /* sources with a packet, by its time on the axis */
	bool is_realigned; /* axes were moved since the heads were ordered */
	uint64_t events, bytes,
	    total_bytes; /* totals of all sources, as of their last steps */
	struct progress *progress;
};

/*
 * Remove the fields that not all sources record of one packet alike. A kernel trace reads
 * the ICMP header of a received packet before the kernel knows where it is, so only the
 * network header counts where that has an identification.
 */
static void clear_doubtful(const struct reading *reading, struct packet *packet)
{
	if (packet->protocol == IPPROTO_UDP && !reading->has_udp_data)
		packet->seq = 0;
	if (packet->protocol == IPPROTO_ICMP && packet->family == 4 && packet->id) {
		packet->known = (uint8_t)(packet->known & ~PACKET_TRANSPORT);
		packet->sport = 0;
		packet->seq = 0;
	}
}

static void queue_packet_event(void *context, const struct packet_event *packet_event)
{
	struct reading *reading = context;
	struct packet_event *copy = read_step_add(reading->step, sizeof(*copy));

	*copy = *packet_event;
	clear_doubtful(reading, &copy->packet);
	copy->hash = packet_hash(&copy->packet);
}

static bool read_source(void *context, uint32_t source, struct read_step *step)
{
	struct reading *reading = &((struct readers *)context)->reading[source];

	reading->step = step;
	return packet_source_step(reading->source, queue_packet_event, reading);
}

static void note_source(void *context, uint32_t source)
{
	struct readers *readers = context;
	struct reading *reading = &readers->reading[source];
	const struct trace_facts *facts = &reading->source->facts;

	readers->events += facts->events - reading->events;
	readers->bytes += facts->bytes - reading->bytes;
	readers->total_bytes += facts->total_bytes - reading->total_bytes;
	reading->events = facts->events;
	reading->bytes = facts->bytes;
	reading->total_bytes = facts->total_bytes;
	progress_update(readers->progress, "reading", readers->events, readers->bytes,
			readers->total_bytes);
	reading->read_ns = facts->end_ns;
	if (facts->events && !reading->begun) {
		reading->begun = true;
		reading->begin_ns = facts->begin_ns;
		reading->to_axis_ns = nsec_sub(0, facts->begin_ns);
	}
}

/* Return the time on the common axis up to which a source was read. A new one is at its
 * start. */
static nsec_t read_position(const void *context, uint32_t source)
{
	const struct reading *reading =
	    &((const struct readers *)context)->reading[source];

	return reading->begun ? nsec_add(reading->read_ns, reading->to_axis_ns)
			      : NSEC_MIN;
}

/* Load the next packet of a source. Return false if there is none. */
static bool have_head(struct readers *readers, uint32_t source)
{
	struct reading *reading = &readers->reading[source];
	const struct read_block *block;

	if (reading->head < reading->end)
		return true;
	block = read_ahead_next(readers->ahead, source);
	if (!block)
		return false;
	reading->head = (struct packet_event *)block->byte;
	reading->end = reading->head + block->used / sizeof(*reading->head);
	return true;
}

static nsec_t head_ns(const struct reading *reading)
{
	const struct packet_event *head = reading->head;

	return nsec_add(head->event_ns ? head->event_ns : head->ns, reading->to_axis_ns);
}

void readers_share_clock(struct readers *readers, uint32_t a, uint32_t b, nsec_t shift_ns)
{
	readers->reading[b].shares_clock = true;
	readers->reading[b].other = a;
	readers->reading[b].shift_ns = shift_ns;
}

static void align_shared(struct readers *readers)
{
	for (uint32_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (!reading->shares_clock)
			continue;
		reading->shares_clock = false;
		if (reading->begun && readers->reading[reading->other].begun)
			readers_align(readers, reading->other,
				      nsec_add(reading->begin_ns, reading->shift_ns), i,
				      reading->begin_ns);
	}
}

/* Nothing is handed over before each source has a packet, or has ended. */
static void order_heads(struct readers *readers)
{
	readers->heads.count = 0;
	for (uint32_t i = 0; i < readers->count; i++)
		have_head(readers, i);
	align_shared(readers);
	for (uint32_t i = 0; i < readers->count; i++)
		if (have_head(readers, i))
			heap_push(&readers->heads, head_ns(&readers->reading[i]), i);
	readers->is_realigned = false;
}

size_t readers_next(struct readers *readers, struct arrival arrival[ARRIVALS_AT_ONCE])
{
	struct heap *heads = &readers->heads;
	size_t n = 0;

	read_ahead_reuse(readers->ahead, read_ahead_take_used(readers->ahead));
	if (readers->is_realigned)
		order_heads(readers);

	while (n < ARRIVALS_AT_ONCE && heads->count) {
		uint32_t source = heads->item[0].item;
		struct reading *reading = &readers->reading[source];

		arrival[n++] = (struct arrival){source, reading->head++};
		if (have_head(readers, source))
			heap_replace(heads, head_ns(reading));
		else
			heap_pop(heads);
	}
	return n;
}

struct readers *readers_new(struct packet_source **sources, size_t count, int threads,
			    struct progress *progress)
{
	struct readers *readers = mem_zalloc(sizeof(*readers));
	size_t most = count * MOST_AHEAD_A_SOURCE;
	const struct read_ahead_config of = {
	    .sources = count,
	    .threads = threads > 1 ? threads : 0,
	    .most_bytes =
		(most < MOST_AHEAD ? MOST_AHEAD : most) * sizeof(struct packet_event),
	    .block_bytes = BLOCK_BYTES,
	    .read = read_source,
	    .note = note_source,
	    .position = read_position,
	    .context = readers,
	};
	bool has_data = true;

	readers->reading = mem_zalloc(count * sizeof(*readers->reading) + 1);
	readers->count = count;
	readers->progress = progress;
	readers->is_realigned = true;
	for (size_t i = 0; i < count; i++)
		has_data &= sources[i]->facts.has_udp_data;
	for (size_t i = 0; i < count; i++) {
		readers->reading[i] =
		    (struct reading){.source = sources[i],
				     .has_udp_data = has_data,
				     .group = (uint32_t)i,
				     .total_bytes = sources[i]->facts.total_bytes};
		readers->total_bytes += sources[i]->facts.total_bytes;
	}
	readers->ahead = read_ahead_new(&of);
	return readers;
}

nsec_t readers_begin(const struct readers *readers, uint32_t trace_index)
{
	return readers->reading[trace_index].begin_ns;
}

void readers_align(struct readers *readers, uint32_t a, nsec_t a_ns, uint32_t b,
		   nsec_t b_ns)
{
	struct reading *from = &readers->reading[a], *to = &readers->reading[b];
	uint32_t group = to->group;
	nsec_t shift;

	/* Only this thread writes groups, and below, axes that are aligned. */
	if (from->group == group)
		return;
	read_ahead_lock(readers->ahead);
	shift =
	    nsec_sub(nsec_add(a_ns, from->to_axis_ns), nsec_add(b_ns, to->to_axis_ns));
	for (size_t i = 0; i < readers->count; i++) {
		struct reading *reading = &readers->reading[i];

		if (reading->group != group)
			continue;
		reading->group = from->group;
		reading->to_axis_ns = nsec_add(reading->to_axis_ns, shift);
	}
	readers->is_realigned = true;
	read_ahead_unlock(readers->ahead);
}

void readers_free(struct readers *readers)
{
	if (!readers)
		return;
	read_ahead_free(readers->ahead);
	progress_end(readers->progress);
	heap_clear(&readers->heads);
	free(readers->reading);
	free(readers);
}
