/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks that a scheduler recorded: slices from begin to end, beside one another. */
#include <stdlib.h>

#include "base/mem.h"
#include "export/perfetto/perfetto.h"
#include "timeline/query.h"

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
	char *name = row[NAME].type == CELL_TEXT && row[NAME].size ? cell_text(&row[NAME])
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

struct tasks {
	struct perfetto *perfetto;
	uint64_t homeless;
};

static int take_task(void *context, const struct cell *row, struct error *error)
{
	struct tasks *tasks = context;

	(void)error;
	if (row[NODE].type != CELL_INTEGER)
		tasks->homeless++;
	return row[NODE].type == CELL_INTEGER &&
		       scope_has_node(tasks->perfetto->scope, row[NODE].integer)
		   ? add_task(tasks->perfetto, row)
		   : 0;
}

int perfetto_add_tasks(struct perfetto *perfetto, struct error *error)
{
	struct tasks tasks = {perfetto, 0};
	int status = query_scope(perfetto->timeline, perfetto->scope, tasks_sql,
				 take_task, &tasks, error);

	if (tasks.homeless)
		problem_add(perfetto->notes, "", "tasks", tasks.homeless,
			    "%llu tasks are of no node of the run, and left out",
			    (unsigned long long)tasks.homeless);
	return status;
}
