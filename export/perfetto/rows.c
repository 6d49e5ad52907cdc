/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/perfetto.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "timeline/query.h"

/* What a thread is called. */
struct thread {
	int64_t node, tid;
	nsec_t begin_ns;   /* NSEC_MIN: before the recording */
	int64_t life;      /* how many threads with this tid were before it */
	const char *label; /* "nginx 812" */
	const char *name;  /* the same of its process: "worker 815 of nginx 812" */
};

/* Of a thread's rows `item` is its life. */
struct key {
	int64_t kind, node, of, item;
};

struct lane {
	struct perfetto_place place;
	nsec_t end_ns; /* of the last slice on it */
};

struct row {
	struct key key;
	struct perfetto_track track; /* its first one */
	struct lane *lane;
	size_t lanes, capacity;
};

struct perfetto_rows {
	struct perfetto_writer *writer;
	const struct scope *scope;
	struct thread *thread; /* by node, tid, begin */
	size_t threads, thread_capacity;
	struct texts keys, names; /* of rows, by their numbers; of anything */
	struct row **row;
	size_t rows, capacity;
	struct row *last; /* that was asked for */
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

/* A copy that stays; takes the text. */
static const char *keep(struct perfetto_rows *rows, char *text)
{
	const char *kept =
	    text ? texts_get(&rows->names, texts_put(&rows->names, text)) : NULL;

	free(text);
	return kept;
}

static int add_thread(void *context, const struct cell *row, struct error *error)
{
	struct perfetto_rows *rows = context;
	struct thread thread = {.node = row[0].integer,
				.tid = row[1].integer,
				.begin_ns = cell_integer(&row[2], NSEC_MIN),
				.life = row[3].integer};

	(void)error;
	if (!scope_has_node(rows->scope, thread.node))
		return 0;
	thread.label = keep(rows, cell_text(&row[4]));
	thread.name = keep(rows, cell_text(&row[5]));
	*MEM_NEXT(rows->thread, rows->threads, rows->thread_capacity) = thread;
	return 0;
}

static bool has_tid(const struct thread *thread, int64_t node, int64_t tid)
{
	return thread->node == node && thread->tid == tid;
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
	size_t next =
	    FIRST_NOT(rows->threads, i, is_up_to(&rows->thread[i], node, tid, at_ns));
	const struct thread *thread = rows->thread + next;

	/* An event or two may come just before the one that tells of the thread. */
	if (next < rows->threads && has_tid(thread, node, tid) && thread->life == 0)
		return thread;
	return next && has_tid(thread - 1, node, tid) ? thread - 1 : NULL;
}

/* The same, where most come after each other. */
static const struct thread *follow_thread(struct perfetto_rows *rows, int64_t node,
					  int64_t tid, nsec_t at_ns)
{
	const struct thread *last = rows->last_thread;
	const struct thread *next = last + 1, *end = rows->thread + rows->threads;

	if (!last || !has_tid(last, node, tid) || at_ns < last->begin_ns ||
	    (next < end && has_tid(next, node, tid)))
		rows->last_thread = last = search_thread(rows, node, tid, at_ns);
	return last;
}

const char *perfetto_rows_thread(struct perfetto_rows *rows, int64_t node, int64_t tid,
				 nsec_t at_ns)
{
	const struct thread *thread = search_thread(rows, node, tid, at_ns);

	return thread ? thread->label : keep(rows, mem_printf("thread %" PRId64, tid));
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
	rows->writer->form->track(rows->writer, track);
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
static void name_track(struct perfetto_rows *rows, struct perfetto_track *track,
		       const struct perfetto_slot *slot, const struct thread *thread)
{
	static const char *const of_cpu[] = {
	    [ROW_CPU] = "", [ROW_IRQ] = " interrupts", [ROW_SOFTIRQ] = " softirqs"};
	const char *name = slot->name ? slot->name : forms[slot->kind].name;
	const char *who = thread ? thread->name : NULL;

	if (slot->kind == ROW_STATES || slot->kind == ROW_SYSCALLS) {
		if (!who)
			who = keep(rows, mem_printf("thread %" PRId64, slot->of));
		track->name = slot->kind == ROW_STATES ? who : name;
		track->full_name = slot->kind == ROW_STATES
				       ? who
				       : keep(rows, mem_printf("%s: %s", who, name));
	} else if (slot->kind <= ROW_SOFTIRQ) {
		track->name = track->full_name = keep(
		    rows, mem_printf("CPU %" PRId64 "%s", slot->of, of_cpu[slot->kind]));
	} else {
		track->name = track->full_name = keep(rows, mem_strdup(name));
		if (slot->group_name)
			track->full_name =
			    keep(rows, mem_printf("%s %s", slot->group_name, slot->name));
	}
	track->unit = keep(rows, slot->unit ? mem_strdup(slot->unit) : NULL);
}

/* The row of a slot; a new one is written, behind the group that it stands in. */
static struct row *get(struct perfetto_rows *rows, const struct perfetto_slot *slot,
		       const struct thread *thread)
{
	const struct form *form = &forms[slot->kind];
	const struct key key = {slot->kind, slot->node, slot->of,
				thread ? thread->life : slot->item};
	struct perfetto_slot group = {.kind = form->group,
				      .node = slot->node,
				      .of = slot->group,
				      .name = slot->group_name};
	struct row *row = rows->last;
	size_t number;

	if (row && memcmp(&row->key, &key, sizeof(key)) == 0)
		return row;
	number = texts_put_bytes(&rows->keys, (const char *)&key, sizeof(key));
	if (number < rows->rows)
		return rows->last = rows->row[number];
	row = mem_zalloc(sizeof(*row));
	row->key = key;
	*MEM_NEXT(rows->row, rows->rows, rows->capacity) = row;
	if (group.kind == ROW_STATES)
		group.of = slot->of;
	row->track.parent = group.kind == ROW_KINDS
				? (uint32_t)node_number(rows, slot->node)
				: get(rows, &group, thread)->track.place.track;
	row->track.kind = form->kind;
	row->track.rank = rank_of(&key);
	name_track(rows, &row->track, slot, thread);
	if (form->kind == PERFETTO_THREAD)
		row->track.place.tid = thread_number(rows, &key);
	write_track(rows, &row->track, slot->node);
	return rows->last = row;
}

/* One more lane: beside the row, under the same name; or below a thread. */
static struct lane *add_lane(struct perfetto_rows *rows, struct row *row)
{
	struct perfetto_track track = row->track;
	struct lane *lane;

	if (row->lanes && track.kind == PERFETTO_THREAD) {
		track.kind = PERFETTO_ROW;
		track.parent = row->track.place.track;
		track.name = "more states";
	}
	if (row->lanes)
		write_track(rows, &track, row->key.node);
	lane = MEM_NEXT(row->lane, row->lanes, row->capacity);
	*lane = (struct lane){.place = track.place, .end_ns = NSEC_MIN};
	return lane;
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
	bool of_thread = slot->kind == ROW_STATES || slot->kind == ROW_SYSCALLS;
	struct row *row = get(
	    rows, slot,
	    of_thread ? follow_thread(rows, slot->node, slot->of, slot->begin_ns) : NULL);
	struct lane *lane = find_lane(row, slot->begin_ns);

	if (!lane)
		lane = add_lane(rows, row);
	if (lane->end_ns < slot->end_ns)
		lane->end_ns = slot->end_ns;
	return &lane->place;
}

const struct perfetto_track *perfetto_rows_counter(struct perfetto_rows *rows,
						   const struct perfetto_slot *slot)
{
	return &get(rows, slot, NULL)->track;
}

struct perfetto_rows *perfetto_rows_new(struct perfetto_writer *writer,
					const struct scope *scope,
					struct timeline_reader *timeline,
					struct error *error)
{
	/* NULL sorts first, as what began before the recording should. */
	static const char threads[] =
	    "SELECT node, tid, begin_ns, life, label, label || iif(coalesce(comm, '') = "
	    "'' "
	    "OR coalesce(pid, -1) < 0 OR pid = tid, '', printf(' of %s %d', process, "
	    "pid)) "
	    "FROM (SELECT t.node, t.tid, t.begin_ns, t.comm, p.pid, p.comm AS process, "
	    "row_number() OVER one - 1 AS life, "
	    "coalesce(nullif(t.comm, ''), 'thread') || ' ' || t.tid AS label "
	    "FROM thread AS t LEFT JOIN process AS p ON p.id = t.process "
	    "WINDOW one AS (PARTITION BY t.node, t.tid ORDER BY t.begin_ns, t.id)) "
	    "ORDER BY node, tid, life";
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
			writer->form->track(writer, &track);
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
	for (size_t i = 0; i < rows->rows; i++) {
		free(rows->row[i]->lane);
		free(rows->row[i]);
	}
	free(rows->row);
	free(rows->thread);
	texts_clear(&rows->keys);
	texts_clear(&rows->names);
	free(rows);
}
