/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/directory.h"
#include "export/tracekit/files.h"

/* Files that are written at once, of the invocations of one node. */
struct writing {
	const struct tracekit_node *node;
	FILE *invocations, *placements;
	struct change { /* of the number in flight */
		nsec_t ts_ns;
		int by;
	} * change;
	size_t changes, room;
};

/* Members of the record that have a place of their own, if it has them. */
static const char *const own[] = {"trace_id",  "span_id",     "parent_id",
				  "module_id", "instance_id", "method",
				  "path",      "bytes_in",    "bytes_out"};

static void set_time(json_t *record, const char *name, const struct cell *cell)
{
	json_object_set_new(record, name,
			    cell->type == CELL_INTEGER
				? json_integer(tracekit_ms(cell->integer))
				: json_null());
}

/* A span of milliseconds between two times; nothing where one is not known. */
static void set_span(json_t *record, const char *name, const struct cell *begin,
		     const struct cell *end)
{
	if (begin->type == CELL_INTEGER && end->type == CELL_INTEGER)
		json_object_set_new(record, name,
				    json_integer(tracekit_ms(end->integer) -
						 tracekit_ms(begin->integer)));
}

static const struct cell *known(const struct cell *cell, const struct cell *otherwise)
{
	return cell->type == CELL_INTEGER ? cell : otherwise;
}

static void set_missing(json_t *record, const char *name, json_t *value)
{
	if (json_is_null(json_object_get(record, name)))
		json_object_set_new(record, name, value);
	else
		json_decref(value);
}

/* What the record of the task said by these names; null where it said nothing. */
static void set_own(json_t *record, const json_t *data)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		json_t *value = data ? json_object_get(data, own[i]) : NULL;

		json_object_set_new(record, own[i],
				    value ? json_incref(value) : json_null());
	}
}

/* id, pid, name, enqueue_ns, begin_ns, end_ns, status, data */
static json_t *make_record(const struct writing *writing, const struct cell *row)
{
	struct error ignored = ERROR_INIT;
	json_t *data = row[7].type == CELL_TEXT
			   ? json_parse_object(row[7].bytes, row[7].size, &ignored)
			   : NULL;
	const struct cell *enqueue = known(&row[3], &row[4]),
			  *start = known(&row[4], &row[3]);
	json_t *record = json_object(), *bytes, *status;
	char text[40];

	error_clear(&ignored);
	set_own(record, data);
	snprintf(text, sizeof(text), "invocation-%lld", (long long)row[0].integer);
	set_missing(record, "trace_id", json_string(text));
	set_missing(record, "span_id", json_string(text));
	set_missing(record, "module_id", tracekit_json(&row[2]));
	if (row[1].type == CELL_INTEGER) {
		snprintf(text, sizeof(text), "pid-%lld", (long long)row[1].integer);
		set_missing(record, "instance_id", json_string(text));
	}
	bytes = data ? json_object_get(data, "bytes") : NULL;
	if (bytes)
		set_missing(record, "bytes_out", json_incref(bytes));
	set_time(record, "ts_enqueue", enqueue);
	set_time(record, "ts_start", start);
	set_time(record, "ts_end", &row[5]);
	set_span(record, "queue_time_ms", enqueue, start);
	set_span(record, "service_time_ms", start, &row[5]);
	set_span(record, "rt_ms", enqueue, &row[5]);
	json_object_set_new(record, "node", json_string(writing->node->node->name));
	json_object_set_new(record, "stage", json_string(writing->node->stage));
	json_object_set_new(record, "pid", tracekit_json(&row[1]));
	status = data ? json_object_get(data, "status") : NULL;
	json_object_set_new(record, "status",
			    row[6].type == CELL_NULL && status ? json_incref(status)
							       : tracekit_json(&row[6]));
	json_decref(data);
	return record;
}

static void put_placement(const struct writing *writing, const json_t *record,
			  nsec_t ts_ns, const char *event)
{
	json_t *app = json_object_get(record, "app_id");

	tracekit_line(writing->placements,
		      json_pack("{s:I, s:O, s:O, s:O, s:s, s:s, s:s}", "ts",
				(json_int_t)tracekit_ms(ts_ns), "app_id",
				app ? app : json_object_get(record, "module_id"),
				"module_id", json_object_get(record, "module_id"),
				"instance_id", json_object_get(record, "instance_id"),
				"node_id", writing->node->node->name, "event", event,
				"stage", writing->node->stage));
}

static void note_change(struct writing *writing, nsec_t ts_ns, int by)
{
	writing->change = mem_grow(writing->change, writing->changes, &writing->room,
				   sizeof(*writing->change));
	writing->change[writing->changes++] = (struct change){ts_ns, by};
}

static int take_invocation(void *context, const struct cell *row, struct error *error)
{
	struct writing *writing = context;
	json_t *record = make_record(writing, row);
	const struct cell *enqueue = known(&row[3], &row[4]);

	(void)error;
	if (row[4].type == CELL_INTEGER)
		put_placement(writing, record, row[4].integer, "start");
	if (row[5].type == CELL_INTEGER)
		put_placement(writing, record, row[5].integer, "stop");
	if (enqueue->type == CELL_INTEGER) {
		note_change(writing, enqueue->integer, 1);
		if (row[5].type == CELL_INTEGER)
			note_change(writing, row[5].integer, -1);
	}
	tracekit_line(writing->invocations, record);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	if (left->ts_ns != right->ts_ns)
		return left->ts_ns < right->ts_ns ? -1 : 1;
	return left->by - right->by;
}

/* Of a longer time without a change only the begin is told, as a stamp may be of 2068. */
#define QUIET_NS (3600 * NSEC_PER_SEC)

/* How many tasks wait or run, every second from the first to the last change. */
static int write_stats(struct writing *writing, struct error *error)
{
	FILE *file = tracekit_create(writing->node, "cctf/system_stats.jsonl", error);
	int64_t in_flight = 0;
	size_t at = 0;
	nsec_t now;

	if (!file)
		return -1;
	if (writing->changes)
		qsort(writing->change, writing->changes, sizeof(*writing->change),
		      by_time);
	now = writing->changes ? writing->change[0].ts_ns : 0;
	while (at < writing->changes) {
		while (at < writing->changes && writing->change[at].ts_ns <= now)
			in_flight += writing->change[at++].by;
		tracekit_line(file, json_pack("{s:I, s:s, s:s, s:s, s:I, s:s}", "ts_ms",
					      (json_int_t)tracekit_ms(now), "node",
					      writing->node->node->name, "stage",
					      writing->node->stage, "metric", "in_flight",
					      "value", (json_int_t)in_flight,
					      "instance_id", writing->node->node->name));
		now = nsec_add(now, NSEC_PER_SEC);
		if (at < writing->changes &&
		    nsec_sub(writing->change[at].ts_ns, now) > QUIET_NS)
			now = nsec_add(now, nsec_sub(writing->change[at].ts_ns, now) /
						NSEC_PER_SEC * NSEC_PER_SEC);
	}
	return export_close(file, "cctf/system_stats.jsonl", error);
}

static int close_both(struct writing *writing, int status, struct error *error)
{
	if (writing->invocations)
		status |=
		    export_close(writing->invocations, "cctf/invocations.jsonl", error);
	if (writing->placements)
		status |= export_close(writing->placements, "cctf/placement_events.jsonl",
				       error);
	return status ? -1 : 0;
}

int tracekit_write_invocations(const struct tracekit_node *node, struct error *error)
{
	static const char sql[] =
	    "SELECT id, pid, name, enqueue_ns, begin_ns, end_ns, status, data "
	    "FROM invocation WHERE node = ?1 AND coalesce(end_ns, begin_ns, ?3) >= ?2 "
	    "AND coalesce(enqueue_ns, begin_ns, ?2) <= ?3 "
	    "ORDER BY coalesce(enqueue_ns, begin_ns), id";
	struct writing writing = {.node = node};
	int status = -1;

	writing.invocations = tracekit_create(node, "cctf/invocations.jsonl", error);
	if (writing.invocations)
		writing.placements =
		    tracekit_create(node, "cctf/placement_events.jsonl", error);
	if (writing.placements)
		status = tracekit_each(node, sql, take_invocation, &writing, error);
	if (!status)
		tracekit_note_empty(node, writing.invocations,
				    "no tasks (invocations.jsonl): invocations, "
				    "placement_events and system_stats are empty");
	status = close_both(&writing, status, error);
	if (!status)
		status = write_stats(&writing, error);
	free(writing.change);
	return status;
}
