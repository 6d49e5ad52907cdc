/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"

static int64_t integer(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer
	       : cell->type == CELL_REAL  ? (int64_t)cell->real
					  : 0;
}

static double real(const struct cell *cell)
{
	return cell->type == CELL_REAL ? cell->real : (double)integer(cell);
}

static char *text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

static int read_nodes(struct scope *scope, struct timeline_reader *reader,
		      struct error *error)
{
	struct timeline_query *query = timeline_query_new(
	    reader, "SELECT id, name, cpus, cpu_mhz, mem_kib FROM node ORDER BY id",
	    error);
	size_t room = 0;
	int more = -1;

	if (!query || timeline_query_ask(query, NULL, 0, error))
		goto out;
	while ((more = timeline_query_next(query, error)) > 0) {
		const struct cell *row = timeline_query_row(query);

		scope->node =
		    mem_grow(scope->node, scope->nodes, &room, sizeof(*scope->node));
		scope->node[scope->nodes++] = (struct scope_node){
		    .id = integer(&row[0]),
		    .name = text(&row[1]),
		    .cpus = integer(&row[2]),
		    .cpu_mhz = real(&row[3]),
		    .mem_kib = integer(&row[4]),
		};
	}
out:
	timeline_query_free(query);
	return more;
}

/* All that has a time: events, and what was sampled where there are none. */
static nsec_t limited(struct scope *scope, nsec_t instant)
{
	nsec_t most = SCOPE_MOST_NS;
	nsec_t near = instant < -most ? -most : instant > most ? most : instant;

	scope->is_limited |= near != instant;
	return near;
}

static int read_span(struct scope *scope, struct timeline_reader *reader,
		     struct error *error)
{
	struct timeline_query *query = timeline_query_new(
	    reader,
	    "SELECT min(least), max(most) FROM ("
	    "SELECT (SELECT min(ts_ns) FROM event) AS least,"
	    " (SELECT max(ts_ns) FROM event) AS most "
	    "UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample "
	    /* Messages are in the order of send_ns. What came is before its event, or
	     * up to 1 us behind it. */
	    "UNION ALL SELECT (SELECT send_ns FROM message ORDER BY id LIMIT 1),"
	    " (SELECT max(recv_ns) FROM message WHERE recv_event IS NULL) "
	    "UNION ALL SELECT NULL, (SELECT max(recv_ns) FROM event AS e"
	    " CROSS JOIN message AS m ON m.recv_event = e.id"
	    " WHERE e.ts_ns >= (SELECT max(ts_ns) FROM event) - 1000) "
	    "UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)), max(end_ns) "
	    "FROM invocation)",
	    error);
	int status = -1;

	if (query && !timeline_query_ask(query, NULL, 0, error) &&
	    timeline_query_next(query, error) > 0) {
		const struct cell *row = timeline_query_row(query);

		scope->origin_ns = limited(scope, integer(&row[0]));
		scope->last_ns = limited(scope, integer(&row[1]));
		status = 0;
	}
	timeline_query_free(query);
	return status;
}

/* "no node 'noed1', did you mean 'node1'?" */
static int no_such_node(const struct scope *scope, const char *glob, struct error *error)
{
	const char **names = mem_zalloc((scope->nodes + 1) * sizeof(*names));
	const char *near;

	for (size_t i = 0; i < scope->nodes; i++)
		names[i] = scope->node[i].name;
	near = near_find(glob, names, scope->nodes);
	if (near)
		error_misuse(error, "--node: no node '%s', did you mean '%s'?", glob,
			     near);
	else
		error_misuse(error, "--node: no node '%s', want one of %zu such as '%s'",
			     glob, scope->nodes, scope->nodes ? names[0] : "");
	free(names);
	return -1;
}

static int choose_nodes(struct scope *scope, const struct text_list *globs,
			struct error *error)
{
	scope->all_nodes = !globs || !globs->count;
	for (size_t i = 0; i < scope->nodes; i++)
		scope->node[i].chosen = scope->all_nodes;
	for (size_t g = 0; globs && g < globs->count; g++) {
		bool found = false;

		for (size_t i = 0; i < scope->nodes; i++)
			if (fnmatch(globs->item[g], scope->node[i].name, 0) == 0)
				found = scope->node[i].chosen = true;
		if (!found)
			return no_such_node(scope, globs->item[g], error);
	}
	return 0;
}

static int choose_time(struct scope *scope, const char *begin, const char *end,
		       struct error *error)
{
	char first[NSEC_TEXT], last[NSEC_TEXT];

	scope->begin_ns = scope->origin_ns;
	scope->end_ns = scope->last_ns;
	if (begin && instant_parse(begin, scope->origin_ns, &scope->begin_ns, error))
		return error_prefix(error, "--begin");
	if (end && instant_parse(end, scope->origin_ns, &scope->end_ns, error))
		return error_prefix(error, "--end");
	if (scope->begin_ns > scope->end_ns && begin && end)
		return error_misuse(error, "--begin is after --end");
	if (scope->begin_ns > scope->last_ns || scope->end_ns < scope->origin_ns)
		return error_misuse(error,
				    "nothing between --begin and --end: the timeline is "
				    "from %s to %s UTC",
				    nsec_format_utc(first, scope->origin_ns),
				    nsec_format_utc(last, scope->last_ns));
	if (scope->begin_ns < scope->origin_ns)
		scope->begin_ns = scope->origin_ns;
	if (scope->end_ns > scope->last_ns)
		scope->end_ns = scope->last_ns;
	scope->all_time =
	    scope->begin_ns == scope->origin_ns && scope->end_ns == scope->last_ns;
	return 0;
}

static int read_kind(struct scope *scope, struct timeline_reader *reader,
		     struct error *error)
{
	struct timeline_query *query = timeline_query_new(
	    reader, "SELECT 1 FROM meta WHERE key = 'spans' AND value = 'none'", error);
	int more = query && !timeline_query_ask(query, NULL, 0, error)
		       ? timeline_query_next(query, error)
		       : -1;

	scope->without_spans = more > 0;
	timeline_query_free(query);
	return more < 0 ? -1 : 0;
}

int scope_init(struct scope *scope, struct timeline_reader *reader, const char *begin,
	       const char *end, const struct text_list *nodes, struct error *error)
{
	*scope = (struct scope){0};
	if (read_nodes(scope, reader, error) || read_span(scope, reader, error) ||
	    recorded_read(&scope->recorded, reader, error) ||
	    read_kind(scope, reader, error) || choose_nodes(scope, nodes, error) ||
	    choose_time(scope, begin, end, error)) {
		scope_clear(scope);
		return -1;
	}
	return 0;
}

const struct scope_node *scope_find(const struct scope *scope, int64_t node)
{
	/* Ids are numbers from 1 on, without a gap, in what we write. */
	if (node >= 1 && (uint64_t)node <= scope->nodes &&
	    scope->node[node - 1].id == node)
		return &scope->node[node - 1];
	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].id == node)
			return &scope->node[i];
	return NULL;
}

bool scope_has_node(const struct scope *scope, int64_t node)
{
	const struct scope_node *found = scope_find(scope, node);

	return found && found->chosen;
}

void scope_clear(struct scope *scope)
{
	for (size_t i = 0; i < scope->nodes; i++)
		free(scope->node[i].name);
	free(scope->node);
	recorded_clear(&scope->recorded);
	*scope = (struct scope){0};
}
