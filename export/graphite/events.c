/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "base/intmap.h"
#include "base/mem.h"
#include "export/graphite/private.h"

/*
 * How busy each processor was, by sched_switch: exactly, in intervals that begin at whole
 * multiples since the epoch and bear the time of their end. Spans of a processor follow
 * each other, so that one interval at a time is enough; those of the node are sums of its
 * processors', and are kept until the end: some 60 bytes an interval that is known.
 */
/* Of a time without a switch that is longer only its ends are told: one stamp of a far
 * year makes it. */
#define LONGEST_NS (86400 * NSEC_PER_SEC)

struct busy_cpu {
	int64_t node, cpu;
	int64_t interval;         /* at hand */
	nsec_t busy_ns, known_ns; /* in it */
	bool any;
	char *path;
};

struct busy_node {
	struct busy_sum {
		int64_t interval;
		nsec_t busy_ns, known_ns;
	} * sum;
	size_t sums, room;
	struct intmap at; /* by interval */
};

struct busy {
	struct graphite_run *run;
	struct error *error;
	nsec_t width_ns;
	struct busy_cpu *cpu;
	size_t cpus, room;
	struct busy_node *node; /* one a node of the scope */
};

static struct busy_cpu *cpu_of(struct busy *busy, int64_t node, int64_t cpu)
{
	for (size_t i = 0; i < busy->cpus; i++)
		if (busy->cpu[i].node == node && busy->cpu[i].cpu == cpu)
			return &busy->cpu[i];
	busy->cpu = mem_grow(busy->cpu, busy->cpus, &busy->room, sizeof(*busy->cpu));
	busy->cpu[busy->cpus] = (struct busy_cpu){
	    .node = node,
	    .cpu = cpu,
	    .path = mem_printf("%s.%s.events.cpu%" PRId64 ".percent_busy",
			       busy->run->wish->cluster, graphite_node(busy->run, node),
			       cpu)};
	return &busy->cpu[busy->cpus++];
}

static void add_to_node(struct busy *busy, const struct busy_cpu *cpu)
{
	const struct scope *scope = &busy->run->export->scope;
	struct busy_node *node = &busy->node[scope_find(scope, cpu->node) - scope->node];
	int64_t at;

	if (!intmap_get(&node->at, (uint64_t)cpu->interval, &at)) {
		node->sum =
		    mem_grow(node->sum, node->sums, &node->room, sizeof(*node->sum));
		at = (int64_t)node->sums++;
		node->sum[at] = (struct busy_sum){.interval = cpu->interval};
		intmap_put(&node->at, (uint64_t)cpu->interval, at);
	}
	node->sum[at].busy_ns += cpu->busy_ns;
	node->sum[at].known_ns += cpu->known_ns;
}

static int end_interval(struct busy *busy, struct busy_cpu *cpu)
{
	nsec_t end_ns = (cpu->interval + 1) * busy->width_ns;
	int status = 0;

	if (cpu->known_ns) {
		add_to_node(busy, cpu);
		status = graphite_give(busy->run, cpu->path, end_ns,
				       100 * (double)cpu->busy_ns / (double)cpu->known_ns,
				       busy->error);
	}
	cpu->busy_ns = cpu->known_ns = 0;
	return status;
}

static int take_span(void *context, const struct thread_span *span)
{
	struct busy *busy = context;
	struct busy_cpu *cpu;
	nsec_t at = span->begin_ns;

	if (span->state != ACTIVITY_RUNNING || span->cpu < 0 ||
	    !graphite_node(busy->run, span->node))
		return 0;
	cpu = cpu_of(busy, span->node, span->cpu);
	while (at < span->end_ns) {
		int64_t interval = at / busy->width_ns;
		nsec_t until = (interval + 1) * busy->width_ns;

		if (until > span->end_ns)
			until = span->end_ns;
		if (interval != cpu->interval && cpu->any && end_interval(busy, cpu))
			return -1;
		cpu->interval = interval;
		cpu->any = true;
		cpu->known_ns += until - at;
		if (span->tid != 0)
			cpu->busy_ns += until - at;
		at = until;
		if (nsec_sub(span->end_ns, at) > LONGEST_NS)
			at = span->end_ns / busy->width_ns * busy->width_ns;
	}
	return 0;
}

static int end_cpus(struct busy *busy)
{
	for (size_t i = 0; i < busy->cpus; i++)
		if (end_interval(busy, &busy->cpu[i]))
			return -1;
	return 0;
}

static int by_interval(const void *a, const void *b)
{
	const struct busy_sum *one = a, *other = b;

	return (one->interval > other->interval) - (one->interval < other->interval);
}

static void free_node(struct busy_node *node)
{
	free(node->sum);
	intmap_clear(&node->at);
}

static int give_nodes(struct busy *busy)
{
	const struct scope *scope = &busy->run->export->scope;
	int status = 0;

	for (size_t i = 0; i < scope->nodes; i++) {
		struct busy_node *node = &busy->node[i];
		char *path = mem_printf("%s.%s.events.all.percent_busy",
					busy->run->wish->cluster, busy->run->node[i]);

		if (node->sums)
			qsort(node->sum, node->sums, sizeof(*node->sum), by_interval);
		for (size_t k = 0; k < node->sums && !status; k++)
			if (node->sum[k].known_ns)
				status = graphite_give(
				    busy->run, path,
				    (node->sum[k].interval + 1) * busy->width_ns,
				    100 * (double)node->sum[k].busy_ns /
					(double)node->sum[k].known_ns,
				    busy->error);
		free(path);
	}
	return status;
}

static int walk_busy(struct graphite_run *run, struct error *error)
{
	const struct scope *scope = &run->export->scope;
	const struct activity_ops ops = {.thread = take_span};
	struct activity_recorded recorded;
	struct busy busy = {.run = run, .error = error};
	int status;

	if (activity_recorded(&recorded, run->export->timeline, error))
		return -1;
	if (!recorded.switches)
		return 0;
	busy.width_ns = run->wish->interval * NSEC_PER_SEC;
	busy.node = mem_zalloc((scope->nodes + 1) * sizeof(*busy.node));
	status = activity_walk(run->export->timeline, scope, &ops, &busy, error) ||
			 end_cpus(&busy) || give_nodes(&busy)
		     ? -1
		     : 0;
	for (size_t i = 0; i < busy.cpus; i++)
		free(busy.cpu[i].path);
	for (size_t i = 0; i < scope->nodes; i++)
		free_node(&busy.node[i]);
	free(busy.cpu);
	free(busy.node);
	return status;
}

/* src, dst, interval, count, bytes */
static int give_messages(struct graphite_run *run, const struct cell *row,
			 struct error *error)
{
	const char *source = graphite_node(run, row[0].integer);
	const char *target = graphite_node(run, row[1].integer);
	double seconds = run->wish->interval;
	nsec_t end_ns = (row[2].integer + 1) * run->wish->interval * NSEC_PER_SEC;
	char *path;
	int status;

	if (!source || !target)
		return 0;
	path = mem_printf("%s.%s.messages.to_%s.count_per_s", run->wish->cluster, source,
			  target);
	status =
	    graphite_give(run, path, end_ns, (double)row[3].integer / seconds, error);
	free(path);
	path = mem_printf("%s.%s.messages.to_%s.bytes_per_s", run->wish->cluster, source,
			  target);
	if (!status && row[4].type == CELL_INTEGER)
		status = graphite_give(run, path, end_ns,
				       (double)row[4].integer / seconds, error);
	free(path);
	return status;
}

static int walk_messages(struct graphite_run *run, struct error *error)
{
	const struct scope *scope = &run->export->scope;
	const struct cell value[3] = {
	    {.type = CELL_INTEGER, .integer = scope->begin_ns},
	    {.type = CELL_INTEGER, .integer = scope->end_ns},
	    {.type = CELL_INTEGER, .integer = run->wish->interval * NSEC_PER_SEC}};
	struct timeline_query *query = timeline_query_new(
	    run->export->timeline,
	    "SELECT src_node, dst_node, send_ns / ?3 AS interval, count(*), sum(bytes) "
	    "FROM message WHERE send_ns BETWEEN ?1 AND ?2 "
	    "GROUP BY src_node, dst_node, interval ORDER BY src_node, dst_node, interval",
	    error);
	int more = -1;

	if (query && !timeline_query_ask(query, value, 3, error)) {
		while ((more = timeline_query_next(query, error)) > 0) {
			if (give_messages(run, timeline_query_row(query), error)) {
				more = -1;
				break;
			}
		}
	}
	timeline_query_free(query);
	return more;
}

int graphite_walk_events(struct graphite_run *run, struct error *error)
{
	if (graphite_wants(run, "events") && walk_busy(run, error))
		return -1;
	return graphite_wants(run, "messages") ? walk_messages(run, error) : 0;
}
