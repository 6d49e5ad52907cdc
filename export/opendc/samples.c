/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/charge.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/query.h"

enum { BYTES_PER_KIB = 1024 };

/*
 * Samples of a metric of processes, by node and time: of an item "1234 cc1" the number
 * and the name, with the sample before, NULL: none. Items of equal names are others on
 * each node.
 */
#define SAMPLES                                                                          \
	"SELECT s.node, s.ts_ns, CAST(i.name AS INTEGER) AS pid,"                        \
	" substr(i.name, instr(i.name, ' ') + 1) AS comm, s.value,"                      \
	" lag(s.ts_ns) OVER own AS last_ns, lag(s.value) OVER own AS last, s.item "      \
	"FROM sample AS s JOIN metric_item AS i ON i.id = s.item "                       \
	"WHERE s.metric = (SELECT id FROM metric WHERE activity = 'process'"             \
	" AND name = ?3 LIMIT 1) AND s.ts_ns BETWEEN ?1 AND ?2 AND i.type = 'process'"   \
	" AND substr(i.name, 1, instr(i.name, ' ')) = CAST(i.name AS INTEGER) || ' '"    \
	" AND typeof(s.value) IN ('integer', 'real') "                                   \
	"WINDOW own AS (PARTITION BY s.node, s.item ORDER BY s.ts_ns, s.rowid)"

enum column { NODE, AT, PID, COMM, VALUE, LAST_AT, LAST };

static const char samples_sql[] = SAMPLES " ORDER BY s.node, s.ts_ns, s.rowid";

/* From the first sample of each process to its last. A counter that falls is another
 * process with the same number and name. */
static const char processes_sql[] =
    "SELECT node, min(ts_ns), pid, comm, life, max(ts_ns) FROM (SELECT *,"
    " sum(value < last) OVER (PARTITION BY node, item ORDER BY ts_ns) AS life FROM "
    "(" SAMPLES ")) GROUP BY node, item, coalesce(life, 0) ORDER BY node, min(ts_ns)";

static int read_samples(struct export *export, const char *sql, const char *metric,
			timeline_take *take, void *context, struct error *error)
{
	struct cell value[] = {cell_of_integer(export->scope.begin_ns),
			       cell_of_integer(export->scope.end_ns),
			       {.type = CELL_TEXT}};

	cell_set_bytes(&value[2], CELL_TEXT, metric, strlen(metric));
	return query_rows(export->timeline, sql, value, take, context, error);
}

/* The index of a node that is known by samples only. */
static int64_t node_without_events(const struct opendc_cluster *cluster,
				   const struct cell *id)
{
	int64_t node = opendc_node_of(cluster, id->integer);

	return node < 0 || cluster->node[node].switches ? OPENDC_NONE : node;
}

/* A process that events told of, else the one that samples did; else a new one. */
static int see_process(void *context, const struct cell *row, struct error *error)
{
	enum { LIFE = VALUE, END };
	struct opendc_cluster *cluster = context;
	struct opendc_process process = {.node = node_without_events(cluster, row),
					 .pid = row[PID].integer,
					 .ppid = -1,
					 .begin_ns = row[AT].integer,
					 .end_ns = row[END].integer,
					 .sampled = true};
	int64_t at = OPENDC_NONE;

	(void)error;
	if (process.node < 0)
		return 0;
	if (cell_integer(&row[LIFE], 0) == 0)
		at = opendc_process_of_pid(cluster, process.node, process.pid,
					   process.begin_ns);
	if (at < 0) {
		process.comm = cell_text(&row[COMM]);
		opendc_add_process(cluster, &process);
	} else if (cluster->process[at].sampled &&
		   cluster->process[at].end_ns < process.end_ns) {
		cluster->process[at].end_ns = process.end_ns;
	}
	return 0;
}

/* Who its parent is was told when it began. */
static int see_parent(void *context, const struct cell *row, struct error *error)
{
	struct opendc_cluster *cluster = context;
	int64_t node = node_without_events(cluster, row), at;

	(void)error;
	if (node < 0)
		return 0;
	at = opendc_process_of_pid(cluster, node, row[PID].integer, row[AT].integer);
	if (at >= 0 && cluster->process[at].ppid < 0)
		cluster->process[at].ppid = (int64_t)cell_number(&row[VALUE]);
	return 0;
}

int opendc_find_sampled(struct opendc_cluster *cluster, struct export *export,
			struct error *error)
{
	bool any = false;

	for (size_t i = 0; i < cluster->nodes; i++)
		any |= cluster->node[i].fact->chosen && !cluster->node[i].switches;
	if (!any)
		return 0;
	return read_samples(export, processes_sql, "utime", see_process, cluster,
			    error) ||
		       read_samples(export, samples_sql, "ppid", see_parent, cluster,
				    error)
		   ? -1
		   : 0;
}

/* What a process used since the last sample, spread over that time. */
static int charge_sample(void *context, const struct cell *row, struct error *error)
{
	struct opendc_charger *charger = context;
	struct opendc_cluster *cluster = charger->cluster;
	int64_t node = node_without_events(cluster, row);
	double used = cell_number(&row[VALUE]) - cell_number(&row[LAST]), mhz;
	struct opendc_stretch stretch = {.node = node,
					 .begin_ns = cell_integer(&row[LAST_AT], 0),
					 .end_ns = row[AT].integer};

	(void)error;
	/* Also where there is none before. */
	if (node < 0 || stretch.begin_ns >= stretch.end_ns || !(used >= 0))
		return 0;
	mhz = cluster->node[node].mhz;
	stretch.mhz = mhz > 0 ? mhz : charger->choice->cpu_mhz;
	stretch.share = used / (double)(stretch.end_ns - stretch.begin_ns);
	stretch.process =
	    opendc_process_of_pid(cluster, node, row[PID].integer, stretch.begin_ns);
	opendc_charge_sampled(charger, &stretch);
	charger->sampled = true;
	return 0;
}

int opendc_charge_samples(struct opendc_charger *charger, struct error *error)
{
	struct export *export = charger->export;

	return read_samples(export, samples_sql, "utime", charge_sample, charger,
			    error) ||
		       read_samples(export, samples_sql, "stime", charge_sample, charger,
				    error)
		   ? -1
		   : 0;
}

static int hold_sample(void *context, const struct cell *row, struct error *error)
{
	struct opendc_charger *charger = context;
	int64_t node = opendc_node_of(charger->cluster, row[NODE].integer);
	double value = cell_number(&row[VALUE]);

	(void)error;
	if (node >= 0 && value >= 0 && value < (double)(INT64_MAX / BYTES_PER_KIB / 2))
		opendc_hold(charger,
			    opendc_process_of_pid(charger->cluster, node,
						  row[PID].integer, row[AT].integer),
			    row[AT].integer, (int64_t)value * BYTES_PER_KIB);
	return 0;
}

int opendc_hold_samples(struct opendc_charger *charger, struct error *error)
{
	return read_samples(charger->export, samples_sql, "rss", hold_sample, charger,
			    error);
}
