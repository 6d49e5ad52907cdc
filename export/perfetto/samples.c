/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of sar and others: a counter a node, metric and item. Viewers draw a value up
 * to the next one, and a sample is of the time before it: so its value goes where that
 * begins, and is drawn over what it is of.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/intern.h"
#include "export/perfetto/perfetto.h"
#include "timeline/query.h"

enum column { NODE, AT, METRIC, ITEM, VALUE, NAME, UNIT, ACTIVITY, ITEM_NAME };

static const char samples_sql[] =
    "SELECT s.node, max(s.ts_ns - coalesce(s.interval_ns, 0), ?1), s.metric, s.item,"
    " s.value, m.name, m.unit, m.activity, i.name FROM sample AS s "
    "JOIN metric AS m ON m.id = s.metric LEFT JOIN metric_item AS i ON i.id = s.item "
    "WHERE s.ts_ns - coalesce(s.interval_ns, 0) <= ?2 AND s.ts_ns >= ?1 "
    "ORDER BY s.rowid";

struct samples {
	struct perfetto *perfetto;
	struct intern activities;
	uint64_t not_finite;
};

static const struct perfetto_track *make_counter(struct samples *samples,
						 const struct perfetto_counter *counter,
						 const struct cell *row)
{
	char *metric = cell_text(&row[NAME]), *unit = cell_text(&row[UNIT]);
	char *activity = cell_text(&row[ACTIVITY]), *item = cell_text(&row[ITEM_NAME]);
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

static int add_sample(void *context, const struct cell *row, struct error *error)
{
	struct samples *samples = context;
	struct perfetto *perfetto = samples->perfetto;
	struct perfetto_counter counter = {.kind = ROW_SAMPLES,
					   .node = row[NODE].integer,
					   .of = row[METRIC].integer,
					   .item = cell_integer(&row[ITEM], -1)};
	const struct perfetto_track *track;
	double value = cell_number(&row[VALUE]);

	(void)error;
	if (isnan(value) || !scope_has_node(perfetto->scope, counter.node))
		return 0; /* a text */
	if (!isfinite(value)) {
		samples->not_finite++;
		return 0;
	}
	track = perfetto_rows_counter(perfetto->rows, &counter);
	if (!track)
		track = make_counter(samples, &counter, row);
	return perfetto_write_counter(perfetto->writer, track, row[AT].integer, value);
}

int perfetto_add_samples(struct perfetto *perfetto, struct error *error)
{
	struct samples samples = {.perfetto = perfetto};
	int status = query_scope(perfetto->timeline, perfetto->scope, samples_sql,
				 add_sample, &samples, error);

	if (samples.not_finite)
		problem_add(perfetto->notes, "", "samples", samples.not_finite,
			    "%llu samples are infinite, and left out",
			    (unsigned long long)samples.not_finite);
	intern_clear(&samples.activities);
	return status;
}
