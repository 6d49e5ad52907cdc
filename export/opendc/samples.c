/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/charge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/query.h"

enum { BYTES_PER_KIB = 1024 };

/* A process as samples name it, "PID COMM", on one node. */
struct item {
	int64_t pid;
	char *comm;
	int64_t process; /* index; OPENDC_NONE: not found yet */
	nsec_t last_ns;  /* of the last sample; NSEC_MIN: none */
	double last;
};

struct sampling {
	struct opendc_cluster *cluster;
	struct export *export;
	struct opendc_charger *charger; /* NULL while processes are looked for */
	double mhz;                     /* where nothing says it */
	struct item *item;
	size_t items, room;
	struct intmap of_id; /* of a metric_item: index */
	bool found;
};

/* One sample of a process. A return other than 0 ends the reading. */
typedef int take_sample(struct sampling *sampling, int64_t node, struct item *item,
			nsec_t when, double value, struct error *error);

/* "1234 cc1": what is none has no pid. */
static void set_name(struct item *item, const struct cell *name)
{
	char *text = cell_text(name), *end;

	item->process = OPENDC_NONE;
	item->last_ns = NSEC_MIN;
	item->pid = strtoll(text, &end, 10);
	if (end == text || *end != ' ')
		item->pid = -1;
	item->comm = mem_strdup(*end ? end + 1 : "");
	free(text);
}

static int take_item(void *context, const struct cell *row, struct error *error)
{
	struct sampling *sampling = context;

	(void)error;
	sampling->item = mem_grow(sampling->item, sampling->items, &sampling->room,
				  sizeof(struct item));
	set_name(&sampling->item[sampling->items], &row[1]);
	intmap_put(&sampling->of_id, (uint64_t)cell_integer(&row[0], 0),
		   (int64_t)sampling->items++);
	return 0;
}

static int load_items(struct sampling *sampling, struct error *error)
{
	return query_rows(
	    sampling->export->timeline,
	    "SELECT id, name FROM metric_item WHERE type = 'process' ORDER BY id", NULL,
	    take_item, sampling, error);
}

static void clear_items(struct sampling *sampling)
{
	for (size_t i = 0; i < sampling->items; i++)
		free(sampling->item[i].comm);
	free(sampling->item);
	intmap_clear(&sampling->of_id);
}

/* Samples of one metric on one node, on their way. */
struct reading {
	struct sampling *sampling;
	int64_t node;
	take_sample *take;
};

static int take_row(void *context, const struct cell *row, struct error *error)
{
	const struct reading *reading = context;
	struct sampling *sampling = reading->sampling;
	double value = cell_number(&row[2]);
	int64_t at;

	if (isnan(value) ||
	    !intmap_get(&sampling->of_id, (uint64_t)cell_integer(&row[1], -1), &at) ||
	    sampling->item[at].pid < 0)
		return 0;
	return reading->take(sampling, reading->node, &sampling->item[at], row[0].integer,
			     value, error);
}

/* All samples of a metric on a node, by time: what the index is for. Each node begins
 * anew: items of equal names are others there. */
static int read_samples(struct sampling *sampling, int64_t node, const char *metric,
			take_sample *take, struct error *error)
{
	const struct scope *scope = &sampling->export->scope;
	struct reading reading = {sampling, node, take};
	struct cell values[] = {cell_of_integer(scope->begin_ns),
				cell_of_integer(scope->end_ns),
				cell_of_integer(sampling->cluster->node[node].fact->id),
				{.type = CELL_TEXT}};

	cell_set_bytes(&values[3], CELL_TEXT, metric, strlen(metric));
	for (size_t i = 0; i < sampling->items; i++) {
		sampling->item[i].process = OPENDC_NONE;
		sampling->item[i].last_ns = NSEC_MIN;
	}
	return query_rows(
	    sampling->export->timeline,
	    "SELECT ts_ns, item, value FROM sample WHERE metric ="
	    " (SELECT id FROM metric WHERE activity = 'process' AND name = ?4 LIMIT 1)"
	    " AND node = ?3 AND ts_ns BETWEEN ?1 AND ?2 ORDER BY ts_ns",
	    values, take_row, &reading, error);
}

/* A process that events told of, else the one that samples did; else a new one. */
static int see_process(struct sampling *sampling, int64_t node, struct item *item,
		       nsec_t when, double value, struct error *error)
{
	struct opendc_cluster *cluster = sampling->cluster;
	struct opendc_process process = {.node = node,
					 .pid = item->pid,
					 .ppid = -1,
					 .begin_ns = when,
					 .end_ns = when,
					 .sampled = true};
	int64_t at = item->process;

	(void)error;
	/* A counter that falls is another process with the same number and name. */
	if (at >= 0 && item->last_ns != NSEC_MIN && value < item->last)
		at = OPENDC_NONE;
	else if (at < 0)
		at = opendc_process_of_pid(cluster, node, item->pid, when);
	if (at < 0) {
		process.comm = mem_strdup(item->comm);
		at = opendc_add_process(cluster, &process);
	}
	if (cluster->process[at].sampled && when > cluster->process[at].end_ns)
		cluster->process[at].end_ns = when;
	item->process = at;
	item->last_ns = when;
	item->last = value;
	return 0;
}

/* Who its parent is was told when it began. */
static int see_parent(struct sampling *sampling, int64_t node, struct item *item,
		      nsec_t when, double value, struct error *error)
{
	int64_t at = opendc_process_of_pid(sampling->cluster, node, item->pid, when);

	(void)error;
	if (at >= 0 && sampling->cluster->process[at].ppid < 0)
		sampling->cluster->process[at].ppid = (int64_t)value;
	return 0;
}

int opendc_find_sampled(struct opendc_cluster *cluster, struct export *export,
			struct error *error)
{
	struct sampling sampling = {.cluster = cluster, .export = export};
	int status = load_items(&sampling, error);

	for (size_t i = 0; !status && i < cluster->nodes; i++)
		if (cluster->node[i].fact->chosen && !cluster->node[i].switches)
			status = read_samples(&sampling, (int64_t)i, "utime", see_process,
					      error) ||
				 read_samples(&sampling, (int64_t)i, "ppid", see_parent,
					      error);
	clear_items(&sampling);
	return status ? -1 : 0;
}

/* What a process used since the last sample, spread over that time. */
static int charge_sample(struct sampling *sampling, int64_t node, struct item *item,
			 nsec_t when, double value, struct error *error)
{
	const struct opendc_node *place = &sampling->cluster->node[node];
	struct opendc_stretch stretch = {.node = node,
					 .begin_ns = item->last_ns,
					 .end_ns = when,
					 .mhz =
					     place->mhz > 0 ? place->mhz : sampling->mhz};
	bool counts =
	    item->last_ns != NSEC_MIN && when > item->last_ns && value >= item->last;

	(void)error;
	if (counts) {
		stretch.share = (value - item->last) / (double)(when - item->last_ns);
		stretch.process = opendc_process_of_pid(sampling->cluster, node,
							item->pid, item->last_ns);
		opendc_charge_sampled(sampling->charger, &stretch);
		sampling->found = true;
	}
	item->last_ns = when;
	item->last = value;
	return 0;
}

int opendc_charge_samples(struct opendc_charger *charger, bool *found,
			  struct error *error)
{
	struct opendc_cluster *cluster = charger->cluster;
	struct sampling sampling = {.cluster = cluster,
				    .export = charger->export,
				    .charger = charger,
				    .mhz = charger->choice->cpu_mhz};
	int status = load_items(&sampling, error);

	for (size_t i = 0; !status && i < cluster->nodes; i++)
		if (cluster->node[i].fact->chosen && !cluster->node[i].switches)
			status = read_samples(&sampling, (int64_t)i, "utime",
					      charge_sample, error) ||
				 read_samples(&sampling, (int64_t)i, "stime",
					      charge_sample, error);
	*found = sampling.found;
	clear_items(&sampling);
	return status ? -1 : 0;
}

static int hold_sample(struct sampling *sampling, int64_t node, struct item *item,
		       nsec_t when, double value, struct error *error)
{
	(void)error;
	if (value >= 0 && value < (double)(INT64_MAX / BYTES_PER_KIB / 2))
		opendc_hold(
		    sampling->charger,
		    opendc_process_of_pid(sampling->cluster, node, item->pid, when), when,
		    (int64_t)value * BYTES_PER_KIB);
	return 0;
}

int opendc_hold_samples(struct opendc_charger *charger, struct error *error)
{
	struct opendc_cluster *cluster = charger->cluster;
	struct sampling sampling = {
	    .cluster = cluster, .export = charger->export, .charger = charger};
	int status = load_items(&sampling, error);

	for (size_t i = 0; !status && i < cluster->nodes; i++)
		if (cluster->node[i].fact->chosen)
			status = read_samples(&sampling, (int64_t)i, "rss", hold_sample,
					      error);
	clear_items(&sampling);
	return status ? -1 : 0;
}
