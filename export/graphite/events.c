/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What events say: how busy each processor was, exactly, and messages; in intervals that
 * begin at whole multiples since the epoch and bear the time of their end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/graphite/private.h"
#include "export/query.h"

/*
 * What processors ran, cut at the intervals. Of what runs for more than a day only the
 * ends are told: one stamp of a far year makes it.
 */
static const char busy_sql[] =
    "WITH RECURSIVE piece (node, cpu, busy, begin_ns, end_ns) AS ("
    " SELECT node, cpu, tid <> 0, max(begin_ns, ?1), min(end_ns, ?2) FROM thread_state"
    " WHERE state = 'running' AND cpu IS NOT NULL AND begin_ns < ?2 AND end_ns > ?1"
    " UNION ALL"
    " SELECT node, cpu, busy, CASE WHEN end_ns - begin_ns > 86400000000000"
    "  THEN end_ns / ?3 * ?3 ELSE (begin_ns / ?3 + 1) * ?3 END, end_ns FROM piece"
    " WHERE end_ns > (begin_ns / ?3 + 1) * ?3) "
    "SELECT node, cpu, begin_ns / ?3 AS interval,"
    " sum(CASE busy WHEN 1 THEN min(end_ns, (begin_ns / ?3 + 1) * ?3) - begin_ns"
    "  ELSE 0 END), sum(min(end_ns, (begin_ns / ?3 + 1) * ?3) - begin_ns) "
    "FROM piece GROUP BY node, interval, cpu ORDER BY node, interval, cpu";

static const char messages_sql[] =
    "SELECT src_node, dst_node, send_ns / ?3 AS interval, count(*), sum(bytes) "
    "FROM message WHERE send_ns BETWEEN ?1 AND ?2 "
    "GROUP BY src_node, dst_node, interval ORDER BY src_node, dst_node, interval";

struct busy {
	struct graphite_run *run;
	int64_t node, interval; /* at hand */
	int64_t busy_ns, known_ns;
};

static nsec_t end_of(const struct graphite_run *run, int64_t interval)
{
	return (interval + 1) * run->wish->interval * NSEC_PER_SEC;
}

static int give_busy(struct busy *busy, const char *what, int64_t busy_ns,
		     int64_t known_ns, struct error *error)
{
	const char *node = graphite_node(busy->run, busy->node);
	char *path;
	int status;

	if (!node || known_ns <= 0)
		return 0;
	path = mem_printf("%s.%s.events.%s.percent_busy", busy->run->wish->cluster, node,
			  what);
	status = graphite_give(busy->run, path, end_of(busy->run, busy->interval),
			       100 * (double)busy_ns / (double)known_ns, error);
	free(path);
	return status;
}

/* The node's interval is over: that of all of its processors. */
static int end_interval(struct busy *busy, struct error *error)
{
	int status = give_busy(busy, "all", busy->busy_ns, busy->known_ns, error);

	busy->busy_ns = busy->known_ns = 0;
	return status;
}

/* node, cpu, interval, busy, known */
static int take_busy(void *context, const struct cell *row, struct error *error)
{
	struct busy *busy = context;
	char cpu[32];

	if ((row[0].integer != busy->node || row[2].integer != busy->interval) &&
	    end_interval(busy, error))
		return -1;
	busy->node = row[0].integer;
	busy->interval = row[2].integer;
	busy->busy_ns += row[3].integer;
	busy->known_ns += row[4].integer;
	snprintf(cpu, sizeof(cpu), "cpu%" PRId64, row[1].integer);
	return give_busy(busy, cpu, row[3].integer, row[4].integer, error);
}

/* src, dst, interval, count, bytes */
static int take_messages(void *context, const struct cell *row, struct error *error)
{
	struct graphite_run *run = context;
	const char *source = graphite_node(run, row[0].integer);
	const char *target = graphite_node(run, row[1].integer);
	double seconds = run->wish->interval;
	nsec_t end_ns = end_of(run, row[2].integer);
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

int graphite_walk_events(struct graphite_run *run, struct error *error)
{
	const struct scope *scope = &run->export->scope;
	const struct cell value[] = {cell_of_integer(scope->begin_ns),
				     cell_of_integer(scope->end_ns),
				     cell_of_integer(run->wish->interval * NSEC_PER_SEC)};
	struct busy busy = {.run = run};

	if (graphite_wants(run, "events") &&
	    (query_rows(run->export->timeline, busy_sql, value, take_busy, &busy,
			error) ||
	     end_interval(&busy, error)))
		return -1;
	return graphite_wants(run, "messages")
		   ? query_rows(run->export->timeline, messages_sql, value, take_messages,
				run, error)
		   : 0;
}
