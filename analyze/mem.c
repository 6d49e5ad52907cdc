/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory: what nodes use and swap, what processes hold, who takes pages. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/keys.h"
#include "base/mem.h"
#include "timeline/events.h"

static const struct result_column node_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"memory_bytes", "MEMORY", UNIT_BYTES},
    {"used_mean_bytes", "USED", UNIT_BYTES},
    {"used_max_bytes", "MAX", UNIT_BYTES},
    {"used_max_percent", "MAX", UNIT_PERCENT},
    {"available_min_bytes", "AVAILABLE", UNIT_BYTES},
    {"swap_max_bytes", "SWAP MAX", UNIT_BYTES},
    {"swapped_in_bytes", "IN", UNIT_BYTES},
    {"swapped_out_bytes", "OUT", UNIT_BYTES},
    {"major_faults", "MAJOR FAULTS", UNIT_COUNT},
    {NULL, NULL, 0},
};

/* sar has kB of 1024 bytes, and pages, taken to be of 4 KiB, and rates over intervals. */
static const char node_sql[] =
    "WITH s AS (SELECT s.node, m.name, s.value, s.ts_ns, s.interval_ns / 1e9 AS seconds"
    " FROM metric AS m JOIN sample AS s ON s.metric = m.id"
    " WHERE m.name IN ('kbmemused', '%memused', 'kbavail', 'kbswpused', 'pswpin/s',"
    "  'pswpout/s', 'majflt/s') AND s.ts_ns BETWEEN ?1 AND ?2) "
    "SELECT n.id, n.name, n.mem_kib * 1024,"
    " avg(value) FILTER (WHERE s.name = 'kbmemused') * 1024,"
    " max(value) FILTER (WHERE s.name = 'kbmemused') * 1024,"
    " max(value) FILTER (WHERE s.name = '%memused'),"
    " min(value) FILTER (WHERE s.name = 'kbavail') * 1024,"
    " max(value) FILTER (WHERE s.name = 'kbswpused') * 1024,"
    " sum(value * seconds) FILTER (WHERE s.name = 'pswpin/s') * 4096,"
    " sum(value * seconds) FILTER (WHERE s.name = 'pswpout/s') * 4096,"
    " round(sum(value * seconds) FILTER (WHERE s.name = 'majflt/s')) "
    "FROM node AS n JOIN s ON s.node = n.id GROUP BY n.id ORDER BY n.id";

static const struct result_column process_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"process", "PROCESS", UNIT_TEXT},
    {"first_bytes", "FIRST", UNIT_BYTES},
    {"max_bytes", "MAX", UNIT_BYTES},
    {"last_bytes", "LAST", UNIT_BYTES},
    {"samples", "SAMPLES", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const char process_sql[] =
    "SELECT DISTINCT s.node, n.name, i.name,"
    " first_value(s.value) OVER w * 1024, max(s.value) OVER w * 1024,"
    " last_value(s.value) OVER w * 1024, count(*) OVER w "
    "FROM metric AS m JOIN sample AS s ON s.metric = m.id "
    "JOIN metric_item AS i ON i.id = s.item JOIN node AS n ON n.id = s.node "
    "WHERE m.activity = 'process' AND m.name = 'rss' AND s.ts_ns BETWEEN ?1 AND ?2 "
    "WINDOW w AS (PARTITION BY s.node, s.item ORDER BY s.ts_ns"
    " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)";

static const struct result_column page_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"process", "PROCESS", UNIT_TEXT},
    {"tid", "TID", UNIT_ID},
    {"allocations", "ALLOCATIONS", UNIT_COUNT},
    {"allocated_bytes", "BYTES", UNIT_BYTES},
    {"frees", "FREES", UNIT_COUNT},
    {"freed_bytes", "BYTES", UNIT_BYTES},
    {"net_bytes", "NET", UNIT_BYTES},
    {NULL, NULL, 0},
};

enum { ALLOC, FREE, PAGE_BYTES = 4096, MOST_ORDER = 30 };

static const struct events_wish wishes[] = {
    {"kmem_mm_page_alloc", {"order"}, ALLOC},
    {"kmem_mm_page_free", {"order"}, FREE},
    {"mm_page_alloc", {"order"}, ALLOC},
    {"mm_page_free", {"order"}, FREE},
};

enum { WISHES = sizeof(wishes) / sizeof(*wishes) };

struct taker {
	int64_t node, tid;
	nsec_t last_ns;
	int64_t count[2], pages[2]; /* by ALLOC, FREE */
};

struct pages {
	struct keys keys;
	struct taker *item;
	size_t room;
};

struct filling {
	struct question *question;
	struct result_table *table;
};

static int take(void *context, const struct cell *row)
{
	struct filling *filling = context;

	if (scope_has_node(&filling->question->scope, row[0].integer))
		result_add(filling->table, row + 1);
	return 0;
}

static int fill(struct question *question, struct result_table *table, const char *sql,
		struct error *error)
{
	const struct cell span[] = {cell_of_integer(question->scope.begin_ns),
				    cell_of_integer(question->scope.end_ns)};
	struct filling filling = {question, table};

	return question_ask(question, sql, span, take, &filling, error);
}

static void add_pages(struct pages *pages, const struct event_row *row)
{
	size_t before = pages->keys.count, at;
	int64_t order = row->field[0].type == CELL_INTEGER ? row->field[0].integer : 0;
	struct taker *taker;

	keys_begin(&pages->keys);
	keys_integer(&pages->keys, row->node);
	keys_integer(&pages->keys, row->tid);
	at = keys_find(&pages->keys);
	if (at == before) {
		pages->item =
		    mem_grow(pages->item, at, &pages->room, sizeof(*pages->item));
		pages->item[at] = (struct taker){.node = row->node, .tid = row->tid};
	}
	taker = &pages->item[at];
	taker->last_ns = row->ts_ns;
	taker->count[row->tag]++;
	if (order >= 0 && order <= MOST_ORDER)
		taker->pages[row->tag] += (int64_t)1 << order;
}

static void print_pages(const struct pages *pages, struct question *question,
			struct result_table *table)
{
	for (size_t i = 0; i < pages->keys.count; i++) {
		const struct taker *taker = &pages->item[i];
		const struct thread_facts *facts =
		    question_thread(question, taker->node, taker->tid, taker->last_ns);

		if (!question_has_thread(question, taker->node, taker->tid, NULL,
					 taker->last_ns))
			continue;
		result_add(table, (struct cell[]){
				      cell_of_text(question_node(question, taker->node)),
				      cell_of_text(facts ? facts->comm : ""),
				      cell_of_known(taker->tid, -1),
				      cell_of_integer(taker->count[ALLOC]),
				      cell_of_integer(taker->pages[ALLOC] * PAGE_BYTES),
				      cell_of_integer(taker->count[FREE]),
				      cell_of_integer(taker->pages[FREE] * PAGE_BYTES),
				      cell_of_integer(
					  (taker->pages[ALLOC] - taker->pages[FREE]) *
					  PAGE_BYTES)});
	}
}

static int read_pages(struct question *question, struct pages *pages, bool *recorded,
		      struct error *error)
{
	struct events *events =
	    events_new(question->reader, &question->scope, wishes, WISHES, error);
	struct event_row row;
	uint64_t count = 0;
	int more;

	if (!events)
		return -1;
	*recorded = events_recorded(events, 0) || events_recorded(events, 2);
	while ((more = events_next(events, &row, error)) > 0) {
		if (question_has_cpu(question, row.cpu))
			add_pages(pages, &row);
		if (++count % 4096 == 0)
			question_share(question, events_share(events));
	}
	events_free(events);
	return more;
}

static int run_mem(struct question *question, struct result *result, struct error *error)
{
	struct result_table *nodes = result_table_new(
	    result, "nodes", "Memory by node, as sar has it", node_columns);
	struct result_table *processes = result_table_new(
	    result, "processes", "Resident memory by process", process_columns);
	struct result_table *takers =
	    result_table_new(result, "pages", "Pages by thread", page_columns);
	struct pages pages = {0};
	bool recorded = false;
	int status = -1;

	result_table_sort(processes, "-max_bytes,node,process");
	result_table_limit(processes, 10);
	result_table_sort(takers, "-allocated_bytes,-allocations,node,tid");
	result_table_limit(takers, 10);
	if (!fill(question, nodes, node_sql, error) &&
	    !fill(question, processes, process_sql, error) &&
	    !read_pages(question, &pages, &recorded, error)) {
		print_pages(&pages, question, takers);
		status = 0;
	}
	if (!nodes->rows)
		result_note(result, "memory of nodes: not recorded (collect with sar)");
	if (!processes->rows)
		result_note(result,
			    "memory of processes: not recorded (sample proc.csv)");
	if (!recorded)
		result_missing(result, "pages", "kmem_mm_page_alloc, kmem_mm_page_free");
	keys_clear(&pages.keys);
	free(pages.item);
	return status;
}

const struct analysis analysis_mem = {
    .name = "mem",
    .summary = "memory and swap of nodes, resident memory, pages",
    .description =
	"nodes: sar's memory in use, least available, swap, pages swapped in and out\n"
	"(of 4 KiB) and major faults. processes: resident memory as sampled. pages:\n"
	"pages that each thread took and gave back, by kmem_mm_page_alloc and\n"
	"kmem_mm_page_free; one frees what another took.",
    .heeds = HEEDS_CPU | HEEDS_THREAD,
    .run = run_mem,
};
