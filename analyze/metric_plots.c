/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/chart.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"

static int take_alias(void *context, const struct cell *row, struct error *error)
{
	struct metric_aliases *aliases = context;

	(void)error;
	if (row[0].type != CELL_TEXT || row[1].type != CELL_TEXT || !row[1].size)
		return 0;
	text_list_add(&aliases->names, row[0].bytes);
	text_list_add(&aliases->aliases, row[1].bytes);
	return 0;
}

/* Of the run's facts and its recipe: {NAME: ALIAS}, or a list of {NAME: ALIAS}, of {name,
 * alias} or of [name, alias]; what stands there without an alias has none. */
static const char alias_sql[] =
    "WITH facts AS (SELECT CASE WHEN json_valid(value) THEN value ELSE '{}' END AS json"
    " FROM meta WHERE key IN ('run.json', 'recipe')),"
    " member AS (SELECT e.key, e.type, e.value FROM facts, json_tree(facts.json) AS t,"
    "  json_each(t.value) AS e WHERE t.key IN ('net_interfaces', 'interfaces',"
    "  'filesystem_names', 'filesystems', 'aliases') AND t.type IN ('array', 'object')) "
    "SELECT CASE type WHEN 'object' THEN json_extract(value, '$.name')"
    " WHEN 'array' THEN json_extract(value, '$[0]') ELSE key END,"
    " CASE type WHEN 'object' THEN json_extract(value, '$.alias')"
    " WHEN 'array' THEN json_extract(value, '$[1]') ELSE value END FROM member "
    "WHERE type <> 'object' OR json_extract(value, '$.name') IS NOT NULL UNION ALL "
    "SELECT p.key, p.value FROM member AS m, json_each("
    "CASE m.type WHEN 'object' THEN m.value ELSE '{}' END) AS p "
    "WHERE m.type = 'object' AND json_extract(m.value, '$.name') IS NULL "
    "AND p.type = 'text'";

int metric_aliases_read(struct metric_aliases *aliases, struct query *query,
			struct error *error)
{
	const struct text_list *given = &query->request->aliases;

	*aliases = (struct metric_aliases){0};
	for (size_t i = 0; i < given->count; i++) {
		const char *equals = strchr(given->item[i], '=');
		char *name;

		if (!equals || equals == given->item[i] || !equals[1])
			return error_misuse(error,
					    "--alias: '%s' is none, want NAME=ALIAS",
					    given->item[i]);
		name = mem_strndup(given->item[i], (size_t)(equals - given->item[i]));
		text_list_add(&aliases->names, name);
		text_list_add(&aliases->aliases, equals + 1);
		free(name);
	}
	return query_rows(query->reader, alias_sql, NULL, take_alias, aliases, error);
}

const char *metric_alias(const struct metric_aliases *aliases, const char *name)
{
	for (size_t i = 0; i < aliases->names.count; i++)
		if (!strcmp(aliases->names.item[i], name))
			return aliases->aliases.item[i];
	return name;
}

void metric_aliases_clear(struct metric_aliases *aliases)
{
	text_list_clear(&aliases->names);
	text_list_clear(&aliases->aliases);
}

/*
 * The pictures: a quantity of one thing, a line a node. What clusterp drew: processors
 * waiting for disks and busy, memory, swap, disks read, written and busy, interfaces in
 * and out. A value is `base` and the scaled sum of the metrics; `top` is the axis's, 0:
 * as the values are; of an `only` item there is one picture, else one each. Older
 * versions of sysstat call some otherwise. Their kB are 1024 bytes, their sectors 512.
 */
static const char values_sql[] =
    "WITH kind(number, file, title, unit, activity, metric, base, scale, top, only) AS "
    "(VALUES"
    " (1, 'cpu/iowait', 'Processors waiting for disks', '%', 'cpu', '%iowait', 0, 1, 100,"
    "  'all'),"
    " (2, 'cpu/utilization', 'Processors busy', '%', 'cpu', '%iowait', 100, -1, 100,"
    "  'all'),"
    " (2, 'cpu/utilization', 'Processors busy', '%', 'cpu', '%idle', 100, -1, 100, "
    "'all'),"
    " (3, 'memory/utilization', 'Memory in use', 'MiB', 'memory', 'kbmemused', 0,"
    "  1 / 1024.0, 0, NULL),"
    " (4, 'swap/utilization', 'Swap in use', 'MiB', 'swap', 'kbswpused', 0, 1 / 1024.0, "
    "0,"
    "  NULL),"
    " (5, 'disk/read', 'read', 'MiB/s', 'disk', 'rkB/s', 0, 1 / 1024.0, 0, NULL),"
    " (5, 'disk/read', 'read', 'MiB/s', 'disk', 'rd_sec/s', 0, 1 / 2048.0, 0, NULL),"
    " (6, 'disk/write', 'written', 'MiB/s', 'disk', 'wkB/s', 0, 1 / 1024.0, 0, NULL),"
    " (6, 'disk/write', 'written', 'MiB/s', 'disk', 'wr_sec/s', 0, 1 / 2048.0, 0, NULL),"
    " (7, 'disk/utilization', 'busy', '%', 'disk', '%util', 0, 1, 100, NULL),"
    " (8, 'network/in', 'received', 'MiB/s', 'net', 'rxkB/s', 0, 1 / 1024.0, 0, NULL),"
    " (9, 'network/out', 'sent', 'MiB/s', 'net', 'txkB/s', 0, 1 / 1024.0, 0, NULL)) "
    "SELECT k.number, k.file, k.title, k.unit, k.top, k.only, coalesce(i.name, ''), "
    "s.node,"
    " s.ts_ns, max(s.interval_ns), k.base + sum(k.scale * s.value) "
    "FROM kind AS k JOIN metric AS m ON m.activity = k.activity AND m.name = k.metric "
    "JOIN sample AS s ON s.metric = m.id LEFT JOIN metric_item AS i ON i.id = s.item "
    "WHERE s.value IS NOT NULL AND s.ts_ns BETWEEN ?1 AND ?2"
    " AND (k.only IS NULL OR i.name = k.only) "
    "GROUP BY 1, 7, 8, 9 ORDER BY 1, 7, 8, 9";

/* A node's values. */
struct series {
	int64_t node;
	struct chart_step *step; /* seconds since the begin asked for */
	size_t steps, capacity;
};

struct drawing {
	struct query *query;
	const struct metric_aliases *aliases;
	struct output_directory directory;
	struct text_list names; /* of files so far */
	size_t pictures;
	/* the picture at hand */
	int64_t number; /* of its kind; 0: none yet */
	char *item, *file, *title, *unit;
	double top;
	struct series *series;
	size_t count, capacity;
};

/* Colours that are told apart also by the colour-blind (Okabe and Ito 2008); they repeat
 * with another dash. For free(). */
static char *style_of(size_t n)
{
	static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					      "#e69f00", "#56b4e9", "#000000", "#8a8a00"};
	static const char *const dashes[] = {"none", "7 3", "2 2", "9 3 2 3"};

	return mem_printf("stroke=\"%s\" stroke-width=\"1.5\" stroke-dasharray=\"%s\"",
			  colours[n % 8], dashes[n / 8 % 4]);
}

static void draw_picture(const struct drawing *drawing, FILE *file)
{
	const struct scope *scope = &drawing->query->scope;
	const double height = 300;
	struct chart chart = {.title = drawing->title, .caption = drawing->unit};
	double top = drawing->top;

	for (size_t i = 0; i < drawing->count; i++) {
		const struct series *series = &drawing->series[i];
		AUTOFREE char *style = style_of(i);

		chart_key(&chart, CHART_LINE, style, "%s",
			  query_node_name(drawing->query, series->node));
		for (size_t k = 0; k < series->steps; k++)
			if (series->step[k].value > top)
				top = series->step[k].value;
	}
	chart_axis_open(&chart.x, 0,
			(double)nsec_sub(scope->end_ns, scope->begin_ns) / 1e9);
	chart_axis_open(&chart.y, 0, top > 0 ? top : 1);
	chart_begin(&chart, height, scope->begin_ns, file);
	for (size_t i = 0; i < drawing->count; i++) {
		const struct series *series = &drawing->series[i];

		fputs("<g>", file);
		svg_tooltip(file, query_node_name(drawing->query, series->node));
		chart_steps(&chart, series->step, series->steps, chart.key[i].style);
		fputs("</g>\n", file);
	}
	svg_end(file);
	svg_end(file);
	chart_clear(&chart);
}

static int write_picture(struct drawing *drawing, struct error *error)
{
	AUTOFREE char *name = file_name_take(&drawing->names, drawing->file);
	AUTOFREE char *path = mem_printf("%s/%s.svg", drawing->directory.temporary, name);
	AUTOFREE char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	struct output output;
	int status =
	    mkdir(folder, 0777) && errno != EEXIST ? error_errno(error, folder) : 0;

	if (!status && !(status = output_open(&output, path, error))) {
		draw_picture(drawing, output.file);
		status = output_commit(&output, error);
	}
	drawing->pictures += !status;
	return status;
}

/* The picture at hand is complete. */
static int end_picture(struct drawing *drawing, struct error *error)
{
	int status = drawing->number ? write_picture(drawing, error) : 0;

	for (size_t i = 0; i < drawing->count; i++)
		free(drawing->series[i].step);
	free(drawing->item);
	free(drawing->file);
	free(drawing->title);
	free(drawing->unit);
	drawing->item = drawing->file = drawing->title = drawing->unit = NULL;
	drawing->count = 0;
	drawing->number = 0;
	return status;
}

enum { NUMBER, FILE_NAME, TITLE, UNIT, TOP, ONLY, ITEM, NODE, AT, INTERVAL, VALUE };

static void begin_picture(struct drawing *drawing, const struct cell *row)
{
	const char *file = row[FILE_NAME].bytes, *item = row[ITEM].bytes;
	const char *name = metric_alias(drawing->aliases, item);
	const char *slash = strchr(file, '/');
	AUTOFREE char *part = file_name_of(name);
	bool is_each = *item && row[ONLY].type == CELL_NULL;

	drawing->number = row[NUMBER].integer;
	drawing->item = mem_strdup(item);
	drawing->unit = mem_strdup(row[UNIT].bytes);
	drawing->top = (double)row[TOP].integer;
	drawing->title = is_each ? mem_printf("%s %s", name, row[TITLE].bytes)
				 : mem_strdup(row[TITLE].bytes);
	drawing->file =
	    is_each ? mem_printf("%.*s/%s_%s", (int)(slash - file), file, part, slash + 1)
		    : mem_strdup(file);
}

static bool is_wanted(const struct drawing *drawing, const struct cell *row)
{
	const struct text_list *globs = &drawing->query->request->items;
	const char *item = row[ITEM].bytes;

	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], item, 0) == 0 ||
		    fnmatch(globs->item[i], metric_alias(drawing->aliases, item), 0) == 0)
			return true;
	return globs->count == 0 || row[ONLY].type != CELL_NULL;
}

static int take_value(void *context, const struct cell *row, struct error *error)
{
	struct drawing *drawing = context;
	const struct scope *scope = &drawing->query->scope;
	const double to = (double)nsec_sub(row[AT].integer, scope->begin_ns) / 1e9;
	const double interval =
	    row[INTERVAL].type == CELL_INTEGER && row[INTERVAL].integer > 0
		? (double)row[INTERVAL].integer / 1e9
		: 1;
	struct series *series;
	int status = 0;

	if (!scope_has_node(scope, row[NODE].integer) || !is_wanted(drawing, row))
		return 0;
	if (drawing->number != row[NUMBER].integer ||
	    strcmp(drawing->item, row[ITEM].bytes) != 0) {
		status = end_picture(drawing, error);
		begin_picture(drawing, row);
	}
	if (!drawing->count ||
	    drawing->series[drawing->count - 1].node != row[NODE].integer) {
		*MEM_NEXT(drawing->series, drawing->count, drawing->capacity) =
		    (struct series){.node = row[NODE].integer};
	}
	series = &drawing->series[drawing->count - 1];
	*MEM_NEXT(series->step, series->steps, series->capacity) = (struct chart_step){
	    to - interval, to,
	    row[VALUE].type == CELL_REAL ? row[VALUE].real : (double)row[VALUE].integer};
	return status;
}

/* All pictures or none; those of an earlier call are replaced. */
int metric_plots_draw(struct query *query, struct result *result, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE, .parents = true};
	const struct cell span[] = {cell_of_integer(query->scope.begin_ns),
				    cell_of_integer(query->scope.end_ns)};
	struct metric_aliases aliases = {.names = {0}};
	struct drawing drawing = {.query = query, .aliases = &aliases};
	int status =
	    metric_aliases_read(&aliases, query, error) ||
	    output_directory_open(&drawing.directory, query->request->plot, &kind, error);

	if (status) {
		metric_aliases_clear(&aliases);
		return -1;
	}
	status = query_rows(query->reader, values_sql, span, take_value, &drawing, error);
	if (status)
		drawing.number = 0;
	status = end_picture(&drawing, error) || status ? -1 : 0;
	if (status)
		output_directory_explain(&drawing.directory, error);
	else
		status = output_directory_commit(&drawing.directory, error);
	output_directory_discard(&drawing.directory);
	text_list_clear(&drawing.names);
	metric_aliases_clear(&aliases);
	free(drawing.series);
	if (!status)
		result_note(result, "%zu pictures in %s", drawing.pictures,
			    query->request->plot);
	return status;
}
