/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "timeline/query.h"

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

struct reading {
	struct perfetto_names *names;
	const struct scope *scope;
};

static int add_thread(void *context, const struct cell *row, struct error *error)
{
	const struct reading *reading = context;
	struct perfetto_names *names = reading->names;
	struct perfetto_name *last = names->count ? &names->item[names->count - 1] : NULL;
	struct perfetto_name name = {.node = cell_integer(&row[0], 0),
				     .tid = cell_integer(&row[1], -1),
				     .begin_ns = cell_integer(&row[2], NSEC_MIN),
				     .pid = cell_integer(&row[4], -1)};

	(void)error;
	if (!scope_has_node(reading->scope, name.node))
		return 0;
	name.comm = cell_text(&row[3]);
	name.process = cell_text(&row[5]);
	if (last && last->node == name.node && last->tid == name.tid)
		name.life = last->life + 1;
	names->item =
	    mem_grow(names->item, names->count, &names->room, sizeof(*names->item));
	names->item[names->count++] = name;
	return 0;
}

static int add_disk(void *context, const struct cell *row, struct error *error)
{
	struct perfetto_names *names = ((const struct reading *)context)->names;

	(void)error;
	names->disk =
	    mem_grow(names->disk, names->disks, &names->disk_room, sizeof(*names->disk));
	names->disk[names->disks++] = (struct disk){
	    .node = row[0].integer, .dev = row[1].integer, .name = cell_text(&row[2])};
	return 0;
}

struct perfetto_names *perfetto_names_new(struct timeline_reader *reader,
					  const struct scope *scope, struct error *error)
{
	/* NULL sorts first, as what began before the recording should. */
	static const char threads[] =
	    "SELECT t.node, t.tid, t.begin_ns, t.comm, p.pid, p.comm FROM thread AS t "
	    "LEFT JOIN process AS p ON p.id = t.process "
	    "ORDER BY t.node, t.tid, t.begin_ns, t.id";
	/* A disk without a name has its numbers for one. */
	static const char disks[] = "SELECT DISTINCT node, dev, disk FROM block_request "
				    "WHERE disk NOT LIKE '%,%' ORDER BY node, dev";
	struct perfetto_names *names = mem_zalloc(sizeof(*names));
	struct reading reading = {names, scope};

	if (query_rows(reader, threads, NULL, add_thread, &reading, error) == 0 &&
	    query_rows(reader, disks, NULL, add_disk, &reading, error) == 0)
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
