/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/output.h"
#include "base/process.h"
#include "input/packet_files.h"
#include "sync/match/match.h"
#include "sync/match/readers.h"

struct reading {
	struct sync *sync;
	struct readers *readers;
	struct matcher *matcher;
	struct error *error;
};

/* One source that is opened, or why it cannot be. */
struct opening {
	struct source *source;
	struct packet_source *packets;
	struct error error;
	uint64_t fingerprint;        /* fingerprint of its events, or 0 */
	const struct opening *rival; /* seems to be of the same host; or NULL */
};

/* One that is read already, and is this one or a copy of it; or NULL. */
static const struct opening *find_same(const struct sync *sync,
				       const struct opening *opening, size_t index)
{
	uint64_t fingerprint = opening[index].fingerprint;

	for (size_t i = 0; fingerprint && i < sync->traces; i++)
		if (opening[sync->trace[i].source].fingerprint == fingerprint)
			return &opening[sync->trace[i].source];
	return NULL;
}

/* Metadata takes milliseconds, so traces are opened in parallel. */
static void open_source(void *context, size_t index)
{
	struct opening *opening = (struct opening *)context + index;
	struct source *source = opening->source;

	opening->fingerprint = same_events_fingerprint(source);
	if (source->extract)
		opening->packets =
		    packets_file_open(source->path, source->extract - 1, &opening->error);
	else if (source->kind == SOURCE_TRACE)
		opening->packets =
		    trace_packets_open(source->path, source->reader, &opening->error);
	else
		opening->packets = capture_packets_open(
		    &(struct capture_input){.path = source->path,
					    .part = source->part,
					    .parts = source->parts,
					    .name = source->name ? source->name : "NAME",
					    .local = source->local,
					    .locals = source->locals},
		    &opening->error);
	if (opening->packets && source->kind == SOURCE_TRACE && !source->extract)
		trace_packets_set_origin(opening->packets, &source->origin);
}

static bool is_rival(const struct opening *one, const struct opening *other)
{
	static const uint8_t unknown[6];
	const uint8_t *host;

	if (!one->packets || !other->packets || one->fingerprint == other->fingerprint)
		return false;
	host = one->packets->guessed_host;
	return memcmp(host, unknown, sizeof(unknown)) != 0 &&
	       memcmp(host, other->packets->guessed_host, sizeof(unknown)) == 0 &&
	       !(one->source->node && other->source->node &&
		 strcmp(one->source->node, other->source->node) == 0);
}

/*
 * Find captures that seem to be of one host. On a hub, every capture has the frames of
 * the busiest host.
 */
static void find_rivals(struct opening *opening, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count && !opening[i].rival; k++)
			if (k != i && is_rival(&opening[i], &opening[k]))
				opening[i].rival = &opening[k];
}

/* What was opened; NULL when it cannot be used, which becomes a problem. */
static struct packet_source *check_opened(struct sync *sync, struct opening *all,
					  size_t index)
{
	struct opening *opening = &all[index];
	struct packet_source *packets = opening->packets;
	const char *path = opening->source->path;
	const struct opening *first = find_same(sync, all, index);

	if (first) {
		if (strcmp(first->source->path, path) == 0)
			problem_add(&sync->problems, path, PROBLEM_TWICE, 1,
				    "given twice, used once");
		else
			problem_add(&sync->problems, path, PROBLEM_TWICE, 1,
				    "the same events as %s, used once",
				    first->source->path);
		if (packets)
			packet_source_free(packets);
		packets = NULL;
	} else if (!packets) {
		problem_add(&sync->problems, "", PROBLEM_UNREADABLE, 1, "%s",
			    error_text(&opening->error));
	} else if (opening->rival) {
		problem_add(&sync->problems, path, PROBLEM_UNREADABLE, 1,
			    "by its packets a capture of the same host as %s; name the "
			    "node's own addresses, as in --local %s=ADDR",
			    opening->rival->source->path, opening->source->name);
		packet_source_free(packets);
		packets = NULL;
	}
	error_clear(&opening->error);
	return packets;
}

static bool name_is_taken(const struct sync *sync, const char *name)
{
	for (size_t i = 0; i < sync->traces; i++)
		if (strcmp(sync->trace[i].name, name) == 0)
			return true;
	return false;
}

const char *sync_source_name(const struct source *source, const struct ctf_facts *facts)
{
	if (source->name)
		return source->name;
	return *facts->hostname ? facts->hostname : source->path;
}

/* Made unique. */
static char *make_name(const struct sync *sync, const struct source *source,
		       const struct ctf_facts *facts)
{
	const char *base = sync_source_name(source, facts);
	char *name;

	name = mem_strdup(base);
	for (int i = 2; name_is_taken(sync, name); i++) {
		free(name);
		name = mem_printf("%s-%d", base, i);
	}
	return name;
}

static struct sync_trace *append_trace(struct sync *sync, char *name, const char *path)
{
	struct sync_trace *trace = MEM_NEXT(sync->trace, sync->traces, sync->capacity);

	*trace = (struct sync_trace){.name = name, .path = mem_strdup(path)};
	return trace;
}

/* A clock of which this is the first trace. */
static void append_clock(struct sync *sync, struct sync_trace *trace)
{
	trace->clock = (uint32_t)sync->clocks++;
	sync->clock_trace =
	    mem_realloc(sync->clock_trace, sync->clocks, sizeof(*sync->clock_trace));
	sync->clock_trace[trace->clock] = (uint32_t)(trace - sync->trace);
}

/* The trace's clock: that of an earlier one with the same uuid, or a new one. */
static void set_clock(struct sync *sync, const struct source_list *sources,
		      struct sync_trace *trace)
{
	const struct ctf_facts *facts = &trace->facts;
	const struct sync_trace *clone = NULL;

	for (uint32_t i = 0; facts->has_uuid && i < sync->clocks; i++) {
		const struct sync_trace *other = &sync->trace[sync->clock_trace[i]];
		enum same_clock same =
		    same_clock(&sources->item[trace->source], facts,
			       &sources->item[other->source], &other->facts);

		if (same == SAME_CLONED)
			clone = other;
		if (same != SAME_CLOCK)
			continue;
		trace->clock = i;
		trace->shift_ns = other->facts.clock_offset_ns - facts->clock_offset_ns;
		return;
	}
	if (clone)
		problem_add(&sync->problems, trace->path, PROBLEM_CLOCK, 1,
			    "its clock has the uuid of that of %s, another node (two "
			    "machines of one snapshot?), taken for two clocks",
			    clone->path);
	append_clock(sync, trace);
}

/* Sources of one node's directory are of one host. */
static uint32_t host_of(const struct sync *sync, const struct source_list *sources,
			const struct source *source)
{
	for (uint32_t i = 0; source->node && i < sync->traces; i++) {
		const char *node = sources->item[sync->trace[i].source].node;

		if (node && strcmp(node, source->node) == 0)
			return sync->trace[i].host;
	}
	return (uint32_t)sync->traces;
}

static void add_trace(struct sync *sync, struct source_list *sources, size_t index,
		      const struct ctf_facts *facts)
{
	const struct source *source = &sources->item[index];
	uint32_t host = host_of(sync, sources, source);
	struct sync_trace *trace =
	    append_trace(sync, make_name(sync, source, facts), source->path);

	trace->source = index;
	trace->kind = source->kind;
	trace->facts = *facts;
	trace->host = host;
	set_clock(sync, sources, trace);
}

struct packet_source **sync_open_sources(struct sync *sync, struct source_list *sources)
{
	struct packet_source **opened = mem_zalloc(sources->count * sizeof(*opened));
	struct opening *opening = mem_zalloc(sources->count * sizeof(*opening));

	limits_allow_files();
	for (size_t i = 0; i < sources->count; i++)
		opening[i].source = &sources->item[i];
	parallel_run(sync->options.threads, sources->count, open_source, opening);
	find_rivals(opening, sources->count);
	for (size_t i = 0; i < sources->count; i++) {
		struct packet_source *packets = check_opened(sync, opening, i);

		if (!packets)
			continue;
		opened[sync->traces] = packets;
		if (sources->item[i].kind == SOURCE_CAPTURE)
			source_read_realtime(&sources->item[i]);
		add_trace(sync, sources, i, &packets->facts);
	}
	free(opening);
	return opened;
}

static int read_packet_events(void *context, const struct arrival *arrival, size_t count)
{
	enum { SOON = 10, SOONER = 5 };
	struct reading *reading = context;
	int status = 0;

	for (size_t i = 0; !status && i < count; i++) {
		const struct sync_trace *trace = &reading->sync->trace[arrival[i].source];
		struct packet_event *packet_event = arrival[i].packet_event;

		if (i + SOON < count)
			matcher_expect(reading->matcher,
				       arrival[i + SOON].packet_event->hash,
				       arrival[i + SOONER].packet_event->hash);
		packet_event->is_captured = trace->kind == SOURCE_CAPTURE;
		packet_event->ns += trace->shift_ns;
		packet_event->whole_ns =
		    nsec_add(packet_event->whole_ns, trace->shift_ns);
		packet_event->event_ns += trace->shift_ns;
		status = matcher_add(reading->matcher, trace->clock, arrival[i].source,
				     packet_event, reading->error);
	}
	return status;
}

/* From the trace and the time of its clock to the source and its own time. */
static void set_source(const struct sync *sync, struct messages_end *end)
{
	const struct sync_trace *trace = &sync->trace[end->source];

	end->source = (uint32_t)trace->source;
	end->local_ns -= trace->shift_ns;
}

static int log_message(void *context, const struct message_ends *ends,
		       struct error *error)
{
	struct sync *sync = ((struct reading *)context)->sync;
	struct message_ends own = *ends;

	set_source(sync, &own.send);
	set_source(sync, &own.recv);
	if (own.first.local_ns < NSEC_MAX)
		set_source(sync, &own.first);
	return message_log_add_ends(&sync->log, &own, error);
}

static void tie_readers(void *context, uint32_t sender, nsec_t send_ns, uint32_t receiver,
			nsec_t recv_ns)
{
	struct reading *reading = context;
	const struct sync *sync = reading->sync;

	readers_tie(reading->readers, sync->clock_trace[sender], send_ns,
		    sync->clock_trace[receiver], recv_ns);
}

/*
 * Note a packet on its way out for a tie: between a host's trace and its capture, or
 * between two captures of it.
 */
static void note_handing(void *context, const struct match_handing *p,
			 const struct match_handing *q)
{
	struct sync *sync = ((struct reading *)context)->sync;
	enum source_kind of_p = sync->trace[sync->clock_trace[p->source]].kind;
	enum source_kind of_q = sync->trace[sync->clock_trace[q->source]].kind;

	if (of_p == SOURCE_TRACE && of_q == SOURCE_CAPTURE)
		tie_note(&sync->ties, p, q);
	else if (of_p == SOURCE_CAPTURE && of_q == SOURCE_TRACE)
		tie_note(&sync->ties, q, p);
	else if (of_p == SOURCE_CAPTURE && of_q == SOURCE_CAPTURE)
		tie_note_captures(&sync->ties, p, q);
}

static uint32_t *clock_hosts(const struct sync *sync)
{
	uint32_t *host = mem_alloc(sync->clocks * sizeof(*host));

	for (size_t i = 0; i < sync->clocks; i++)
		host[i] = sync->trace[sync->clock_trace[i]].host;
	return host;
}

static void move_facts(struct sync *sync, struct packet_source **opened)
{
	for (size_t i = 0; i < sync->traces; i++) {
		sync->trace[i].facts = opened[i]->facts;
		problem_move(&sync->problems, &opened[i]->problems);
	}
}

/* Return true if a capture of the host has packets, even if its traces have none. */
static bool has_capture(const struct sync *sync, uint32_t host)
{
	for (size_t i = 0; i < sync->traces; i++)
		if (sync->trace[i].host == host &&
		    sync->trace[i].kind == SOURCE_CAPTURE && sync->trace[i].facts.events)
			return true;
	return false;
}

/* Return true if any trace of the host has network events: another chunk or session. */
static bool has_network_events(const struct sync *sync, uint32_t host)
{
	for (size_t i = 0; i < sync->traces; i++)
		if (sync->trace[i].host == host && sync->trace[i].facts.network_events)
			return true;
	return false;
}

/* Return the first trace of a clock that has events, or else its first one. */
static size_t trace_of_clock(const struct sync *sync, uint32_t clock)
{
	for (size_t i = 0; i < sync->traces; i++)
		if (sync->trace[i].clock == clock && sync->trace[i].facts.events)
			return i;
	return sync->clock_trace[clock];
}

/* Traces that cannot be tied, with what to do about it the next time. */
static void explain_silence(struct sync *sync)
{
	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];
		const struct ctf_facts *facts = &trace->facts;

		if (trace_of_clock(sync, trace->clock) != i)
			continue;
		if (!facts->events)
			problem_add(&sync->problems, trace->path, PROBLEM_SILENT, 1,
				    "no %s in it, so the clock of %s is unknown",
				    trace->kind == SOURCE_TRACE ? "event" : "packet",
				    trace->name);
		else if (facts->counts_from_boot &&
			 strcmp(facts->clock_name, "monotonic"))
			problem_add(&sync->problems, trace->path, PROBLEM_SILENT, 1,
				    "recorded with the clock `%s`, which nothing relates "
				    "to others; record with trace-cmd record -C mono",
				    facts->clock_name);
		else if (trace->kind != SOURCE_TRACE || has_capture(sync, trace->host))
			continue;
		else if (facts->has_no_headers)
			problem_add(&sync->problems, trace->path, PROBLEM_SILENT, 1,
				    "ftrace records no packet headers; capture the "
				    "packets as well (tcpdump -w NODE/NODE.pcap)");
		else if (!has_network_events(sync, trace->host))
			problem_add(&sync->problems, trace->path, PROBLEM_SILENT, 1,
				    "no network event, enable net_dev_queue and "
				    "net_if_receive_skb (lttng enable-event -k "
				    "net_dev_queue,net_if_receive_skb,net_dev_xmit)");
		else if (!facts->received && facts->headerless > facts->sent / 2)
			problem_add(
			    &sync->problems, trace->path, PROBLEM_HEADERLESS,
			    facts->headerless,
			    "received packets carry no headers, as generic "
			    "receive offload was off, switch it on (ethtool -K DEV "
			    "gro on)");
	}
}

/* Before sources are tied, each is ahead of others by as much as it began earlier. */
static size_t most_in_flight(const struct sync *sync)
{
	enum { LEAST = 1 << 18, A_SOURCE = 1 << 10 };

	if (sync->options.in_flight)
		return sync->options.in_flight;
	return sync->traces * A_SOURCE > LEAST ? sync->traces * A_SOURCE : LEAST;
}

static int read_all(struct sync *sync, struct packet_source **opened,
		    struct progress *progress, struct error *error)
{
	struct reading reading = {.sync = sync, .error = error};
	AUTOFREE uint32_t *host = clock_hosts(sync);
	const struct match_listener listener = {
	    .host = host,
	    .tie = tie_readers,
	    .message = sync->log.has_ends ? log_message : NULL,
	    .handing = note_handing,
	    .context = &reading,
	};
	int status;

	reading.readers = readers_new(opened, sync->traces, sync->options.threads);
	reading.matcher =
	    matcher_new(&sync->pairs, &sync->log, most_in_flight(sync), &listener);
	status = readers_run(reading.readers, read_packet_events, &reading, progress);
	if (!status)
		status = matcher_finish(reading.matcher, error);
	sync->matching = *matcher_counts(reading.matcher);
	sync->given_up = matcher_given_up(reading.matcher);
	move_facts(sync, opened);
	explain_silence(sync);
	matcher_free(reading.matcher);
	readers_free(reading.readers);
	return status;
}

int sync_read_sources(struct sync *sync, struct source_list *sources,
		      struct progress *progress, struct error *error)
{
	AUTOFREE struct packet_source **opened = sync_open_sources(sync, sources);
	size_t least = sync->options.alone ? 1 : 2;
	int status = 0;

	if (sync->traces < least)
		status = error_set(error, "%zu trace%s to read, want %zu or more",
				   sync->traces, sync->traces == 1 ? "" : "s", least);
	if (status)
		for (size_t i = 0; i < sync->traces; i++)
			packet_source_free(opened[i]);
	else
		status = read_all(sync, opened, progress, error);
	if (!status)
		tie_note_realtime(sync, sources);
	return status;
}

struct parsing {
	struct sync *sync;
	struct texts names; /* by the number of their trace */
	const char *path;
	uint64_t line;
	uint64_t broken;    /* lines left out */
	struct error first; /* what was wrong with the first of them */
};

static uint32_t find_node(struct parsing *parsing, const char *name)
{
	struct sync *sync = parsing->sync;
	size_t number = texts_put(&parsing->names, name);

	if (number == sync->traces)
		append_clock(sync, append_trace(sync, mem_strdup(name), ""));
	return (uint32_t)number;
}

static void note_stamp(struct ctf_facts *facts, nsec_t ns)
{
	if (!facts->events++ || ns < facts->begin_ns)
		facts->begin_ns = ns;
	if (facts->events == 1 || ns > facts->end_ns)
		facts->end_ns = ns;
}

static int split(char *line, char *word[4])
{
	int words = 0;

	while (words < 4 && line) {
		word[words++] = line;
		line = strchr(line, ',');
		if (line)
			*line++ = '\0';
	}
	return words == 4 && !line ? 0 : -1;
}

static int parse_line(const struct parsing *parsing, char *line, char *word[4],
		      struct message *message, struct error *error)
{
	if (split(line, word) || !*word[0] || !*word[2])
		return error_set(error,
				 "%s:%llu: want send_node,send_ns,recv_node,recv_ns",
				 parsing->path, (unsigned long long)parsing->line);
	if (number_stamp(word[1], &message->send_ns) ||
	    number_stamp(word[3], &message->recv_ns))
		return error_set(
		    error,
		    "%s:%llu: '%s' is no time in nanoseconds between 1967 and 2111",
		    parsing->path, (unsigned long long)parsing->line,
		    number_stamp(word[1], &message->send_ns) ? word[1] : word[3]);
	if (strcmp(word[0], word[2]) == 0)
		return error_set(error, "%s:%llu: '%s' sends to itself", parsing->path,
				 (unsigned long long)parsing->line, word[0]);
	return 0;
}

static int add_message(struct parsing *parsing, char *const word[4],
		       struct message *message, struct error *error)
{
	struct sync *sync = parsing->sync;
	uint32_t from = find_node(parsing, word[0]), to = find_node(parsing, word[2]);

	message->forward = from < to;
	message->pair = pair_table_find(&sync->pairs, from, to);
	note_stamp(&sync->trace[from].facts, message->send_ns);
	note_stamp(&sync->trace[to].facts, message->recv_ns);
	pair_add(&sync->pairs.pair[message->pair], message);
	sync->matching.sent++;
	sync->matching.received++;
	sync->matching.matched++;
	return message_log_add(&sync->log, message, error);
}

static int read_lines(struct parsing *parsing, FILE *file, struct error *error)
{
	struct error later = ERROR_INIT; /* of lines after the first broken one */
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int status = 0;

	while (!status && (length = getline(&line, &capacity, file)) > 0) {
		struct message message = {0};
		char *word[4];

		parsing->line++;
		while (length && strchr("\r\n", line[length - 1]))
			line[--length] = '\0';
		/* A zero byte would hide the rest of its line. */
		if (strlen(line) != (size_t)length)
			*line = '\0';
		if (!length || (parsing->line == 1 &&
				strcmp(line, "send_node,send_ns,recv_node,recv_ns") == 0))
			continue;
		if (parse_line(parsing, line, word, &message,
			       parsing->broken ? &later : &parsing->first))
			parsing->broken++;
		else
			status = add_message(parsing, word, &message, error);
	}
	if (!status && ferror(file))
		status = error_errno(error, parsing->path);
	error_clear(&later);
	free(line);
	return status;
}

int sync_read_messages(struct sync *sync, const char *path, struct error *error)
{
	struct parsing parsing = {.sync = sync, .path = path};
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "r");
	int status;

	if (!file)
		return error_errno(error, path);
	if (!standard)
		output_protect(path);
	status = read_lines(&parsing, file, error);
	if (!standard)
		fclose(file);
	if (parsing.broken)
		problem_add(&sync->problems, "", PROBLEM_BROKEN, parsing.broken,
			    "%s (%llu line%s left out)", error_text(&parsing.first),
			    (unsigned long long)parsing.broken,
			    parsing.broken == 1 ? "" : "s");
	error_clear(&parsing.first);
	texts_clear(&parsing.names);
	if (!status && sync->traces < 2)
		status = error_set(error, "%s: no message, want 1 or more", path);
	return status;
}
