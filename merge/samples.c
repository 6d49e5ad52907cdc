/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "input/clock_samples.h"
#include "input/csv.h"
#include "input/sadf.h"
#include "timeline/rows.h"

/*
 * A timestamp more than STAMPS_FAR_NS before the first or after the last event of all
 * traces and captures of the run cannot be right: the clock was not set, or the unit is
 * wrong. Rows of that time are omitted and reported. sar's logs have whole days, so those
 * of yesterday and tomorrow are accepted. A run without traces and captures has no limit.
 */
#define STAMPS_FAR_NS (2 * 86400 * NSEC_PER_SEC)

/* The state of reading the files of all nodes, one node after the other. */
struct sampler {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct error *error;
	struct texts metrics, items; /* those that have rows; a number + 1 is the id */
	nsec_t first_ns, last_ns;    /* times that are near */

	uint32_t node; /* current node */
	const struct merge_source
	    *source; /* source whose clock places its timestamps; or NULL */
	struct clock_samples clock;
	bool has_clock;
	bool is_reported; /* that no source, or no clock.csv, places it */
	uint64_t doubts;  /* stamps around a step of the clock, */
	nsec_t doubt_ns;  /* at most so far off */
	uint64_t far;     /* timestamps of the current file outside of the run */
};

/* Rank the clocks of a node's sources for placing samples; a kernel trace's is best. */
static int clock_rank(const struct merge_source *source)
{
	if (!source->is_read || !source->clock.segments)
		return 0;
	if (strcmp(source->kind, "capture") == 0)
		return 1;
	if (!source->facts.has_uuid)
		return 0;
	return strcmp(source->kind, "kernel") == 0 ? 3 : 2;
}

static const struct merge_source *best_source(const struct merge_run *run, uint32_t node)
{
	const struct merge_source *best = NULL;

	for (size_t i = 0; i < run->count; i++) {
		const struct merge_source *source = &run->source[i];

		if (source->node == node &&
		    clock_rank(source) > (best ? clock_rank(best) : 0))
			best = source;
	}
	return best;
}

static void find_near(struct sampler *sampler)
{
	const struct merge_run *run = sampler->run;
	nsec_t first, last;

	merge_run_extent(run, NULL, &first, &last);
	/* A part's map also has the clocks of the other nodes. */
	for (size_t i = 0; run->is_part && i < run->map.clocks; i++) {
		const struct clock *clock = &run->map.clock[i];
		nsec_t begin, end;

		if (!clock->begin_ns && !clock->end_ns)
			continue;
		begin = clock_correct(clock, clock->begin_ns);
		end = clock_correct(clock, clock->end_ns);
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	sampler->first_ns = first > last ? NSEC_MIN : nsec_sub(first, STAMPS_FAR_NS);
	sampler->last_ns = first > last ? NSEC_MAX : nsec_add(last, STAMPS_FAR_NS);
}

/* Return true if an instant of the axis is outside of the run. */
static bool sampler_is_far(const struct sampler *sampler, nsec_t ts_ns)
{
	return ts_ns < sampler->first_ns || ts_ns > sampler->last_ns;
}

/* Start with a node: read its clock.csv, if it has one. Problems are added to the run. */
static void begin_node(struct sampler *sampler)
{
	const struct run_node *files = sampler->run->node[sampler->node].files;
	const char *path = run_node_file(files, RUN_FILE_CLOCK);

	sampler->source = best_source(sampler->run, sampler->node);
	sampler->has_clock = path && clock_samples_read(&sampler->clock, path,
							&sampler->run->problems) == 0;
	sampler->is_reported = false;
	sampler->doubts = 0;
	sampler->doubt_ns = 0;
}

static bool is_capture(const struct merge_source *source)
{
	return source && strcmp(source->kind, "capture") == 0;
}

static void report_clock(struct sampler *sampler)
{
	const char *text =
	    !sampler->source
		? "no trace to place samples and tasks by, their timestamps are "
		  "left as they are"
	    : is_capture(sampler->source)
		? "no trace to place samples and tasks by, they are placed by "
		  "a capture's clock"
	    : !sampler->has_clock
		? "no clock.csv, samples and tasks are placed as if the "
		  "real-time clock were the epoch time of the trace"
		: NULL;

	sampler->is_reported = true;
	if (text)
		problem_add(&sampler->run->problems,
			    sampler->run->node[sampler->node].name, PROBLEM_CLOCK, 1,
			    "%s", text);
}

/*
 * Convert a timestamp of the node's real-time clock to the timeline's axis. clock.csv
 * converts it to the monotonic clock, which is that of the kernel trace; the trace's
 * correction then applies. Without clock.csv the timestamps are assumed to have the
 * trace's epoch; without a trace, a capture's; without either, that of the axis.
 */
static nsec_t sampler_place(struct sampler *sampler, nsec_t realtime_ns)
{
	const struct merge_source *source = sampler->source;
	nsec_t local_ns = realtime_ns, ts_ns;

	if (!sampler->is_reported)
		report_clock(sampler);
	if (!source)
		return realtime_ns;
	if (sampler->has_clock && !is_capture(source)) {
		struct clock_place place =
		    clock_samples_monotonic(&sampler->clock, realtime_ns);

		local_ns = nsec_add(place.ns, source->facts.clock_offset_ns);
		sampler->doubts += place.doubt_ns != 0;
		if (place.doubt_ns > sampler->doubt_ns)
			sampler->doubt_ns = place.doubt_ns;
	}
	/* A trace can claim any offset. NSEC_MIN means unknown, so avoid it. */
	ts_ns = clock_correct(&source->clock, local_ns);
	return ts_ns == NSEC_MIN ? NSEC_MIN + 1 : ts_ns;
}

/* Reports the stamps that were in doubt. */
static void end_node(struct sampler *sampler)
{
	char span[NSEC_TEXT];

	if (sampler->doubts)
		problem_add(&sampler->run->problems,
			    sampler->run->node[sampler->node].name, PROBLEM_CLOCK,
			    sampler->doubts,
			    "timestamps around a step of the real-time clock may be off "
			    "by up to %s",
			    nsec_format_span(span, (double)sampler->doubt_ns));
	clock_samples_clear(&sampler->clock);
}

/* Return the id of a list of strings, and set `is_new` if it was added. */
static int64_t id_of(const struct sampler *sampler, struct texts *texts,
		     const char *const part[], size_t parts, bool *is_new)
{
	struct bytes key = {0};
	size_t before = texts->count;
	int64_t id;

	for (size_t i = 0; i < parts; i++) {
		bytes_add_byte(&key, part[i] ? '=' : '-'); /* NULL is not "" */
		bytes_add_text(&key, part[i] ? part[i] : "");
		bytes_add_byte(&key, '\n');
	}
	bytes_add_byte(&key, 0);
	id = (int64_t)texts_put(texts, (const char *)key.data) + 1;
	*is_new = texts->count > before;
	if (sampler->run->is_part)
		id = hash_id(hash_bytes(HASH_INIT, key.data, key.size));
	bytes_clear(&key);
	return id;
}

static int64_t add_metric(struct sampler *sampler, const struct timeline_metric *metric)
{
	const char *part[] = {metric->name, metric->unit, metric->kind, metric->activity};
	struct timeline_metric row = *metric;
	bool is_new;

	row.id = id_of(sampler, &sampler->metrics, part, 4, &is_new);
	if (is_new && timeline_add_metric(sampler->writer, &row, sampler->error))
		return -1;
	return row.id;
}

static int64_t add_item(struct sampler *sampler, const char *type, const char *name)
{
	const char *part[] = {type, name};
	struct timeline_metric_item row = {.type = type, .name = name};
	bool is_new;

	row.id = id_of(sampler, &sampler->items, part, 2, &is_new);
	if (is_new && timeline_add_metric_item(sampler->writer, &row, sampler->error))
		return -1;
	return row.id;
}

/* Return true if the node and the time are selected. A time outside of the run is counted
 * and is not selected. */
static bool sampler_wants(struct sampler *sampler, nsec_t ts_ns)
{
	if (sampler_is_far(sampler, ts_ns)) {
		sampler->far++;
		return false;
	}
	return selection_has_time(sampler->selection, ts_ns) &&
	       selection_has_node(sampler->selection,
				  sampler->run->node[sampler->node].name);
}

/* A sample to be added. `item_type` is NULL if it is of the whole node. */
struct sampled {
	struct timeline_metric metric;
	const char *item_type, *item;
	nsec_t ts_ns, interval_ns;
	double value;
};
static int sampler_add(struct sampler *sampler, const struct sampled *sampled)
{
	struct timeline_sample row = {.node = sampler->run->node[sampler->node].id,
				      .ts_ns = sampled->ts_ns,
				      .item = TIMELINE_NONE,
				      .value = sampled->value,
				      .interval_ns = sampled->interval_ns};

	row.metric = add_metric(sampler, &sampled->metric);
	if (sampled->item)
		row.item = add_item(sampler, sampled->item_type, sampled->item);
	if (row.metric == -1 || row.item == -1)
		return -1;
	return timeline_add_sample(sampler->writer, &row, sampler->error);
}

#define ACTIVITY "process"

/* Return the parent if it has changed, which is rare; otherwise -1. */
static int64_t new_parent(struct intmap *parents, int64_t pid, int64_t ppid)
{
	int64_t last;

	if (ppid < 0 || (intmap_get(parents, (uint64_t)pid, &last) && last == ppid))
		return -1;
	intmap_put(parents, (uint64_t)pid, ppid);
	return ppid;
}

/* Its values: unknown ones, which are negative, have no row. */
static int add_process_samples(struct sampler *sampler, struct intmap *parents,
			       const struct csv_cell *cell)
{
	struct sampled sampled = {.item_type = ACTIVITY,
				  .ts_ns =
				      sampler_place(sampler, cell[PROC_REALTIME].integer),
				  .interval_ns = TIMELINE_NONE};
	int64_t pid = cell[PROC_PID].integer;
	const char *comm = cell[PROC_COMM].text;
	AUTOFREE char *item =
	    mem_printf("%" PRId64 "%s%s", pid, comm ? " " : "", comm ? comm : "");
	int status = 0;

	if (!sampler_wants(sampler, sampled.ts_ns))
		return 0;
	const struct {
		struct timeline_metric metric;
		int64_t value;
	} values[] = {
	    {{0, "utime", "ns", "counter", ACTIVITY}, cell[PROC_UTIME].integer},
	    {{0, "stime", "ns", "counter", ACTIVITY}, cell[PROC_STIME].integer},
	    {{0, "rss", "KiB", "gauge", ACTIVITY}, cell[PROC_RSS].integer},
	    {{0, "read", "bytes", "counter", ACTIVITY}, cell[PROC_READ].integer},
	    {{0, "write", "bytes", "counter", ACTIVITY}, cell[PROC_WRITTEN].integer},
	    {{0, "ppid", NULL, "gauge", ACTIVITY},
	     new_parent(parents, pid, cell[PROC_PPID].integer)},
	    {{0, "state", "character", "gauge", ACTIVITY}, cell[PROC_STATE].integer},
	};
	sampled.item = item;
	for (size_t i = 0; !status && i < sizeof(values) / sizeof(*values); i++) {
		if (values[i].value < 0)
			continue;
		sampled.metric = values[i].metric;
		sampled.value = (double)values[i].value;
		status = sampler_add(sampler, &sampled);
	}
	return status;
}

/* Return a sensor's metric. Its name is its unit if it is one of these. */
static struct timeline_metric sensor_metric(const char *name)
{
	static const char *const units[] = {"celsius", "joules", "watts", "volts",
					    "amperes", "hertz",  "rpm",   "percent"};
	struct timeline_metric metric = {.name = name, .activity = "sensor"};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(units[i], name) != 0)
			continue;
		metric.unit = units[i];
		metric.kind = strcmp(name, "joules") == 0 ? "counter" : "gauge";
	}
	return metric;
}

static int add_sensor_sample(struct sampler *sampler, struct intmap *parents,
			     const struct csv_cell *cell)
{
	struct sampled sampled = {
	    .metric = sensor_metric(cell[SENSOR_METRIC].text),
	    .item_type = "sensor",
	    .item = cell[SENSOR_NAME].text,
	    .ts_ns = sampler_place(sampler, cell[SENSOR_REALTIME].integer),
	    .interval_ns = TIMELINE_NONE,
	    .value = cell[SENSOR_VALUE].real};

	(void)parents;
	return sampler_wants(sampler, sampled.ts_ns) ? sampler_add(sampler, &sampled) : 0;
}

static int sample_csv(struct sampler *sampler, const char *path,
		      const struct csv_columns *columns,
		      int (*on_row)(struct sampler *sampler, struct intmap *parents,
				    const struct csv_cell *cell))
{
	struct intmap parents = {0}; /* by pid: the last one */
	struct problem_log log;
	struct csv_row row;
	struct csv *csv;
	int status = 0;

	problem_log_init(&log, path, &sampler->run->problems);
	csv = csv_open(path, columns, &log);
	while (csv && !status && csv_next(csv, &row))
		status = on_row(sampler, &parents, row.cell);
	csv_close(csv);
	intmap_clear(&parents);
	return status;
}

enum { MARKS_MOST = 1000 }; /* problems of a file */

struct sar {
	struct sampler *sampler;
	const char *path;
	uint64_t texts; /* values that are not numbers */
	uint64_t marks; /* restarts and comments */
};

static int add_sar_sample(struct sar *sar, const struct sadf_row *row)
{
	bool has_item = strcmp(row->item, "-") != 0;
	struct sampled sampled = {.metric = {.name = row->metric,
					     .unit = row->about.unit,
					     .kind = row->about.kind,
					     .activity = row->about.activity},
				  .item_type = row->about.item_type,
				  .item = has_item ? row->item : NULL,
				  .ts_ns = sampler_place(sar->sampler, row->realtime_ns),
				  .interval_ns = row->interval_ns > 0 ? row->interval_ns
								      : TIMELINE_NONE,
				  .value = row->value};

	if (!sampler_wants(sar->sampler, sampled.ts_ns))
		return 0;
	sar->texts += isnan(row->value) != 0;
	return sampler_add(sar->sampler, &sampled);
}

/* A restart of sar or a comment in its log. */
static void add_mark(struct sar *sar, const struct sadf_row *mark)
{
	nsec_t ts_ns = sampler_place(sar->sampler, mark->realtime_ns);
	bool is_restart = mark->kind == SADF_RESTART;
	AUTOFREE char *place = mem_printf("%s:%" PRIu64, sar->path, mark->line);
	char time[NSEC_TEXT];

	if (!sampler_wants(sar->sampler, ts_ns) || sar->marks++ >= MARKS_MOST)
		return;
	problem_add(&sar->sampler->run->problems, place,
		    is_restart ? PROBLEM_RESTART : PROBLEM_COMMENT, 1, "%s: %s%s%.400s",
		    nsec_format_seconds(time, ts_ns),
		    is_restart ? "sar was started again" : "",
		    is_restart && *mark->text ? ", " : "", mark->text);
}

static int sample_sar(struct sampler *sampler, const char *path)
{
	struct sar sar = {.sampler = sampler, .path = path};
	struct problem_list *problems = &sampler->run->problems;
	struct problem_log log;
	struct sadf_row row;
	struct sadf *sadf;
	int status = 0;

	problem_log_init(&log, path, problems);
	sadf = sadf_open(path, &log);
	while (sadf && !status && sadf_next(sadf, &row)) {
		if (row.kind == SADF_VALUE)
			status = add_sar_sample(&sar, &row);
		else
			add_mark(&sar, &row);
	}
	sadf_close(sadf);
	if (sar.texts)
		problem_add(problems, path, PROBLEM_TEXT, sar.texts,
			    "values are not numbers; their samples have none");
	if (sar.marks > MARKS_MOST)
		problem_add(problems, path, PROBLEM_COMMENT, sar.marks - MARKS_MOST,
			    "further restarts and comments; skipped");
	return status;
}

struct tasks {
	struct sampler *sampler;
	struct problem_log log;
};

/* A task that ran on a node, as its launcher recorded it. */
struct task {
	struct timeline_invocation row; /* its stamps are as recorded at first */
	const char *node;               /* the node it ran on; NULL if it is the file's */
	json_t *rest;                   /* what no column has */
	uint64_t line;
};

static void check_order(const struct task *task, struct problem_log *log)
{
	const nsec_t times[] = {task->row.enqueue_ns, task->row.begin_ns,
				task->row.end_ns};
	nsec_t last = TIMELINE_NONE;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] == TIMELINE_NONE)
			continue;
		if (times[i] < last)
			problem_log_add(log, PROBLEM_BACKWARD, task->line,
					"enqueued, started and ended out of order");
		last = times[i];
	}
}

static void read_task(struct task *task, const json_t *record, struct problem_log *log)
{
	static const struct member known[] = {
	    {"name", MEMBER_TEXT, offsetof(struct task, row.name)},
	    {"node", MEMBER_TEXT, offsetof(struct task, node)},
	    {"pid", MEMBER_INTEGER, offsetof(struct task, row.pid)},
	    {"enqueued_ns", MEMBER_STAMP, offsetof(struct task, row.enqueue_ns)},
	    {"started_ns", MEMBER_STAMP, offsetof(struct task, row.begin_ns)},
	    {"ended_ns", MEMBER_STAMP, offsetof(struct task, row.end_ns)},
	    {"bytes", MEMBER_INTEGER, MEMBER_STAYS},
	    {"trace_id", MEMBER_TEXT, MEMBER_STAYS},
	    {"status", MEMBER_INTEGER_OR_TEXT, offsetof(struct task, row.status)},
	    {"argv", MEMBER_ARRAY, MEMBER_STAYS},
	    {"command", MEMBER_TEXT, MEMBER_STAYS},
	    {NULL, MEMBER_ANY, 0},
	};
	const json_t *argv = json_object_get(record, "argv");
	char *command;

	task->rest = members_read(record, known, task, log, task->line);
	if (json_is_array(argv) && !json_object_get(task->rest, "command")) {
		command = json_join(argv, " ");
		json_set_text(task->rest, "command", command);
		free(command);
	}
	check_order(task, log);
}

/* Return the index of the node that it ran on, or -1 if the run has no such node. */
static int64_t node_of(const struct tasks *tasks, const struct task *task)
{
	const struct merge_run *run = tasks->sampler->run;

	if (!task->node)
		return tasks->sampler->node;
	for (size_t i = 0; i < run->nodes; i++)
		if (strcmp(run->node[i].name, task->node) == 0)
			return (int64_t)i;
	return -1;
}

/* One outside of the run is reported, and not known; the rest of its task is used. */
static nsec_t place_stamp(struct tasks *tasks, const struct task *task, const char *name,
			  nsec_t realtime_ns)
{
	char text[NSEC_TEXT];
	nsec_t ts_ns;

	if (realtime_ns == TIMELINE_NONE)
		return TIMELINE_NONE;
	ts_ns = sampler_place(tasks->sampler, realtime_ns);
	if (!sampler_is_far(tasks->sampler, ts_ns))
		return ts_ns;
	problem_log_add(
	    &tasks->log, PROBLEM_STAMP, task->line,
	    "%s %s is more than two days before or after all traces and captures "
	    "of the run; treated as unknown",
	    name, nsec_format_utc(text, realtime_ns));
	return TIMELINE_NONE;
}

/* Return true if part of its time is selected, or if it has no time. */
static bool is_wanted(const struct tasks *tasks, const struct timeline_invocation *row,
		      const char *node)
{
	const struct selection *selection = tasks->sampler->selection;
	const nsec_t times[] = {row->enqueue_ns, row->begin_ns, row->end_ns};
	nsec_t first = NSEC_MAX, last = NSEC_MIN;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] == TIMELINE_NONE)
			continue;
		first = times[i] < first ? times[i] : first;
		last = times[i] > last ? times[i] : last;
	}
	if (!selection_has_node(selection, node))
		return false;
	return first > last ||
	       (first <= selection->end_ns && last >= selection->begin_ns);
}

static int add_task(struct tasks *tasks, struct task *task)
{
	struct sampler *sampler = tasks->sampler;
	struct timeline_invocation *row = &task->row;
	int64_t node = node_of(tasks, task);
	char *data = NULL;
	int status;

	row->enqueue_ns = place_stamp(tasks, task, "enqueued_ns", row->enqueue_ns);
	row->begin_ns = place_stamp(tasks, task, "started_ns", row->begin_ns);
	row->end_ns = place_stamp(tasks, task, "ended_ns", row->end_ns);
	if (!is_wanted(tasks, row, node < 0 ? task->node : sampler->run->node[node].name))
		return 0;
	if (node < 0) {
		problem_log_add(&tasks->log, PROBLEM_NODE, task->line,
				"unknown node '%s'; the task has none", task->node);
		json_set_text(task->rest, "node", task->node);
	} else {
		row->node = sampler->run->node[node].id;
	}
	if (json_object_size(task->rest))
		row->data = data = json_one_line(task->rest);
	status = timeline_add_invocation(sampler->writer, row, sampler->error);
	free(data);
	return status;
}

/* Read the tasks of a file. Return 0, also if it cannot be read, which is a problem of
 * the run; -1 with the sampler's error if writing failed. */
static int sample_invocations(struct sampler *sampler, const char *path)
{
	struct tasks tasks = {.sampler = sampler};
	struct line_reader *lines;
	struct text_line line;
	json_t *record;
	int status = 0;

	problem_log_init(&tasks.log, path, &sampler->run->problems);
	lines = line_reader_open(path, &tasks.log);
	while (lines && !status && (record = line_reader_next_object(lines, &line))) {
		struct task task = {.row = {.node = TIMELINE_NONE,
					    .pid = TIMELINE_NONE,
					    .enqueue_ns = TIMELINE_NONE,
					    .begin_ns = TIMELINE_NONE,
					    .end_ns = TIMELINE_NONE,
					    .status = TIMELINE_NONE,
					    .process = TIMELINE_NONE},
				    .line = line.number};

		read_task(&task, record, &tasks.log);
		status = add_task(&tasks, &task);
		json_decref(task.rest);
		json_decref(record);
	}
	line_reader_close(lines);
	return status;
}

static int read_file(struct sampler *sampler, const struct run_file *file)
{
	switch (file->kind) {
	case RUN_FILE_SADF:
		return sample_sar(sampler, file->path);
	case RUN_FILE_SA:
		problem_add(&sampler->run->problems, file->path, PROBLEM_UNREADABLE, 1,
			    "binary log of sar skipped; convert it with LC_ALL=C sadf -p "
			    "-U FILE.sa -- -A >FILE.sadf");
		break;
	case RUN_FILE_PROC:
		return sample_csv(sampler, file->path, &proc_columns,
				  add_process_samples);
	case RUN_FILE_SENSORS:
		return sample_csv(sampler, file->path, &sensor_columns,
				  add_sensor_sample);
	case RUN_FILE_INVOCATIONS:
		return sample_invocations(sampler, file->path);
	case RUN_FILE_NODE:
	case RUN_FILE_CLOCK:
	case RUN_FILE_CLAIMS:
		break;
	}
	return 0;
}

static int read_node(struct sampler *sampler)
{
	const struct run_node *files = sampler->run->node[sampler->node].files;
	int status = 0;

	if (!files)
		return 0;
	begin_node(sampler);
	for (size_t i = 0; !status && i < files->files; i++) {
		sampler->far = 0;
		status = read_file(sampler, &files->file[i]);
		if (sampler->far)
			problem_add(&sampler->run->problems, files->file[i].path,
				    PROBLEM_STAMP, sampler->far,
				    "stamped more than two days before or after all "
				    "traces and captures of the run; skipped");
	}
	end_node(sampler);
	return status;
}

int merge_samples(struct merge_run *run, const struct selection *selection,
		  struct timeline_writer *writer, struct error *error)
{
	struct sampler sampler = {
	    .run = run, .selection = selection, .writer = writer, .error = error};
	int status = 0;

	find_near(&sampler);
	/* A node that is not wanted may still hold tasks that ran elsewhere. */
	for (; !status && sampler.node < run->nodes; sampler.node++)
		status = read_node(&sampler);
	texts_clear(&sampler.metrics);
	texts_clear(&sampler.items);
	return status;
}
