/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compare an analysis over several runs: differences, and how far they exceed chance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/catalog.h"
#include "analyze/print.h"
#include "analyze/report/against.h"
#include "analyze/report/facts.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/output.h"

struct run {
	const char *path;
	char *name;
	struct text_list parameters; /* "NAME\nVALUE", by their names */
	int64_t events;
	size_t setting; /* runs with the same parameters repeat one */
	struct result result;
};

struct comparison {
	struct query *query;
	const struct analysis *analysis;
	struct request request; /* each run's: as given, without order and limit */
	struct run *run;
	size_t runs;
	size_t *first; /* run of each setting */
	size_t settings;
	struct text_list names; /* parameters that are not the same in all runs */
};

/* One number of one row, over the runs of a setting (Welford). */
struct sum {
	uint64_t count;
	double mean, square, least, most;
};

struct measure {
	const struct cell *row; /* in the first run that has it */
	size_t column;
	struct sum *sum; /* a setting */
};

/* "dir/a.db" is called a. */
static char *name_of_file(const char *path)
{
	const char *name = file_name(path), *dot = strrchr(name, '.');

	return mem_strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* Return the value of a run's parameter, or NULL. */
static const char *find_parameter(const struct run *run, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < run->parameters.count; i++)
		if (!strncmp(run->parameters.item[i], name, length) &&
		    run->parameters.item[i][length] == '\n')
			return run->parameters.item[i] + length + 1;
	return NULL;
}

/* Names of parameters that are not the same in all runs. */
static void find_names(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->runs; i++)
		for (size_t k = 0; k < comparison->run[i].parameters.count; k++) {
			const char *one = comparison->run[i].parameters.item[k];
			AUTOFREE char *name = mem_strndup(one, strcspn(one, "\n"));
			bool differs = false;

			for (size_t j = 0; j < comparison->runs; j++)
				differs |=
				    !text_list_has(&comparison->run[j].parameters, one);
			if (differs && !text_list_has(&comparison->names, name))
				text_list_add(&comparison->names, name);
		}
}

/* Group the runs with the same parameters. If no parameter differs, each run is a group.
 */
static void find_settings(struct comparison *comparison)
{
	struct texts known = {0};

	comparison->first = mem_zalloc(comparison->runs * sizeof(*comparison->first));
	for (size_t i = 0; i < comparison->runs; i++) {
		struct run *run = &comparison->run[i];
		struct bytes key = {.size = 0};

		if (!comparison->names.count)
			bytes_add(&key, &i, sizeof(i));
		for (size_t k = 0; k < run->parameters.count; k++)
			bytes_add(&key, run->parameters.item[k],
				  strlen(run->parameters.item[k]) + 1);
		run->setting = texts_put_bytes(&known, (const char *)key.data, key.size);
		if (run->setting == comparison->settings)
			comparison->first[comparison->settings++] = i;
		bytes_clear(&key);
	}
	texts_clear(&known);
}

/* If the names of the runs are not unique, replace them by `name` of their paths. */
static void tell_apart(struct comparison *comparison, char *(*name)(const char *path))
{
	bool are_named = true;

	for (size_t i = 0; i < comparison->runs; i++)
		for (size_t k = 0; k < i; k++)
			are_named &=
			    strcmp(comparison->run[i].name, comparison->run[k].name) != 0;
	for (size_t i = 0; i < comparison->runs && !are_named; i++) {
		free(comparison->run[i].name);
		comparison->run[i].name = name(comparison->run[i].path);
	}
}

/* The facts of a run, and what the analysis finds in it. */
static int analyze_run(struct comparison *comparison, struct run *run,
		       struct error *error)
{
	struct text_list name = {0};
	struct query query;
	int status;

	if (query_open(&query, comparison->analysis, &comparison->request, run->path,
		       error))
		return -1;
	status = query_texts(query.reader,
			     "SELECT value FROM meta WHERE key = 'name' "
			     "AND typeof(value) = 'text'",
			     NULL, &name, error) ||
		 query_texts(query.reader,
			     "SELECT substr(key, 11) || char(10) || value FROM meta "
			     "WHERE key LIKE 'parameter.%' ORDER BY key",
			     NULL, &run->parameters, error) ||
		 query_integer(query.reader, "SELECT sum(events) FROM event_class", NULL,
			       &run->events, error) < 0;
	run->name = name.count ? mem_strdup(name.item[0]) : name_of_file(run->path);
	text_list_clear(&name);
	if (!status && query_run(&query, &run->result, error))
		status = error_prefix(error, "%s", run->path);
	query_close(&query);
	return status;
}

static bool names_row(const struct result_column *column)
{
	return column->unit == UNIT_TEXT || column->unit == UNIT_ID;
}

static bool is_measured(const struct comparison *comparison,
			const struct result_column *column)
{
	const struct text_list *globs = &comparison->query->request->measures;

	return !names_row(column) && column->unit != UNIT_INSTANT &&
	       (!globs->count || text_list_matches(globs, column->key));
}

/* The number of a column in the row that is named like this one. */
static size_t measure_of(struct texts *known, const struct result_table *table,
			 const struct cell *row, size_t column)
{
	struct bytes key = {.size = 0};
	size_t number;

	bytes_add(&key, &column, sizeof(column));
	for (size_t i = 0; i < table->columns; i++) {
		char plain[PRINT_TEXT];
		const char *text = print_plain(plain, &row[i]);

		if (names_row(&table->column[i])) {
			bytes_add(&key, &row[i].type, sizeof(row[i].type));
			bytes_add(&key, text, strlen(text) + 1);
		}
	}
	number = texts_put_bytes(known, (const char *)key.data, key.size);
	bytes_clear(&key);
	return number;
}

static void add_value(struct sum *sum, const struct cell *cell)
{
	double value = cell->type == CELL_REAL ? cell->real : (double)cell->integer;
	double difference = value - sum->mean;

	if (!sum->count || value < sum->least)
		sum->least = value;
	if (!sum->count || value > sum->most)
		sum->most = value;
	sum->count++;
	sum->mean += difference / (double)sum->count;
	sum->square += difference * (value - sum->mean);
}

static double standard_deviation(const struct sum *sum)
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
				       const struct result_table *table)
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
	    {NULL, NULL, 0},
	};
	const struct text_list *names = &comparison->names;
	AUTOFREE struct result_column *column = mem_zalloc(
	    (table->columns + names->count + 3) * sizeof(*column) + sizeof(numbers));
	struct result_table *made;
	size_t count = 0;

	for (size_t i = 0; i < table->columns; i++)
		if (names_row(&table->column[i]))
			column[count++] = table->column[i];
	column[count++] = (struct result_column){"measure", "MEASURE", UNIT_TEXT};
	column[count++] = (struct result_column){"unit", "UNIT", UNIT_TEXT};
	if (!names->count)
		column[count++] = (struct result_column){"run", "RUN", UNIT_TEXT};
	for (size_t i = 0; i < names->count; i++)
		column[count++] =
		    (struct result_column){names->item[i], names->item[i], UNIT_TEXT};
	memcpy(&column[count], numbers, sizeof(numbers));
	made = result_table_new(result, table->key, table->title, column);
	return made;
}

/* Against the first setting; its spread is that of two means (Welch). */
static void set_numbers(struct cell *cell, const struct sum *sum, const struct sum *first)
{
	bool is_first = sum == first;
	double difference = first->count ? sum->mean - first->mean : NAN;
	double square =
	    is_first
		? NAN
		: standard_deviation(sum) * standard_deviation(sum) / (double)sum->count +
		      standard_deviation(first) * standard_deviation(first) /
			  (double)first->count;

	cell[0] = cell_of_integer((int64_t)sum->count);
	cell[1] = cell_of_real(sum->mean);
	cell[2] = cell_of_finite(standard_deviation(sum));
	cell[3] = cell_of_real(sum->least);
	cell[4] = cell_of_real(sum->most);
	cell[5] = is_first ? cell_of_null() : cell_of_finite(difference);
	cell[6] = is_first || first->mean == 0
		      ? cell_of_null()
		      : cell_of_finite(100 * difference / fabs(first->mean));
	cell[7] = cell_of_finite(sqrt(square));
}

static size_t set_parameters(struct cell *cell, const struct comparison *comparison,
			     const struct run *run)
{
	for (size_t i = 0; i < comparison->names.count; i++)
		cell[i] = cell_of_text(find_parameter(run, comparison->names.item[i]));
	return comparison->names.count;
}

static void print_measure(const struct comparison *comparison, struct result_table *made,
			  const struct result_table *table, const struct measure *measure)
{
	const struct result_column *column = &table->column[measure->column];
	struct cell *cell = mem_zalloc((made->columns + 1) * sizeof(*cell));

	for (size_t s = 0; s < comparison->settings; s++) {
		const struct run *run = &comparison->run[comparison->first[s]];
		size_t at = 0;

		if (!measure->sum[s].count)
			continue;
		for (size_t i = 0; i < table->columns; i++)
			if (names_row(&table->column[i]))
				cell[at++] = measure->row[i];
		cell[at++] = cell_of_text(column->key);
		cell[at++] = cell_of_text(unit_name(column->unit));
		if (!comparison->names.count)
			cell[at++] = cell_of_text(run->name);
		at += set_parameters(&cell[at], comparison, run);
		set_numbers(&cell[at], &measure->sum[s], &measure->sum[0]);
		result_add(made, cell);
	}
	free(cell);
}

/* Return the run's table that is compared, or NULL. */
static const struct result_table *table_of(const struct comparison *comparison,
					   const struct run *run)
{
	const char *wanted = comparison->query->request->table;

	return wanted               ? result_find(&run->result, wanted)
	       : run->result.tables ? run->result.table[0]
				    : NULL;
}

/* Add the measures of a table of run `first` and of those after it. */
static void compare_table(struct comparison *comparison, size_t first,
			  struct result *result)
{
	const struct result_table *table = table_of(comparison, &comparison->run[first]);
	struct result_table *made = make_table(comparison, result, table);
	struct measure *measure = NULL;
	struct texts keys = {0};
	size_t count = 0, capacity = 0;

	for (size_t r = first; r < comparison->runs; r++) {
		const struct run *run = &comparison->run[r];
		const struct result_table *other = table_of(comparison, run);
		bool is_other = !other || strcmp(other->key, table->key) != 0 ||
				other->columns != table->columns;

		for (size_t i = 0; !is_other && i < other->rows * other->columns; i++) {
			const struct cell *row = &other->cell[i - i % other->columns];
			size_t column = i % other->columns, n;

			if (!is_measured(comparison, &other->column[column]) ||
			    (row[column].type != CELL_INTEGER &&
			     row[column].type != CELL_REAL))
				continue;
			n = measure_of(&keys, other, row, column);
			if (n == count) {
				measure =
				    mem_grow(measure, count, &capacity, sizeof(*measure));
				measure[count++] =
				    (struct measure){row, column,
						     mem_zalloc(comparison->settings *
								sizeof(struct sum))};
			}
			add_value(&measure[n].sum[run->setting], &row[column]);
		}
	}
	for (size_t i = 0; i < count; i++) {
		print_measure(comparison, made, table, &measure[i]);
		free(measure[i].sum);
	}
	free(measure);
	texts_clear(&keys);
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
	const struct text_list *names = &comparison->names;
	AUTOFREE struct result_column *column =
	    mem_zalloc((FACTS + names->count + 1) * sizeof(*column));
	AUTOFREE struct cell *cell = mem_zalloc((FACTS + names->count) * sizeof(*cell));
	struct result_table *table;

	memcpy(column, facts, sizeof(facts));
	for (size_t i = 0; i < names->count; i++)
		column[FACTS + i] =
		    (struct result_column){names->item[i], names->item[i], UNIT_TEXT};
	table = result_table_new(result, "runs", "Runs", column);
	for (size_t i = 0; i < comparison->runs; i++) {
		const struct run *run = &comparison->run[i];

		cell[0] = cell_of_text(run->name);
		cell[1] = cell_of_text(run->path);
		cell[2] = cell_of_integer(run->result.begin_ns);
		cell[3] =
		    cell_of_integer(nsec_sub(run->result.end_ns, run->result.begin_ns));
		cell[4] = cell_of_integer(run->events);
		set_parameters(&cell[FACTS], comparison, run);
		result_add(table, cell);
	}
}

/* Compare the runs. Return 0, or -1 with error if there is no table named by --table. */
static int compare_runs(struct comparison *comparison, struct result *result,
			struct error *error)
{
	const char *wanted = comparison->query->request->table;
	bool any = false;

	tell_apart(comparison, name_of_file);
	tell_apart(comparison, mem_strdup);
	find_names(comparison);
	find_settings(comparison);
	result->begin_ns = comparison->run[0].result.begin_ns;
	result->end_ns = comparison->run[0].result.end_ns;
	for (size_t i = 0; i < comparison->runs; i++) {
		const struct run *run = &comparison->run[i];
		const struct result_table *table = table_of(comparison, run);

		if (run->result.begin_ns < result->begin_ns)
			result->begin_ns = run->result.begin_ns;
		if (run->result.end_ns > result->end_ns)
			result->end_ns = run->result.end_ns;
		any |= table != NULL;
		if (table && !result_find(result, table->key))
			compare_table(comparison, i, result);
	}
	print_runs(comparison, result);
	return wanted && !any ? error_misuse(error, "--table: %s has no table '%s'",
					     comparison->analysis->name, wanted)
			      : 0;
}

/* Add the facts of a run to a side. Return 0, or -1 with error. */
static int add_facts(struct query *query, struct against *against, const char *path,
		     int side, struct cell *runs_row, struct error *error)
{
	struct compared_run facts;
	const struct result *result = &facts.result;
	int status = compared_run_read(&facts, query, path, false, error);

	if (!status) {
		const nsec_t span_ns = nsec_sub(result->end_ns, result->begin_ns);

		against_add(against, result_find(result, "facts"), side, path, span_ns);
		runs_row[0] = cell_of_text(side ? "before" : "now");
		runs_row[1] = cell_of_text(path);
		runs_row[2] = cell_of_integer(result->begin_ns);
		runs_row[3] = cell_of_integer(span_ns);
	}
	compared_run_clear(&facts);
	return status;
}

/* The numbers of some runs against those of others, without an analysis. */
static int compare_facts(struct query *query, struct result *result, struct error *error)
{
	static const struct result_column facts[] = {{"side", "SIDE", UNIT_TEXT},
						     {"path", "PATH", UNIT_TEXT},
						     {"begin_ns", "BEGIN", UNIT_INSTANT},
						     {"span_ns", "SPAN", UNIT_SPAN},
						     {NULL, NULL, 0}};
	const struct text_list *words = query->words, *olds = &query->request->against;
	const size_t news = olds->count ? words->count : 1;
	const size_t count = words->count + olds->count;
	struct against *against = against_new();
	struct cell *row = mem_zalloc(4 * count * sizeof(*row));
	int status = 0;

	for (size_t i = 0; i < count && !status; i++)
		status = add_facts(query, against,
				   i < words->count ? words->item[i]
						    : olds->item[i - words->count],
				   i >= news, &row[4 * i], error);
	if (!status) {
		struct result_table *runs;

		against_print(against, result);
		runs = result_table_new(result, "runs", "Runs", facts);
		for (size_t i = 0; i < count; i++)
			result_add(runs, &row[4 * i]);
	}
	free(row);
	against_free(against);
	return status;
}

static int check_request(const struct comparison *comparison, struct error *error)
{
	const struct analysis *analysis = comparison->analysis;
	const char *unheeded =
	    request_unheeded(comparison->query->request,
			     analysis_heeds(analysis) | HEEDS_MEASURE | HEEDS_TABLES);

	if (!analysis->run || analysis->many)
		return error_set(error, "%s cannot be compared", analysis->name);
	if (unheeded)
		return error_misuse(error, "--%s does not apply to %s", unheeded,
				    analysis->name);
	return 0;
}

static void comparison_clear(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->runs; i++) {
		struct run *run = &comparison->run[i];

		free(run->name);
		text_list_clear(&run->parameters);
		result_clear(&run->result);
	}
	free(comparison->run);
	free(comparison->first);
	text_list_clear(&comparison->names);
}

/* Compare the runs in the order of the command line, where they follow the analysis. */
static int run_compare(struct query *query, struct result *result, struct error *error)
{
	const struct text_list *words = query->words;
	struct comparison comparison = {.query = query, .request = *query->request};
	int status;

	if (words->count && (query->request->against.count ||
			     (words->count == 2 && !access(words->item[0], F_OK))))
		return compare_facts(query, result, error);
	if (words->count < 3)
		return error_set(error, "expected ANALYSIS and two timelines or more");
	comparison.analysis =
	    catalog_find(query->request->catalog, words->item[0], error);
	if (!comparison.analysis || check_request(&comparison, error))
		return -1;
	comparison.request.sort = comparison.request.table = NULL;
	comparison.request.limit_given = 0;
	comparison.runs = words->count - 1;
	comparison.run = mem_zalloc(comparison.runs * sizeof(*comparison.run));
	for (size_t i = 0; i < comparison.runs; i++)
		comparison.run[i].path = words->item[i + 1];
	status = 0;
	for (size_t i = 0; i < comparison.runs && !status; i++)
		status = analyze_run(&comparison, &comparison.run[i], error);
	if (!status)
		status = compare_runs(&comparison, result, error);
	comparison_clear(&comparison);
	return status;
}

const struct analysis analysis_compare = {
    .name = "compare",
    .summary = "what changed from one run to another, or over several",
    .usage = "[OPTION...] [ANALYSIS TIMELINE] TIMELINE...",
    .description =
	"Without an analysis, says what changed from the second timeline (or the runs "
	"of\n"
	"--against) to the first (or all that are named): requests, processors,\n"
	"processes, waits, disks, messages, interrupts, memory, clocks, losses. A "
	"number\n"
	"changed if it differs by more than it varies within the runs themselves, by\n"
	"eighths of each (facts), and between them. WEIGHT, the order, is the time that\n"
	"the change costs in the run.\n"
	"With an analysis, compares each number of one of its tables (--table; by\n"
	"default the first), with one row per setting. Runs with the same parameters\n"
	"repeat a setting; SPREAD is their standard deviation. DIFFERENCE is to the\n"
	"first setting, with the spread of a difference of two means. If no parameter\n"
	"differs, each run is a setting. Two rows are the same if all their texts and\n"
	"identifying numbers are equal. The options of the analysis apply, too;\n"
	"--measure selects columns.",
    .heeds = ~(unsigned)(HEEDS_EVENTS | HEEDS_DETAIL),
    .many = true,
    .run = run_compare,
};
