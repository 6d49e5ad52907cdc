/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control groups and sessions of processes, as far as anything recorded them: LTTng tells
 * the cgroup namespace, in its statedump and as a context; setsid makes a session; and
 * records of invocations may name both. Children are in the group of their parent.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/tasks.h"
#include "timeline/events.h"
#include "timeline/query.h"

enum { TAG_DUMP, TAG_CONTEXT, TAG_SETSID };

struct grouping {
	struct opendc_cluster *cluster;
	enum opendc_kind kind;
};

/* What came last counts; takes the label. */
static void set_label(struct grouping *grouping, int64_t process, char *label)
{
	char **place = process < 0 ? NULL : &grouping->cluster->process[process].label;

	if (place && label && *label) {
		free(*place);
		*place = label;
	} else {
		free(label);
	}
}

static void take_event(struct grouping *grouping, const struct event_row *row)
{
	int64_t node = opendc_node_of(grouping->cluster, row->node);
	int64_t tid =
	    row->tag == TAG_SETSID ? row->tid : cell_integer(&row->field[0], -1);
	int64_t value = cell_integer(&row->field[row->tag == TAG_SETSID ? 0 : 1], 0);
	int64_t process;

	if (node < 0 || tid <= 0 || value <= 0)
		return;
	process = opendc_process_of_thread(grouping->cluster, node, tid, row->ts_ns);
	if (process < 0)
		return;
	/* A context stands in every event: make a text of what changed only. */
	if (row->tag == TAG_CONTEXT && grouping->cluster->process[process].label)
		return;
	set_label(grouping, process, mem_printf("%lld", (long long)value));
}

static int read_events(struct grouping *grouping, struct export *export,
		       struct error *error)
{
	static const struct events_wish cgroups[] = {
	    {"lttng_statedump_process_cgroup_ns", {"tid", "ns_inum", NULL}, TAG_DUMP},
	    {"sched_switch", {"prev_tid", "context:cgroup_ns", NULL}, TAG_CONTEXT},
	};
	static const struct events_wish sessions[] = {
	    {"syscall_exit_setsid", {"ret", NULL}, TAG_SETSID},
	};
	bool is_cgroup = grouping->kind == OPENDC_CGROUPS;
	struct events *events =
	    events_new(export->timeline, &export->scope, is_cgroup ? cgroups : sessions,
		       is_cgroup ? 2 : 1, error);
	struct event_row row;
	int more = events ? 0 : -1;

	if (events &&
	    (!is_cgroup || events_recorded(events, 0) || events_has_field(events, 1, 1)))
		while ((more = events_next(events, &row, error)) > 0)
			take_event(grouping, &row);
	events_free(events);
	return more;
}

static int take_record(void *context, const struct cell *row, struct error *error)
{
	struct grouping *grouping = context;
	int64_t process;

	(void)error;
	if (intmap_get(&grouping->cluster->process_of_id,
		       (uint64_t)cell_integer(&row[0], -1), &process))
		set_label(grouping, process, cell_text(&row[1]));
	return 0;
}

/* From the nearest ancestor that has a group; there are no circles among ancestors. */
static bool inherit(struct opendc_cluster *cluster)
{
	bool any = false;

	for (size_t i = 0; i < cluster->processes; i++) {
		struct opendc_process *process = &cluster->process[i];
		int64_t at = process->parent;

		while (!process->label && at >= 0) {
			if (cluster->process[at].label)
				process->label = mem_strdup(cluster->process[at].label);
			at = cluster->process[at].parent;
		}
		any |= process->label != NULL;
	}
	return any;
}

int opendc_label_processes(struct opendc_cluster *cluster, enum opendc_kind kind,
			   struct export *export, struct error *error)
{
	struct grouping grouping = {cluster, kind};
	static const char cgroups[] =
	    "SELECT process, json_extract(data, '$.cgroup') || '' FROM invocation "
	    "WHERE json_valid(data) ORDER BY id";
	static const char sessions[] =
	    "SELECT process, coalesce(json_extract(data, '$.session'),"
	    " json_extract(data, '$.session_id')) || '' FROM invocation "
	    "WHERE json_valid(data) ORDER BY id";

	if (read_events(&grouping, export, error) ||
	    query_rows(export->timeline, kind == OPENDC_CGROUPS ? cgroups : sessions,
		       NULL, take_record, &grouping, error))
		return -1;
	if (inherit(cluster))
		return 0;
	return error_set(
	    error, "%s: no %s of any process was recorded, want %s", export->path,
	    opendc_kind_name(kind),
	    kind == OPENDC_CGROUPS
		? "the context cgroup_ns, LTTng's statedump, or `cgroup` of invocations"
		: "the system call setsid, or `session` of invocations");
}
