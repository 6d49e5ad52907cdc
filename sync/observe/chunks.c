/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/chunks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "input/packet_source.h"
#include "trace/recorded.h"

struct piece_list {
	struct trace_piece *item;
	size_t count, capacity;
};

/* Losses between two traces. */
struct missing {
	uint64_t packets, events;
};

/*
 * Connect a period with the one before in its stream. Return false if the one before is
 * still the stream's last because it ends later.
 */
static bool connect_pieces(const struct trace_piece *last, const struct trace_piece *next,
			   struct packet_source **opened, struct missing *missing)
{
	struct trace_reader *reader = opened[next->trace]->reader;
	const struct trace_junction join =
	    trace_pieces_join(last, last->of->end_ns, next, next->of->begin_ns);

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
	const struct trace_piece *last = NULL;

	for (uint32_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];

		if (opened[i]->reader && !opened[i]->facts.has_no_headers &&
		    has_companion(seen, i) &&
		    trace_reader_recorded(opened[i]->reader, NSEC_MAX, &recorded[i]))
			for (size_t k = 0; k < recorded[i].periods; k++)
				*MEM_NEXT(list.item, list.count, list.capacity) =
				    trace_piece_of(&recorded[i], k, trace->host_index, i);
	}
	SORT(list.item, list.count, trace_piece_compare);
	for (size_t i = 0; i < list.count; i++) {
		const struct trace_piece *next = &list.item[i];

		if (!last || trace_piece_compare_streams(last, next) != 0 ||
		    connect_pieces(last, next, opened, missing))
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
