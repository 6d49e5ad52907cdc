/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/observe/sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/process.h"
#include "input/capture/packets.h"
#include "input/packets_file.h"
#include "input/trace_packets.h"

/* One source that is opened, or why it cannot be. */
struct opening {
	struct source *source;
	struct packet_source *packets;
	struct error error;
	uint64_t fingerprint;        /* fingerprint of its events, or 0 */
	const struct opening *rival; /* seems to be of the same host; or NULL */
	uint8_t (*other)[6];         /* hosts of other nodes' captures */
	size_t others;
};

static const uint8_t unknown_host[6];

/* One that is read already, and is this one or a copy of it; or NULL. */
static const struct opening *find_same(const struct observations *seen,
				       const struct opening *opening, size_t index)
{
	uint64_t fingerprint = opening[index].fingerprint;

	for (size_t i = 0; fingerprint && i < seen->traces; i++)
		if (opening[seen->trace[i].source_index].fingerprint == fingerprint)
			return &opening[seen->trace[i].source_index];
	return NULL;
}

/* Open traces in parallel, since parsing metadata takes milliseconds. */
static void open_source(void *context, size_t index)
{
	struct opening *opening = (struct opening *)context + index;
	struct source *source = opening->source;
	struct capture_input input = source_capture(source);

	input.other = (const uint8_t(*)[6])opening->other;
	input.others = opening->others;
	opening->fingerprint = same_events_fingerprint(source);
	if (source->extract)
		opening->packets =
		    packets_file_open(source->path, source->extract - 1, &opening->error);
	else if (source->kind == SOURCE_TRACE)
		opening->packets = trace_packets_open(source->path, &opening->error);
	else
		opening->packets = capture_packets_open(&input, &opening->error);
	if (opening->packets && source->kind == SOURCE_TRACE && !source->extract)
		trace_packets_set_origin(opening->packets, &source->origin);
	if (opening->packets && source->declareds)
		trace_packets_declare(opening->packets, source->declared,
				      source->declareds);
}

static bool is_one_node(const struct opening *one, const struct opening *other)
{
	return one->source->node && other->source->node &&
	       strcmp(one->source->node, other->source->node) == 0;
}

static bool is_rival(const struct opening *one, const struct opening *other)
{
	const uint8_t *host;

	if (!one->packets || !other->packets || one->fingerprint == other->fingerprint)
		return false;
	host = one->packets->guessed_host;
	return memcmp(host, unknown_host, sizeof(unknown_host)) != 0 &&
	       memcmp(host, other->packets->guessed_host, sizeof(unknown_host)) == 0 &&
	       !is_one_node(one, other);
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

/* Open a capture again whose host is one of two: if another capture is of one of them,
 * this one is of the other. Captures that seem to be of one host decide nothing. */
static void open_by_elimination(struct opening *opening, size_t count, size_t index)
{
	struct opening *one = &opening[index];
	size_t capacity = 0;

	if (one->packets || one->source->kind != SOURCE_CAPTURE || one->source->extract)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct opening *other = &opening[i];
		uint8_t(*host)[6];

		if (!other->packets || other->rival || is_one_node(one, other) ||
		    memcmp(other->packets->guessed_host, unknown_host,
			   sizeof(unknown_host)) == 0)
			continue;
		host = MEM_NEXT(one->other, one->others, capacity);
		memcpy(*host, other->packets->guessed_host, sizeof(*host));
	}
	if (one->others) {
		error_clear(&one->error);
		open_source(opening, index);
	}
	free(one->other);
}

/* Return an opened source, or NULL, with a problem, if it cannot be used. */
static struct packet_source *check_opened(const struct observations *seen,
					  struct opening *all, size_t index,
					  struct problem_list *problems)
{
	struct opening *opening = &all[index];
	struct packet_source *packets = opening->packets;
	const char *path = opening->source->path;
	const struct opening *first = find_same(seen, all, index);

	if (first) {
		if (strcmp(first->source->path, path) == 0)
			problem_add(problems, path, PROBLEM_TWICE, 1,
				    "given twice, used once");
		else
			problem_add(problems, path, PROBLEM_TWICE, 1,
				    "the same events as %s, used once",
				    first->source->path);
		if (packets)
			packet_source_free(packets);
		packets = NULL;
	} else if (!packets) {
		problem_add(problems, "", PROBLEM_UNREADABLE, 1, "%s",
			    error_text(&opening->error));
	} else if (opening->rival) {
		problem_add(problems, path, PROBLEM_UNREADABLE, 1,
			    "by its packets a capture of the same host as %s; name the "
			    "node's own addresses, as in --local %s=ADDR",
			    opening->rival->source->path, opening->source->name);
		packet_source_free(packets);
		packets = NULL;
	}
	error_clear(&opening->error);
	return packets;
}

static bool name_is_taken(const struct observations *seen, const char *name)
{
	for (size_t i = 0; i < seen->traces; i++)
		if (strcmp(seen->trace[i].name, name) == 0)
			return true;
	return false;
}

const char *source_name(const struct source *source, const struct trace_facts *facts)
{
	if (source->name)
		return source->name;
	return *facts->hostname ? facts->hostname : source->path;
}

/* Made unique. */
static char *make_name(const struct observations *seen, const struct source *source,
		       const struct trace_facts *facts)
{
	const char *base = source_name(source, facts);
	char *name;

	name = mem_strdup(base);
	for (int i = 2; name_is_taken(seen, name); i++) {
		free(name);
		name = mem_printf("%s-%d", base, i);
	}
	return name;
}

static struct trace *append_trace(struct observations *seen, char *name, const char *path)
{
	struct trace *trace = MEM_NEXT(seen->trace, seen->traces, seen->trace_capacity);

	*trace = (struct trace){.name = name, .path = mem_strdup(path)};
	return trace;
}

/* Add a clock with this first trace. */
static void append_clock(struct observations *seen, struct trace *trace)
{
	trace->clock_index = (uint32_t)seen->clocks++;
	seen->first_trace =
	    mem_realloc(seen->first_trace, seen->clocks, sizeof(*seen->first_trace));
	seen->first_trace[trace->clock_index] = (uint32_t)(trace - seen->trace);
}

/* The trace's clock: that of an earlier one with the same uuid, or a new one. */
static void set_clock(struct observations *seen, const struct source_list *sources,
		      struct trace *trace, struct problem_list *problems)
{
	const struct trace_facts *facts = &trace->facts;
	const struct trace *clone = NULL;

	for (uint32_t i = 0; facts->has_uuid && i < seen->clocks; i++) {
		const struct trace *other = &seen->trace[seen->first_trace[i]];
		enum same_clock same =
		    same_clock(&sources->item[trace->source_index], facts,
			       &sources->item[other->source_index], &other->facts);

		if (same == SAME_CLONED)
			clone = other;
		if (same != SAME_CLOCK)
			continue;
		trace->clock_index = i;
		trace->shift_ns = other->facts.clock_offset_ns - facts->clock_offset_ns;
		return;
	}
	if (clone)
		problem_add(problems, trace->path, PROBLEM_CLOCK, 1,
			    "its clock has the uuid of that of %s, another node (two "
			    "machines of one snapshot?); treated as two clocks",
			    clone->path);
	append_clock(seen, trace);
}

/* Sources of one node's directory are of one host. */
static uint32_t host_of(const struct observations *seen,
			const struct source_list *sources, const struct source *source)
{
	for (uint32_t i = 0; source->node && i < seen->traces; i++) {
		const char *node = sources->item[seen->trace[i].source_index].node;

		if (node && strcmp(node, source->node) == 0)
			return seen->trace[i].host_index;
	}
	return (uint32_t)seen->traces;
}

static void add_trace(struct observations *seen, struct source_list *sources,
		      uint32_t source_index, const struct trace_facts *facts,
		      struct problem_list *problems)
{
	const struct source *source = &sources->item[source_index];
	uint32_t host_index = host_of(seen, sources, source);
	struct trace *trace =
	    append_trace(seen, make_name(seen, source, facts), source->path);

	trace->source_index = source_index;
	trace->kind = source->kind;
	trace->facts = *facts;
	trace->host_index = host_index;
	set_clock(seen, sources, trace, problems);
}

struct trace *observations_add_node(struct observations *seen, char *name)
{
	struct trace *trace = append_trace(seen, name, "");

	append_clock(seen, trace);
	return trace;
}

void observations_add_utc(struct observations *seen, char *name)
{
	struct trace *utc = observations_add_node(seen, name);

	utc->is_utc = true;
	utc->source_index = UINT32_MAX;
	utc->host_index = (uint32_t)seen->traces - 1;
}

struct packet_source **sources_open(struct source_list *sources, int threads,
				    struct observations *seen,
				    struct problem_list *problems)
{
	struct packet_source **opened = mem_zalloc(sources->count * sizeof(*opened));
	struct opening *opening = mem_zalloc(sources->count * sizeof(*opening));

	raise_open_file_limit();
	for (size_t i = 0; i < sources->count; i++)
		opening[i].source = &sources->item[i];
	parallel_run(threads, sources->count, open_source, opening);
	find_rivals(opening, sources->count);
	for (size_t i = 0; i < sources->count; i++)
		open_by_elimination(opening, sources->count, i);
	for (uint32_t i = 0; i < sources->count; i++) {
		struct packet_source *packets = check_opened(seen, opening, i, problems);

		if (!packets)
			continue;
		opened[seen->traces] = packets;
		if (sources->item[i].kind == SOURCE_CAPTURE)
			source_read_realtime(&sources->item[i]);
		add_trace(seen, sources, i, &packets->facts, problems);
	}
	free(opening);
	return opened;
}

void sources_close(struct packet_source **opened, size_t count)
{
	for (size_t i = 0; i < count; i++)
		packet_source_free(opened[i]);
	free(opened);
}
