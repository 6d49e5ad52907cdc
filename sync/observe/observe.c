/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/observe.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "input/packet_source.h"
#include "sync/match/match.h"
#include "sync/observe/declared.h"
#include "sync/observe/readers.h"
#include "sync/observe/sources.h"
#include "trace/recorded.h"

/* The state of observation. */
struct observation {
	struct observations *seen;
	struct readers *readers;
	struct matcher *matcher;
};

/* Packets of traces enter the matcher as packets of their clocks. */
static void add_arrivals(const struct observation *observation,
			 const struct arrival *arrival, size_t count)
{
	enum { SOON = 10, SOONER = 5 };

	for (size_t i = 0; i < count; i++) {
		const struct trace *trace =
		    &observation->seen->trace[arrival[i].trace_index];
		struct packet_event *packet_event = arrival[i].packet_event;

		if (i + SOON < count)
			matcher_expect(observation->matcher,
				       arrival[i + SOON].packet_event->hash,
				       arrival[i + SOONER].packet_event->hash);
		packet_event->is_captured = trace->kind == SOURCE_CAPTURE;
		packet_event->ns += trace->shift_ns;
		packet_event->whole_ns =
		    nsec_add(packet_event->whole_ns, trace->shift_ns);
		packet_event->event_ns += trace->shift_ns;
		matcher_add(observation->matcher, trace->clock_index,
			    arrival[i].trace_index, packet_event);
	}
}

/* From the trace and the time of its clock to the source and its own time. */
static void set_source(const struct observations *seen, struct messages_end *end)
{
	const struct trace *trace = &seen->trace[end->source];

	end->source = trace->source_index;
	end->local_ns -= trace->shift_ns;
}

/* Messages, and their ends if they are kept, go to the log. */
static int log_messages(struct observations *seen, const struct match_output *found,
			struct error *error)
{
	for (size_t i = 0; i < found->messages; i++) {
		const struct matched *one = &found->message[i];
		const struct message message = {.send_ns = one->send_ns,
						.recv_ns = one->recv_ns,
						.port = one->port,
						.protocol = one->protocol};

		if (message_log_add(&seen->log, one->from_clock, one->to_clock, &message,
				    error))
			return -1;
		if (i < found->ends_count) {
			struct message_ends *ends = &found->ends[i];

			set_source(seen, &ends->send);
			set_source(seen, &ends->recv);
			if (ends->first.local_ns < NSEC_MAX)
				set_source(seen, &ends->first);
			if (message_log_add_ends(&seen->log, ends, error))
				return -1;
		}
	}
	return 0;
}

/*
 * Note a packet on its way out for a tie: between a host's trace and its capture, or
 * between two captures of it.
 */
static void note_handing(struct observations *seen, const struct match_handing *p,
			 const struct match_handing *q)
{
	enum source_kind of_p = seen->trace[seen->first_trace[p->clock_index]].kind;
	enum source_kind of_q = seen->trace[seen->first_trace[q->clock_index]].kind;

	if (of_p == SOURCE_TRACE && of_q == SOURCE_CAPTURE)
		tie_note(&seen->ties, p, q);
	else if (of_p == SOURCE_CAPTURE && of_q == SOURCE_TRACE)
		tie_note(&seen->ties, q, p);
	else if (of_p == SOURCE_CAPTURE && of_q == SOURCE_CAPTURE)
		tie_note_captures(&seen->ties, p, q);
}

/* Take what the matcher has found, and empty its output. */
static int take_output(const struct observation *observation, struct error *error)
{
	struct observations *seen = observation->seen;
	struct match_output *found = matcher_output(observation->matcher);
	int status = log_messages(seen, found, error);

	for (size_t i = 0; i < found->meetings; i++)
		readers_align(observation->readers,
			      seen->first_trace[found->meeting[i].from_clock],
			      found->meeting[i].send_ns,
			      seen->first_trace[found->meeting[i].to_clock],
			      found->meeting[i].recv_ns);
	for (size_t i = 0; i < found->handings; i++)
		note_handing(seen, &found->handing[i][0], &found->handing[i][1]);
	found->messages = found->ends_count = found->meetings = found->handings = 0;
	return status;
}

static uint32_t *hosts_of_clocks(const struct observations *seen)
{
	uint32_t *host = mem_alloc(seen->clocks * sizeof(*host));

	for (size_t i = 0; i < seen->clocks; i++)
		host[i] = seen->trace[seen->first_trace[i]].host_index;
	return host;
}

static int match_all(const struct observation *observation, struct error *error)
{
	struct arrival arrival[ARRIVALS_AT_ONCE];
	size_t count;
	int status = 0;

	while (!status && (count = readers_next(observation->readers, arrival))) {
		add_arrivals(observation, arrival, count);
		status = take_output(observation, error);
	}
	while (!status && matcher_finish(observation->matcher))
		status = take_output(observation, error);
	return status;
}

/* Return true if a capture of the host has packets, even if its traces have none. */
static bool has_capture(const struct observations *seen, uint32_t host_index)
{
	for (size_t i = 0; i < seen->traces; i++)
		if (seen->trace[i].host_index == host_index &&
		    seen->trace[i].kind == SOURCE_CAPTURE && seen->trace[i].facts.events)
			return true;
	return false;
}

/* Return true if any trace of the host has network events: another chunk or session. */
static bool has_network_events(const struct observations *seen, uint32_t host_index)
{
	for (size_t i = 0; i < seen->traces; i++)
		if (seen->trace[i].host_index == host_index &&
		    seen->trace[i].counts.network_events)
			return true;
	return false;
}

/* Return the first trace of a clock that has events, or else the clock's first. */
static size_t trace_of_clock(const struct observations *seen, uint32_t clock_index)
{
	for (size_t i = 0; i < seen->traces; i++)
		if (seen->trace[i].clock_index == clock_index &&
		    seen->trace[i].facts.events)
			return i;
	return seen->first_trace[clock_index];
}

/* Traces that cannot be tied, with what to do about it the next time. */
static void explain_silence(const struct observations *seen,
			    struct problem_list *problems)
{
	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];
		const struct trace_facts *facts = &trace->facts;
		const struct packet_counts *counts = &trace->counts;

		if (trace_of_clock(seen, trace->clock_index) != i)
			continue;
		if (!facts->events)
			problem_add(problems, trace->path, PROBLEM_SILENT, 1,
				    "no %s in it, so the clock of %s is unknown",
				    trace->kind == SOURCE_TRACE ? "event" : "packet",
				    trace->name);
		else if (facts->counts_from_boot &&
			 strcmp(facts->clock_name, "monotonic"))
			problem_add(problems, trace->path, PROBLEM_SILENT, 1,
				    "recorded with the clock `%s`, which nothing relates "
				    "to others%s; record with trace-cmd record -C mono",
				    facts->clock_name,
				    strcmp(facts->clock_name, "boot") == 0
					? " but a clock.csv with a boottime_ns that "
					  "equals monotonic_ns"
					: "");
		else if (trace->kind == SOURCE_CAPTURE && !counts->network_events)
			problem_add(problems, trace->path, PROBLEM_SILENT, 1,
				    "none of its %llu packets is an IP packet; capture "
				    "the interface that the nodes talk through",
				    (unsigned long long)facts->events);
		else if (trace->kind != SOURCE_TRACE ||
			 has_capture(seen, trace->host_index))
			continue;
		else if (facts->has_no_headers)
			problem_add(problems, trace->path, PROBLEM_SILENT, 1,
				    "ftrace records no packet headers; capture the "
				    "packets as well (tcpdump -w NODE/NODE.pcap)");
		else if (!has_network_events(seen, trace->host_index))
			problem_add(problems, trace->path, PROBLEM_SILENT, 1,
				    "no network event, enable net_dev_queue and "
				    "net_if_receive_skb (lttng enable-event -k "
				    "net_dev_queue,net_if_receive_skb,net_dev_xmit)");
		else if (!counts->received && counts->headerless > counts->sent / 2)
			problem_add(
			    problems, trace->path, PROBLEM_HEADERLESS, counts->headerless,
			    "received packets carry no headers, as generic "
			    "receive offload was off, switch it on (ethtool -K DEV "
			    "gro on)");
	}
}

/* Before sources are tied, each is ahead of others by as much as it began earlier. */
static size_t most_in_flight(const struct observations *seen, size_t asked)
{
	enum { LEAST = 1 << 18, A_SOURCE = 1 << 10 };

	if (asked)
		return asked;
	return seen->traces * A_SOURCE > LEAST ? seen->traces * A_SOURCE : LEAST;
}

static void copy_declared(struct observations *seen, const struct matcher *matcher)
{
	const struct declared_counts *counts =
	    matcher_declared(matcher, &seen->declareds);

	seen->declared = mem_alloc(seen->declareds * sizeof(*seen->declared) + 1);
	if (seen->declareds)
		memcpy(seen->declared, counts, seen->declareds * sizeof(*seen->declared));
}

/* Read the traces of each clock in the order of its time, if that decides which of
 * several sends with one key is which. */
static void share_clocks(const struct observation *observation,
			 struct packet_source **opened)
{
	const struct observations *seen = observation->seen;
	bool has_counted = false;

	for (size_t i = 0; i < seen->traces; i++)
		has_counted |= opened[i]->has_counted;
	for (uint32_t i = 0; has_counted && i < seen->traces; i++) {
		uint32_t first = seen->first_trace[seen->trace[i].clock_index];

		if (first != i)
			readers_share_clock(observation->readers, first, i,
					    seen->trace[i].shift_ns);
	}
}

static int read_all(struct observations *seen, struct packet_source **opened,
		    const struct observe_options *options, struct progress *progress,
		    struct error *error)
{
	AUTOFREE uint32_t *host = hosts_of_clocks(seen);
	struct observation observation = {
	    .seen = seen,
	    .readers = readers_new(opened, seen->traces, options->threads, progress),
	    .matcher = matcher_new(host, most_in_flight(seen, options->in_flight),
				   options->keeps_ends),
	};
	int status;

	share_clocks(&observation, opened);
	status = match_all(&observation, error);
	seen->matching = *matcher_counts(observation.matcher);
	seen->given_up = matcher_given_up(observation.matcher);
	copy_declared(seen, observation.matcher);
	matcher_free(observation.matcher);
	readers_free(observation.readers);
	return status;
}

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

/*
 * Find traces that continue streams of others of their host, as the chunks of a rotated
 * session do. Their counters of losses go on, and what two snapshots hold is read once.
 * `opened` has the traces' sources, before they are read.
 */
static void find_chunks(const struct observations *seen, struct packet_source **opened,
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

/*
 * Return true if the offset that follows this one in clock.csv is that after the
 * capture's clock was set back. So much was added to the capture's timestamps before.
 */
static bool is_set_back(const struct realtime_offset *offset,
			const struct trace_set_back *back, nsec_t added)
{
	nsec_t last = nsec_add(offset->to_ns, offset->low_ns) + added;

	return offset[1].high_ns - offset[0].low_ns < -back->size_ns / 2 &&
	       last <= back->at_ns + NSEC_PER_SEC;
}

static void add_by_samples(struct observations *seen, const struct trace *base,
			   const struct trace *tied, const struct source *source)
{
	struct tie *tie =
	    MEM_NEXT(seen->ties.item, seen->ties.count, seen->ties.capacity);
	nsec_t shift_ns = nsec_add(base->facts.clock_offset_ns, base->shift_ns),
	       added = 0;
	size_t set_backs = 0;

	*tie = (struct tie){.base = base->clock_index,
			    .tied = tied->clock_index,
			    .is_by_samples = true,
			    .parts = source->realtimes,
			    .part = mem_zalloc(source->realtimes * sizeof(*tie->part))};
	for (size_t i = 0; i < tie->parts; i++) {
		const struct realtime_offset *offset = &source->realtime[i];

		if (i && set_backs < tied->facts.set_backs &&
		    is_set_back(offset - 1, &tied->facts.set_back[set_backs], added))
			added += tied->facts.set_back[set_backs++].size_ns;
		tie->packets += offset->samples;
		tie->part[i] = (struct tie_part){
		    .at_ns = nsec_add(offset->from_ns, shift_ns),
		    .from_ns = nsec_add(offset->from_ns, shift_ns),
		    .to_ns = nsec_add(offset->to_ns, shift_ns),
		    .low_ns = nsec_sub(offset->low_ns, shift_ns) + added,
		    .high_ns = nsec_sub(offset->high_ns, shift_ns) + added,
		    .packets = offset->samples,
		    .cells = offset->samples,
		};
	}
}

/* Return true if the capture and the samples overlap, give or take a day. */
static bool is_of_that_time(const struct source *source, const struct trace_facts *facts)
{
	const struct realtime_offset *first = source->realtime;
	const struct realtime_offset *last = first + source->realtimes - 1;
	const nsec_t day = 86400 * NSEC_PER_SEC;

	return facts->end_ns > first->from_ns + first->low_ns - day &&
	       facts->begin_ns < last->to_ns + last->high_ns + day;
}

/*
 * Add ties from clock.csv, for captures that packets do not tie. Their node must have a
 * trace with CLOCK_MONOTONIC, of the kernel or of user space.
 */
static void tie_by_samples(struct observations *seen, const struct source_list *sources,
			   struct problem_list *problems)
{
	for (size_t i = 0; i < seen->traces; i++) {
		struct trace *tied = &seen->trace[i];
		const struct source *source = &sources->item[tied->source_index];
		const struct trace *base = observations_monotonic(seen, tied->host_index);

		if (tied->kind != SOURCE_CAPTURE || !source->realtimes || !base ||
		    !tied->facts.events || seen->first_trace[tied->clock_index] != i)
			continue;
		tied->is_apart = !is_of_that_time(source, &tied->facts);
		if (!tied->is_apart)
			add_by_samples(seen, base, tied, source);
		else
			problem_add(problems, tied->path, PROBLEM_TIE, 1,
				    "its time is not that of clock.csv, so it is stamped "
				    "by another clock");
	}
}

int observe_sources(struct source_list *sources, const struct observe_options *options,
		    struct observations *seen, struct problem_list *problems,
		    struct progress *progress, struct error *error)
{
	struct packet_source **opened;
	size_t least = options->alone ? 1 : 2;
	int status;

	observations_init(seen);
	seen->sources = sources;
	opened = sources_open(sources, options->threads, seen, problems);
	find_chunks(seen, opened, problems);
	if (seen->traces < least)
		status = error_set(error, "%zu trace%s to read (expected %zu or more)",
				   seen->traces, seen->traces == 1 ? "" : "s", least);
	else
		status = read_all(seen, opened, options, progress, error);
	for (size_t i = 0; seen->traces >= least && i < seen->traces; i++) {
		seen->trace[i].facts = opened[i]->facts;
		seen->trace[i].counts = opened[i]->counts;
		if (opened[i]->facts.has_no_headers) /* ctmerge need not look once more */
			trace_reader_recorded(
			    opened[i]->reader, NSEC_MAX,
			    &sources->item[seen->trace[i].source_index].recorded);
		problem_move(problems, &opened[i]->problems);
	}
	if (seen->traces >= least) {
		explain_silence(seen, problems);
		declared_report(seen, &sources->declared, problems);
	}
	sources_close(opened, seen->traces);
	if (!status)
		tie_by_samples(seen, sources, problems);
	return status;
}

void observations_init(struct observations *seen)
{
	memset(seen, 0, sizeof(*seen));
	message_log_init(&seen->log);
}

const struct trace *observations_monotonic(const struct observations *seen,
					   uint32_t host_index)
{
	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];

		if (trace->host_index == host_index && trace->kind == SOURCE_TRACE &&
		    trace->facts.has_uuid && trace->facts.events &&
		    strcmp(trace->facts.clock_name, "monotonic") == 0)
			return trace;
	}
	return NULL;
}

const char *observations_clock_name(const struct observations *seen, uint32_t clock_index)
{
	return seen->trace[seen->first_trace[clock_index]].name;
}

size_t observations_read(const struct observations *seen)
{
	return seen->traces - (seen->traces && seen->trace[seen->traces - 1].is_utc);
}

void observations_clear(struct observations *seen)
{
	for (size_t i = 0; i < seen->traces; i++) {
		free(seen->trace[i].name);
		free(seen->trace[i].path);
	}
	free(seen->trace);
	free(seen->first_trace);
	free(seen->declared);
	tie_list_clear(&seen->ties);
	message_log_clear(&seen->log);
	memset(seen, 0, sizeof(*seen));
}
