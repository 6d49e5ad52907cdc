/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/csv.h"

#include "rows.h"

static const struct csv_column column[] = {
    {"key", CSV_TEXT}, {"left", CSV_TEXT}, {"right", CSV_TEXT}};
static const struct csv_columns two_texts = {column, 2, 0, true, false};

/* Records as LINE[field][field]. */
static void read_csv(const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct problem_log log;
	struct csv_row row;
	struct csv *csv;

	problem_log_init(&log, "a", &rows.problems);
	csv = csv_open("a", &two_texts, &log);
	while (csv && csv_next(csv, &row))
		rows_add(&rows, "%d[%s][%s]\n", (int)row.line,
			 row.cell[0].text ? row.cell[0].text : "",
			 row.cell[1].text ? row.cell[1].text : "");
	csv_close(csv);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(fields_may_be_quoted)
{
	scratch_text("a", "a,b\r\n\n\"a\",\"b,c\"\n\"\",\"\"\"x\"\"\"\n,\nend,\n");
	read_csv("1[a][b]\n3[a][b,c]\n4[][\"x\"]\n5[][]\n6[end][]\n", "");
	scratch_text("a", "");
	read_csv("", "");
	scratch_text("a", "\n\r\n\n");
	read_csv("", "");
}

#define QUOTES "line with unbalanced quotes skipped"

/* One stray quote costs its own line only. */
SCRATCH_TEST(stray_quotes_cost_a_line)
{
	scratch_text("a", "1,\"open\n2,b\n3,c\n");
	read_csv("2[2][b]\n3[3][c]\n", "a:1: " QUOTES " (broken, 1)\n");
	scratch_text("a", "1,5\"\n2,b\n3,\"c\n4,d\n");
	read_csv("2[2][b]\n4[4][d]\n", "a:1: " QUOTES " (broken, 2)\n");
	scratch_text("a", "1,\"a\"b\n2,\"a\" \n3,a\"b\"\n4,\"d\"\n");
	read_csv("4[4][d]\n", "a:1: " QUOTES " (broken, 3)\n");
	scratch_text("a", "\"\n");
	read_csv("", "a:1: " QUOTES " (broken, 1)\n");
	scratch_text("a", "\"one\ntwo\",2\n3,\"c\"\n");
	read_csv("3[3][c]\n", "a:1: " QUOTES " (broken, 2)\n");
	scratch_long("a", "1,\"a\n2,b\n\"", 10000000, "\n4,d\n");
	read_csv("2[2][b]\n4[4][d]\n",
		 "a:1: " QUOTES " (broken, 1)\n"
		 "a:3: line longer than 1 MiB skipped (broken, 1)\n");
}

SCRATCH_TEST(a_line_that_is_cut_is_left_out)
{
	scratch_text("a", "1,2\n3,4");
	read_csv("1[1][2]\n", "a:2: incomplete last line skipped (truncated, 1)\n");
	scratch_text("a", "1,2\n3,\"4");
	read_csv("1[1][2]\n", "a:2: incomplete last line skipped (truncated, 1)\n");
}

static void read_table(const struct csv_columns *columns, const char *text,
		       const char *wanted, const char *problems)
{
	struct rows rows = {.length = 0};
	struct csv *csv;
	struct problem_log log;
	struct csv_row row;

	scratch_text("a", text);
	problem_log_init(&log, "a", &rows.problems);
	csv = csv_open("a", columns, &log);
	while (csv && csv_next(csv, &row))
		rows_add(&rows, "%d %s %s %s\n", (int)row.line,
			 row.cell[0].text ? row.cell[0].text : "-",
			 row.cell[1].text ? row.cell[1].text : "-",
			 row.cell[2].text ? row.cell[2].text : "-");
	csv_close(csv);
	assert_string_equal(rows.text, wanted);
	assert_problems(&rows.problems, problems);
}

SCRATCH_TEST(columns_are_found_by_name)
{
	static const struct csv_columns columns = {column, 3, 1, false, false};

	read_table(&columns, "key,left,right\n1,2,3\n", "2 1 2 3\n", "");
	read_table(&columns, "\xef\xbb\xbfkey,left,right\n1,2,3\n", "2 1 2 3\n", "");
	read_table(&columns, "right,key\n1,2\n,3\n", "2 2 - 1\n3 3 - -\n", "");
	read_table(&columns, "size,key,colour,key\n1,2,3,4\n", "2 2 - -\n",
		   "a:1: unknown column 'size' ignored (foreign, 1)\n"
		   "a:1: unknown column 'colour' ignored (foreign, 1)\n"
		   "a:1: duplicate column 'key' ignored (twice, 1)\n");
	read_table(&columns, "key,left\n1,2\n1\n1,2,3\n,2\n5,6\n", "2 1 2 -\n6 5 6 -\n",
		   "a:3: line with 1 fields skipped (expected 2) (broken, 1)\n"
		   "a:4: line with 3 fields skipped (expected 2) (broken, 1)\n"
		   "a:5: key is empty; skipped (broken, 1)\n");
	read_table(&columns, "1,2,3\n", "",
		   "a:1: missing column 'key' (expected a header line: key,left,right) "
		   "(headless, "
		   "1)\n");
}

SCRATCH_TEST(a_header_may_lack)
{
	static const struct csv_columns columns = {column, 3, 3, true, false};

	read_table(&columns, "1,2,3\n4,5,6\n", "1 1 2 3\n2 4 5 6\n", "");
	read_table(&columns, "left,key,right\n1,2,3\n", "2 2 1 3\n", "");
	read_table(&columns, "left,key\n1,2\n", "",
		   "a:1: missing column 'right' (expected a header line: key,left,right) "
		   "(headless, 1)\n");
	read_table(&columns, "1,2\n1,2,3\n", "2 1 2 3\n",
		   "a:1: line with 2 fields skipped (expected 3) (broken, 1)\n");
}
