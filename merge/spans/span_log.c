/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans/span_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/spill.h"
#include "merge/sorter.h"

enum {
	CHUNK = 8192,                        /* bytes of a chain that wait for the file */
	HELD_MOST = 48 << 20,                /* bytes of all chains together */
	FIXED_MOST = (SPAN_VALUES + 6) * 10, /* bytes of a span without its path */
	SORTED_AT_ONCE = 1 << 14,            /* 3 MiB */
};

struct chain {
	enum span_kind kind;
	uint32_t node;
	int64_t whose;
	struct spill_chain log;
	/* Of the last span, to which the next one is kept as differences. */
	nsec_t begin_ns;
	int64_t id;
	bool is_disordered;
};

struct span_log {
	struct chain *chain;
	size_t chains, room;
	struct intmap index; /* of chains */
	int64_t ids[SPAN_KINDS];
	size_t held; /* bytes of all chains */
	struct spill spill;
};

struct span_log *span_log_new(void)
{
	struct span_log *log = mem_zalloc(sizeof(*log));

	log->spill.what = "of spans";
	return log;
}

static uint64_t key_of(enum span_kind kind, uint32_t node, int64_t whose)
{
	return (uint64_t)kind << 62 | (uint64_t)node << 33 | (uint64_t)(whose + 1);
}

static struct chain *chain_of(struct span_log *log, enum span_kind kind, uint32_t node,
			      int64_t whose)
{
	uint64_t key = key_of(kind, node, whose);
	struct chain *chain;
	int64_t at;

	if (intmap_get(&log->index, key, &at))
		return &log->chain[at];
	intmap_put(&log->index, key, (int64_t)log->chains);
	log->chain = mem_grow(log->chain, log->chains, &log->room, sizeof(*log->chain));
	chain = &log->chain[log->chains++];
	*chain = (struct chain){
	    .kind = kind, .node = node, .whose = whose, .begin_ns = NSEC_MIN};
	return chain;
}

/* Many threads with few spans each: all of them go to the file. */
static int spill_all(struct span_log *log, struct error *error)
{
	for (size_t i = 0; i < log->chains; i++) {
		if (spill_chain_close(&log->chain[i].log, &log->spill, error))
			return -1;
		bytes_clear(&log->chain[i].log.open);
	}
	log->held = 0;
	return 0;
}

/* Differences of times that may be anything wrap round. */
static void pack(struct chain *chain, const struct span *span)
{
	uint64_t begin = chain->begin_ns == NSEC_MIN ? 0 : (uint64_t)chain->begin_ns;
	uint32_t known = span->path ? 1u << SPAN_VALUES : 0;
	struct bytes *to = &chain->log.open;

	for (int i = 0; i < SPAN_VALUES; i++)
		known |= (uint32_t)(span->value[i] != SPAN_NONE) << i;
	bytes_add_varint(to, known);
	bytes_add_zigzag(to, (int64_t)((uint64_t)span->begin_ns - begin));
	bytes_add_varint(to, (uint64_t)span->end_ns - (uint64_t)span->begin_ns);
	bytes_add_varint(to, (uint64_t)(span->id - chain->id));
	for (int i = 0; i < SPAN_VALUES; i++)
		if (known >> i & 1)
			bytes_add_zigzag(to, span->value[i]);
	if (!span->path)
		return;
	bytes_add_varint(to, span->path_size);
	bytes_add(to, span->path, span->path_size);
}

/* `before`: the span before it in the chain, which it replaces. */
static void unpack(struct span *before, struct bytes_cursor *from)
{
	uint64_t known = bytes_read_varint(from);
	uint64_t begin = (uint64_t)before->begin_ns + (uint64_t)bytes_read_zigzag(from);

	before->begin_ns = (nsec_t)begin;
	before->end_ns = (nsec_t)(begin + bytes_read_varint(from));
	before->id += (int64_t)bytes_read_varint(from);
	for (int i = 0; i < SPAN_VALUES; i++)
		before->value[i] = known >> i & 1 ? bytes_read_zigzag(from) : SPAN_NONE;
	before->path = NULL;
	if (!(known >> SPAN_VALUES & 1))
		return;
	before->path_size = (size_t)bytes_read_varint(from);
	before->path = (const char *)bytes_read(from, before->path_size);
}

int span_log_add(struct span_log *log, enum span_kind kind, uint32_t node, int64_t whose,
		 struct span *span, struct error *error)
{
	struct chain *chain = chain_of(log, kind, node, whose);
	size_t size = FIXED_MOST + (span->path ? span->path_size : 0), room;

	assert(whose >= -1 && whose <= UINT32_MAX && span->end_ns >= span->begin_ns);
	if ((log->held > HELD_MOST && spill_all(log, error)) ||
	    (chain->log.open.size + size > CHUNK &&
	     spill_chain_close(&chain->log, &log->spill, error)))
		return -1;
	room = chain->log.open.room;
	span->id = ++log->ids[kind];
	pack(chain, span);
	log->held += chain->log.open.room - room;
	chain->is_disordered |= span->begin_ns < chain->begin_ns;
	chain->begin_ns = span->begin_ns;
	chain->id = span->id;
	return 0;
}

/* A chain while it is read. */
struct reading {
	struct span_log *log;
	const struct chain *chain;
	struct sorter *sorter; /* NULL: it is in order */
	span_give *give;
	void *context;
	struct span span; /* the last one */
	char **path;      /* of sorted spans, which outlive their chunk */
	size_t paths, path_room;
	struct error *error;
};

static int keep_to_sort(struct reading *reading)
{
	struct span span = reading->span;

	if (span.path) {
		reading->path = mem_grow(reading->path, reading->paths,
					 &reading->path_room, sizeof(*reading->path));
		span.path = reading->path[reading->paths++] =
		    mem_strndup(span.path, span.path_size);
	}
	return sorter_add(reading->sorter, &span, reading->error);
}

static int read_as_it_came(struct reading *reading)
{
	const struct chain *chain = reading->chain;
	struct bytes memory = {0};
	struct bytes_cursor from;
	int status = 0;

	reading->span = (struct span){.begin_ns = 0};
	for (size_t n = 0; n <= chain->log.chunks && !status; n++) {
		status = spill_chain_read(&chain->log, &reading->log->spill, n, &memory,
					  &from, reading->error);
		while (!status && from.at < from.end) {
			unpack(&reading->span, &from);
			assert(!from.is_bad);
			status = reading->sorter
				     ? keep_to_sort(reading)
				     : reading->give(reading->context, chain->node,
						     chain->whose, &reading->span);
		}
	}
	bytes_clear(&memory);
	return status;
}

static int give_sorted(void *context, const void *item)
{
	const struct reading *reading = context;

	return reading->give(reading->context, reading->chain->node,
			     reading->chain->whose, item);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	return (p->id > q->id) - (p->id < q->id);
}

static int read_sorted(struct reading *reading)
{
	int status;

	reading->sorter = sorter_new(sizeof(struct span), SORTED_AT_ONCE, compare_spans);
	status = read_as_it_came(reading);
	if (!status)
		status =
		    sorter_walk(reading->sorter, give_sorted, reading, reading->error);
	sorter_free(reading->sorter);
	reading->sorter = NULL;
	for (size_t i = 0; i < reading->paths; i++)
		free(reading->path[i]);
	reading->paths = 0;
	return status;
}

static int read_chain(struct reading *reading)
{
	return reading->chain->is_disordered ? read_sorted(reading)
					     : read_as_it_came(reading);
}

static int compare_chains(const void *a, const void *b, void *ranks)
{
	const struct chain *p = *(const struct chain *const *)a;
	const struct chain *q = *(const struct chain *const *)b;
	const size_t *rank = ranks;

	if (p->node != q->node)
		return p->node < q->node ? -1 : 1;
	if (rank)
		return (rank[p->whose] > rank[q->whose]) -
		       (rank[p->whose] < rank[q->whose]);
	return (p->whose > q->whose) - (p->whose < q->whose);
}

int span_log_walk(struct span_log *log, enum span_kind kind, const size_t *rank,
		  span_give *give, void *context, struct error *error)
{
	const struct chain **chain =
	    mem_zalloc((log->chains + 1) * sizeof(const struct chain *));
	struct reading reading = {
	    .log = log, .give = give, .context = context, .error = error};
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < log->chains; i++)
		if (log->chain[i].kind == kind)
			chain[count++] = &log->chain[i];
	qsort_r(chain, count, sizeof(const struct chain *), compare_chains, (void *)rank);
	for (size_t i = 0; i < count && !status; i++) {
		reading.chain = chain[i];
		status = read_chain(&reading);
	}
	free(reading.path);
	free(chain);
	return status;
}

int span_log_read(struct span_log *log, const struct span_thread *thread, span_give *give,
		  void *context, struct error *error)
{
	struct reading reading = {
	    .log = log, .give = give, .context = context, .error = error};
	int64_t at;
	int status;

	if (!intmap_get(&log->index, key_of(thread->kind, thread->node, thread->tid),
			&at))
		return 0;
	reading.chain = &log->chain[at];
	status = read_chain(&reading);
	free(reading.path);
	return status;
}

void span_log_free(struct span_log *log)
{
	if (!log)
		return;
	for (size_t i = 0; i < log->chains; i++) {
		spill_chain_clear(&log->chain[i].log);
	}
	free(log->chain);
	intmap_clear(&log->index);
	spill_clear(&log->spill);
	free(log);
}
