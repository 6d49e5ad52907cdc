/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sensors.h"

#include <stdbool.h>

#include "base/number.h"
#include "input/csv.h"

static bool take(struct sensor_sample *sample, const struct csv_row *row,
		 struct faults *faults)
{
	sample->sensor = row->cell[1];
	sample->metric = row->cell[2];
	sample->line = row->line;
	if (number_stamp(row->cell[0], &sample->realtime_ns)) {
		faults_add(faults, "broken", row->line,
			   "'%s' is no time in nanoseconds, left out", row->cell[0]);
		return false;
	}
	if (number_real(row->cell[3], &sample->value)) {
		faults_add(faults, "broken", row->line, "'%s' is no number, left out",
			   row->cell[3]);
		return false;
	}
	return true;
}

int sensors_read(const char *path,
		 int (*row)(void *context, const struct sensor_sample *sample),
		 void *context, struct problem_list *problems)
{
	static const char *const names[] = {"realtime_ns", "sensor", "metric", "value"};
	static const struct csv_columns columns = {names, 4, 4, true};
	struct csv_table *table;
	struct sensor_sample sample;
	struct csv_row cells;
	struct faults faults;
	int status = 0;

	faults_init(&faults, path, problems);
	table = csv_table_open(path, &columns, &faults);
	if (!table)
		return -1;
	while (!status && csv_table_next(table, &cells))
		if (take(&sample, &cells, &faults))
			status = row(context, &sample);
	csv_table_close(table);
	return status;
}
