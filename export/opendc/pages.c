/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/charge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/events.h"
#include "timeline/query.h"

enum { TAG_ALLOC, TAG_FREE, TAG_RSS };

/* Pages of 4 KiB; 2^order of them at once. */
enum { PAGE_BYTES = 4096, ORDER_MOST = 20, NODE_SHIFT = 52 };

/* mm_types_task.h: file, anonymous, swap, shared; swap is not resident. */
enum { RSS_MEMBERS = 4, RSS_SWAP = 2 };

struct resident {
	int64_t bytes[RSS_MEMBERS];
};

struct pages {
	struct opendc_charger *charger;
	struct intmap owner;      /* of a node and page: task and order */
	struct intmap of_process; /* index of its resident */
	struct resident *resident;
	size_t residents, room;
};

static int64_t process_of(const struct pages *pages, const struct event_row *row,
			  int64_t node)
{
	return row->tid > 0 ? opendc_process_of_thread(pages->charger->cluster, node,
						       row->tid, row->ts_ns)
			    : OPENDC_NONE;
}

/* Newer kernels number pages, older ones told their address. */
static bool page_of(const struct event_row *row, int64_t node, uint64_t *page,
		    int64_t *order)
{
	const struct cell *cell =
	    row->field[0].type == CELL_INTEGER ? &row->field[0] : &row->field[1];

	*order = cell_integer(&row->field[2], 0);
	if (cell->type != CELL_INTEGER || *order < 0 || *order > ORDER_MOST)
		return false;
	*page = (uint64_t)node << NODE_SHIFT ^
		((uint64_t)cell->integer & ((UINT64_C(1) << NODE_SHIFT) - 1));
	return true;
}

static void take_free(struct pages *pages, const struct event_row *row, int64_t node)
{
	uint64_t page;
	int64_t order, owner;

	if (!page_of(row, node, &page, &order) ||
	    !intmap_take(&pages->owner, page, &owner))
		return;
	pages->charger->tasks->task[owner >> 8].pages -= PAGE_BYTES << (owner & 255);
}

static void take_alloc(struct pages *pages, const struct event_row *row, int64_t node)
{
	int64_t index =
	    opendc_task_at(pages->charger, process_of(pages, row, node), row->ts_ns);
	struct opendc_task *task;
	uint64_t page;
	int64_t order;

	take_free(pages, row, node); /* its free was lost */
	if (index < 0 || !page_of(row, node, &page, &order))
		return;
	intmap_put(&pages->owner, page, index << 8 | order);
	task = &pages->charger->tasks->task[index];
	task->pages += PAGE_BYTES << order;
	if (task->pages > task->pages_peak)
		task->pages_peak = task->pages;
}

static int member_of(const struct cell *cell)
{
	static const char *const names[] = {"MM_FILEPAGES", "MM_ANONPAGES", "MM_SWAPENTS",
					    "MM_SHMEMPAGES"};

	if (cell->type == CELL_INTEGER)
		return cell->integer >= 0 && cell->integer < RSS_MEMBERS
			   ? (int)cell->integer
			   : -1;
	for (int i = 0; cell->type == CELL_TEXT && i < RSS_MEMBERS; i++)
		if (strlen(names[i]) == cell->size &&
		    memcmp(names[i], cell->bytes, cell->size) == 0)
			return i;
	return -1;
}

/* Only where it is of the process that runs: others are not named. */
static void take_rss(struct pages *pages, const struct event_row *row, int64_t node)
{
	int64_t process = process_of(pages, row, node), at, sum = 0;
	int member = member_of(&row->field[1]);

	if (process < 0 || member < 0 || cell_integer(&row->field[0], 1) != 1 ||
	    row->field[2].type != CELL_INTEGER || row->field[2].integer < 0 ||
	    row->field[2].integer > INT64_MAX / RSS_MEMBERS)
		return;
	if (!intmap_get(&pages->of_process, (uint64_t)process, &at)) {
		at = (int64_t)pages->residents;
		intmap_put(&pages->of_process, (uint64_t)process, at);
		pages->resident = mem_grow(pages->resident, pages->residents,
					   &pages->room, sizeof(*pages->resident));
		pages->resident[pages->residents++] = (struct resident){{0}};
	}
	pages->resident[at].bytes[member] = row->field[2].integer;
	for (int i = 0; i < RSS_MEMBERS; i++)
		sum += i == RSS_SWAP ? 0 : pages->resident[at].bytes[i];
	opendc_hold(pages->charger, process, row->ts_ns, sum);
}

static void take_row(struct pages *pages, const struct event_row *row)
{
	int64_t node = opendc_node_of(pages->charger->cluster, row->node);

	if (node < 0)
		return;
	switch (row->tag) {
	case TAG_ALLOC:
		take_alloc(pages, row, node);
		break;
	case TAG_FREE:
		take_free(pages, row, node);
		break;
	default:
		take_rss(pages, row, node);
	}
}

int opendc_hold_pages(struct opendc_charger *charger, struct error *error)
{
	static const struct events_wish wish[] = {
	    {"kmem_mm_page_alloc", {"pfn", "page", "order", NULL}, TAG_ALLOC},
	    {"mm_page_alloc", {"pfn", "page", "order", NULL}, TAG_ALLOC},
	    {"kmem_mm_page_free", {"pfn", "page", "order", NULL}, TAG_FREE},
	    {"mm_page_free", {"pfn", "page", "order", NULL}, TAG_FREE},
	    {"kmem_rss_stat", {"curr", "member", "size", NULL}, TAG_RSS},
	    {"rss_stat", {"curr", "member", "size", NULL}, TAG_RSS},
	};
	size_t wishes = sizeof(wish) / sizeof(*wish);
	struct pages pages = {.charger = charger};
	struct events *events = events_new(charger->export->timeline,
					   &charger->export->scope, wish, wishes, error);
	struct event_row row;
	bool recorded = false;
	int more = events ? 0 : -1;

	for (size_t i = 0; events && i < wishes; i++)
		recorded |= events_recorded(events, i);
	while (recorded && (more = events_next(events, &row, error)) > 0)
		take_row(&pages, &row);
	events_free(events);
	intmap_clear(&pages.owner);
	intmap_clear(&pages.of_process);
	free(pages.resident);
	return more;
}
