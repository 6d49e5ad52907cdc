/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of sar and others: a counter a node, metric and item. Viewers draw a value up
 * to the next one, and a sample is of the time before it: so its value goes where that
 * begins, and is drawn over what it is of.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/intern.h"
#include "export/perfetto/perfetto.h"

enum column { NODE, AT, METRIC, ITEM, VALUE, INTERVAL };

static const char samples_sql[] =
    "SELECT node, ts_ns, metric, item, value, interval_ns FROM sample "
    "WHERE ts_ns - coalesce(interval_ns, 0) <= ?2 AND ts_ns >= ?1 "
    "ORDER BY rowid";

static const char names_sql[] =
    "SELECT m.name, m.unit, m.activity, i.name FROM metric AS m "
    "LEFT JOIN metric_item AS i ON i.id = ?2 WHERE m.id = ?1";

struct samples {
	struct perfetto *perfetto;
	struct timeline_query *names;
	struct intern activities;
	uint64_t not_finite;
};

static char *text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

static const struct perfetto_track *make_counter(struct samples *samples,
						 const struct perfetto_counter *counter,
						 const struct cell *row)
{
	char *metric = text(&row[0]), *unit = text(&row[1]);
	char *activity = text(&row[2]), *item = text(&row[3]);
	char *name = *item ? mem_printf("%s %s", item, metric) : mem_strdup(metric);
	bool is_new;
	struct perfetto_label label = {
	    .group = ROW_ACTIVITY,
	    .group_of = intern(&samples->activities, activity, &is_new),
	    .group_name = *activity ? activity : "other",
	    .name = name,
	    .unit = *unit ? unit : NULL,
	};
	const struct perfetto_track *track =
	    perfetto_rows_new_counter(samples->perfetto->rows, counter, &label);

	free(metric);
	free(unit);
	free(activity);
	free(item);
	free(name);
	return track;
}

/* The counter of a sample; NULL with error. */
static const struct perfetto_track *
find_counter(struct samples *samples, const struct cell *row, struct error *error)
{
	struct perfetto_counter counter = {
	    .kind = ROW_SAMPLES,
	    .node = row[NODE].integer,
	    .of = row[METRIC].integer,
	    .item = row[ITEM].type == CELL_INTEGER ? row[ITEM].integer : -1,
	};
	const struct perfetto_track *track =
	    perfetto_rows_counter(samples->perfetto->rows, &counter);
	int more;

	if (track)
		return track;
	if (timeline_query_ask(samples->names, &row[METRIC], 2, error) ||
	    (more = timeline_query_next(samples->names, error)) < 0)
		return NULL;
	if (more == 0) {
		error_set(error, "a sample of metric %lld, which there is not",
			  (long long)counter.of);
		return NULL;
	}
	return make_counter(samples, &counter, timeline_query_row(samples->names));
}

static int add_sample(struct samples *samples, const struct cell *row,
		      struct error *error)
{
	const struct scope *scope = samples->perfetto->scope;
	const struct perfetto_track *track;
	nsec_t at;
	double value;

	if (row[VALUE].type != CELL_REAL && row[VALUE].type != CELL_INTEGER)
		return 0; /* a text */
	value =
	    row[VALUE].type == CELL_REAL ? row[VALUE].real : (double)row[VALUE].integer;
	if (!scope_has_node(scope, row[NODE].integer))
		return 0;
	if (!isfinite(value)) {
		samples->not_finite++;
		return 0;
	}
	track = find_counter(samples, row, error);
	if (!track)
		return -1;
	at = nsec_sub(row[AT].integer,
		      row[INTERVAL].type == CELL_INTEGER ? row[INTERVAL].integer : 0);
	return perfetto_write_counter(samples->perfetto->writer, track,
				      at < scope->begin_ns ? scope->begin_ns : at, value);
}

int perfetto_add_samples(struct perfetto *perfetto, struct error *error)
{
	struct samples samples = {.perfetto = perfetto};
	struct cell span[] = {
	    {.type = CELL_INTEGER, .integer = perfetto->scope->begin_ns},
	    {.type = CELL_INTEGER, .integer = perfetto->scope->end_ns},
	};
	struct timeline_query *query =
	    timeline_query_new(perfetto->timeline, samples_sql, error);
	int more = -1;

	samples.names =
	    query ? timeline_query_new(perfetto->timeline, names_sql, error) : NULL;
	if (samples.names && timeline_query_ask(query, span, 2, error) == 0)
		while ((more = timeline_query_next(query, error)) > 0)
			if (add_sample(&samples, timeline_query_row(query), error)) {
				more = -1;
				break;
			}
	if (samples.not_finite)
		problem_add(perfetto->notes, "", "samples", samples.not_finite,
			    "%llu samples are infinite, and left out",
			    (unsigned long long)samples.not_finite);
	timeline_query_free(samples.names);
	timeline_query_free(query);
	intern_clear(&samples.activities);
	return more;
}
