/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "activity/activity_private.h"
#include "base/mem.h"

/* Nodes, processors and threads of a walk. */
enum {
	CPUS_MOST = 65536,      /* a higher number is taken to be damage */
	FIRST_EVENTS = 1000000, /* where processors are looked for before the walk */
};

static uint64_t key_of(size_t node, int64_t tid)
{
	return (uint64_t)node << 40 ^ (uint64_t)tid;
}

struct cpu *walk_cpu(struct walk *walk, size_t at, int64_t number)
{
	struct activity_node *node = &walk->node[at];

	if (number < 0 || number >= CPUS_MOST)
		return NULL;
	if ((size_t)number >= node->cpus) {
		size_t cpus = (size_t)number + 1;

		node->cpu = mem_realloc(node->cpu, cpus, sizeof(struct cpu *));
		memset(node->cpu + node->cpus, 0,
		       (cpus - node->cpus) * sizeof(struct cpu *));
		node->cpus = cpus;
	}
	if (!node->cpu[number]) {
		struct cpu *cpu = mem_zalloc(sizeof(*cpu));

		cpu->number = number;
		cpu->first_ns = NSEC_MIN;
		cpu->last_ns = NSEC_MIN;
		cpu->cut = true;
		cpu->tid = -1;
		cpu->comm = "";
		for (size_t i = 0; i < SOFTIRQS; i++)
			cpu->raised_ns[i] = NSEC_MIN;
		node->cpu[number] = cpu;
	}
	return node->cpu[number];
}

struct thread *walk_find(const struct walk *walk, size_t node, int64_t tid)
{
	int64_t at;

	return intmap_get(&walk->thread_at, key_of(node, tid), &at) ? walk->thread[at]
								    : NULL;
}

struct thread *walk_thread(struct walk *walk, size_t node, int64_t tid)
{
	struct thread *thread = walk_find(walk, node, tid);

	if (thread)
		return thread;
	thread = mem_zalloc(sizeof(*thread));
	thread->at = walk->threads;
	thread->node = node;
	thread->tid = tid;
	thread->comm = "";
	thread->cpu = -1;
	thread->fork_ns = NSEC_MIN;
	thread->wake = NO_WAKE;
	thread->pending = NO_WAKE;
	walk->thread = mem_grow(walk->thread, walk->threads, &walk->thread_room,
				sizeof(struct thread *));
	walk->thread[walk->threads++] = thread;
	intmap_put(&walk->thread_at, key_of(node, tid), (int64_t)thread->at);
	return thread;
}

static void free_thread(struct thread *thread)
{
	free(thread->call.path);
	free(thread);
}

void walk_forget(struct walk *walk, struct thread *thread)
{
	struct thread *last = walk->thread[--walk->threads];
	int64_t at;

	walk->thread[thread->at] = last;
	last->at = thread->at;
	intmap_put(&walk->thread_at, key_of(last->node, last->tid), (int64_t)last->at);
	intmap_take(&walk->thread_at, key_of(thread->node, thread->tid), &at);
	free_thread(thread);
}

/* Where the recording of each node's kernel begins and ends; the capture beside it may
 * have begun before, and go on. */
static void set_ends(struct walk *walk, nsec_t begin_ns)
{
	for (size_t i = 0; i < walk->scope->nodes; i++) {
		struct activity_node *node = &walk->node[i];
		nsec_t first_ns, last_ns;

		if (!recorded_ends(&walk->scope->recorded, node->id, &first_ns, &last_ns))
			continue;
		node->begin_ns = first_ns > begin_ns ? first_ns : begin_ns;
		if (last_ns < node->end_ns)
			node->end_ns = last_ns;
	}
}

/* How many processors are to be found; SIZE_MAX: nobody knows. */
static size_t count_cpus(const struct walk *walk)
{
	size_t count = 0;

	for (size_t i = 0; i < walk->scope->nodes; i++) {
		const struct scope_node *node = &walk->scope->node[i];

		if (!node->chosen)
			continue;
		if (node->cpus <= 0)
			return SIZE_MAX;
		count += (size_t)node->cpus;
	}
	return count;
}

static size_t note_first(struct walk *walk, const struct cell *row, nsec_t begin_ns)
{
	const struct scope_node *found =
	    scope_find(walk->scope, field_integer(&row[0], -1));
	nsec_t ts_ns = field_integer(&row[2], 0), first_ns, last_ns;
	struct activity_node *node;
	struct cpu *cpu;

	if (!found || !found->chosen)
		return 0;
	node = &walk->node[found - walk->scope->node];
	if (recorded_ends(&walk->scope->recorded, node->id, &first_ns, &last_ns) &&
	    ts_ns < first_ns)
		return 0; /* of a program's trace */
	if (ts_ns < begin_ns)
		ts_ns = begin_ns;
	if (node->begin_ns == NSEC_MIN)
		node->begin_ns = ts_ns;
	cpu = walk_cpu(walk, (size_t)(found - walk->scope->node),
		       field_integer(&row[1], -1));
	if (!cpu || cpu->first_ns != NSEC_MIN)
		return 0;
	cpu->first_ns = ts_ns;
	return 1;
}

/*
 * When each processor's recording begins: of a ring buffer that was overwritten, that is
 * not when the others' begin. Who runs then is told by the first switch, from there on.
 */
static int read_first(struct walk *walk, struct timeline_reader *reader, nsec_t begin_ns,
		      struct error *error)
{
	struct timeline_query *query = timeline_query_new(
	    reader, "SELECT node, cpu, ts_ns FROM event ORDER BY id LIMIT ?", error);
	const struct cell limit = {.type = CELL_INTEGER, .integer = FIRST_EVENTS};
	size_t left = count_cpus(walk);
	int more = -1;

	if (!query || timeline_query_ask(query, &limit, 1, error))
		goto out;
	more = 1;
	while (left > 0 && (more = timeline_query_next(query, error)) > 0)
		left -= note_first(walk, timeline_query_row(query), begin_ns);
out:
	timeline_query_free(query);
	return more < 0 ? -1 : 0;
}

int walk_init(struct walk *walk, struct timeline_reader *reader, nsec_t begin_ns,
	      struct error *error)
{
	const struct scope *scope = walk->scope;

	walk->node = mem_zalloc((scope->nodes + 1) * sizeof(*walk->node));
	walk->next_end_ns = NSEC_MAX;
	for (size_t i = 0; i < scope->nodes; i++)
		walk->node[i] = (struct activity_node){.id = scope->node[i].id,
						       .chosen = scope->node[i].chosen,
						       .begin_ns = NSEC_MIN,
						       .end_ns = scope->end_ns};
	set_ends(walk, begin_ns);
	if (read_first(walk, reader, begin_ns, error))
		return -1;
	for (size_t i = 0; i < scope->nodes; i++)
		if (walk->node[i].end_ns < walk->next_end_ns)
			walk->next_end_ns = walk->node[i].end_ns;
	return 0;
}

static void clear_node(struct activity_node *node)
{
	for (size_t i = 0; i < node->cpus; i++)
		free(node->cpu[i]);
	free(node->cpu);
	for (size_t i = 0; i < node->disks; i++)
		free(node->disk[i].request);
	free(node->disk);
}

void walk_clear(struct walk *walk)
{
	for (size_t i = 0; walk->node && i < walk->scope->nodes; i++)
		clear_node(&walk->node[i]);
	free(walk->node);
	for (size_t i = 0; i < walk->threads; i++)
		free_thread(walk->thread[i]);
	free(walk->thread);
	intmap_clear(&walk->thread_at);
	texts_clear(&walk->texts);
}

bool walk_clip(const struct walk *walk, nsec_t *begin_ns, nsec_t end_ns, bool *cut_begin,
	       bool point)
{
	nsec_t scope_ns = walk->scope->begin_ns;

	if (end_ns < scope_ns || (!point && end_ns <= *begin_ns))
		return false;
	if (*begin_ns < scope_ns) {
		*begin_ns = scope_ns;
		*cut_begin = true;
	}
	return point || end_ns > *begin_ns;
}
