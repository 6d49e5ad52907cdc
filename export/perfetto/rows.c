/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/perfetto.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "timeline/query.h"

/* What a thread is called. */
struct thread {
	int64_t node, tid;
	nsec_t begin_ns; /* NSEC_MIN: before the recording */
	int64_t life;    /* how many threads with this tid were before it */
	int64_t pid;     /* of its process; -1: not known */
	char *comm;      /* "" if not known */
	char *process;   /* comm of its process; "" if not known */
};

/* Of a thread's rows `item` is its life. */
struct key {
	enum perfetto_row kind;
	int64_t node, of, item;
};

struct lane {
	struct perfetto_place place;
	nsec_t end_ns; /* of the last slice on it */
};

struct row {
	struct key key;
	struct row *next;            /* of the same hash */
	struct perfetto_track track; /* its first one */
	char *name, *full_name, *unit;
	struct lane *lane;
	size_t lanes, room;
};

struct perfetto_rows {
	struct perfetto_writer *writer;
	const struct scope *scope;
	struct thread *thread; /* by node, tid, begin */
	size_t threads, thread_room;
	struct row **row;
	size_t count, room;
	struct intmap first; /* by hash: index of the first row */
	struct row *last;    /* that was asked for */
	const struct thread *last_thread;
	uint32_t last_track; /* number of the last track made */
	int32_t last_spare;  /* the last id of a thread that did not fit */
};

enum { TID_STEP = 10000000, TID_NODES = 200, TID_SPARE = 2010000000 };

/* What a kind of row is called and where it goes. */
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
    [ROW_ACTIVITY] = {"", NULL, PERFETTO_LIST, ROW_METRICS, 0},
};

enum perfetto_row perfetto_row_named(const char *name)
{
	enum perfetto_row kind = 0;

	while (kind < ROW_KINDS && strcmp(forms[kind].word, name) != 0)
		kind++;
	return kind;
}

static int add_thread(void *context, const struct cell *row, struct error *error)
{
	struct perfetto_rows *rows = context;
	struct thread *last = rows->threads ? &rows->thread[rows->threads - 1] : NULL;
	struct thread thread = {.node = cell_integer(&row[0], 0),
				.tid = cell_integer(&row[1], -1),
				.begin_ns = cell_integer(&row[2], NSEC_MIN),
				.pid = cell_integer(&row[4], -1)};

	(void)error;
	if (!scope_has_node(rows->scope, thread.node))
		return 0;
	thread.comm = cell_text(&row[3]);
	thread.process = cell_text(&row[5]);
	if (last && last->node == thread.node && last->tid == thread.tid)
		thread.life = last->life + 1;
	rows->thread = mem_grow(rows->thread, rows->threads, &rows->thread_room,
				sizeof(*rows->thread));
	rows->thread[rows->threads++] = thread;
	return 0;
}

/* Whether a thread comes no later than who had this tid of this node then. */
static bool is_up_to(const struct thread *thread, int64_t node, int64_t tid, nsec_t at_ns)
{
	return thread->node != node ? thread->node < node
	       : thread->tid != tid ? thread->tid < tid
				    : thread->begin_ns <= at_ns;
}

/* The thread that had this tid then; NULL if the timeline does not know of it. */
static const struct thread *search_thread(const struct perfetto_rows *rows, int64_t node,
					  int64_t tid, nsec_t at_ns)
{
	size_t low = 0, high = rows->threads;
	const struct thread *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_up_to(&rows->thread[middle], node, tid, at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	/* An event or two may come just before the one that tells of the thread. */
	if (low < rows->threads && rows->thread[low].node == node &&
	    rows->thread[low].tid == tid && rows->thread[low].life == 0)
		return &rows->thread[low];
	found = low ? &rows->thread[low - 1] : NULL;
	return found && found->node == node && found->tid == tid ? found : NULL;
}

/* The same, where most come after each other. */
static const struct thread *follow_thread(struct perfetto_rows *rows, int64_t node,
					  int64_t tid, nsec_t at_ns)
{
	const struct thread *last = rows->last_thread;
	const struct thread *next = last + 1, *end = rows->thread + rows->threads;

	if (!last || last->node != node || last->tid != tid || at_ns < last->begin_ns ||
	    (next < end && next->node == node && next->tid == tid))
		rows->last_thread = last = search_thread(rows, node, tid, at_ns);
	return last;
}

char *perfetto_rows_thread(const struct perfetto_rows *rows, int64_t node, int64_t tid,
			   nsec_t at_ns)
{
	const struct thread *thread = search_thread(rows, node, tid, at_ns);

	return mem_printf("%s %" PRId64,
			  thread && *thread->comm ? thread->comm : "thread", tid);
}

static uint64_t mix(uint64_t hash, int64_t value)
{
	hash = (hash ^ (uint64_t)value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct key *key)
{
	return mix(mix(mix(mix(0, (int64_t)key->kind), key->node), key->of), key->item);
}

static bool is_key(const struct key *a, const struct key *b)
{
	return a->kind == b->kind && a->node == b->node && a->of == b->of &&
	       a->item == b->item;
}

static struct row *find(struct perfetto_rows *rows, const struct key *key)
{
	struct row *row;
	int64_t at;

	if (rows->last && is_key(&rows->last->key, key))
		return rows->last;
	if (!intmap_get(&rows->first, hash_of(key), &at))
		return NULL;
	for (row = rows->row[at]; row && !is_key(&row->key, key);)
		row = row->next;
	if (row)
		rows->last = row;
	return row;
}

static struct row *add_row(struct perfetto_rows *rows, const struct key *key)
{
	struct row *row = mem_zalloc(sizeof(*row));
	uint64_t hash = hash_of(key);
	int64_t first;

	row->key = *key;
	if (intmap_get(&rows->first, hash, &first))
		row->next = rows->row[first];
	intmap_put(&rows->first, hash, (int64_t)rows->count);
	rows->row = mem_grow(rows->row, rows->count, &rows->room, sizeof(struct row *));
	rows->row[rows->count++] = row;
	return row;
}

/* Nodes are the first tracks, by their place among the nodes: number and pid. */
static int32_t node_number(const struct perfetto_rows *rows, int64_t node)
{
	const struct scope_node *found = scope_find(rows->scope, node);

	assert(found);
	return (int32_t)(found - rows->scope->node) + 1;
}

static int32_t thread_number(struct perfetto_rows *rows, const struct key *key)
{
	int32_t number = node_number(rows, key->node);

	if (key->item == 0 && number <= TID_NODES && key->of >= 0 && key->of < TID_STEP)
		return number * TID_STEP + (int32_t)key->of;
	return ++rows->last_spare;
}

/* Tell the writer of a track; its place and its number come from here. */
static void write_track(struct perfetto_rows *rows, struct perfetto_track *track,
			int64_t node)
{
	track->place.track = ++rows->last_track;
	track->place.pid = node_number(rows, node);
	if (track->kind == PERFETTO_ROW)
		track->place.tid = (int32_t)track->place.track;
	rows->writer->ops->track(rows->writer, track);
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

static char *thread_text(const struct thread *thread, int64_t tid)
{
	if (!thread || !*thread->comm)
		return mem_printf("thread %" PRId64, tid);
	if (thread->pid < 0 || thread->pid == tid)
		return mem_printf("%s %" PRId64, thread->comm, tid);
	return mem_printf("%s %" PRId64 " of %s %" PRId64, thread->comm, tid,
			  thread->process, thread->pid);
}

/* What a row is made from beside its key; NULL where its name follows from that. */
struct label {
	const char *name, *full_name, *unit;
	const struct thread *thread;
};

static void name_row(struct row *row, const struct label *label)
{
	const struct key *key = &row->key;
	char *thread;

	switch (key->kind) {
	case ROW_STATES:
		row->name = thread_text(label->thread, key->of);
		break;
	case ROW_SYSCALLS:
		thread = thread_text(label->thread, key->of);
		row->full_name = mem_printf("%s: system calls", thread);
		free(thread);
		break;
	case ROW_CPU:
	case ROW_IRQ:
	case ROW_SOFTIRQ:
		row->name = mem_printf("CPU %" PRId64 "%s", key->of,
				       key->kind == ROW_CPU   ? ""
				       : key->kind == ROW_IRQ ? " interrupts"
							      : " softirqs");
		break;
	default:
		if (label->full_name)
			row->full_name = mem_strdup(label->full_name);
	}
	if (!row->name)
		row->name = mem_strdup(label->name ? label->name : forms[key->kind].name);
	if (!row->full_name)
		row->full_name = mem_strdup(row->name);
	if (label->unit)
		row->unit = mem_strdup(label->unit);
}

/* The row of a key; a new one goes on that with the number `parent`. */
static struct row *add(struct perfetto_rows *rows, const struct key *key, uint32_t parent,
		       const struct label *label)
{
	struct row *row = add_row(rows, key);

	name_row(row, label);
	row->track = (struct perfetto_track){
	    .kind = forms[key->kind].kind,
	    .parent = parent,
	    .rank = rank_of(key),
	    .name = row->name,
	    .full_name = row->full_name,
	    .unit = row->unit,
	};
	if (row->track.kind == PERFETTO_THREAD)
		row->track.place.tid = thread_number(rows, key);
	write_track(rows, &row->track, key->node);
	return row;
}

static struct row *get(struct perfetto_rows *rows, const struct key *key,
		       const struct label *label)
{
	struct row *row = find(rows, key);
	struct key group = {.kind = forms[key->kind].group, .node = key->node};
	const struct label none = {.thread = label->thread};

	if (row)
		return row;
	if (group.kind == ROW_KINDS)
		return add(rows, key, (uint32_t)node_number(rows, key->node), label);
	if (group.kind == ROW_STATES) {
		group = *key;
		group.kind = ROW_STATES;
	}
	/* Which is written first. */
	return add(rows, key, get(rows, &group, &none)->track.place.track, label);
}

/* One more lane: beside the row, under the same name; or below a thread. */
static struct lane *add_lane(struct perfetto_rows *rows, struct row *row)
{
	struct perfetto_track track = row->track;

	if (row->lanes && track.kind == PERFETTO_THREAD) {
		track.kind = PERFETTO_ROW;
		track.parent = row->track.place.track;
		track.name = "more states";
	}
	if (row->lanes)
		write_track(rows, &track, row->key.node);
	row->lane = mem_grow(row->lane, row->lanes, &row->room, sizeof(*row->lane));
	row->lane[row->lanes] = (struct lane){.place = track.place, .end_ns = NSEC_MIN};
	return &row->lane[row->lanes++];
}

/* The free lane that was used last: so a slice follows what it came after. */
static struct lane *find_lane(const struct row *row, nsec_t begin_ns)
{
	struct lane *best = NULL;

	for (size_t i = 0; i < row->lanes; i++)
		if (row->lane[i].end_ns <= begin_ns &&
		    (!best || row->lane[i].end_ns > best->end_ns))
			best = &row->lane[i];
	return best;
}

const struct perfetto_place *perfetto_rows_lane(struct perfetto_rows *rows,
						const struct perfetto_slot *slot)
{
	struct key key = {.kind = slot->kind, .node = slot->node, .of = slot->of};
	struct label label = {.name = slot->name};
	struct row *row;
	struct lane *lane;

	if (slot->kind == ROW_STATES || slot->kind == ROW_SYSCALLS) {
		label.thread = follow_thread(rows, slot->node, slot->of, slot->begin_ns);
		key.item = label.thread ? label.thread->life : 0;
	}
	row = get(rows, &key, &label);
	lane = find_lane(row, slot->begin_ns);
	if (!lane)
		lane = add_lane(rows, row);
	if (lane->end_ns < slot->end_ns)
		lane->end_ns = slot->end_ns;
	return &lane->place;
}

const struct perfetto_track *perfetto_rows_counter(struct perfetto_rows *rows,
						   const struct perfetto_counter *counter)
{
	struct key key = {.kind = counter->kind,
			  .node = counter->node,
			  .of = counter->of,
			  .item = counter->item};
	struct key group = {.kind = forms[counter->kind].group,
			    .node = counter->node,
			    .of = counter->group};
	const struct label group_label = {.name = counter->group_name};
	struct label label = {.name = counter->name, .unit = counter->unit};
	struct row *row = find(rows, &key);
	char *full_name = NULL;
	uint32_t parent;

	if (row)
		return &row->track;
	parent = get(rows, &group, &group_label)->track.place.track;
	if (counter->group_name)
		full_name = mem_printf("%s %s", counter->group_name, counter->name);
	label.full_name = full_name;
	row = add(rows, &key, parent, &label);
	free(full_name);
	return &row->track;
}

struct perfetto_rows *perfetto_rows_new(struct perfetto_writer *writer,
					const struct scope *scope,
					struct timeline_reader *timeline,
					struct error *error)
{
	/* NULL sorts first, as what began before the recording should. */
	static const char threads[] =
	    "SELECT t.node, t.tid, t.begin_ns, t.comm, p.pid, p.comm FROM thread AS t "
	    "LEFT JOIN process AS p ON p.id = t.process "
	    "ORDER BY t.node, t.tid, t.begin_ns, t.id";
	struct perfetto_rows *rows = mem_zalloc(sizeof(*rows));

	rows->writer = writer;
	rows->scope = scope;
	rows->last_track = (uint32_t)scope->nodes;
	rows->last_spare = TID_SPARE - 1;
	for (size_t i = 0; i < scope->nodes; i++) {
		struct perfetto_track track = {
		    .kind = PERFETTO_NODE,
		    .place = {.track = (uint32_t)i + 1, .pid = (int32_t)i + 1},
		    .rank = (int32_t)i + 1,
		    .name = scope->node[i].name,
		    .full_name = scope->node[i].name,
		};

		if (scope->node[i].chosen)
			writer->ops->track(writer, &track);
	}
	if (query_rows(timeline, threads, NULL, add_thread, rows, error) == 0)
		return rows;
	perfetto_rows_free(rows);
	return NULL;
}

void perfetto_rows_free(struct perfetto_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->row[i]->name);
		free(rows->row[i]->full_name);
		free(rows->row[i]->unit);
		free(rows->row[i]->lane);
		free(rows->row[i]);
	}
	for (size_t i = 0; i < rows->threads; i++) {
		free(rows->thread[i].comm);
		free(rows->thread[i].process);
	}
	free(rows->row);
	free(rows->thread);
	intmap_clear(&rows->first);
	free(rows);
}
