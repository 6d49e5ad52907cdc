/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-analyze RUN.db: analyses of a timeline, and sqlite3 beside them: seconds on the
 * clock and of processors, memory at most, and the ratio of the processors' seconds. A
 * query counts, adds up and takes means; it has no percentiles, bounds, names, or
 * longest.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launch.h"

#define SPANS "count(*), min(ns), avg(ns), max(ns), sum(ns)"

/* What a call moved, for the files of io. */
#define MOVED(call)                                                                      \
	"SELECT e.node, e.tid, '" call "' AS name, x.ret FROM syscall_exit_" call        \
	" AS x JOIN event AS e ON e.id = x.id WHERE x.ret > 0"

static const struct table_query {
	const char *name;
	const char *words[8];
	const char *sql; /* NULL: there is none */
} queries[] = {
    {"cpu",
     {"cpu"},
     "SELECT node, tid, " SPANS " FROM (SELECT e.node, s.next_tid AS tid, "
     "lead(e.ts_ns) OVER (PARTITION BY e.node, e.cpu ORDER BY e.id) - e.ts_ns AS ns "
     "FROM sched_switch AS s JOIN event AS e ON e.id = s.id) GROUP BY node, tid"},
    {"sched",
     {"sched"},
     "WITH step AS (SELECT e.id, e.node, w.tid, e.ts_ns, 0 AS runs "
     "FROM sched_waking AS w JOIN event AS e ON e.id = w.id UNION ALL "
     "SELECT e.id, e.node, s.next_tid, e.ts_ns, 1 "
     "FROM sched_switch AS s JOIN event AS e ON e.id = s.id) "
     "SELECT node, tid, " SPANS " FROM (SELECT node, tid, runs, "
     "lead(runs) OVER thread AS next, lead(ts_ns) OVER thread - ts_ns AS ns FROM step "
     "WINDOW thread AS (PARTITION BY node, tid ORDER BY id)) "
     "WHERE runs = 0 AND next = 1 GROUP BY node, tid"},
    {"syscalls",
     {"syscalls"},
     "SELECT name, " SPANS " FROM (SELECT c.name, lead(c.name) OVER thread AS next, "
     "lead(e.ts_ns) OVER thread - e.ts_ns AS ns FROM event AS e "
     "JOIN event_class AS c ON c.id = e.class WHERE c.name GLOB 'syscall_*' "
     "WINDOW thread AS (PARTITION BY e.node, e.tid ORDER BY e.id)) "
     "WHERE name GLOB 'syscall_entry_*' AND next GLOB 'syscall_exit_*' GROUP BY name"},
    {"irq",
     {"irq"},
     "WITH step AS (SELECT e.id, e.node, e.cpu, e.ts_ns, 0 AS kind, 0 AS ends, i.irq "
     "AS number FROM irq_handler_entry AS i JOIN event AS e ON e.id = i.id UNION ALL "
     "SELECT e.id, e.node, e.cpu, e.ts_ns, 0, 1, i.irq "
     "FROM irq_handler_exit AS i JOIN event AS e ON e.id = i.id UNION ALL "
     "SELECT e.id, e.node, e.cpu, e.ts_ns, 1, 0, i.vec "
     "FROM irq_softirq_entry AS i JOIN event AS e ON e.id = i.id UNION ALL "
     "SELECT e.id, e.node, e.cpu, e.ts_ns, 1, 1, i.vec "
     "FROM irq_softirq_exit AS i JOIN event AS e ON e.id = i.id) "
     "SELECT node, kind, number, " SPANS " FROM (SELECT node, kind, number, ends, "
     "lead(ts_ns) OVER line - ts_ns AS ns FROM step "
     "WINDOW line AS (PARTITION BY node, cpu, kind, number ORDER BY id)) "
     "WHERE ends = 0 GROUP BY node, kind, number"},
    {"io",
     {"io"},
     "WITH step AS (SELECT e.id, e.node, e.ts_ns, r.dev, r.sector, r.nr_sector, 0 AS "
     "ends FROM block_rq_issue AS r JOIN event AS e ON e.id = r.id UNION ALL "
     "SELECT e.id, e.node, e.ts_ns, r.dev, r.sector, r.nr_sector, 1 "
     "FROM block_rq_complete AS r JOIN event AS e ON e.id = r.id) "
     "SELECT node, dev, sum(nr_sector) * 512, " SPANS " FROM (SELECT node, dev, "
     "nr_sector, ends, lead(ts_ns) OVER place - ts_ns AS ns FROM step "
     "WINDOW place AS (PARTITION BY node, dev, sector ORDER BY id)) "
     "WHERE ends = 0 GROUP BY node, dev; "
     "SELECT node, tid, name, count(*), sum(ret) FROM (" MOVED(
	 "read") " UNION ALL " MOVED("write") " UNION ALL " MOVED("pread64") " UNION "
									     "ALL " MOVED(
										 "pwrite6"
										 "4") ") "
										      "GR"
										      "OU"
										      "P "
										      "BY"
										      " n"
										      "od"
										      "e,"
										      " t"
										      "id"
										      ", "
										      "na"
										      "m"
										      "e"},
    {"messages",
     {"messages"},
     "SELECT src_node, dst_node, " SPANS " FROM (SELECT src_node, dst_node, "
     "latency_ns AS ns FROM message) GROUP BY src_node, dst_node"},
    {"net",
     {"net"},
     "SELECT e.node, q.name, count(*), sum(q.len) FROM net_dev_queue AS q "
     "JOIN event AS e ON e.id = q.id GROUP BY e.node, q.name UNION ALL "
     "SELECT e.node, q.name, count(*), sum(q.len) FROM net_if_receive_skb AS q "
     "JOIN event AS e ON e.id = q.id GROUP BY e.node, q.name"},
    {"mem",
     {"mem"},
     "SELECT s.node, m.name, avg(s.value), max(s.value) FROM sample AS s "
     "JOIN metric AS m ON m.id = s.metric WHERE m.activity = 'memory' "
     "GROUP BY s.node, m.id"},
    {"proc",
     {"proc"},
     "SELECT node, comm, count(*), avg(end_ns - begin_ns) FROM process "
     "GROUP BY node, comm"},
    {"metrics",
     {"metrics"},
     "SELECT m.name, s.node, s.item, avg(s.value), min(s.value), max(s.value) "
     "FROM sample AS s JOIN metric AS m ON m.id = s.metric "
     "GROUP BY s.metric, s.node, s.item"},
    {"periods",
     {"periods", "--from", "irq_handler_entry", "--to", "irq_handler_exit", "--group",
      "node,cpu"},
     "WITH step AS (SELECT e.id, e.node, e.cpu, e.ts_ns, 0 AS ends "
     "FROM irq_handler_entry AS i JOIN event AS e ON e.id = i.id UNION ALL "
     "SELECT e.id, e.node, e.cpu, e.ts_ns, 1 "
     "FROM irq_handler_exit AS i JOIN event AS e ON e.id = i.id) "
     "SELECT node, cpu, " SPANS " FROM (SELECT node, cpu, ends, "
     "lead(ts_ns) OVER cpu - ts_ns AS ns FROM step "
     "WINDOW cpu AS (PARTITION BY node, cpu ORDER BY id)) "
     "WHERE ends = 0 GROUP BY node, cpu"},
    {"requests", {"requests"}, NULL},
    {"critical-path", {"critical-path"}, NULL},
    {"why", {"why"}, NULL},
    {"report", {"report"}, NULL},
};

/* Run it and remember what it cost; takes the words. */
static int measure(struct text_list *words, struct launched *launched,
		   struct error *error)
{
	int status = launch(words, NULL, launched, error);

	text_list_clear(words);
	return status;
}

static int measure_one(const char *timeline, const struct table_query *query,
		       struct error *error)
{
	struct text_list words = {0};
	struct launched ours, theirs = {0};

	launch_words(&words, "ctanalyze", NULL);
	for (size_t i = 0; query->words[i]; i++)
		launch_words(&words, query->words[i], NULL);
	launch_words(&words, "-q", timeline, NULL);
	if (measure(&words, &ours, error))
		return -1;
	if (ours.status)
		return error_set(error, "%s: exit status %d", query->name, ours.status);
	printf("%-13s %8.2f %8.2f %8ld", query->name, ours.wall_s, ours.cpu_s,
	       ours.peak_kib / 1024);
	if (query->sql) {
		launch_words(&words, "sqlite3", timeline, query->sql, NULL);
		if (measure(&words, &theirs, error))
			return -1;
	}
	if (query->sql && theirs.status) /* a timeline without such events */
		printf(" %8s %8s %8s %7s", "-", "-", "-", "-");
	else if (query->sql)
		printf(" %8.2f %8.2f %8ld %7.2f", theirs.wall_s, theirs.cpu_s,
		       theirs.peak_kib / 1024, ours.cpu_s / theirs.cpu_s);
	putchar('\n');
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	int status = 0;

	if (argc != 2) {
		fputs("usage: bench-analyze RUN.db\n", stderr);
		return EXIT_MISUSE;
	}
	printf("              ctanalyze                  sqlite3\n"
	       "%-13s %8s %8s %8s %8s %8s %8s %7s\n",
	       "analysis", "s", "cpu s", "MiB", "s", "cpu s", "MiB", "ratio");
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries) && !status; i++)
		status = measure_one(argv[1], &queries[i], &error);
	if (!status)
		return EXIT_SUCCESS;
	fprintf(stderr, "bench-analyze: %s\n", error_text(&error));
	error_clear(&error);
	return EXIT_FAILURE;
}
