/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/tracks.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/perfetto/perfetto.h"
#include "timeline/reader.h"

/* The key of a track. For tracks of threads, `item` is the index of the thread's life. */
struct key {
	int64_t kind, node, of, item;
};

enum { TID_STEP = 10000000, TID_NODES = 200, TID_SPARE = 2010000000 };

/* The name of a kind of row, and its place. */
static const struct form {
	const char *word; /* in perfetto.sql */
	const char *name; /* NULL: there is more than one in a group */
	enum perfetto_track_kind kind;
	enum perfetto_row group; /* ROW_KINDS: the node itself */
	int32_t rank;            /* in its group; JSON orders all rows by it */
} forms[ROW_KINDS] = {
    [ROW_STATES] = {"states", NULL, PERFETTO_THREAD, ROW_KINDS, 6000000},
    [ROW_SYSCALLS] = {"syscalls", "system calls", PERFETTO_ROW, ROW_STATES, 6000000},
    [ROW_CPU] = {"cpu", NULL, PERFETTO_ROW, ROW_CPUS, 10},
    [ROW_IRQ] = {"irq", NULL, PERFETTO_ROW, ROW_CPUS, 11},
    [ROW_SOFTIRQ] = {"softirq", NULL, PERFETTO_ROW, ROW_CPUS, 12},
    [ROW_DISK] = {"disk", NULL, PERFETTO_ROW, ROW_DISKS, 5000000},
    [ROW_SENT] = {"sent", "messages sent", PERFETTO_ROW, ROW_NETWORK, 1},
    [ROW_RECEIVED] = {"received", "messages received", PERFETTO_ROW, ROW_NETWORK, 2},
    [ROW_REQUESTS] = {"requests", "requests made", PERFETTO_ROW, ROW_KINDS, 5050000},
    [ROW_SERVED] = {"served", "requests served", PERFETTO_ROW, ROW_KINDS, 5060000},
    [ROW_PATH] = {"path", NULL, PERFETTO_ROW, ROW_PATHS, 5070000},
    [ROW_TASKS] = {"tasks", "tasks", PERFETTO_ROW, ROW_KINDS, 5100000},
    [ROW_RUN] = {"run", "run", PERFETTO_ROW, ROW_CLOCKS, 7000000},
    [ROW_FREQUENCY] = {"frequency", NULL, PERFETTO_COUNTER, ROW_CPUS, 13},
    [ROW_BOUND] = {"bound", NULL, PERFETTO_COUNTER, ROW_CLOCKS, 0},
    [ROW_SAMPLES] = {"samples", NULL, PERFETTO_COUNTER, ROW_ACTIVITY, 0},
    [ROW_CPUS] = {"", "processors", PERFETTO_GROUP, ROW_KINDS, 1},
    [ROW_DISKS] = {"", "disks", PERFETTO_LIST, ROW_KINDS, 3},
    [ROW_NETWORK] = {"", "network", PERFETTO_GROUP, ROW_KINDS, 2},
    [ROW_CLOCKS] = {"", "clocks", PERFETTO_LIST, ROW_KINDS, 5},
    [ROW_METRICS] = {"", "samples", PERFETTO_LIST, ROW_KINDS, 4},
    [ROW_PATHS] = {"", "critical paths", PERFETTO_LIST, ROW_KINDS, 6},
    [ROW_ACTIVITY] = {"", NULL, PERFETTO_LIST, ROW_METRICS, 0},
};

enum perfetto_row perfetto_row_named(const char *name)
{
	enum perfetto_row kind = 0;

	while (kind < ROW_KINDS && strcmp(forms[kind].word, name) != 0)
		kind++;
	return kind;
}

/* Intern a string. Takes ownership. */
static const char *intern_name(struct perfetto *perfetto, char *text)
{
	struct texts *names = &perfetto->names;
	const char *kept = text ? texts_get(names, texts_put(names, text)) : NULL;

	free(text);
	return kept;
}

int perfetto_add_thread(void *context, const struct cell *row, struct error *error)
{
	struct perfetto *perfetto = context;

	(void)error;
	if (!scope_has_node(&perfetto->export->scope, row->integer))
		return 0;
	intmap_put(&perfetto->thread_of, (uint64_t)row[7].integer,
		   (int64_t)perfetto->threads);
	*MEM_NEXT(perfetto->thread, perfetto->threads, perfetto->thread_capacity) =
	    (struct perfetto_thread){.node = row[0].integer,
				     .tid = row[1].integer,
				     .begin_ns = cell_integer(&row[2], NSEC_MIN),
				     .life = row[3].integer,
				     .label = intern_name(perfetto, cell_text(&row[4])),
				     .name = intern_name(perfetto, cell_text(&row[5])),
				     .pid = cell_integer(&row[6], row[1].integer),
				     .end_ns = cell_integer(&row[8], NSEC_MAX),
				     .comm = intern_name(perfetto, cell_text(&row[9]))};
	return 0;
}

static bool has_tid(const struct perfetto_thread *thread, int64_t node, int64_t tid)
{
	return thread->node == node && thread->tid == tid;
}

/* Return true if the thread sorts no later than the one that had this tid at that time.
 */
static bool is_up_to(const struct perfetto_thread *thread, int64_t node, int64_t tid,
		     nsec_t at_ns)
{
	return thread->node != node ? thread->node < node
	       : thread->tid != tid ? thread->tid < tid
				    : thread->begin_ns <= at_ns;
}

/* The thread that had this tid then; NULL if the timeline does not know of it. */
static const struct perfetto_thread *
search_thread(const struct perfetto *perfetto, int64_t node, int64_t tid, nsec_t at_ns)
{
	size_t next = PARTITION_POINT(perfetto->threads, i,
				      is_up_to(&perfetto->thread[i], node, tid, at_ns));
	const struct perfetto_thread *thread = perfetto->thread + next;

	/* One or two events may precede the first that names the thread. */
	if (next < perfetto->threads && has_tid(thread, node, tid) && thread->life == 0)
		return thread;
	return next && has_tid(thread - 1, node, tid) ? thread - 1 : NULL;
}

/* Find a thread, trying the last result first. */
static const struct perfetto_thread *
follow_thread(struct perfetto *perfetto, int64_t node, int64_t tid, nsec_t at_ns)
{
	const struct perfetto_thread *last = perfetto->last_thread;
	const struct perfetto_thread *end = perfetto->thread + perfetto->threads;

	if (!last || !has_tid(last, node, tid) || at_ns < last->begin_ns ||
	    (last + 1 < end && has_tid(last + 1, node, tid)))
		perfetto->last_thread = last = search_thread(perfetto, node, tid, at_ns);
	return last;
}

const char *perfetto_thread_name(struct perfetto *perfetto, int64_t node, int64_t tid,
				 nsec_t at_ns)
{
	const struct perfetto_thread *thread = search_thread(perfetto, node, tid, at_ns);

	return thread ? thread->label
		      : intern_name(perfetto, mem_printf("thread %" PRId64, tid));
}

const struct perfetto_thread *perfetto_find_thread(const struct perfetto *perfetto,
						   int64_t id)
{
	int64_t at;

	return intmap_get(&perfetto->thread_of, (uint64_t)id, &at) ? &perfetto->thread[at]
								   : NULL;
}

int32_t perfetto_node_number(const struct perfetto *perfetto, int64_t node)
{
	const struct scope *scope = &perfetto->export->scope;
	const struct scope_node *found = scope_find(scope, node);

	assert(found);
	return (int32_t)(found - scope->node) + 1;
}

static int32_t thread_number(struct perfetto *perfetto, const struct key *key)
{
	int32_t number = perfetto_node_number(perfetto, key->node);

	if (key->item == 0 && number <= TID_NODES && key->of >= 0 && key->of < TID_STEP)
		return number * TID_STEP + (int32_t)key->of;
	return ++perfetto->last_spare;
}

/* Write a track in the form, with a new number. */
static void write_track(struct perfetto *perfetto, struct perfetto_track *track)
{
	track->number = ++perfetto->last_number;
	track->end_ns = NSEC_MIN;
	track->lane = NULL;
	if (track->kind == PERFETTO_ROW)
		track->tid = (int32_t)track->number;
	perfetto->form->track(perfetto, track);
}

/* Processors go by number, and on each: what ran, interrupts, frequency. */
static int32_t rank_of(const struct key *key)
{
	enum { CPU_ROWS = 4, CPU_MOST = 1000000 };
	const struct form *form = &forms[key->kind];

	if (form->group != ROW_CPUS)
		return form->rank;
	return form->rank +
	       (int32_t)(key->of < 0 || key->of > CPU_MOST ? CPU_MOST : key->of) *
		   CPU_ROWS;
}

/* The names of a track: they follow from its kind, or are the slot's. */
static void name_track(struct perfetto *perfetto, struct perfetto_track *track,
		       const struct perfetto_slot *slot,
		       const struct perfetto_thread *thread)
{
	static const char *const of_cpu[] = {
	    [ROW_CPU] = "", [ROW_IRQ] = " interrupts", [ROW_SOFTIRQ] = " softirqs"};
	const char *name = slot->name ? slot->name : forms[slot->kind].name;
	const char *who = thread ? thread->name : NULL;

	if (slot->kind == ROW_STATES || slot->kind == ROW_SYSCALLS) {
		if (!who)
			who = intern_name(perfetto,
					  mem_printf("thread %" PRId64, slot->of));
		track->name = slot->kind == ROW_STATES ? who : name;
		track->full_name =
		    slot->kind == ROW_STATES
			? who
			: intern_name(perfetto, mem_printf("%s: %s", who, name));
	} else if (slot->kind <= ROW_SOFTIRQ) {
		track->name = track->full_name =
		    intern_name(perfetto, mem_printf("CPU %" PRId64 "%s", slot->of,
						     of_cpu[slot->kind]));
	} else {
		track->name = track->full_name = intern_name(perfetto, mem_strdup(name));
		if (slot->group_name)
			track->full_name = intern_name(
			    perfetto, mem_printf("%s %s", slot->group_name, slot->name));
	}
	track->unit = intern_name(perfetto, slot->unit ? mem_strdup(slot->unit) : NULL);
}

/*
 * Trace processor keeps the flows of each machine apart, so that arrows from node to node
 * need tracks of one machine: in the native form the messages of all nodes are on the
 * first one's, in groups that bear the nodes' names.
 */
static void move_to_first(struct perfetto *perfetto, struct perfetto_track *track,
			  enum perfetto_row kind)
{
	const struct scope *scope = &perfetto->export->scope;
	int32_t first = 0;

	if (kind == ROW_NETWORK) {
		track->parent = 0;
		track->name =
		    intern_name(perfetto, mem_printf("network of %s",
						     scope->node[track->pid - 1].name));
	}
	while (!scope->node[first].chosen)
		first++;
	track->pid = first + 1;
}

/* Return the track of a slot. Make a new one after its parent. */
static struct perfetto_track *track_of(struct perfetto *perfetto,
				       const struct perfetto_slot *slot,
				       const struct perfetto_thread *thread)
{
	const struct form *form = &forms[slot->kind];
	const struct key key = {slot->kind, slot->node, slot->of,
				thread ? thread->life : slot->item};
	const struct perfetto_slot group = {.kind = form->group,
					    .node = slot->node,
					    .of = form->group == ROW_STATES ? slot->of
									    : slot->group,
					    .name = slot->group_name};
	struct perfetto_track *track;

	if (!perfetto->tracks ||
	    memcmp(texts_get(&perfetto->keys, perfetto->last), &key, sizeof(key)) != 0)
		perfetto->last =
		    texts_put_bytes(&perfetto->keys, (const char *)&key, sizeof(key));
	if (perfetto->last < perfetto->tracks)
		return perfetto->track[perfetto->last];
	track = mem_zalloc(sizeof(*track));
	*MEM_NEXT(perfetto->track, perfetto->tracks, perfetto->track_capacity) = track;
	track->kind = form->kind;
	track->pid = perfetto_node_number(perfetto, slot->node);
	track->parent = group.kind == ROW_KINDS
			    ? (uint32_t)track->pid
			    : track_of(perfetto, &group, thread)->number;
	track->rank = rank_of(&key);
	name_track(perfetto, track, slot, thread);
	if (form->kind == PERFETTO_THREAD) {
		track->tid = thread_number(perfetto, &key);
		track->own_tid = slot->of;
		track->own_pid = thread ? thread->pid : slot->of;
	}
	if (perfetto->form->has_kernel &&
	    (slot->kind == ROW_NETWORK || form->group == ROW_NETWORK))
		move_to_first(perfetto, track, slot->kind);
	write_track(perfetto, track);
	return track;
}

struct perfetto_track *perfetto_track(struct perfetto *perfetto,
				      const struct perfetto_slot *slot)
{
	bool of_thread = slot->kind == ROW_STATES || slot->kind == ROW_SYSCALLS;

	return track_of(
	    perfetto, slot,
	    of_thread ? follow_thread(perfetto, slot->node, slot->of, slot->begin_ns)
		      : NULL);
}

/* Add a lane: next to the first one with the same name, or below a thread. */
static struct perfetto_track *add_lane(struct perfetto *perfetto,
				       struct perfetto_track *first)
{
	struct perfetto_track *lane = mem_alloc(sizeof(*lane)), *last = first;

	*lane = *first;
	if (first->kind == PERFETTO_THREAD) {
		lane->kind = PERFETTO_ROW;
		lane->parent = first->number;
		lane->name = "more states";
	}
	write_track(perfetto, lane);
	while (last->lane)
		last = last->lane;
	return last->lane = lane;
}

/* Use the free lane that was used last, so that a slice follows the one it came after. */
const struct perfetto_track *
perfetto_lane(struct perfetto *perfetto, const struct perfetto_slot *slot, nsec_t end_ns)
{
	struct perfetto_track *first = perfetto_track(perfetto, slot), *best = NULL;

	for (struct perfetto_track *lane = first; lane; lane = lane->lane)
		if (lane->end_ns <= slot->begin_ns &&
		    (!best || lane->end_ns > best->end_ns))
			best = lane;
	if (!best)
		best = add_lane(perfetto, first);
	if (best->end_ns < end_ns)
		best->end_ns = end_ns;
	return best;
}

void perfetto_begin(struct perfetto *perfetto)
{
	const struct scope *scope = &perfetto->export->scope;

	perfetto->form->begin(perfetto);
	perfetto->last_number = (uint32_t)scope->nodes;
	perfetto->last_spare = TID_SPARE - 1;
	for (size_t i = 0; i < scope->nodes; i++) {
		const struct perfetto_track track = {
		    .kind = PERFETTO_NODE,
		    .number = (uint32_t)i + 1,
		    .pid = (int32_t)i + 1,
		    .rank = (int32_t)i + 1,
		    .name = scope->node[i].name,
		    .full_name = scope->node[i].name,
		};

		if (scope->node[i].chosen)
			perfetto->form->track(perfetto, &track);
	}
}

void perfetto_clear_tracks(struct perfetto *perfetto)
{
	for (size_t i = 0; i < perfetto->tracks; i++)
		for (struct perfetto_track *lane = perfetto->track[i], *next; lane;
		     lane = next) {
			next = lane->lane;
			free(lane);
		}
	free(perfetto->track);
	free(perfetto->thread);
	intmap_clear(&perfetto->thread_of);
	texts_clear(&perfetto->keys);
	texts_clear(&perfetto->names);
}
