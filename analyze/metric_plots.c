/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/metric_plots.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/files.h"
#include "analyze/result.h"
#include "base/file_name.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/output_directory.h"

/* Names of older versions of sysstat stand behind: they are drawn where the new ones
 * have nothing. Its kB are 1024 bytes, its sectors 512. */
const struct metric_kind metric_kinds[] = {
    {"cpu",
     "iowait",
     "Processors waiting for disks",
     "%",
     "cpu",
     {"%iowait", NULL},
     0,
     1,
     100,
     "all"},
    {"cpu",
     "utilization",
     "Processors busy",
     "%",
     "cpu",
     {"%iowait", "%idle"},
     100,
     -1,
     100,
     "all"},
    {"memory",
     "utilization",
     "Memory in use",
     "MiB",
     "memory",
     {"kbmemused", NULL},
     0,
     1.0 / 1024,
     0,
     NULL},
    {"swap",
     "utilization",
     "Swap in use",
     "MiB",
     "swap",
     {"kbswpused", NULL},
     0,
     1.0 / 1024,
     0,
     NULL},
    {"disk", "read", "read", "MiB/s", "disk", {"rkB/s", NULL}, 0, 1.0 / 1024, 0, NULL},
    {"disk", "read", "read", "MiB/s", "disk", {"rd_sec/s", NULL}, 0, 1.0 / 2048, 0, NULL},
    {"disk",
     "write",
     "written",
     "MiB/s",
     "disk",
     {"wkB/s", NULL},
     0,
     1.0 / 1024,
     0,
     NULL},
    {"disk",
     "write",
     "written",
     "MiB/s",
     "disk",
     {"wr_sec/s", NULL},
     0,
     1.0 / 2048,
     0,
     NULL},
    {"disk", "utilization", "busy", "%", "disk", {"%util", NULL}, 0, 1, 100, NULL},
    {"network",
     "in",
     "received",
     "MiB/s",
     "net",
     {"rxkB/s", NULL},
     0,
     1.0 / 1024,
     0,
     NULL},
    {"network", "out", "sent", "MiB/s", "net", {"txkB/s", NULL}, 0, 1.0 / 1024, 0, NULL},
};

const size_t metric_kinds_count = sizeof(metric_kinds) / sizeof(*metric_kinds);

static int take_alias(void *context, const struct cell *row)
{
	struct metric_aliases *aliases = context;

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

int metric_aliases_read(struct metric_aliases *aliases, struct question *question,
			struct error *error)
{
	const struct text_list *given = &question->request->aliases;

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
	return question_ask(question, alias_sql, NULL, take_alias, aliases, error);
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

/* Values of one kind come by item, node and time. */
static const char values_sql[] =
    "SELECT coalesce(i.name, ''), s.node, s.ts_ns, ?5 + ?6 * sum(s.value) "
    "FROM metric AS m JOIN sample AS s ON s.metric = m.id "
    "LEFT JOIN metric_item AS i ON i.id = s.item "
    "WHERE m.activity = ?1 AND m.name IN (?2, ?3) AND s.value IS NOT NULL"
    " AND s.ts_ns BETWEEN ?7 AND ?8 AND (?4 IS NULL OR i.name = ?4) "
    "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

struct drawing {
	struct question *question;
	const struct metric_aliases *aliases;
	const struct metric_kind *kind;
	int (*take)(void *context, const struct line_plot *plot, const char *file,
		    struct error *error);
	void *context;
	struct error *error;
	struct line_plot plot;
	char *item; /* of the plot at hand; NULL: none yet */
	size_t plots;
};

static char *title_of(const struct drawing *drawing, const char *name)
{
	return *drawing->item && !drawing->kind->item
		   ? mem_printf("%s %s", name, drawing->kind->title)
		   : mem_strdup(drawing->kind->title);
}

static char *file_of(const struct drawing *drawing, const char *name)
{
	const struct metric_kind *kind = drawing->kind;
	char *part = file_name_of(name), *file;

	file = *drawing->item && !kind->item
		   ? mem_printf("%s/%s_%s", kind->folder, part, kind->name)
		   : mem_printf("%s/%s", kind->folder, kind->name);
	free(part);
	return file;
}

/* The picture of an item is complete. */
static int end_plot(struct drawing *drawing)
{
	const char *name;
	char *title, *file;
	int status = 0;

	if (!drawing->item)
		return 0;
	if (drawing->plot.count) {
		name = metric_alias(drawing->aliases, drawing->item);
		title = title_of(drawing, name);
		file = file_of(drawing, name);
		drawing->plot.title = title;
		drawing->plot.unit = drawing->kind->unit;
		drawing->plot.most = drawing->kind->most;
		drawing->plots++;
		status =
		    drawing->take(drawing->context, &drawing->plot, file, drawing->error);
		free(file);
		free(title);
	}
	line_plot_clear(&drawing->plot);
	free(drawing->item);
	drawing->item = NULL;
	return status;
}

static bool is_wanted(const struct drawing *drawing, const char *item)
{
	const struct text_list *globs = &drawing->question->request->items;

	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], item, 0) == 0 ||
		    fnmatch(globs->item[i], metric_alias(drawing->aliases, item), 0) == 0)
			return true;
	return globs->count == 0 || drawing->kind->item;
}

static int take_value(void *context, const struct cell *row)
{
	struct drawing *drawing = context;
	struct line_series *series;
	int status = 0;

	if (!scope_has_node(&drawing->question->scope, row[1].integer) ||
	    !is_wanted(drawing, row[0].bytes))
		return 0;
	if (!drawing->item || strcmp(drawing->item, row[0].bytes) != 0) {
		status = end_plot(drawing);
		drawing->item = mem_strdup(row[0].bytes);
	}
	series = line_plot_series(&drawing->plot,
				  question_node(drawing->question, row[1].integer));
	line_series_add(series, row[2].integer,
			row[3].type == CELL_REAL ? row[3].real : (double)row[3].integer);
	return status;
}

static int draw_kind(struct drawing *drawing, struct error *error)
{
	const struct metric_kind *kind = drawing->kind;
	const struct scope *scope = &drawing->question->scope;
	const struct cell values[] = {
	    cell_of_text(kind->activity),     cell_of_text(kind->metric[0]),
	    cell_of_text(kind->metric[1]),    cell_of_text(kind->item),
	    cell_of_real(kind->offset),       cell_of_real(kind->scale),
	    cell_of_integer(scope->begin_ns), cell_of_integer(scope->end_ns)};
	int status;

	drawing->plot.begin_ns = scope->begin_ns;
	drawing->plot.end_ns = scope->end_ns;
	status = question_ask(drawing->question, values_sql, values, take_value, drawing,
			      error);
	return status ? status : end_plot(drawing);
}

static bool is_same(const struct metric_kind *a, const struct metric_kind *b)
{
	return !strcmp(a->folder, b->folder) && !strcmp(a->name, b->name);
}

int metric_plots(struct question *question, const struct metric_aliases *aliases,
		 int (*take)(void *context, const struct line_plot *plot,
			     const char *file, struct error *error),
		 void *context, struct error *error)
{
	struct drawing drawing = {.question = question,
				  .aliases = aliases,
				  .take = take,
				  .context = context,
				  .error = error};
	size_t before = 0;
	int status = 0;

	for (size_t i = 0; i < metric_kinds_count && !status; i++) {
		drawing.kind = &metric_kinds[i];
		if (i && is_same(&metric_kinds[i - 1], drawing.kind) &&
		    drawing.plots > before)
			continue;
		before = drawing.plots;
		status = draw_kind(&drawing, error);
	}
	line_plot_clear(&drawing.plot);
	free(drawing.item);
	return status;
}

/* Pictures on their way to a directory. */
struct pictures {
	struct output_directory directory;
	struct text_list taken; /* names of files */
	size_t count;
};

static int draw(const struct line_plot *plot, const char *path, struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	line_plot_draw(plot, output.file);
	return output_commit(&output, error);
}

static int take_plot(void *context, const struct line_plot *plot, const char *file,
		     struct error *error)
{
	struct pictures *pictures = context;
	char *name = file_name_take(&pictures->taken, file);
	char *path = mem_printf("%s/%s.svg", pictures->directory.temporary, name);
	char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	int status = files_make_directory(folder, error);

	if (!status)
		status = draw(plot, path, error);
	pictures->count += !status;
	free(folder);
	free(path);
	free(name);
	return status;
}

/* All pictures or none; those of an earlier call are replaced. */
int metric_plots_draw(struct question *question, struct result *result,
		      struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE, .parents = true};
	struct metric_aliases aliases = {.names = {0}};
	struct pictures pictures = {.count = 0};
	int status = metric_aliases_read(&aliases, question, error) ||
		     output_directory_open(&pictures.directory, question->request->plot,
					   &kind, error);

	if (status) {
		metric_aliases_clear(&aliases);
		return -1;
	}
	status = metric_plots(question, &aliases, take_plot, &pictures, error);
	if (status)
		output_directory_explain(&pictures.directory, error);
	else
		status = output_directory_commit(&pictures.directory, error);
	output_directory_discard(&pictures.directory);
	text_list_clear(&pictures.taken);
	metric_aliases_clear(&aliases);
	if (!status)
		result_note(result, "%zu pictures in %s", pictures.count,
			    question->request->plot);
	return status;
}
