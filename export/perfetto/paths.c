/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/paths.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/perfetto/tracks.h"
#include "timeline/path.h"

enum value { STATE, NODE, THREAD, CPU, OTHER, MESSAGE, VALUES };

struct writing {
	struct perfetto *perfetto;
	struct history *history;
	struct node_request *request; /* the slowest first */
	size_t requests, capacity;
	struct perfetto_name name[VALUES];
};

static const char *node_name(const struct perfetto *perfetto, int64_t node)
{
	const struct scope_node *found = scope_find(&perfetto->export->scope, node);

	return found ? found->name : "unknown";
}

/* The cell of a thread's name; NULL if there is no thread. */
static struct cell thread_cell(struct perfetto *perfetto,
			       const struct path_segment *segment, int64_t tid)
{
	return tid > 0 ? cell_of_text(perfetto_thread_name(perfetto, segment->node, tid,
							   segment->begin_ns))
		       : cell_of_null();
}

static int write_segment(struct writing *writing, const struct path_segment *segment,
			 const struct perfetto_slot *slot, struct error *error)
{
	struct perfetto *perfetto = writing->perfetto;
	const struct scope *scope = &perfetto->export->scope;
	const char *state = path_state_name(segment->state);
	const char *node = node_name(perfetto, segment->node);
	const struct cell thread = thread_cell(perfetto, segment, segment->tid);
	const struct cell value[VALUES] = {
	    [STATE] = cell_of_text(state),
	    [NODE] = cell_of_text(node),
	    [THREAD] = thread,
	    [CPU] = cell_of_known(segment->cpu, -1),
	    [OTHER] = thread_cell(perfetto, segment, segment->other_tid),
	    [MESSAGE] = cell_of_known(segment->message, 0),
	};
	AUTOFREE char *name =
	    segment->from_node >= 0
		? mem_printf("%s: %s to %s", state,
			     node_name(perfetto, segment->from_node), node)
	    : thread.type == CELL_TEXT
		? mem_printf("%s: %s of %s", state, thread.bytes, node)
		: mem_printf("%s: %s", state, node);
	struct perfetto_event event = {
	    .kind = PERFETTO_SLICE,
	    .track = perfetto_track(perfetto, slot),
	    .begin_ns =
		segment->begin_ns > scope->begin_ns ? segment->begin_ns : scope->begin_ns,
	    .end_ns = segment->end_ns < scope->end_ns ? segment->end_ns : scope->end_ns,
	    .category = "path",
	    .name = name,
	};

	if (event.begin_ns >= event.end_ns)
		return 0;
	for (size_t i = 0; i < VALUES; i++)
		perfetto_add(&event, &writing->name[i], &value[i]);
	return perfetto_write(perfetto, &event, error);
}

static int write_path(struct writing *writing, const struct node_request *request,
		      int rank, struct error *error)
{
	struct perfetto *perfetto = writing->perfetto;
	AUTOFREE char *label =
	    mem_printf("%d: path of request %" PRId64 " to %s", rank, request->id,
		       node_name(perfetto, request->server));
	const struct perfetto_slot slot = {.kind = ROW_PATH,
					   .node = request->start.node,
					   .of = request->id,
					   .name = label};
	struct path path;
	int status = path_walk(&path, writing->history, &request->start);

	for (size_t i = 0; i < path.count && !status; i++)
		status = write_segment(writing, &path.segment[i], &slot, error);
	path_clear(&path);
	return status;
}

static int add_request(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;

	(void)error;
	*MEM_NEXT(writing->request, writing->requests, writing->capacity) =
	    node_request_of_row(row);
	return 0;
}

int perfetto_add_paths(struct perfetto *perfetto, const char *sql,
		       const struct cell *value, struct error *error)
{
	struct timeline_reader *timeline = perfetto->export->timeline;
	struct writing writing = {.perfetto = perfetto,
				  .name = {[STATE] = {.text = "state"},
					   [NODE] = {.text = "node"},
					   [THREAD] = {.text = "thread"},
					   [CPU] = {.text = "cpu"},
					   [OTHER] = {.text = "other thread"},
					   [MESSAGE] = {.text = "message"}}};
	AUTOFREE char *requests =
	    mem_printf(NODE_REQUEST "WHERE r.id IN (%s\n) ORDER BY "
				    "r.end_ns - r.begin_ns DESC, r.begin_ns, r.id",
		       sql);
	int status = query_rows(timeline, requests, value, add_request, &writing, error);

	if (!status && writing.requests) {
		writing.history = history_new(timeline, error);
		status = writing.history ? 0 : -1;
	}
	for (size_t i = 0; i < writing.requests && !status; i++)
		status = write_path(&writing, &writing.request[i], (int)i + 1, error);
	history_free(writing.history);
	free(writing.request);
	return status;
}
