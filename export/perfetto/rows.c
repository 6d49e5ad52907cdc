/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/rows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of a thread's rows `item` is its life; `name` follows from the rest. */
struct key {
	enum perfetto_row kind;
	int64_t node, of, item;
	const struct perfetto_name *name;
};

struct lane {
	struct perfetto_place place;
	nsec_t end_ns; /* of the last slice on it */
};

struct row {
	struct key key;
	struct perfetto_track track; /* its first one */
	char *name, *full_name, *unit;
	struct lane *lane;
	size_t lanes, room;
};

struct perfetto_rows {
	struct perfetto_writer *writer;
	const struct scope *scope;
	const struct perfetto_names *names;
	struct row **slot; /* by open addressing */
	size_t slots, count;
	uint32_t last_track; /* number of the last track made */
	int32_t last_spare;  /* the last id of a thread that did not fit */
};

enum { TID_STEP = 10000000, TID_NODES = 200, TID_SPARE = 2010000000 };

static uint64_t mix(uint64_t hash, int64_t value)
{
	hash = (hash ^ (uint64_t)value) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static bool is_key(const struct key *a, const struct key *b)
{
	return a->kind == b->kind && a->node == b->node && a->of == b->of &&
	       a->item == b->item;
}

static struct row **probe(const struct perfetto_rows *rows, const struct key *key)
{
	uint64_t hash =
	    mix(mix(mix(mix(0, (int64_t)key->kind), key->node), key->of), key->item);
	size_t at = (size_t)hash & (rows->slots - 1);

	while (rows->slot[at] && !is_key(&rows->slot[at]->key, key))
		at = (at + 1) & (rows->slots - 1);
	return &rows->slot[at];
}

static void grow(struct perfetto_rows *rows)
{
	struct row **old = rows->slot;
	size_t slots = rows->slots;

	rows->slots = slots ? slots * 2 : 256;
	rows->slot = mem_zalloc(rows->slots * sizeof(*rows->slot));
	for (size_t i = 0; i < slots; i++)
		if (old[i])
			*probe(rows, &old[i]->key) = old[i];
	free(old);
}

static struct row *find(const struct perfetto_rows *rows, const struct key *key)
{
	return rows->slots ? *probe(rows, key) : NULL;
}

/* Nodes are the first tracks, by their place among the nodes: number and pid. */
static int32_t node_number(const struct perfetto_rows *rows, int64_t node)
{
	const struct scope_node *found = scope_find(rows->scope, node);

	assert(found);
	return (int32_t)(found - rows->scope->node) + 1;
}

static int32_t thread_number(struct perfetto_rows *rows, int64_t node, int64_t tid,
			     int64_t life)
{
	int32_t number = node_number(rows, node);

	if (life == 0 && number <= TID_NODES && tid >= 0 && tid < TID_STEP)
		return number * TID_STEP + (int32_t)tid;
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
	perfetto_write_track(rows->writer, track);
}

static char *thread_text(const struct perfetto_name *name, int64_t tid)
{
	if (!name || !*name->comm)
		return mem_printf("thread %" PRId64, tid);
	if (name->pid < 0 || name->pid == tid)
		return mem_printf("%s %" PRId64, name->comm, tid);
	return mem_printf("%s %" PRId64 " of %s %" PRId64, name->comm, tid, name->process,
			  name->pid);
}

/* What a kind of row is called and where it goes. */
static const struct form {
	const char *name; /* NULL: there is more than one in a group */
	enum perfetto_track_kind kind;
	enum perfetto_row group; /* ROW_KINDS: the node itself */
	int32_t rank;            /* in its group; JSON orders all rows by it */
} forms[ROW_KINDS] = {
    [ROW_STATES] = {NULL, PERFETTO_THREAD, ROW_KINDS, 6000000},
    [ROW_SYSCALLS] = {"system calls", PERFETTO_ROW, ROW_STATES, 6000000},
    [ROW_CPU] = {NULL, PERFETTO_ROW, ROW_CPUS, 10},
    [ROW_IRQ] = {NULL, PERFETTO_ROW, ROW_CPUS, 11},
    [ROW_SOFTIRQ] = {NULL, PERFETTO_ROW, ROW_CPUS, 12},
    [ROW_DISK] = {NULL, PERFETTO_ROW, ROW_DISKS, 5000000},
    [ROW_SENT] = {"messages sent", PERFETTO_ROW, ROW_NETWORK, 1},
    [ROW_RECEIVED] = {"messages received", PERFETTO_ROW, ROW_NETWORK, 2},
    [ROW_TASKS] = {"tasks", PERFETTO_ROW, ROW_KINDS, 5100000},
    [ROW_RUN] = {"run", PERFETTO_ROW, ROW_CLOCKS, 7000000},
    [ROW_FREQUENCY] = {NULL, PERFETTO_COUNTER, ROW_CPUS, 13},
    [ROW_BOUND] = {NULL, PERFETTO_COUNTER, ROW_CLOCKS, 0},
    [ROW_SAMPLES] = {NULL, PERFETTO_COUNTER, ROW_ACTIVITY, 0},
    [ROW_CPUS] = {"processors", PERFETTO_GROUP, ROW_KINDS, 1},
    [ROW_DISKS] = {"disks", PERFETTO_LIST, ROW_KINDS, 3},
    [ROW_NETWORK] = {"network", PERFETTO_GROUP, ROW_KINDS, 2},
    [ROW_CLOCKS] = {"clocks", PERFETTO_LIST, ROW_KINDS, 5},
    [ROW_METRICS] = {"samples", PERFETTO_LIST, ROW_KINDS, 4},
    [ROW_ACTIVITY] = {NULL, PERFETTO_LIST, ROW_METRICS, 0},
};

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

/* "disk vda (254:0)", as Linux splits its number within the kernel. */
static char *disk_text(const struct perfetto_names *names, const struct key *key)
{
	const char *name = perfetto_names_disk(names, key->node, key->of);
	int64_t major = key->of >> 20, minor = key->of & 0xfffff;

	return name ? mem_printf("disk %s (%" PRId64 ":%" PRId64 ")", name, major, minor)
		    : mem_printf("disk %" PRId64 ":%" PRId64, major, minor);
}

static void name_row(const struct perfetto_names *names, struct row *row)
{
	const struct key *key = &row->key;
	char *thread;

	switch (key->kind) {
	case ROW_STATES:
		row->name = thread_text(key->name, key->of);
		break;
	case ROW_SYSCALLS:
		row->name = mem_strdup(forms[key->kind].name);
		thread = thread_text(key->name, key->of);
		row->full_name = mem_printf("%s: system calls", thread);
		free(thread);
		return;
	case ROW_CPU:
	case ROW_IRQ:
	case ROW_SOFTIRQ:
		row->name = mem_printf("CPU %" PRId64 "%s", key->of,
				       key->kind == ROW_CPU   ? ""
				       : key->kind == ROW_IRQ ? " interrupts"
							      : " softirqs");
		break;
	case ROW_DISK:
		row->name = disk_text(names, key);
		break;
	default:
		row->name = mem_strdup(forms[key->kind].name);
	}
	row->full_name = mem_strdup(row->name);
}

static struct row *add_row(struct perfetto_rows *rows, const struct key *key)
{
	struct row *row = mem_zalloc(sizeof(*row));

	row->key = *key;
	if (2 * rows->count >= rows->slots)
		grow(rows);
	rows->count++;
	*probe(rows, key) = row;
	return row;
}

static struct row *get(struct perfetto_rows *rows, const struct key *key);

/* The number of the track that a row hangs on. */
static uint32_t parent_of(struct perfetto_rows *rows, const struct key *key)
{
	struct key group = {.kind = forms[key->kind].group, .node = key->node};

	if (group.kind == ROW_KINDS)
		return (uint32_t)node_number(rows, key->node);
	if (group.kind == ROW_STATES) {
		group = *key;
		group.kind = ROW_STATES;
	}
	return get(rows, &group)->track.place.track;
}

/* Tell the writer of a row that has its names. */
static void write_row(struct perfetto_rows *rows, struct row *row, uint32_t parent)
{
	const struct key *key = &row->key;

	row->track = (struct perfetto_track){
	    .kind = forms[key->kind].kind,
	    .parent = parent,
	    .rank = rank_of(key),
	    .name = row->name,
	    .full_name = row->full_name,
	    .unit = row->unit,
	};
	if (row->track.kind == PERFETTO_THREAD)
		row->track.place.tid = thread_number(rows, key->node, key->of, key->item);
	write_track(rows, &row->track, key->node);
}

static struct row *get(struct perfetto_rows *rows, const struct key *key)
{
	struct row *row = find(rows, key);
	uint32_t parent;

	if (row)
		return row;
	parent = parent_of(rows, key); /* which is written first */
	row = add_row(rows, key);
	name_row(rows->names, row);
	write_row(rows, row, parent);
	return row;
}

/* One more lane: beside the row, under the same name; or below a thread. */
static void add_lane(struct perfetto_rows *rows, struct row *row)
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
	row->lane[row->lanes++] = (struct lane){.place = track.place, .end_ns = NSEC_MIN};
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
						enum perfetto_row kind, int64_t node,
						int64_t of, nsec_t begin_ns,
						nsec_t end_ns)
{
	struct key key = {.kind = kind, .node = node, .of = of};
	struct row *row;
	struct lane *lane;

	if (kind == ROW_STATES || kind == ROW_SYSCALLS) {
		key.name = perfetto_names_find(rows->names, node, of, begin_ns);
		key.item = key.name ? key.name->life : 0;
	}
	row = get(rows, &key);
	lane = find_lane(row, begin_ns);
	if (!lane) {
		add_lane(rows, row);
		lane = &row->lane[row->lanes - 1];
	}
	if (lane->end_ns < end_ns)
		lane->end_ns = end_ns;
	return &lane->place;
}

static struct key counter_key(const struct perfetto_counter *counter)
{
	return (struct key){.kind = counter->kind,
			    .node = counter->node,
			    .of = counter->of,
			    .item = counter->item};
}

const struct perfetto_track *perfetto_rows_counter(struct perfetto_rows *rows,
						   const struct perfetto_counter *counter)
{
	struct key key = counter_key(counter);
	struct row *row = find(rows, &key);

	return row ? &row->track : NULL;
}

/* The group of a counter; that of an activity gets its name here. */
static uint32_t group_of(struct perfetto_rows *rows, int64_t node,
			 const struct perfetto_label *label)
{
	struct key key = {.kind = label->group, .node = node, .of = label->group_of};
	struct row *row = find(rows, &key);
	uint32_t parent;

	if (row || !label->group_name)
		return (row ? row : get(rows, &key))->track.place.track;
	parent = parent_of(rows, &key);
	row = add_row(rows, &key);
	row->name = mem_strdup(label->group_name);
	row->full_name = mem_strdup(label->group_name);
	write_row(rows, row, parent);
	return row->track.place.track;
}

const struct perfetto_track *
perfetto_rows_new_counter(struct perfetto_rows *rows,
			  const struct perfetto_counter *counter,
			  const struct perfetto_label *label)
{
	struct key key = counter_key(counter);
	uint32_t parent = group_of(rows, key.node, label);
	struct row *row = add_row(rows, &key);

	row->name = mem_strdup(label->name);
	row->full_name = label->group_name
			     ? mem_printf("%s %s", label->group_name, label->name)
			     : mem_strdup(label->name);
	row->unit = label->unit ? mem_strdup(label->unit) : NULL;
	write_row(rows, row, parent);
	return &row->track;
}

struct perfetto_rows *perfetto_rows_new(struct perfetto_writer *writer,
					const struct scope *scope,
					const struct perfetto_names *names)
{
	struct perfetto_rows *rows = mem_zalloc(sizeof(*rows));

	rows->writer = writer;
	rows->scope = scope;
	rows->names = names;
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
			perfetto_write_track(writer, &track);
	}
	return rows;
}

void perfetto_rows_free(struct perfetto_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->slots; i++) {
		struct row *row = rows->slot[i];

		if (!row)
			continue;
		free(row->name);
		free(row->full_name);
		free(row->unit);
		free(row->lane);
		free(row);
	}
	free(rows->slot);
	free(rows);
}
