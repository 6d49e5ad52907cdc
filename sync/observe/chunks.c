/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/chunks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "input/packet_source.h"
#include "trace/recorded.h"

/* A period of a stream. */
struct piece {
	const struct trace_period *of;
	const unsigned char *uuid; /* the trace's */
	uint32_t trace, host;
	nsec_t order_ns; /* begin, or first event if the begin is not recorded */
	bool is_later;   /* its trace has an earlier one of the stream */
};

struct piece_list {
	struct piece *item;
	size_t count, capacity;
};

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_streams(const struct piece *p, const struct piece *q)
{
	int order = ORDER(p->host, q->host);

	return order ? order : trace_period_compare(p->of, p->uuid, q->of, q->uuid);
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	int order = compare_streams(p, q);

	if (!order)
		order = ORDER(p->order_ns, q->order_ns);
	if (!order)
		order = ORDER(p->of->first_sequence, q->of->first_sequence);
	return order ? order : ORDER(p->trace, q->trace);
}

static void add_pieces(const struct trace *trace, uint32_t index,
		       const struct trace_recorded *recorded, struct piece_list *list)
{
	for (size_t i = 0; i < recorded->periods; i++) {
		const struct trace_period *of = &recorded->period[i];
		bool has_begin =
		    of->begin_ns > NSEC_MIN || of->first_event_ns == NSEC_MAX;

		*MEM_NEXT(list->item, list->count, list->capacity) = (struct piece){
		    .of = of,
		    .uuid = recorded->uuid,
		    .trace = index,
		    .host = trace->host_index,
		    .order_ns = has_begin ? of->begin_ns : of->first_event_ns,
		    .is_later = i && trace_period_compare(of, recorded->uuid, of - 1,
							  recorded->uuid) == 0};
	}
}

/* Losses between two traces. */
struct missing {
	uint64_t packets, events;
};

/*
 * Connect a period with the one before in its stream. Return false if the one before is
 * still the stream's last because it ends later.
 */
static bool connect(const struct piece *last, const struct piece *next,
		    struct packet_source **opened, struct missing *missing)
{
	struct trace_reader *reader = opened[next->trace]->reader;
	const struct trace_junction join =
	    trace_periods_join(last->of, last->of->end_ns, next->of, next->of->begin_ns,
			       next->trace == last->trace);

	if (join.repeats) {
		trace_reader_repeats(reader, next->of, last->of->last_sequence + 1);
		return next->of->end_ns > last->of->end_ns;
	}
	if (next->trace != last->trace && !next->is_later) {
		trace_reader_continue(reader, next->of);
		missing[next->trace].packets += join.packets;
		missing[next->trace].events += join.events;
	}
	return true;
}

/* Return true if another trace of its host has a trace's clock, and so may be of its
 * session. */
static bool has_companion(const struct observations *seen, uint32_t index)
{
	const struct trace *trace = &seen->trace[index];

	for (size_t i = 0; i < seen->traces; i++)
		if (i != index && seen->trace[i].kind == SOURCE_TRACE &&
		    seen->trace[i].host_index == trace->host_index)
			return true;
	return false;
}

void chunks_find(const struct observations *seen, struct packet_source **opened,
		 struct problem_list *problems)
{
	struct trace_recorded *recorded =
	    mem_zalloc((seen->traces + 1) * sizeof(*recorded));
	AUTOFREE struct missing *missing =
	    mem_zalloc((seen->traces + 1) * sizeof(*missing));
	struct piece_list list = {NULL, 0, 0};
	const struct piece *last = NULL;

	for (uint32_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];

		if (opened[i]->reader && has_companion(seen, i) &&
		    trace_reader_recorded(opened[i]->reader, NSEC_MAX, &recorded[i]))
			add_pieces(trace, i, &recorded[i], &list);
	}
	if (list.count)
		qsort(list.item, list.count, sizeof(*list.item), compare_pieces);
	for (size_t i = 0; i < list.count; i++) {
		const struct piece *next = &list.item[i];

		if (!last || compare_streams(last, next) != 0 ||
		    connect(last, next, opened, missing))
			last = next;
	}
	for (size_t i = 0; i < seen->traces; i++) {
		trace_report_missing(seen->trace[i].path, missing[i].packets,
				     missing[i].events, problems);
		trace_recorded_clear(&recorded[i]);
	}
	free(list.item);
	free(recorded);
}
