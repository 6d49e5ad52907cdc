/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same analysis over several runs: what differs, and by how much more than chance. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/catalog.h"
#include "analyze/compare_runs.h"
#include "analyze/keys.h"
#include "base/mem.h"

/* One number of one row, over the runs of a setting (Welford). */
struct measure {
	struct cell *key; /* cells that name the row, texts copied */
	const char *name; /* of the column; borrowed from `columns` */
	enum unit unit;
	struct sum {
		uint64_t count;
		double mean, square, least, most;
	} * sum; /* a setting */
};

/* A table of the analysis, as the first run had it. */
struct compared_table {
	char *key, *title;
	struct result_column *column; /* copied */
	size_t columns;
	struct keys keys;
	struct measure *measure;
	size_t room;
};

struct comparison {
	struct question *question;
	struct runs runs;
	struct compared_table *table;
	size_t tables, table_room;
};

static bool names_row(enum unit unit)
{
	return unit == UNIT_TEXT || unit == UNIT_ID;
}

static bool is_measured(const struct comparison *comparison,
			const struct result_column *column)
{
	const struct text_list *globs = &comparison->question->request->measures;

	if (names_row(column->unit) || column->unit == UNIT_INSTANT)
		return false;
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->item[i], column->key, 0) == 0)
			return true;
	return globs->count == 0;
}

static struct cell copy_of(const struct cell *cell)
{
	struct cell copy = *cell;

	if (cell->type == CELL_TEXT || cell->type == CELL_BLOB)
		copy.bytes = mem_strndup(cell->bytes, cell->size);
	return copy;
}

static struct compared_table *get_table(struct comparison *comparison,
					const struct result_table *table)
{
	struct compared_table *compared;

	for (size_t i = 0; i < comparison->tables; i++)
		if (!strcmp(comparison->table[i].key, table->key))
			return &comparison->table[i];
	comparison->table = mem_grow(comparison->table, comparison->tables,
				     &comparison->table_room, sizeof(*comparison->table));
	compared = &comparison->table[comparison->tables++];
	*compared = (struct compared_table){
	    .key = mem_strdup(table->key),
	    .title = mem_strdup(table->title),
	    .columns = table->columns,
	    .column = mem_zalloc((table->columns + 1) * sizeof(*compared->column)),
	};
	for (size_t i = 0; i < table->columns; i++)
		compared->column[i] = (struct result_column){
		    mem_strdup(table->column[i].key), mem_strdup(table->column[i].title),
		    table->column[i].unit};
	return compared;
}

/* The measure of a column in the row that is named like this one. */
static struct measure *get_measure(struct comparison *comparison,
				   struct compared_table *table, const struct cell *row,
				   size_t column)
{
	size_t before = table->keys.count, at, keys = 0;
	struct measure *measure;

	keys_begin(&table->keys);
	keys_integer(&table->keys, (int64_t)column);
	for (size_t i = 0; i < table->columns; i++) {
		if (!names_row(table->column[i].unit))
			continue;
		if (row[i].type == CELL_TEXT || row[i].type == CELL_BLOB)
			keys_text(&table->keys, row[i].bytes, row[i].size);
		else
			keys_integer(&table->keys,
				     row[i].type == CELL_INTEGER ? row[i].integer : -1);
	}
	at = keys_find(&table->keys);
	if (at < before)
		return &table->measure[at];
	table->measure =
	    mem_grow(table->measure, at, &table->room, sizeof(*table->measure));
	measure = &table->measure[at];
	*measure = (struct measure){
	    .name = table->column[column].key,
	    .unit = table->column[column].unit,
	    .key = mem_zalloc((table->columns + 1) * sizeof(*measure->key)),
	    .sum = mem_zalloc(comparison->runs.settings * sizeof(*measure->sum)),
	};
	for (size_t i = 0; i < table->columns; i++)
		if (names_row(table->column[i].unit))
			measure->key[keys++] = copy_of(&row[i]);
	return measure;
}

static void add_value(struct sum *sum, double value)
{
	double difference = value - sum->mean;

	if (!sum->count || value < sum->least)
		sum->least = value;
	if (!sum->count || value > sum->most)
		sum->most = value;
	sum->count++;
	sum->mean += difference / (double)sum->count;
	sum->square += difference * (value - sum->mean);
}

static void add_result(struct comparison *comparison, const struct result *result,
		       size_t setting)
{
	const char *wanted = comparison->question->request->table;

	for (size_t i = 0; i < result->tables; i++) {
		const struct result_table *table = result->table[i];
		struct compared_table *compared;

		if (wanted ? strcmp(wanted, table->key) != 0 : i > 0)
			continue;
		compared = get_table(comparison, table);
		if (compared->columns != table->columns)
			continue;
		for (size_t cell = 0; cell < table->rows * table->columns; cell++) {
			size_t column = cell % table->columns;
			const struct cell *value = &table->cell[cell];

			if (!is_measured(comparison, &table->column[column]) ||
			    (value->type != CELL_INTEGER && value->type != CELL_REAL))
				continue;
			add_value(
			    &get_measure(comparison, compared, value - column, column)
				 ->sum[setting],
			    value->type == CELL_REAL ? value->real
						     : (double)value->integer);
		}
	}
}

static int analyze_run(struct comparison *comparison, struct run *run,
		       struct error *error)
{
	struct question question;
	struct result result;
	int status;

	if (runs_open(&comparison->runs, run, &question, error))
		return -1;
	result_init(&result, &comparison->runs.request);
	status = comparison->runs.analysis->run(&question, &result, error) ||
		 result_finish(&result, error);
	if (!status)
		add_result(comparison, &result, run->setting);
	for (size_t i = 0; !status && i < result.notes.count; i++)
		result_note(&result, "%s", result.notes.item[i]);
	if (status)
		error_prefix(error, "%s", run->path);
	result_clear(&result);
	question_close(&question);
	return status;
}

static double deviation(const struct sum *sum)
{
	return sum->count > 1 ? sqrt(sum->square / (double)(sum->count - 1)) : NAN;
}

static struct cell cell_of_finite(double value)
{
	return isfinite(value) ? cell_of_real(value) : cell_of_null();
}

/* Columns: what names rows, the measure, the parameters, the numbers. */
static struct result_table *make_table(struct comparison *comparison,
				       struct result *result,
				       const struct compared_table *table, size_t *keys)
{
	static const struct result_column numbers[] = {
	    {"runs", "RUNS", UNIT_COUNT},
	    {"mean", "MEAN", UNIT_OF_ROW},
	    {"spread", "SPREAD", UNIT_OF_ROW},
	    {"min", "MIN", UNIT_OF_ROW},
	    {"max", "MAX", UNIT_OF_ROW},
	    {"difference", "DIFFERENCE", UNIT_OF_ROW},
	    {"difference_percent", "OF THE FIRST", UNIT_PERCENT},
	    {"difference_spread", "ITS SPREAD", UNIT_OF_ROW},
	};
	enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
	size_t room = table->columns + comparison->runs.names.count + NUMBERS + 4,
	       count = 0;
	struct result_column *column = mem_zalloc(room * sizeof(*column));
	struct result_table *made;

	for (size_t i = 0; i < table->columns; i++)
		if (names_row(table->column[i].unit))
			column[count++] = table->column[i];
	*keys = count;
	column[count++] = (struct result_column){"measure", "MEASURE", UNIT_TEXT};
	column[count++] = (struct result_column){"unit", "UNIT", UNIT_TEXT};
	if (!comparison->runs.names.count)
		column[count++] = (struct result_column){"run", "RUN", UNIT_TEXT};
	for (size_t i = 0; i < comparison->runs.names.count; i++)
		column[count++] =
		    (struct result_column){comparison->runs.names.item[i],
					   comparison->runs.names.item[i], UNIT_TEXT};
	memcpy(&column[count], numbers, sizeof(numbers));
	made = result_table_new(result, table->key, table->title, column);
	free(column);
	return made;
}

/* Against the first setting; its spread is that of two means (Welch). */
static size_t add_numbers(struct cell *cell, const struct sum *sum,
			  const struct sum *first)
{
	double difference = first->count ? sum->mean - first->mean : NAN;
	double square =
	    sum == first ? NAN
			 : deviation(sum) * deviation(sum) / (double)sum->count +
			       deviation(first) * deviation(first) / (double)first->count;

	cell[0] = cell_of_integer((int64_t)sum->count);
	cell[1] = cell_of_real(sum->mean);
	cell[2] = cell_of_finite(deviation(sum));
	cell[3] = cell_of_real(sum->least);
	cell[4] = cell_of_real(sum->most);
	cell[5] = sum == first ? cell_of_null() : cell_of_finite(difference);
	cell[6] = sum == first || first->mean == 0
		      ? cell_of_null()
		      : cell_of_finite(100 * difference / fabs(first->mean));
	cell[7] = cell_of_finite(sqrt(square));
	return 8;
}

static void print_measure(struct comparison *comparison, struct result_table *table,
			  const struct measure *measure, size_t keys)
{
	struct cell *cell = mem_zalloc((table->columns + 1) * sizeof(*cell));

	for (size_t s = 0; s < comparison->runs.settings; s++) {
		const struct run *run =
		    &comparison->runs.run[comparison->runs.setting[s].first];
		size_t at = keys;

		if (!measure->sum[s].count)
			continue;
		memcpy(cell, measure->key, keys * sizeof(*cell));
		cell[at++] = cell_of_text(measure->name);
		cell[at++] = cell_of_text(unit_name(measure->unit));
		if (!comparison->runs.names.count)
			cell[at++] = cell_of_text(run->name);
		for (size_t i = 0; i < comparison->runs.names.count; i++)
			cell[at++] = cell_of_text(
			    run_parameter(run, comparison->runs.names.item[i]));
		add_numbers(&cell[at], &measure->sum[s], &measure->sum[0]);
		result_add(table, cell);
	}
	free(cell);
}

/* The runs themselves, with the parameters that differ. */
static void print_runs(const struct comparison *comparison, struct result *result)
{
	static const struct result_column facts[] = {{"run", "RUN", UNIT_TEXT},
						     {"path", "PATH", UNIT_TEXT},
						     {"begin_ns", "BEGIN", UNIT_INSTANT},
						     {"span_ns", "SPAN", UNIT_SPAN},
						     {"events", "EVENTS", UNIT_COUNT}};
	enum { FACTS = sizeof(facts) / sizeof(*facts) };
	size_t names = comparison->runs.names.count;
	struct result_column *column = mem_zalloc((FACTS + names + 1) * sizeof(*column));
	struct cell *cell = mem_zalloc((FACTS + names) * sizeof(*cell));
	struct result_table *table;

	memcpy(column, facts, sizeof(facts));
	for (size_t i = 0; i < names; i++)
		column[FACTS + i] =
		    (struct result_column){comparison->runs.names.item[i],
					   comparison->runs.names.item[i], UNIT_TEXT};
	table = result_table_new(result, "runs", "Runs", column);
	for (size_t i = 0; i < comparison->runs.count; i++) {
		const struct run *run = &comparison->runs.run[i];

		cell[0] = cell_of_text(run->name);
		cell[1] = cell_of_text(run->path);
		cell[2] = cell_of_integer(run->begin_ns);
		cell[3] = cell_of_integer(nsec_sub(run->end_ns, run->begin_ns));
		cell[4] = cell_of_integer(run->events);
		for (size_t k = 0; k < names; k++)
			cell[FACTS + k] = cell_of_text(
			    run_parameter(run, comparison->runs.names.item[k]));
		result_add(table, cell);
	}
	free(column);
	free(cell);
}

static void print_all(struct comparison *comparison, struct result *result)
{
	result->begin_ns = comparison->runs.run[0].begin_ns;
	result->end_ns = comparison->runs.run[0].end_ns;
	for (size_t i = 0; i < comparison->runs.count; i++) {
		if (comparison->runs.run[i].begin_ns < result->begin_ns)
			result->begin_ns = comparison->runs.run[i].begin_ns;
		if (comparison->runs.run[i].end_ns > result->end_ns)
			result->end_ns = comparison->runs.run[i].end_ns;
	}
	for (size_t i = 0; i < comparison->tables; i++) {
		const struct compared_table *compared = &comparison->table[i];
		size_t keys;
		struct result_table *table =
		    make_table(comparison, result, compared, &keys);

		for (size_t k = 0; k < compared->keys.count; k++)
			print_measure(comparison, table, &compared->measure[k], keys);
	}
	print_runs(comparison, result);
}

static void clear(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->tables; i++) {
		struct compared_table *table = &comparison->table[i];

		for (size_t k = 0; k < table->keys.count; k++) {
			for (size_t c = 0; c < table->columns; c++)
				if (table->measure[k].key[c].type >= CELL_TEXT)
					free((char *)table->measure[k].key[c].bytes);
			free(table->measure[k].key);
			free(table->measure[k].sum);
		}
		for (size_t c = 0; c < table->columns; c++) {
			free((char *)table->column[c].key);
			free((char *)table->column[c].title);
		}
		free(table->column);
		free(table->measure);
		keys_clear(&table->keys);
		free(table->key);
		free(table->title);
	}
	free(comparison->table);
	runs_clear(&comparison->runs);
}

static int check(const struct comparison *comparison, struct error *error)
{
	const struct analysis *analysis = comparison->runs.analysis;
	const char *unheeded =
	    request_unheeded(comparison->question->request,
			     analysis_heeds(analysis) | HEEDS_MEASURE | HEEDS_TABLES);

	if (!analysis->run || analysis->many)
		return error_set(error, "%s cannot be compared", analysis->name);
	if (unheeded)
		return error_misuse(error, "--%s means nothing to %s", unheeded,
				    analysis->name);
	return 0;
}

/* The runs in the order of the command line, behind the analysis. */
static int init_runs(struct runs *runs, const struct question *question,
		     struct error *error)
{
	const struct text_list *words = question->words;

	if (words->count < 3)
		return error_set(error, "want ANALYSIS and two timelines or more");
	runs->analysis = catalog_find(question->request->catalog, words->item[0], error);
	if (!runs->analysis)
		return -1;
	runs->request = *question->request;
	runs->request.sort = runs->request.table = NULL;
	runs->request.limit_given = 0;
	runs->count = words->count - 1;
	runs->run = mem_zalloc(runs->count * sizeof(*runs->run));
	for (size_t i = 0; i < runs->count; i++)
		runs->run[i].path = words->item[i + 1];
	return 0;
}

static int run_compare(struct question *question, struct result *result,
		       struct error *error)
{
	struct comparison comparison = {.question = question};
	struct runs *runs = &comparison.runs;
	int status = init_runs(runs, question, error) || check(&comparison, error) ||
		     runs_read(runs, error);

	for (size_t i = 0; i < runs->count && !status; i++)
		status = analyze_run(&comparison, &runs->run[i], error);
	if (!status && question->request->table && !comparison.tables)
		status = error_misuse(error, "--table: %s has no table '%s'",
				      runs->analysis->name, question->request->table);
	if (!status)
		print_all(&comparison, result);
	clear(&comparison);
	return status ? -1 : 0;
}

const struct analysis analysis_compare = {
    .name = "compare",
    .summary = "the same analysis over several runs, and what differs",
    .usage = "[OPTION...] ANALYSIS TIMELINE TIMELINE...",
    .description =
	"Each number of a table of the analysis (--table; by default the first), a row\n"
	"for each setting: runs with the same parameters repeat one setting, and SPREAD\n"
	"is the standard deviation of these. DIFFERENCE is to the first setting, with\n"
	"the spread of a difference of two means. Where no parameter differs, each run\n"
	"is a setting. Rows are the same if all their texts and numbers that name are.\n"
	"Options of the analysis are taken, too; --measure chooses columns.",
    .heeds = ~(unsigned)(HEEDS_EVENTS | HEEDS_DETAIL),
    .many = true,
    .run = run_compare,
};
