/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that a scheduler recorded: slices from begin to end, beside one another. */
#include <stdlib.h>

#include "base/mem.h"
#include "export/perfetto/perfetto.h"

enum column { ID, NODE, PID, NAME, ENQUEUE, BEGIN, END, STATUS };

static const char tasks_sql[] =
    "SELECT id, node, pid, name, enqueue_ns, begin_ns, end_ns, status FROM invocation "
    "WHERE begin_ns <= ?2 AND (end_ns >= ?1 OR end_ns IS NULL) "
    "ORDER BY min(coalesce(end_ns, ?2), ?2), begin_ns, id";

static void add_cell(struct perfetto_event *event, const char *name,
		     const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		perfetto_add_integer(event, name, cell->integer);
}

static int add_task(const struct perfetto *perfetto, const struct cell *row)
{
	const struct scope *scope = perfetto->scope;
	char *name = row[NAME].type == CELL_TEXT && row[NAME].size
			 ? mem_strndup(row[NAME].bytes, row[NAME].size)
			 : mem_strdup("task");
	struct perfetto_event event = {.category = "task",
				       .name = name,
				       .begin_ns = row[BEGIN].integer,
				       .end_ns = scope->end_ns};
	int status;

	if (row[END].type == CELL_INTEGER && row[END].integer < scope->end_ns)
		event.end_ns = row[END].integer;
	else if (row[END].type != CELL_INTEGER || row[END].integer > scope->end_ns)
		perfetto_add_text(&event, "cut", "end");
	if (event.begin_ns < scope->begin_ns) {
		event.begin_ns = scope->begin_ns;
		perfetto_add_text(&event, "begins", "before this export's time");
	}
	if (event.end_ns < event.begin_ns)
		event.end_ns = event.begin_ns;
	perfetto_add_integer(&event, "invocation", row[ID].integer);
	add_cell(&event, "pid", &row[PID]);
	add_cell(&event, "status", &row[STATUS]);
	if (row[ENQUEUE].type == CELL_INTEGER)
		perfetto_add_integer(&event, "queued ns",
				     nsec_sub(row[BEGIN].integer, row[ENQUEUE].integer));
	event.place = *perfetto_rows_lane(perfetto->rows, ROW_TASKS, row[NODE].integer, 0,
					  event.begin_ns, event.end_ns);
	status = perfetto_write_event(perfetto->writer, &event);
	free(name);
	return status;
}

int perfetto_add_tasks(struct perfetto *perfetto, struct error *error)
{
	struct cell span[] = {
	    {.type = CELL_INTEGER, .integer = perfetto->scope->begin_ns},
	    {.type = CELL_INTEGER, .integer = perfetto->scope->end_ns},
	};
	struct timeline_query *query =
	    timeline_query_new(perfetto->timeline, tasks_sql, error);
	uint64_t homeless = 0;
	int more = -1;

	if (query && timeline_query_ask(query, span, 2, error) == 0)
		while ((more = timeline_query_next(query, error)) > 0) {
			const struct cell *row = timeline_query_row(query);

			if (row[NODE].type != CELL_INTEGER)
				homeless++;
			else if (scope_has_node(perfetto->scope, row[NODE].integer) &&
				 add_task(perfetto, row)) {
				more = -1;
				break;
			}
		}
	timeline_query_free(query);
	if (homeless)
		problem_add(perfetto->notes, "", "tasks", homeless,
			    "%llu tasks are of no node of the run, and left out",
			    (unsigned long long)homeless);
	return more;
}
