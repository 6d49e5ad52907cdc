/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct threads {
	struct thread_facts *item; /* by node, tid, begin */
	size_t count, room;
};

static const char question[] =
    "SELECT t.node, t.tid, p.pid, t.comm, p.comm, t.begin_ns, t.end_ns "
    "FROM thread AS t LEFT JOIN process AS p ON p.id = t.process "
    "ORDER BY t.node, t.tid, coalesce(t.begin_ns, -9223372036854775807), t.id";

static int64_t known(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static const char *name_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

static void add(struct threads *threads, const struct cell *row)
{
	threads->item = mem_grow(threads->item, threads->count, &threads->room,
				 sizeof(*threads->item));
	threads->item[threads->count++] = (struct thread_facts){
	    .node = known(&row[0], 0),
	    .tid = known(&row[1], -1),
	    .pid = known(&row[2], -1),
	    .comm = name_of(&row[3]),
	    .process = name_of(&row[4]),
	    .begin_ns = known(&row[5], NSEC_MIN),
	    .end_ns = known(&row[6], NSEC_MAX),
	};
}

struct threads *threads_new(struct timeline_reader *reader)
{
	struct threads *threads = mem_zalloc(sizeof(*threads));
	struct error error = ERROR_INIT;
	struct timeline_query *query = timeline_query_new(reader, question, &error);

	if (query && !timeline_query_ask(query, NULL, 0, &error))
		while (timeline_query_next(query, &error) > 0)
			add(threads, timeline_query_row(query));
	timeline_query_free(query);
	error_clear(&error);
	return threads;
}

/* Whether a thread stands before this node, number and time. */
static bool is_before(const struct thread_facts *facts, int64_t node, int64_t tid,
		      nsec_t at)
{
	if (facts->node != node)
		return facts->node < node;
	if (facts->tid != tid)
		return facts->tid < tid;
	return facts->begin_ns <= at;
}

const struct thread_facts *threads_find(const struct threads *threads, int64_t node,
					int64_t tid, nsec_t at)
{
	size_t low = 0, high = threads->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(&threads->item[middle], node, tid, at))
			low = middle + 1;
		else
			high = middle;
	}
	/* The one before began in time; else the first of its number. */
	if (low > 0 && threads->item[low - 1].node == node &&
	    threads->item[low - 1].tid == tid)
		return &threads->item[low - 1];
	if (low < threads->count && threads->item[low].node == node &&
	    threads->item[low].tid == tid)
		return &threads->item[low];
	return NULL;
}

void threads_free(struct threads *threads)
{
	if (!threads)
		return;
	for (size_t i = 0; i < threads->count; i++) {
		free((char *)threads->item[i].comm);
		free((char *)threads->item[i].process);
	}
	free(threads->item);
	free(threads);
}
