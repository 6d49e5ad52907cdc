/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/disk_names.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/options.h"
#include "timeline/events.h"
#include "timeline/scope.h"

/* The kernel's dev_t inside of the kernel: 12 bits and 20. */
enum { MINOR_BITS = 20 };

static void add(struct disk_names *names, int64_t node, int64_t dev, char *text)
{
	names->item =
	    mem_grow(names->item, names->count, &names->room, sizeof(*names->item));
	names->item[names->count++] = (struct disk_name){node, dev, text};
}

/* The statedump may have been before the time that was asked for. */
int disk_names_read(struct disk_names *names, struct timeline_reader *reader,
		    struct error *error)
{
	static const struct events_wish wish = {.class = "lttng_statedump_block_device",
						.field = {"dev", "diskname"}};
	struct scope scope;
	struct events *events;
	struct event_row row;
	int more = -1;

	if (scope_init(&scope, reader, NULL, NULL, NULL, error))
		return -1;
	events = events_new(reader, &scope, &wish, 1, error);
	while (events && (more = events_next(events, &row, error)) > 0)
		if (row.field[0].type == CELL_INTEGER && row.field[1].type == CELL_TEXT)
			add(names, row.node, row.field[0].integer,
			    mem_strndup(row.field[1].bytes, row.field[1].size));
	events_free(events);
	scope_clear(&scope);
	return more;
}

const char *disk_names_find(struct disk_names *names, int64_t node, int64_t dev)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->item[i].node == node && names->item[i].dev == dev)
			return names->item[i].text;
	add(names, node, dev,
	    mem_printf("%lld:%lld", (long long)(dev >> MINOR_BITS),
		       (long long)(dev & ((1 << MINOR_BITS) - 1))));
	return names->item[names->count - 1].text;
}

void disk_names_clear(struct disk_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->item[i].text);
	free(names->item);
	*names = (struct disk_names){0};
}
