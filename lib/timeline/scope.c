/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/number.h"
#include "timeline/reader.h"

static int add_node(void *context, const struct cell *row, struct error *error)
{
	struct scope *scope = context;
	size_t capacity = scope->nodes;

	(void)error;
	*MEM_NEXT(scope->node, scope->nodes, capacity) = (struct scope_node){
	    .id = cell_integer(&row[0], 0),
	    .name = cell_text(&row[1]),
	};
	return 0;
}

/* Clamp an instant to the range of timestamps, so that arithmetic cannot overflow. */
static nsec_t clamp_instant(struct scope *scope, nsec_t instant)
{
	nsec_t near = instant < NSEC_STAMP_LEAST  ? NSEC_STAMP_LEAST
		      : instant > NSEC_STAMP_MOST ? NSEC_STAMP_MOST
						  : instant;

	scope->is_limited |= near != instant;
	return near;
}

/* The first and the last time of events, samples and invocations. */
static const char span_sql[] =
    "SELECT min(least), max(most) FROM ("
    "SELECT (SELECT min(ts_ns) FROM event) AS least,"
    " (SELECT max(ts_ns) FROM event) AS most "
    "UNION ALL SELECT min(ts_ns), max(ts_ns) FROM sample "
    "UNION ALL SELECT min(coalesce(enqueue_ns, begin_ns)), max(end_ns) "
    "FROM invocation)";

/* The same of messages, which are in the order of send_ns. A receive is before its event,
 * or at most 1 us after it. It reads few of them, so it takes values of any type instead
 * of checking all; for a join, SQLite would read all to make a Bloom filter. */
static const char message_span_sql[] =
    "SELECT (SELECT send_ns FROM message ORDER BY id LIMIT 1), max(most) FROM ("
    "SELECT max(recv_ns) AS most FROM message"
    " WHERE recv_event IS NULL AND recv_ns < '' "
    "UNION ALL SELECT max((SELECT max(recv_ns) FROM message"
    " WHERE recv_event = e.id AND recv_ns < '')) FROM event AS e"
    " WHERE e.ts_ns >= (SELECT max(ts_ns) FROM event) - 1000)";

static int widen_span(void *context, const struct cell *row, struct error *error)
{
	struct scope *scope = context;
	const nsec_t least = cell_integer(&row[0], scope->origin_ns);
	const nsec_t most = cell_integer(&row[1], scope->last_ns);

	(void)error;
	scope->origin_ns = least < scope->origin_ns ? least : scope->origin_ns;
	scope->last_ns = most > scope->last_ns ? most : scope->last_ns;
	return 0;
}

/* Find the first and the last time of everything. Return 0, or -1 with error. */
static int find_span(struct scope *scope, struct timeline_reader *reader,
		     struct error *error)
{
	int status;

	scope->origin_ns = INT64_MAX;
	scope->last_ns = INT64_MIN;
	if (query_rows(reader, span_sql, NULL, widen_span, scope, error))
		return -1;
	timeline_reader_pause_checks(reader, true);
	status = query_rows(reader, message_span_sql, NULL, widen_span, scope, error);
	timeline_reader_pause_checks(reader, false);
	if (scope->origin_ns > scope->last_ns)
		scope->origin_ns = scope->last_ns = 0;
	scope->origin_ns = clamp_instant(scope, scope->origin_ns);
	scope->last_ns = clamp_instant(scope, scope->last_ns);
	return status;
}

static int no_such_node(const struct scope *scope, const char *glob, struct error *error)
{
	AUTOFREE const char **names = mem_zalloc((scope->nodes + 1) * sizeof(*names));

	for (size_t i = 0; i < scope->nodes; i++)
		names[i] = scope->node[i].name;
	return error_unknown_word(error, "--node: unknown node", glob, names,
				  scope->nodes, NULL);
}

static int select_nodes(struct scope *scope, const struct text_list *globs,
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

static int select_time(struct scope *scope, const char *begin, const char *end,
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

/* The spans of a node do not overlap, so their lengths can be added. */
static const char recorded_sql[] =
    "SELECT node, sum(max(0, min(end_ns, ?2) - max(begin_ns, ?1))) FROM recorded "
    "WHERE kind = 'kernel' AND cpu IS NULL GROUP BY node";

static int set_recorded(void *context, const struct cell *row, struct error *error)
{
	struct scope *scope = context;

	(void)error;
	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].id == row[0].integer)
			scope->node[i].recorded_ns = row[1].integer;
	scope->has_recorded = true;
	return 0;
}

int scope_init(struct scope *scope, struct timeline_reader *reader, const char *begin,
	       const char *end, const struct text_list *nodes, struct error *error)
{
	struct cell span[2];
	int64_t one;
	int none;

	*scope = (struct scope){0};
	none = query_integer(reader,
			     "SELECT 1 FROM meta WHERE key = 'spans' AND value = 'none'",
			     NULL, &one, error);
	scope->without_spans = none > 0;
	if (none < 0 ||
	    query_rows(reader, "SELECT id, name FROM node ORDER BY id", NULL, add_node,
		       scope, error) ||
	    find_span(scope, reader, error) || select_nodes(scope, nodes, error) ||
	    select_time(scope, begin, end, error))
		goto failed;
	span[0] = cell_of_integer(scope->begin_ns);
	span[1] = cell_of_integer(scope->end_ns);
	if (!query_rows(reader, recorded_sql, span, set_recorded, scope, error))
		return 0;
failed:
	scope_clear(scope);
	return -1;
}

char *scope_nodes(const struct scope *scope)
{
	struct bytes list = {0};

	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen)
			bytes_print(&list, "%s%" PRId64, list.size ? "," : "[",
				    scope->node[i].id);
	bytes_add_text(&list, list.size ? "]" : "[]");
	bytes_add_byte(&list, 0);
	return (char *)list.data;
}

int scope_event_ids(const struct scope *scope, struct timeline_reader *reader,
		    int64_t id[2], struct error *error)
{
	const struct cell begin = cell_of_integer(scope->begin_ns);
	const struct cell end = cell_of_integer(scope->end_ns);

	/* Ids ascend with time. */
	id[0] = INT64_MAX;
	id[1] = INT64_MIN;
	return query_integer(
		   reader,
		   "SELECT id FROM event WHERE ts_ns >= ? ORDER BY ts_ns, id LIMIT 1",
		   &begin, &id[0], error) < 0 ||
		       query_integer(reader,
				     "SELECT id FROM event WHERE ts_ns <= ? "
				     "ORDER BY ts_ns DESC, id DESC LIMIT 1",
				     &end, &id[1], error) < 0
		   ? -1
		   : 0;
}

/* Set `id` so that messages from it on were sent at `at_ns` or later, and those before it
 * earlier: ids ascend with time. Return 0, or -1 with error. */
static int find_message(struct timeline_reader *reader, nsec_t at_ns, int64_t *id,
			struct error *error)
{
	int64_t low = 0, high = 0, sent_ns = 0, next = 0;

	if (query_integer(reader, "SELECT min(id) FROM message", NULL, &low, error) < 0 ||
	    query_integer(reader, "SELECT max(id) + 1 FROM message", NULL, &high, error) <
		0)
		return -1;
	while (low < high) {
		const struct cell middle = cell_of_integer(low + (high - low) / 2);
		int found = query_integer(reader,
					  "SELECT id FROM message WHERE id >= ? AND "
					  "send_ns IS NOT NULL ORDER BY id LIMIT 1",
					  &middle, &next, error);
		const struct cell key = cell_of_integer(next);

		if (found < 0 ||
		    query_integer(reader, "SELECT send_ns FROM message WHERE id = ?",
				  &key, &sent_ns, error) < 0)
			return -1;
		if (found && sent_ns < at_ns)
			low = next + 1;
		else
			high = middle.integer;
	}
	*id = low;
	return 0;
}

int scope_message_ids(const struct scope *scope, struct timeline_reader *reader,
		      int64_t id[2], struct error *error)
{
	int status;

	id[0] = INT64_MIN;
	id[1] = INT64_MAX;
	if (scope->all_time)
		return 0;
	timeline_reader_pause_checks(reader, true);
	status = find_message(reader, scope->begin_ns, &id[0], error) ||
		 find_message(reader, nsec_add(scope->end_ns, 1), &id[1], error);
	timeline_reader_pause_checks(reader, false);
	id[1]--;
	return status ? -1 : 0;
}

bool scope_is_window(const struct scope *scope)
{
	return nsec_sub(scope->end_ns, scope->begin_ns) <
	       nsec_sub(scope->last_ns, scope->origin_ns) / 2;
}

const struct scope_node *scope_find(const struct scope *scope, int64_t node)
{
	/* ctmerge numbers nodes from 1 without gaps. */
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
	*scope = (struct scope){0};
}
