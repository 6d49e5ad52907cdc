/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "export/directory.h"
#include "export/tracekit/files.h"

enum { TICKS_A_SECOND = 100 }; /* of utime and stime, as Linux shows them */

/* What a process had used when it was seen last. */
struct process {
	nsec_t ts_ns, used_ns;
};

struct processes {
	FILE *metrics, *cpu, *rss;
	struct intmap by_pid;
	struct process *process;
	size_t count, room;
};

static int64_t whole(const struct cell *cell)
{
	return cell->type == CELL_REAL      ? (int64_t)llround(cell->real)
	       : cell->type == CELL_INTEGER ? cell->integer
					    : 0;
}

/* "17 bash": the item's name begins with the pid. */
static int64_t pid_of(const struct cell *cell)
{
	int64_t pid = 0;

	for (uint32_t i = 0; cell->type == CELL_TEXT && i < cell->size; i++) {
		if (cell->bytes[i] < '0' || cell->bytes[i] > '9' || pid > INT32_MAX)
			break;
		pid = pid * 10 + (cell->bytes[i] - '0');
	}
	return pid;
}

static struct process *process_of(struct processes *all, int64_t pid)
{
	int64_t at;

	if (intmap_get(&all->by_pid, (uint64_t)pid, &at))
		return &all->process[at];
	all->process =
	    mem_grow(all->process, all->count, &all->room, sizeof(*all->process));
	all->process[all->count] = (struct process){NSEC_MIN, 0};
	intmap_put(&all->by_pid, (uint64_t)pid, (int64_t)all->count);
	return &all->process[all->count++];
}

/*
 * Milliseconds of whole counts: their sum over all samples of a process is right, though
 * each is cut to whole ones. A count that went back is of another process.
 */
static void put_cpu(struct processes *all, int64_t pid, nsec_t ts_ns, nsec_t used_ns)
{
	struct process *process = process_of(all, pid);
	struct process before = *process;

	*process = (struct process){ts_ns, used_ns};
	if (before.ts_ns == NSEC_MIN || used_ns < before.used_ns)
		return;
	tracekit_line(
	    all->cpu,
	    json_pack("{s:I, s:I, s:I, s:I}", "ts_ms", (json_int_t)tracekit_ms(ts_ns),
		      "pid", (json_int_t)pid, "cpu_ms",
		      (json_int_t)(tracekit_ms(used_ns) - tracekit_ms(before.used_ns)),
		      "dt_ms",
		      (json_int_t)(tracekit_ms(ts_ns) - tracekit_ms(before.ts_ns))));
}

static json_int_t ticks(const struct cell *cell)
{
	return whole(cell) / (NSEC_PER_SEC / TICKS_A_SECOND);
}

/* ts_ns, item, utime, stime, rss */
static int take_process(void *context, const struct cell *row, struct error *error)
{
	struct processes *all = context;
	json_int_t ts_ms = tracekit_ms(row[0].integer), pid = pid_of(&row[1]);
	bool has_times = row[2].type != CELL_NULL && row[3].type != CELL_NULL;
	json_t *record = json_pack("{s:I, s:I}", "ts_ms", ts_ms, "pid", pid);

	(void)error;
	if (row[4].type != CELL_NULL) {
		json_object_set_new(record, "rss_kb", json_integer(whole(&row[4])));
		tracekit_line(all->rss,
			      json_pack("{s:I, s:I, s:I}", "ts_ms", ts_ms, "pid", pid,
					"rss_kb", (json_int_t)whole(&row[4])));
	}
	if (has_times) {
		json_object_set_new(record, "utime", json_integer(ticks(&row[2])));
		json_object_set_new(record, "stime", json_integer(ticks(&row[3])));
		put_cpu(all, pid, row[0].integer, whole(&row[2]) + whole(&row[3]));
	}
	tracekit_line(all->metrics, record);
	return 0;
}

static int close_file(FILE *file, const char *name, int status, struct error *error)
{
	if (file && status) {
		fclose(file);
		return status;
	}
	return file ? export_close(file, name, error) : -1;
}

static int write_processes(const struct tracekit_node *node, struct error *error)
{
	static const char sql[] =
	    "SELECT s.ts_ns, i.name,"
	    " max(CASE m.name WHEN 'utime' THEN s.value END),"
	    " max(CASE m.name WHEN 'stime' THEN s.value END),"
	    " max(CASE m.name WHEN 'rss' THEN s.value END) "
	    "FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1"
	    " AND s.ts_ns BETWEEN ?2 AND ?3 JOIN metric_item AS i ON i.id = s.item "
	    "WHERE m.activity = 'process' AND m.name IN ('utime', 'stime', 'rss') "
	    "GROUP BY s.ts_ns, s.item ORDER BY s.ts_ns, s.item";
	struct processes all = {0};
	int status = -1;

	all.metrics = tracekit_create(node, "cctf/proc_metrics.jsonl", error);
	if (all.metrics)
		all.cpu = tracekit_create(node, "cctf/proc_cpu.jsonl", error);
	if (all.cpu)
		all.rss = tracekit_create(node, "cctf/proc_rss.jsonl", error);
	if (all.rss)
		status = tracekit_each(node, sql, take_process, &all, error);
	if (!status)
		tracekit_note_empty(node, all.metrics,
				    "no samples of processes (proc.csv): proc_metrics, "
				    "proc_cpu and proc_rss are empty");
	status = close_file(all.metrics, "cctf/proc_metrics.jsonl", status, error);
	status = close_file(all.cpu, "cctf/proc_cpu.jsonl", status, error);
	status = close_file(all.rss, "cctf/proc_rss.jsonl", status, error);
	intmap_clear(&all.by_pid);
	free(all.process);
	return status;
}

struct metrics {
	const struct tracekit_node *node;
	FILE *file;
	char *nic; /* the interface that moved the most */
};

/* ts_ns, %idle, kbmemfree */
static int take_host(void *context, const struct cell *row, struct error *error)
{
	const struct metrics *metrics = context;
	static const char *const name[] = {"cpu_util", "mem_free_mb"};

	(void)error;
	for (int i = 0; i < 2; i++) {
		const struct cell *cell = &row[i + 1];

		if (cell->type != CELL_REAL)
			continue;
		tracekit_line(
		    metrics->file,
		    json_pack("{s:I, s:s, s:s, s:o}", "ts_ms",
			      (json_int_t)tracekit_ms(row[0].integer), "node",
			      metrics->node->node->name, "stage", metrics->node->stage,
			      name[i],
			      i == 0 ? json_real(100 - cell->real)
				     : json_integer((json_int_t)(cell->real / 1024))));
	}
	return 0;
}

static int write_host(const struct tracekit_node *node, struct error *error)
{
	static const char sql[] =
	    "SELECT s.ts_ns, max(CASE m.name WHEN '%idle' THEN s.value END),"
	    " max(CASE m.name WHEN 'kbmemfree' THEN s.value END) "
	    "FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1"
	    " AND s.ts_ns BETWEEN ?2 AND ?3 "
	    "WHERE (m.activity = 'cpu' AND m.name = '%idle' AND s.item IN"
	    " (SELECT id FROM metric_item WHERE type = 'cpu' AND name = 'all'))"
	    " OR (m.activity = 'memory' AND m.name = 'kbmemfree') "
	    "GROUP BY s.ts_ns ORDER BY s.ts_ns";
	struct metrics metrics = {.node = node};
	int status;

	metrics.file = tracekit_create(node, "cctf/host_metrics.jsonl", error);
	if (!metrics.file)
		return -1;
	status = tracekit_each(node, sql, take_host, &metrics, error);
	if (!status)
		tracekit_note_empty(node, metrics.file,
				    "no samples of %idle and kbmemfree (sar): "
				    "host_metrics is empty");
	return close_file(metrics.file, "cctf/host_metrics.jsonl", status, error);
}

/* ts_ns, interface, rxkB/s, txkB/s */
static int take_link(void *context, const struct cell *row, struct error *error)
{
	struct metrics *metrics = context;
	const char *node = metrics->node->node->name;
	char *name, *link;

	(void)error;
	if (row[1].type != CELL_TEXT || row[2].type != CELL_REAL ||
	    row[3].type != CELL_REAL)
		return 0;
	name = mem_strndup(row[1].bytes, row[1].size);
	link = mem_printf("%s.%s", node,
			  metrics->nic && strcmp(name, metrics->nic) == 0 ? "nic" : name);
	tracekit_line(metrics->file,
		      json_pack("{s:I, s:s, s:s, s:s, s:I, s:I}", "ts_ms",
				(json_int_t)tracekit_ms(row[0].integer), "node", node,
				"stage", metrics->node->stage, "link", link, "rx_Bps",
				(json_int_t)(row[2].real * 1024), "tx_Bps",
				(json_int_t)(row[3].real * 1024)));
	free(name);
	free(link);
	return 0;
}

static int take_nic(void *context, const struct cell *row, struct error *error)
{
	struct metrics *metrics = context;

	(void)error;
	if (row[0].type == CELL_TEXT)
		metrics->nic = mem_strndup(row[0].bytes, row[0].size);
	return 0;
}

static int write_links(const struct tracekit_node *node, struct error *error)
{
	static const char sql[] =
	    "SELECT s.ts_ns, i.name, max(CASE m.name WHEN 'rxkB/s' THEN s.value END),"
	    " max(CASE m.name WHEN 'txkB/s' THEN s.value END) "
	    "FROM metric AS m CROSS JOIN sample AS s ON s.metric = m.id AND s.node = ?1"
	    " AND s.ts_ns BETWEEN ?2 AND ?3 JOIN metric_item AS i ON i.id = s.item "
	    "WHERE m.activity = 'net' AND m.name IN ('rxkB/s', 'txkB/s') "
	    "AND i.name <> 'lo' GROUP BY s.ts_ns, s.item ORDER BY s.ts_ns, i.name";
	struct metrics metrics = {.node = node};
	int status;

	metrics.file = tracekit_create(node, "cctf/link_metrics.jsonl", error);
	if (!metrics.file)
		return -1;
	status = tracekit_each(node, TRACEKIT_NIC, take_nic, &metrics, error) ||
		 tracekit_each(node, sql, take_link, &metrics, error);
	if (!status)
		tracekit_note_empty(node, metrics.file,
				    "no samples of rxkB/s and txkB/s (sar): "
				    "link_metrics is empty");
	status =
	    close_file(metrics.file, "cctf/link_metrics.jsonl", status ? -1 : 0, error);
	free(metrics.nic);
	return status;
}

int tracekit_write_samples(const struct tracekit_node *node, struct error *error)
{
	return write_processes(node, error) || write_host(node, error) ||
		       write_links(node, error)
		   ? -1
		   : 0;
}
