/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/points.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/names.h"
#include "timeline/query.h"

/* What the walks over samples and events share. */
struct graphite_run {
	struct export *export;
	const struct graphite_wish *wish;
	graphite_take *take;
	void *context;
	char **node; /* parts of paths, by the scope's nodes */
	uint64_t points;
};

char *graphite_part(const char *bytes, size_t size)
{
	bool rate = size > 2 && memcmp(bytes + size - 2, "/s", 2) == 0;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < size - 2 * rate; i++) {
		char byte = bytes[i];

		if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
		    (byte >= '0' && byte <= '9') || byte == '-' || byte == '_')
			putc(byte, out);
		else
			fputs(byte == '%' ? "percent_" : "_", out);
	}
	if (rate)
		fputs("_per_s", out);
	if (size == 0)
		putc('_', out);
	fclose(out);
	return text;
}

static bool is_wanted(const struct graphite_run *run, const char *activity)
{
	const struct text_list *globs = run->wish->activities;

	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], activity, 0) == 0)
			return true;
	return globs->count == 0 && strcmp(activity, "process") != 0;
}

static const char *node_part(const struct graphite_run *run, int64_t id)
{
	const struct scope *scope = &run->export->scope;
	const struct scope_node *node = scope_find(scope, id);

	return node && node->chosen ? run->node[node - scope->node] : NULL;
}

/* The nearest one. */
static int64_t seconds_of(nsec_t ts_ns)
{
	return nsec_add(ts_ns, NSEC_PER_SEC / 2) / NSEC_PER_SEC;
}

static int give_point(struct graphite_run *run, const char *path, nsec_t ts_ns,
		      double value, struct error *error)
{
	const struct graphite_point point = {
	    .path = path,
	    .seconds = seconds_of(ts_ns),
	    .value = value,
	};

	if (!isfinite(value))
		return 0;
	run->points++;
	return run->take(run->context, &point, error);
}

/* One metric of samples, or one item. */
struct named {
	int64_t id;
	char *part, *activity;
	bool wanted;
};

struct named_list {
	struct named *item;
	size_t count, room;
};

/* While they are read: by id, with parts that are unlike. */
struct naming {
	struct graphite_run *run;
	struct named_list *list;
	struct name_set taken;
};

/* id, name, and the activity (or the item's type) */
static int take_name(void *context, const struct cell *row, struct error *error)
{
	struct naming *naming = context;
	struct named_list *list = naming->list;
	char *name = cell_text(&row[1]), *group = cell_text(&row[2]);
	char *part = graphite_part(name, strlen(name));
	char *in_group = mem_printf("%s.%s", group, part);
	char *unlike = name_pick(&naming->taken, in_group, NULL);

	(void)error;
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = (struct named){
	    .id = row[0].integer,
	    .part = mem_strdup(unlike + strlen(group) + 1),
	    .activity = group,
	    .wanted = is_wanted(naming->run, group),
	};
	free(name);
	free(part);
	free(in_group);
	free(unlike);
	return 0;
}

static int read_names(struct graphite_run *run, const char *sql, struct named_list *list,
		      struct error *error)
{
	struct naming naming = {.run = run, .list = list};
	int status =
	    query_rows(run->export->timeline, sql, NULL, take_name, &naming, error);

	name_clear(&naming.taken);
	return status;
}

static int by_id(const void *key, const void *item)
{
	int64_t id = *(const int64_t *)key;
	const struct named *named = item;

	return (id > named->id) - (id < named->id);
}

static const struct named *find(const struct named_list *list, int64_t id)
{
	return list->count
		   ? bsearch(&id, list->item, list->count, sizeof(*list->item), by_id)
		   : NULL;
}

static void clear_names(struct named_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->item[i].part);
		free(list->item[i].activity);
	}
	free(list->item);
}

/* What the walk over samples has met. */
struct sample_walk {
	struct graphite_run *run;
	struct named_list metrics, items;
	char *path; /* of the row before */
	int64_t node, metric, item, seconds;
	uint64_t of_processes, same_second;
};

static void set_path(struct sample_walk *walk, const struct cell *row)
{
	const struct named *metric = find(&walk->metrics, row[0].integer);
	const struct named *item =
	    row[3].type == CELL_INTEGER ? find(&walk->items, row[3].integer) : NULL;
	const char *node = node_part(walk->run, row[1].integer);
	char *activity;

	free(walk->path);
	walk->path = NULL;
	walk->metric = row[0].integer;
	walk->node = row[1].integer;
	walk->item = row[3].type == CELL_INTEGER ? row[3].integer : 0;
	walk->seconds = INT64_MIN;
	if (!metric || !metric->wanted || !node)
		return;
	activity = graphite_part(metric->activity, strlen(metric->activity));
	walk->path = mem_printf("%s.%s.%s.%s.%s", walk->run->wish->cluster, node,
				activity, item ? item->part : "node", metric->part);
	free(activity);
}

/* metric, node, ts_ns, item, value */
static int take_sample(void *context, const struct cell *row, struct error *error)
{
	struct sample_walk *walk = context;
	int64_t item = cell_integer(&row[3], 0);
	double value;

	if (walk->metric != row[0].integer || walk->node != row[1].integer ||
	    walk->item != item || !walk->path)
		set_path(walk, row);
	if (!walk->path) {
		const struct named *metric = find(&walk->metrics, row[0].integer);

		walk->of_processes +=
		    metric && !metric->wanted && strcmp(metric->activity, "process") == 0;
		return 0;
	}
	value = cell_number(&row[4]);
	if (isnan(value))
		return 0; /* text */
	walk->same_second += seconds_of(row[2].integer) == walk->seconds;
	walk->seconds = seconds_of(row[2].integer);
	return give_point(walk->run, walk->path, row[2].integer, value, error);
}

static int walk_samples(struct graphite_run *run, struct error *error)
{
	struct sample_walk walk = {.run = run};
	int status = read_names(run, "SELECT id, name, activity FROM metric ORDER BY id",
				&walk.metrics, error) ||
		     read_names(run, "SELECT id, name, type FROM metric_item ORDER BY id",
				&walk.items, error) ||
		     query_scope(run->export->timeline, &run->export->scope,
				 "SELECT metric, node, ts_ns, item, value FROM sample "
				 "WHERE ts_ns BETWEEN ?1 AND ?2 "
				 "ORDER BY metric, node, item, ts_ns, rowid",
				 take_sample, &walk, error);

	if (walk.of_processes)
		problem_add(&run->export->notes, run->export->path, "left out",
			    walk.of_processes,
			    "%" PRIu64 " samples of processes are left out, "
			    "--activity '*' has them",
			    walk.of_processes);
	if (walk.same_second)
		problem_add(&run->export->notes, run->export->path, "seconds",
			    walk.same_second,
			    "%" PRIu64 " samples fall into the second of the one before, "
			    "Graphite keeps the last of a second",
			    walk.same_second);
	clear_names(&walk.metrics);
	clear_names(&walk.items);
	free(walk.path);
	return status ? -1 : 0;
}

/*
 * What events say: how busy each processor was, exactly, and messages; in intervals that
 * begin at whole multiples since the epoch and bear the time of their end.
 */

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
	const char *node = node_part(busy->run, busy->node);
	char *path;
	int status;

	if (!node || known_ns <= 0)
		return 0;
	path = mem_printf("%s.%s.events.%s.percent_busy", busy->run->wish->cluster, node,
			  what);
	status = give_point(busy->run, path, end_of(busy->run, busy->interval),
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
	const char *source = node_part(run, row[0].integer);
	const char *target = node_part(run, row[1].integer);
	double seconds = run->wish->interval;
	nsec_t end_ns = end_of(run, row[2].integer);
	char *path;
	int status;

	if (!source || !target)
		return 0;
	path = mem_printf("%s.%s.messages.to_%s.count_per_s", run->wish->cluster, source,
			  target);
	status = give_point(run, path, end_ns, (double)row[3].integer / seconds, error);
	free(path);
	path = mem_printf("%s.%s.messages.to_%s.bytes_per_s", run->wish->cluster, source,
			  target);
	if (!status && row[4].type == CELL_INTEGER)
		status = give_point(run, path, end_ns, (double)row[4].integer / seconds,
				    error);
	free(path);
	return status;
}

static int walk_events(struct graphite_run *run, struct error *error)
{
	const struct scope *scope = &run->export->scope;
	const struct cell value[] = {cell_of_integer(scope->begin_ns),
				     cell_of_integer(scope->end_ns),
				     cell_of_integer(run->wish->interval * NSEC_PER_SEC)};
	struct busy busy = {.run = run};

	if (is_wanted(run, "events") && (query_rows(run->export->timeline, busy_sql,
						    value, take_busy, &busy, error) ||
					 end_interval(&busy, error)))
		return -1;
	return is_wanted(run, "messages")
		   ? query_rows(run->export->timeline, messages_sql, value, take_messages,
				run, error)
		   : 0;
}

static void name_nodes(struct graphite_run *run)
{
	const struct scope *scope = &run->export->scope;
	struct name_set taken = {0};

	run->node = mem_zalloc((scope->nodes + 1) * sizeof(*run->node));
	for (size_t i = 0; i < scope->nodes; i++) {
		const char *name = scope->node[i].name;
		char *part = graphite_part(name, strlen(name));

		run->node[i] = name_pick(&taken, part, NULL);
		free(part);
	}
	name_clear(&taken);
}

int graphite_walk(struct export *export, const struct graphite_wish *wish,
		  graphite_take *take, void *context, struct error *error)
{
	struct graphite_run run = {
	    .export = export, .wish = wish, .take = take, .context = context};
	int status;

	name_nodes(&run);
	status = walk_samples(&run, error) || walk_events(&run, error) ? -1 : 0;
	if (!status && !run.points)
		problem_add(&export->notes, export->path, "empty", 1,
			    "no sample, and no event that tells of processors or "
			    "messages");
	for (size_t i = 0; i < export->scope.nodes; i++)
		free(run.node[i]);
	free(run.node);
	return status;
}
