/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include "rows.h"

static void read_text(const char *text, const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct problem_log log;
	struct csv_row row;
	struct csv *csv;

	scratch_text("sensors.csv", text);
	problem_log_init(&log, "sensors.csv", &rows.problems);
	csv = csv_open("sensors.csv", &sensor_columns, &log);
	while (csv && csv_next(csv, &row))
		rows_add(&rows, "%d: %lld %s %s %g\n", (int)row.line,
			 (long long)row.cell[SENSOR_REALTIME].integer,
			 row.cell[SENSOR_NAME].text, row.cell[SENSOR_METRIC].text,
			 row.cell[SENSOR_VALUE].real);
	csv_close(csv);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(rows_are_read)
{
	read_text("realtime_ns,sensor,metric,value\n"
		  "1795228740000000001,coretemp/temp1,celsius,41.5\n"
		  "1795228740000000002,\"fan, rear\",rpm,-0\n",
		  "2: 1795228740000000001 coretemp/temp1 celsius 41.5\n"
		  "3: 1795228740000000002 fan, rear rpm -0\n",
		  "");
	read_text("1,a,b,1e3\n", "1: 1 a b 1000\n", "");
	read_text("value,metric,sensor,realtime_ns\n4,b,a,1\n", "2: 1 a b 4\n", "");
	read_text("", "", "");
}

SCRATCH_TEST(broken_rows_are_left_out)
{
	read_text("now,a,b,4\n1,a,b,nan\n1,a,b,\"4,5\"\n1,a,b,5\n1,a,b\n1,a,b,6",
		  "4: 1 a b 5\n",
		  "sensors.csv:1: invalid realtime_ns 'now' (expected a time in "
		  "nanoseconds); skipped "
		  "(broken, 1)\n"
		  "sensors.csv:2: invalid value 'nan' (expected a number); skipped "
		  "(broken, 1)\n"
		  "sensors.csv:3: invalid value '4,5' (expected a number); skipped "
		  "(broken, 1)\n"
		  "sensors.csv:5: line with 3 fields skipped (expected 4) (broken, 1)\n"
		  "sensors.csv:6: incomplete last line skipped "
		  "(truncated, 1)\n");
}
