/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/metric_plots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/print.h"
#include "analyze/query.h"
#include "base/bytes.h"
#include "base/chart.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"

/* The pictures of --plot, from the table `plots` of the analysis, whose rows are sorted
 * by picture, node and time. A picture shows one quantity, with a line for each node; an
 * item (a disk, an interface) has a picture of its own. */
/* The values of a node. */
struct series {
	const char *node;
	struct chart_step *step; /* seconds since the start of the selected time */
	size_t steps, capacity;
};

struct drawing {
	struct query *query;
	struct output_directory *directory;
	struct text_list names; /* files written so far */
	size_t pictures;
	const struct cell *row; /* first row of the current picture; or NULL */
	struct series *series;  /* lines of the current picture */
	size_t count, capacity;
};

enum { FILE_NAME, TITLE, UNIT, TOP, ITEM, ALIAS, NODE, AT, INTERVAL, VALUE, COLUMNS };

/* Return a line style. The colour-blind can distinguish the colours (Okabe and Ito
 * 2008), and repeat with another dash. The caller frees the result. */
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
	const struct cell *row = drawing->row;
	const char *what = row[TITLE].bytes;
	AUTOFREE char *title = *row[ITEM].bytes
				   ? mem_printf("%s %s", row[ALIAS].bytes, what)
				   : mem_strdup(what);
	struct chart chart = {.title = title, .caption = row[UNIT].bytes};
	double top = cell_number(&row[TOP]);

	for (size_t i = 0; i < drawing->count; i++) {
		const struct series *series = &drawing->series[i];
		AUTOFREE char *style = style_of(i);

		chart_key(&chart, CHART_LINE, style, "%s", series->node);
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
		svg_tooltip(file, series->node);
		chart_steps(&chart, series->step, series->steps, chart.key[i].style);
		fputs("</g>\n", file);
	}
	svg_end(file);
	svg_end(file);
	chart_clear(&chart);
}

/* Return "disk/read", or "disk/sda_read" for an item. The caller frees it. */
static char *name_file(const struct cell *row)
{
	const char *file = row[FILE_NAME].bytes, *slash = strchr(file, '/');
	AUTOFREE char *item = file_name_of(row[ALIAS].bytes);

	return *row[ITEM].bytes
		   ? mem_printf("%.*s/%s_%s", (int)(slash - file), file, item, slash + 1)
		   : mem_strdup(file);
}

static int write_picture(struct drawing *drawing, struct error *error)
{
	AUTOFREE char *file = name_file(drawing->row);
	AUTOFREE char *name = file_name_unique(&drawing->names, file);
	AUTOFREE char *path =
	    mem_printf("%s/%s.svg", drawing->directory->temporary, name);
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

/* Write the current picture, if there is one. */
static int end_picture(struct drawing *drawing, struct error *error)
{
	int status = drawing->row ? write_picture(drawing, error) : 0;

	for (size_t i = 0; i < drawing->count; i++)
		free(drawing->series[i].step);
	drawing->count = 0;
	drawing->row = NULL;
	return status;
}

static int add_value(struct drawing *drawing, const struct cell *row, struct error *error)
{
	nsec_t begin_ns = drawing->query->scope.begin_ns;
	nsec_t interval_ns = cell_integer(&row[INTERVAL], 0);
	const double to = (double)nsec_sub(row[AT].integer, begin_ns) / 1e9;
	const struct cell *first = drawing->row;
	struct series *series;
	int status = 0;

	if (!first || strcmp(first[FILE_NAME].bytes, row[FILE_NAME].bytes) != 0 ||
	    strcmp(first[ITEM].bytes, row[ITEM].bytes) != 0) {
		status = end_picture(drawing, error);
		drawing->row = row;
	}
	series = drawing->count ? &drawing->series[drawing->count - 1] : NULL;
	if (!series || strcmp(series->node, row[NODE].bytes) != 0) {
		series = MEM_NEXT(drawing->series, drawing->count, drawing->capacity);
		*series = (struct series){.node = row[NODE].bytes};
	}
	*MEM_NEXT(series->step, series->steps, series->capacity) =
	    (struct chart_step){to - (interval_ns > 0 ? (double)interval_ns / 1e9 : 1),
				to, cell_number(&row[VALUE])};
	return status;
}

/* A picture stays within its directory: "FOLDER/NAME". */
static bool is_file(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash && slash > text && *text != '.' && slash[1] && slash[1] != '.' &&
	       !strchr(slash + 1, '/');
}

/* Check the types of a row, since the SQL can be the user's. */
static bool has_plot_types(const struct cell *row)
{
	static const int texts[] = {FILE_NAME, TITLE, UNIT, ITEM, ALIAS, NODE};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (row[texts[i]].type != CELL_TEXT)
			return false;
	return row[AT].type == CELL_INTEGER && is_file(row[FILE_NAME].bytes);
}

static int check_table(const struct result_table *table, struct error *error)
{
	static const char wanted[] =
	    "file title unit top item alias node ts_ns interval_ns value";
	struct bytes names = {0};
	int status = 0;

	for (size_t i = 0; i < table->columns; i++)
		bytes_print(&names, "%s%s", i ? " " : "", table->column[i].key);
	bytes_add_byte(&names, 0);
	if (strcmp((const char *)names.data, wanted) != 0)
		status = error_set(error, "table plots: columns are %s (expected %s)",
				   (const char *)names.data, wanted);
	bytes_clear(&names);
	for (size_t i = 0; i < table->rows && !status; i++)
		if (!has_plot_types(&table->cell[i * table->columns]))
			status = error_set(
			    error,
			    "table plots: row %zu: wrong type (expected FOLDER/NAME as "
			    "file, an integer as ts_ns, and texts)",
			    i + 1);
	return status;
}

static int draw_table(struct drawing *drawing, const struct result_table *table,
		      struct error *error)
{
	int status = check_table(table, error);

	for (size_t i = 0; i < table->rows && !status; i++)
		status = add_value(drawing, &table->cell[i * table->columns], error);
	if (!status)
		return end_picture(drawing, error);
	drawing->row = NULL;
	end_picture(drawing, error);
	return status;
}

/* Draw all pictures, or on error none. */
int metric_plots_draw(struct query *query, struct result *result,
		      struct output_directory *directory, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE, .parents = true};
	struct drawing drawing = {.query = query, .directory = directory};
	const struct result_table *table;
	struct result plots;
	int status;

	if (output_directory_open(directory, query->request->plot, &kind, error))
		return -1;
	result_init(&plots, NULL);
	query->tables = "plots";
	status = query_file_run(query, &plots, error);
	query->tables = NULL;
	table = result_find(&plots, "plots");
	if (!status)
		status = table ? draw_table(&drawing, table, error)
			       : error_set(error, "--plot: %s has no table plots",
					   query->analysis->name);
	if (status)
		output_directory_explain(directory, error);
	text_list_clear(&drawing.names);
	result_clear(&plots);
	free(drawing.series);
	if (!status)
		result_note(result, "%zu pictures in %s", drawing.pictures,
			    query->request->plot);
	return status;
}
