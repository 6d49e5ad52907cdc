/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/proc_samples.h"

#include <stdbool.h>

#include "base/number.h"
#include "input/csv.h"

enum column {
	REALTIME,
	PID,
	PPID,
	COMM,
	STATE,
	UTIME,
	STIME,
	RSS,
	READ,
	WRITTEN,
	COLUMNS
};

static const char *const names[COLUMNS] = {
    "realtime_ns", "pid",      "ppid",    "comm",       "state",
    "utime_ns",    "stime_ns", "rss_kib", "read_bytes", "write_bytes",
};

/* A number that cannot be negative. */
static int64_t cell_number(const struct csv_row *row, enum column column,
			   struct faults *faults)
{
	const char *cell = row->cell[column];
	int64_t value;

	if (!cell)
		return PROC_UNKNOWN;
	if (number_integer(cell, &value) == 0 && value >= 0)
		return value;
	faults_add(faults, "malformed", row->line, "%s '%s' is no count, left out",
		   names[column], cell);
	return PROC_UNKNOWN;
}

static char cell_state(const struct csv_row *row, struct faults *faults)
{
	const char *cell = row->cell[STATE];

	if (!cell)
		return '\0';
	if (!cell[1])
		return *cell;
	faults_add(faults, "malformed", row->line,
		   "state '%s' is no single letter, left out", cell);
	return '\0';
}

/* False where it is not known when, or of which process, the row is. */
static bool take(struct proc_sample *sample, const struct csv_row *row,
		 struct faults *faults)
{
	*sample = (struct proc_sample){.comm = row->cell[COMM], .line = row->line};
	if (number_stamp(row->cell[REALTIME], &sample->realtime_ns)) {
		faults_add(faults, "broken", row->line,
			   "'%s' is no time in nanoseconds, left out",
			   row->cell[REALTIME]);
		return false;
	}
	if (number_integer(row->cell[PID], &sample->pid) || sample->pid < 0) {
		faults_add(faults, "broken", row->line, "'%s' is no pid, left out",
			   row->cell[PID]);
		return false;
	}
	sample->ppid = cell_number(row, PPID, faults);
	sample->state = cell_state(row, faults);
	sample->utime_ns = cell_number(row, UTIME, faults);
	sample->stime_ns = cell_number(row, STIME, faults);
	sample->rss_kib = cell_number(row, RSS, faults);
	sample->read_bytes = cell_number(row, READ, faults);
	sample->write_bytes = cell_number(row, WRITTEN, faults);
	return true;
}

int proc_samples_read(const char *path,
		      int (*row)(void *context, const struct proc_sample *sample),
		      void *context, struct problem_list *problems)
{
	static const struct csv_columns columns = {names, COLUMNS, 2, false};
	struct csv_table *table;
	struct proc_sample sample;
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
