/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_facts.h"

#include <string.h>

void trace_facts_copy(struct packet_source_facts *to, const struct ctf_facts *from)
{
	to->events = from->events;
	to->bytes = from->bytes;
	to->total_bytes = from->total_bytes;
	to->begin_ns = from->begin_ns;
	to->end_ns = from->end_ns;
	memcpy(to->hostname, from->hostname, sizeof(to->hostname));
	memcpy(to->clock_uuid, from->clock_uuid, sizeof(to->clock_uuid));
	to->clock_offset_ns = from->clock_offset_ns;
	to->clock_frequency = from->clock_frequency;
	to->has_clock = from->has_clock && from->has_uuid;
	memcpy(to->clock_name, from->clock_name, sizeof(to->clock_name));
}

void trace_facts_report(const struct ctf_facts *facts, const char *path,
			struct problem_list *problems)
{
	if (facts->discarded_events)
		problem_add(problems, path, "discarded", facts->discarded_events,
			    "the tracer discarded %llu events",
			    (unsigned long long)facts->discarded_events);
	if (facts->discarded_packets)
		problem_add(problems, path, "discarded", facts->discarded_packets,
			    "the tracer discarded %llu packets of events",
			    (unsigned long long)facts->discarded_packets);
	if (facts->backward && !facts->is_partial)
		problem_add(problems, path, "backward", facts->backward,
			    "%llu stamps lie before the one before in their stream",
			    (unsigned long long)facts->backward);
}
