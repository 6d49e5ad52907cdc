/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "timeline/events.h"

struct disk {
	int64_t node, dev;
	char *name;
};

struct perfetto_names {
	struct perfetto_name *item; /* by node, tid, begin */
	size_t count, room;
	struct disk *disk;
	size_t disks, disk_room;
};

static int64_t integer(const struct cell *cell, int64_t otherwise)
{
	return cell->type == CELL_INTEGER ? cell->integer : otherwise;
}

static char *text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

static void add(struct perfetto_names *names, const struct cell *row)
{
	struct perfetto_name *last = names->count ? &names->item[names->count - 1] : NULL;
	struct perfetto_name name = {
	    .node = integer(&row[0], 0),
	    .tid = integer(&row[1], -1),
	    .begin_ns = integer(&row[2], NSEC_MIN),
	    .pid = integer(&row[4], -1),
	    .comm = text(&row[3]),
	    .process = text(&row[5]),
	};

	if (last && last->node == name.node && last->tid == name.tid)
		name.life = last->life + 1;
	names->item =
	    mem_grow(names->item, names->count, &names->room, sizeof(*names->item));
	names->item[names->count++] = name;
}

static int read_threads(struct perfetto_names *names, struct timeline_reader *reader,
			const struct scope *scope, struct error *error)
{
	/* NULL sorts first, as what began before the recording should. */
	struct timeline_query *query = timeline_query_new(
	    reader,
	    "SELECT t.node, t.tid, t.begin_ns, t.comm, p.pid, p.comm FROM thread AS t "
	    "LEFT JOIN process AS p ON p.id = t.process "
	    "ORDER BY t.node, t.tid, t.begin_ns, t.id",
	    error);
	int more = -1;

	if (query && timeline_query_ask(query, NULL, 0, error) == 0)
		while ((more = timeline_query_next(query, error)) > 0) {
			const struct cell *row = timeline_query_row(query);

			if (scope_has_node(scope, integer(&row[0], 0)))
				add(names, row);
		}
	timeline_query_free(query);
	return more;
}

static void add_disk(struct perfetto_names *names, const struct event_row *row)
{
	if (row->field[0].type != CELL_INTEGER || row->field[1].type != CELL_TEXT ||
	    perfetto_names_disk(names, row->node, row->field[0].integer))
		return;
	names->disk =
	    mem_grow(names->disk, names->disks, &names->disk_room, sizeof(*names->disk));
	names->disk[names->disks++] = (struct disk){.node = row->node,
						    .dev = row->field[0].integer,
						    .name = text(&row->field[1])};
}

/* They are told when the recording begins, whatever part of it was asked for. */
static int read_disks(struct perfetto_names *names, struct timeline_reader *reader,
		      const struct scope *scope, struct error *error)
{
	static const struct events_wish wish = {.class = "lttng_statedump_block_device",
						.field = {"dev", "diskname"}};
	struct scope whole = *scope;
	struct event_row row;
	struct events *events;
	int more = -1;

	whole.begin_ns = whole.origin_ns;
	whole.end_ns = whole.last_ns;
	whole.all_time = true;
	events = events_new(reader, &whole, &wish, 1, error);
	if (events)
		while ((more = events_next(events, &row, error)) > 0)
			add_disk(names, &row);
	events_free(events);
	return more;
}

struct perfetto_names *perfetto_names_new(struct timeline_reader *reader,
					  const struct scope *scope, struct error *error)
{
	struct perfetto_names *names = mem_zalloc(sizeof(*names));

	if (read_threads(names, reader, scope, error) == 0 &&
	    read_disks(names, reader, scope, error) == 0)
		return names;
	perfetto_names_free(names);
	return NULL;
}

const char *perfetto_names_disk(const struct perfetto_names *names, int64_t node,
				int64_t dev)
{
	for (size_t i = 0; i < names->disks; i++)
		if (names->disk[i].node == node && names->disk[i].dev == dev)
			return names->disk[i].name;
	return NULL;
}

/* Whether a thread comes no later than who had this tid of this node then. */
static bool is_up_to(const struct perfetto_name *name, int64_t node, int64_t tid,
		     nsec_t at_ns)
{
	return name->node != node ? name->node < node
	       : name->tid != tid ? name->tid < tid
				  : name->begin_ns <= at_ns;
}

const struct perfetto_name *perfetto_names_find(const struct perfetto_names *names,
						int64_t node, int64_t tid, nsec_t at_ns)
{
	size_t low = 0, high = names->count;
	const struct perfetto_name *found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_up_to(&names->item[middle], node, tid, at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	/* An event or two may come just before the one that tells of the thread. */
	if (low < names->count && names->item[low].node == node &&
	    names->item[low].tid == tid && names->item[low].life == 0)
		return &names->item[low];
	found = low ? &names->item[low - 1] : NULL;
	return found && found->node == node && found->tid == tid ? found : NULL;
}

void perfetto_names_free(struct perfetto_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++) {
		free(names->item[i].comm);
		free(names->item[i].process);
	}
	for (size_t i = 0; i < names->disks; i++)
		free(names->disk[i].name);
	free(names->item);
	free(names->disk);
	free(names);
}
