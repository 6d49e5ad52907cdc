/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sar and others sampled, in tables and pictures. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/files.h"
#include "analyze/gnuplot.h"
#include "analyze/metric_plots.h"
#include "base/file_name.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/output_directory.h"

static const struct result_column metric_columns[] = {
    {"activity", "ACTIVITY", UNIT_TEXT}, {"metric", "METRIC", UNIT_TEXT},
    {"unit", "UNIT", UNIT_TEXT},         {"node", "NODE", UNIT_TEXT},
    {"item", "OF", UNIT_TEXT},           {"samples", "SAMPLES", UNIT_COUNT},
    {"min", "MIN", UNIT_NUMBER},         {"mean", "MEAN", UNIT_NUMBER},
    {"max", "MAX", UNIT_NUMBER},         {NULL, NULL, 0},
};

static const struct result_column interval_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"activity", "ACTIVITY", UNIT_TEXT},
    {"metric", "METRIC", UNIT_TEXT},
    {"unit", "UNIT", UNIT_TEXT},
    {"node", "NODE", UNIT_TEXT},
    {"item", "OF", UNIT_TEXT},
    {"mean", "MEAN", UNIT_NUMBER},
    {"max", "MAX", UNIT_NUMBER},
    {NULL, NULL, 0},
};

/* What is shown where no metric is named. */
static const char *const usual[] = {
    "%iowait", "%idle", "%usr",     "%sys",     "kbmemused", "%memused", "kbswpused",
    "rkB/s",   "wkB/s", "rd_sec/s", "wr_sec/s", "%util",     "rxkB/s",   "txkB/s"};

struct metrics {
	struct question *question;
	struct metric_aliases aliases;
	struct result *result;
	struct result_table *table, *over_time;
	struct output_directory directory; /* of the pictures */
	struct text_list taken;            /* their names */
	size_t pictures;
};

static bool matches(const struct text_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], name, 0) == 0)
			return true;
	return false;
}

static bool is_usual(const char *name, const char *activity)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(usual[i], name))
			return strcmp(activity, "process") != 0;
	return !strcmp(activity, "sensor");
}

static bool wants_metric(const struct metrics *metrics, const struct cell *row)
{
	const struct text_list *globs = &metrics->question->request->metrics;
	const char *activity = row[1].type == CELL_TEXT ? row[1].bytes : "";

	if (row[2].type != CELL_TEXT)
		return false;
	return globs->count ? matches(globs, row[2].bytes)
			    : is_usual(row[2].bytes, activity);
}

/* Of a processor's metrics only those of all, where no item is named. */
static bool wants_item(const struct metrics *metrics, const struct cell *activity,
		       const char *item)
{
	const struct text_list *globs = &metrics->question->request->items;

	if (globs->count)
		return matches(globs, item) ||
		       matches(globs, metric_alias(&metrics->aliases, item));
	return activity->type != CELL_TEXT || strcmp(activity->bytes, "cpu") != 0 ||
	       !strcmp(item, "all");
}

struct wanted { /* one metric */
	struct metrics *metrics;
	struct cell id, activity, name, unit; /* texts copied */
};

struct wanted_list {
	struct metrics *metrics;
	struct wanted *item;
	size_t count, room;
};

static struct cell copy_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT
		   ? cell_of_text(mem_strndup(cell->bytes, cell->size))
		   : cell_of_null();
}

static int take_metric(void *context, const struct cell *row)
{
	struct wanted_list *list = context;

	if (!wants_metric(list->metrics, row))
		return 0;
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count++] = (struct wanted){.metrics = list->metrics,
						    .id = row[0],
						    .activity = copy_of(&row[1]),
						    .name = copy_of(&row[2]),
						    .unit = copy_of(&row[3])};
	return 0;
}

static void clear_wanted(struct wanted_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct wanted *wanted = &list->item[i];
		struct cell *cells[] = {&wanted->activity, &wanted->name, &wanted->unit};

		for (size_t k = 0; k < 3; k++)
			if (cells[k]->type == CELL_TEXT)
				free((char *)cells[k]->bytes);
	}
	free(list->item);
}

static const char *item_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? cell->bytes : "";
}

static bool wants_row(const struct wanted *wanted, const struct cell *node,
		      const struct cell *item)
{
	const struct metrics *metrics = wanted->metrics;

	return scope_has_node(&metrics->question->scope, node->integer) &&
	       wants_item(metrics, &wanted->activity, item_of(item));
}

static struct cell alias_of(const struct wanted *wanted, const struct cell *item)
{
	return cell_of_text(metric_alias(&wanted->metrics->aliases, item_of(item)));
}

static const char sum_sql[] =
    "SELECT s.node, i.name, count(s.value), min(s.value), avg(s.value), max(s.value) "
    "FROM sample AS s LEFT JOIN metric_item AS i ON i.id = s.item "
    "WHERE s.metric = ?1 AND s.ts_ns BETWEEN ?2 AND ?3 GROUP BY s.node, s.item";

static int take_sum(void *context, const struct cell *row)
{
	const struct wanted *wanted = context;
	const struct metrics *metrics = wanted->metrics;

	if (wants_row(wanted, &row[0], &row[1]))
		result_add(
		    metrics->table,
		    (struct cell[]){
			wanted->activity, wanted->name, wanted->unit,
			cell_of_text(question_node(metrics->question, row[0].integer)),
			alias_of(wanted, &row[1]), row[2], row[3], row[4], row[5]});
	return 0;
}

static const char interval_sql[] =
    "SELECT s.node, i.name, ?2 + (s.ts_ns - ?2) / ?4 * ?4, avg(s.value), max(s.value) "
    "FROM sample AS s LEFT JOIN metric_item AS i ON i.id = s.item "
    "WHERE s.metric = ?1 AND s.ts_ns BETWEEN ?2 AND ?3 GROUP BY s.node, s.item, 3";

static int take_interval(void *context, const struct cell *row)
{
	const struct wanted *wanted = context;
	const struct metrics *metrics = wanted->metrics;

	if (wants_row(wanted, &row[0], &row[1]))
		result_add(
		    metrics->over_time,
		    (struct cell[]){
			row[2], wanted->activity, wanted->name, wanted->unit,
			cell_of_text(question_node(metrics->question, row[0].integer)),
			alias_of(wanted, &row[1]), row[3], row[4]});
	return 0;
}

static int fill_metric(struct wanted *wanted, struct error *error)
{
	const struct metrics *metrics = wanted->metrics;
	const struct scope *scope = &metrics->question->scope;
	const struct cell values[] = {
	    wanted->id, cell_of_integer(scope->begin_ns), cell_of_integer(scope->end_ns),
	    cell_of_integer(metrics->question->request->interval_ns)};

	if (question_ask(metrics->question, sum_sql, values, take_sum, wanted, error))
		return -1;
	return metrics->over_time ? question_ask(metrics->question, interval_sql, values,
						 take_interval, wanted, error)
				  : 0;
}

static int fill_tables(struct metrics *metrics, struct error *error)
{
	struct wanted_list list = {.metrics = metrics};
	int status = question_ask(
	    metrics->question, "SELECT id, activity, name, unit FROM metric ORDER BY id",
	    NULL, take_metric, &list, error);

	for (size_t i = 0; i < list.count && !status; i++) {
		status = fill_metric(&list.item[i], error);
		question_share(metrics->question, (double)i / (double)list.count);
	}
	clear_wanted(&list);
	return status;
}

static int draw(const struct line_plot *plot, const char *path, const char *format,
		struct error *error)
{
	struct output output;

	if (strcmp(format, "svg") != 0)
		return gnuplot_draw(plot, format, path, error);
	if (output_open(&output, path, error))
		return -1;
	line_plot_draw(plot, output.file);
	return output_commit(&output, error);
}

/* A picture in each format asked for. */
static int take_plot(void *context, const struct line_plot *plot, const char *file,
		     struct error *error)
{
	struct metrics *metrics = context;
	const struct request *request = metrics->question->request;
	char *formats = mem_strdup(request->plot_format ? request->plot_format : "svg");
	char *name = file_name_take(&metrics->taken, file);
	char *format, *rest;
	int status = 0;

	for (format = strtok_r(formats, ",", &rest); format && !status;
	     format = strtok_r(NULL, ",", &rest)) {
		char *path =
		    mem_printf("%s/%s.%s", metrics->directory.temporary, name, format);
		char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));

		status = files_make_directory(folder, error);
		if (!status)
			status = draw(plot, path, format, error);
		metrics->pictures += !status;
		free(folder);
		free(path);
	}
	free(name);
	free(formats);
	return status;
}

/* All pictures or none; those of an earlier call are replaced. */
static int draw_all(struct metrics *metrics, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE, .parents = true};
	struct question *question = metrics->question;
	struct output_directory *directory = &metrics->directory;
	int status =
	    output_directory_open(directory, question->request->plot, &kind, error);

	if (status)
		return -1;
	status = metric_plots(question, &metrics->aliases, take_plot, metrics, error);
	if (status)
		output_directory_explain(directory, error);
	else
		status = output_directory_commit(directory, error);
	output_directory_discard(directory);
	text_list_clear(&metrics->taken);
	if (!status)
		result_note(metrics->result, "%zu pictures in %s", metrics->pictures,
			    question->request->plot);
	return status;
}

static int check_formats(const struct request *request, struct error *error)
{
	char *formats, *format, *rest;
	int status = 0;

	if (request->plot_format && !request->plot)
		return error_set(error, "--plot-format wants --plot DIR");
	formats = mem_strdup(request->plot_format ? request->plot_format : "");
	for (format = strtok_r(formats, ",", &rest); format && !status;
	     format = strtok_r(NULL, ",", &rest))
		if (strcmp(format, "svg") != 0 && !gnuplot_knows(format))
			status = error_set(error,
					   "--plot-format: no format '%s', want svg, "
					   "eps, png or pdf",
					   format);
	free(formats);
	return status;
}

static int run_metrics(struct question *question, struct result *result,
		       struct error *error)
{
	struct metrics metrics = {.question = question, .result = result};
	int status = -1;

	metrics.table = result_table_new(result, "metrics", "Metrics", metric_columns);
	result_table_sort(metrics.table, "activity,metric,item,node");
	if (question->request->interval_ns) {
		metrics.over_time = result_table_new(
		    result, "over_time", "Metrics over time", interval_columns);
		result_table_sort(metrics.over_time,
				  "begin_ns,activity,metric,item,node");
	}
	if (!check_formats(question->request, error) &&
	    !metric_aliases_read(&metrics.aliases, question, error) &&
	    !fill_tables(&metrics, error))
		status = 0;
	if (!status && question->request->plot)
		status = draw_all(&metrics, error);
	if (!metrics.table->added)
		result_note(result, "metrics: not recorded (collect with sar)");
	metric_aliases_clear(&metrics.aliases);
	return status;
}

const struct analysis analysis_metrics = {
    .name = "metrics",
    .summary = "what sar and others sampled, in tables and pictures",
    .description =
	"metrics: processors waiting and busy, memory, swap, disks and interfaces;\n"
	"--metric and --item choose others ('*': all). --interval: over time.\n"
	"--plot DIR draws, every node in one picture: cpu/iowait, cpu/utilization,\n"
	"memory/utilization, swap/utilization, disk/DEVICE_read, _write, _utilization,\n"
	"network/INTERFACE_in, _out. --alias NAME=ALIAS names a device or interface;\n"
	"aliases of the recipe hold, too. sar's kB are 1024 bytes.",
    .heeds = HEEDS_METRIC | HEEDS_INTERVAL,
    .run = run_metrics,
};
