/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One broken trace for each mistake, and none is told of a trace without any. */
#include "export/opendc/verify.h"

#include "../draw.h"
#include "../scratch.h"
#include "base/mem.h"
#include "export.h"
#include "export/opendc/schema.h"

/* What is printed of the trace in "d", and whether it fails; for free(). */
static char *verify(int schema, bool json, bool *failed)
{
	struct error error = ERROR_INIT;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*failed = opendc_verify("d", schema, json, out, &error) != 0;
	assert_int_equal(*failed, error.text != NULL);
	error_clear(&error);
	fclose(out);
	return text;
}

static void expect(const char *want, bool fails)
{
	bool failed;
	char *have = verify(0, false, &failed);

	assert_string_equal(have, want);
	assert_int_equal(failed, fails);
	free(have);
}

#define NAMES                                                                            \
	"id,name,submission_time,duration,cpu_count,cpu_capacity,mem_capacity,"          \
	"parents,children,deferrable,deadline\r\n"
#define PIECES "id,duration,cpu_usage\r\n"
#define ONE    "1,a,1000,50,1,2000.0,100,,,,\r\n"
#define TWO    "2,b,1000,50,1,2000.0,100,,,,\r\n"

/* One of a trace's two files differs from what is right. */
struct mistake {
	const char *tasks, *fragments, *told;
	bool warning;
};

static const struct mistake mistakes[] = {
    {NAMES ONE ONE, PIECES "1,50,2000\r\n",
     "error: id: tasks.csv: task 1 comes twice, or more often\n", false},
    {NAMES ONE TWO, PIECES "1,50,2000\r\n",
     "error: fragment: task 2 has no fragment: OpenDC leaves it out\n", false},
    {NAMES ONE, PIECES "1,50,0\r\n3,1,0\r\n",
     "error: orphan: fragments.csv: task 3: row 3: there is no such task\n", false},
    {NAMES "1,a,1000,0,1,2000.0,100,,,,\r\n", PIECES "1,0,0\r\n",
     "error: duration: tasks.csv: task 1: duration 0, want it positive\n"
     "error: duration: fragments.csv: task 1: row 2: duration 0, want it positive\n",
     false},
    {NAMES ONE, PIECES "1,51,0\r\n",
     "error: sum: task 1 takes 50 ms, and its fragments 51\n", false},
    {NAMES ONE, PIECES "1,50,-1\r\n",
     "error: number: fragments.csv: task 1: cpu_usage -1, want it finite and not "
     "negative\n",
     false},
    {NAMES ONE, PIECES "1,50,nan\r\n",
     "error: type: fragments.csv:2: column cpu_usage: 'nan'\n"
     "error: null: fragments.csv: row 2 lacks its cpu_usage\n",
     false},
    {NAMES "1,a,1000,50,0,2000.0,-1,,,,\r\n", PIECES "1,50,0\r\n",
     "error: number: tasks.csv: task 1: cpu_count 0, want 1 at least\n"
     "error: number: tasks.csv: task 1: mem_capacity -1, want 0 at least\n",
     false},
    {NAMES "1,a,-1,50,1,2000.0,0,,,,\r\n", PIECES "1,50,0\r\n",
     "error: time: tasks.csv: task 1: submitted at -1 ms, before 1970\n", false},
    {NAMES ONE, PIECES "1,50,2000.1\r\n",
     "warning: usage: fragments.csv: task 1: cpu_usage 2000.1, and its capacity is "
     "2000\n",
     true},
    {NAMES "1,a,1000,50,1,0,100,,,,\r\n", PIECES "1,50,0\r\n",
     "warning: capacity: tasks.csv: task 1: cpu_capacity 0\n", true},
    {NAMES "1,a,1000,50,1,2000.0,100,,,,999\r\n", PIECES "1,50,0\r\n",
     "error: deadline: tasks.csv: task 1: deadline 999, before its submission at 1000\n",
     false},
    {NAMES "1,a,1000,50,1,2000.0,100,,,,1049\r\n", PIECES "1,50,0\r\n",
     "warning: deadline: tasks.csv: task 1: deadline 49 ms after its submission, and it "
     "takes 50\n",
     true},
    {NAMES "1,a,1000,50,1,2000.0,100,,2,,\r\n" TWO, PIECES "1,50,0\r\n2,50,0\r\n",
     "error: symmetry: task 1 has the child 2, which has no such parent\n", false},
    {NAMES ONE "2,b,1000,50,1,2000.0,100,1,,,\r\n", PIECES "1,50,0\r\n2,50,0\r\n",
     "error: symmetry: task 2 has the parent 1, which has no such child\n", false},
    {NAMES "1,a,1000,50,1,2000.0,100,7,,,\r\n", PIECES "1,50,0\r\n",
     "error: relation: task 1 has the parent 7, which is no task\n", false},
    {NAMES "1,a,1000,50,1,2000.0,100,2,2,,\r\n2,b,1000,50,1,2000.0,100,1,1,,\r\n",
     PIECES "1,50,0\r\n2,50,0\r\n",
     "error: circle: task 1 is its own ancestor, or waits for one that is\n"
     "error: circle: task 2 is its own ancestor, or waits for one that is\n",
     false},
    {NAMES "1,a,1000,50,1,2000.0,100,1,1,,\r\n", PIECES "1,50,0\r\n",
     "error: circle: task 1 is its own ancestor, or waits for one that is\n", false},
    {NAMES "x,a,1000,50,1,2000.0,100,,,,\r\n", PIECES "1,50,0\r\n",
     "error: type: tasks.csv:2: column id: 'x'\n"
     "error: null: tasks.csv: row 2 lacks its id\n"
     "error: orphan: fragments.csv: task 1: row 2: there is no such task\n",
     false},
    {NAMES "1,a,1000,50\r\n", PIECES "1,50,0\r\n",
     "error: fields: tasks.csv:2: 4 fields, and 11 names\n"
     "error: null: tasks.csv: row 2 lacks its cpu_capacity\n"
     "error: null: tasks.csv: row 2 lacks its cpu_count\n"
     "error: null: tasks.csv: row 2 lacks its mem_capacity\n",
     false},
    {NAMES ONE, "id,cpu_usage\r\n1,0\r\n",
     "error: column: fragments.csv: no column duration\n"
     "error: sum: task 1 takes 50 ms, and its fragments 0\n",
     false},
    {NAMES ONE, PIECES "\"1,50,0\r\n",
     "error: file: d/fragments.csv:2: the file ends within quotes\n", false},
    {NAMES, PIECES, "warning: empty: there is no task\n", true},
};

static void every_mistake_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		const struct mistake *mistake = &mistakes[i];
		bool failed;
		char *have;

		scratch_text("d/tasks.csv", mistake->tasks);
		scratch_text("d/fragments.csv", mistake->fragments);
		have = verify(5, false, &failed);
		if (!strstr(have, "d: schema v5 as csv: ") ||
		    strncmp(have, mistake->told, strlen(mistake->told)) != 0 ||
		    have[strlen(mistake->told)] != 'd')
			fail_msg("mistake %zu: told\n%swant\n%s", i, have, mistake->told);
		assert_int_equal(failed, !mistake->warning);
		free(have);
	}
}

static void what_is_right_is_not_told(void **state)
{
	(void)state;
	scratch_text("d/tasks.csv",
		     NAMES "1,a,1000,50,1,2000.0,100,,2;3,false,1050\r\n"
			   "2,\"b, \"\"c\"\"\",1000,50,1,2000.0,100,1,3,true,-1\r\n"
			   "3,,1000,1,1,2000.0,100,1;2,,,\r\n");
	scratch_text("d/fragments.csv", PIECES "1,20,0\r\n2,50,2000\r\n1,30,7.5\r\n"
					       "3,1,0");
	expect("d: schema v5 as csv: tasks: 3, fragments: 4, errors: 0, warnings: 0\n",
	       false);
}

static void many_of_a_sort_are_counted(void **state)
{
	bool failed;
	char *have;

	(void)state;
	scratch_text("d/tasks.csv", NAMES ONE);
	scratch_text("d/fragments.csv",
		     PIECES "1,50,0\r\n2,1,0\r\n3,1,0\r\n4,1,0\r\n5,1,0\r\n6,1,0\r\n");
	expect("error: orphan: fragments.csv: task 2: row 3: there is no such task\n"
	       "error: orphan: fragments.csv: task 3: row 4: there is no such task\n"
	       "error: orphan: fragments.csv: task 4: row 5: there is no such task\n"
	       "error: orphan: and 2 more\n"
	       "d: schema v5 as csv: tasks: 1, fragments: 6, errors: 5, warnings: 0\n",
	       true);
	have = verify(0, true, &failed);
	assert_true(failed);
	assert_string_equal(
	    have, "{\n"
		  "  \"directory\": \"d\",\n"
		  "  \"format\": \"csv\",\n"
		  "  \"schema\": \"v5\",\n"
		  "  \"tasks\": 1,\n"
		  "  \"fragments\": 6,\n"
		  "  \"errors\": [\n"
		  "    {\n"
		  "      \"check\": \"orphan\",\n"
		  "      \"count\": 5,\n"
		  "      \"examples\": [\n"
		  "        \"fragments.csv: task 2: row 3: there is no such task\",\n"
		  "        \"fragments.csv: task 3: row 4: there is no such task\",\n"
		  "        \"fragments.csv: task 4: row 5: there is no such task\"\n"
		  "      ]\n"
		  "    }\n"
		  "  ],\n"
		  "  \"warnings\": []\n"
		  "}\n");
	free(have);
}

/* A file of one row of zeros, or ids of 1, by these columns. */
static void write_parquet(const char *path, const struct parquet_column *column,
			  size_t columns)
{
	struct error error = ERROR_INIT;
	struct cell cell[16] = {{0}};
	struct parquet_list list[4] = {{0}};
	struct parquet_writer *writer;
	FILE *file;

	scratch_text(path, "");
	file = fopen(path, "wb");
	writer = parquet_writer_new(file, column, columns, NULL, &error);
	if (!writer)
		fail_msg("%s", error_text(&error));
	for (size_t i = 0; i < columns; i++) {
		bool real =
		    column[i].type == PARQUET_DOUBLE || column[i].type == PARQUET_FLOAT;

		cell[i] = (struct cell){.type = real ? CELL_REAL : CELL_INTEGER};
		if (!real)
			cell[i].integer = 1;
		else
			cell[i].real = 1;
		if (column[i].type == PARQUET_BYTE_ARRAY)
			cell_set_text(&cell[i], "1", 1);
		if (column[i].logical == PARQUET_STRING && column[i].optional)
			cell[i].type = CELL_NULL;
	}
	if (parquet_add_row(writer, cell, list, &error))
		fail_msg("%s", error_text(&error));
	assert_int_equal(parquet_writer_finish(writer, &error), 0);
	parquet_writer_free(writer);
	assert_int_equal(fclose(file), 0);
}

static size_t columns_of(const struct opendc_table *table, struct parquet_column *column)
{
	for (size_t i = 0; i < table->columns; i++)
		column[i] = table->column[i].parquet;
	return table->columns;
}

/* Each of the columns of each version with another type, optional, or gone. */
static void types_are_those_of_the_version(void **state)
{
	static const char *const types[] = {"BOOLEAN", "INT32",  "INT64",     "",
					    "FLOAT",   "DOUBLE", "BYTE_ARRAY"};

	(void)state;
	for (int schema = 1; schema <= 5; schema++) {
		struct opendc_table table = opendc_fragments_table(schema);
		struct parquet_column fragments[16], column[16];
		char *path = mem_printf("d/%s.parquet", table.file);
		size_t columns = columns_of(&table, fragments);

		write_parquet(path, fragments, columns);
		free(path);
		table = opendc_tasks_table(schema);
		path = mem_printf("d/%s.parquet", table.file);
		columns = columns_of(&table, column);
		for (size_t i = 0; i < columns; i++) {
			struct parquet_column was = column[i];
			enum parquet_type other =
			    was.type == PARQUET_INT32 ? PARQUET_INT64 : PARQUET_INT32;
			bool failed;
			char *have, *want;

			column[i].type = other;
			column[i].logical = PARQUET_NO_LOGICAL;
			write_parquet(path, column, columns);
			column[i] = was;
			have = verify(schema, false, &failed);
			want = mem_printf("error: type: %s.parquet: column %s%s is %s, "
					  "want %s\n",
					  table.file, was.name,
					  was.list ? ".list.element" : "", types[other],
					  types[was.type]);
			if (!strstr(have, want) || !failed)
				fail_msg("want %s in\n%s", want, have);
			free(have);
			free(want);
			if (!table.column[i].wanted)
				continue;
			column[i].optional = true;
			write_parquet(path, column, columns);
			column[i] = was;
			have = verify(schema, false, &failed);
			want = mem_printf("error: required: %s.parquet: column %s is "
					  "OPTIONAL, want it REQUIRED\n",
					  table.file, was.name);
			if (!strstr(have, want) || !failed)
				fail_msg("want %s in\n%s", want, have);
			free(have);
			free(want);
			column[i].name = "other";
			write_parquet(path, column, columns);
			column[i] = was;
			have = verify(schema, false, &failed);
			want = mem_printf("error: column: %s.parquet: no column %s, want "
					  "it of %s\n",
					  table.file, was.name, types[was.type]);
			if (!strstr(have, want) || !failed)
				fail_msg("want %s in\n%s", want, have);
			free(have);
			free(want);
		}
		free(path);
	}
}

static void a_list_is_called_as_it_should(void **state)
{
	struct opendc_table table = opendc_tasks_table(5);
	struct parquet_column column[16];
	size_t columns = columns_of(&table, column);
	bool failed;
	char *have;

	(void)state;
	for (size_t i = 0; i < columns; i++)
		if (column[i].list)
			column[i].list = column[i].optional_elements = false;
	write_parquet("d/tasks.parquet", column, columns);
	table = opendc_fragments_table(5);
	columns = columns_of(&table, column);
	write_parquet("d/fragments.parquet", column, columns);
	have = verify(0, false, &failed);
	assert_non_null(strstr(have, "error: type: tasks.parquet: column parents, want "
				     "parents.list.element, a list\n"));
	assert_true(failed);
	free(have);
}

static void what_is_no_trace_is_told(void **state)
{
	(void)state;
	expect("error: file: d: no tasks.parquet, tasks.csv or trace/meta.parquet\n"
	       "d: tasks: 0, fragments: 0, errors: 1, warnings: 0\n",
	       true);
	scratch_text("d/tasks.parquet", "no Parquet");
	expect("error: file: d/tasks.parquet: 10 bytes, no Parquet file\n"
	       "d: tasks: 0, fragments: 0, errors: 1, warnings: 0\n",
	       true);
	unlink("d/tasks.parquet");
	scratch_text("d/tasks.csv", NAMES ONE);
	expect("error: file: d: neither fragments.parquet nor fragments.csv\n"
	       "d: schema v5 as csv: tasks: 1, fragments: 0, errors: 1, warnings: 0\n",
	       true);
}

/* Any bytes in the text form end with a report, too. */
static void damaged_text_is_told(void **state)
{
	static const char tasks[] =
	    NAMES ONE "2,\"b, \"\"c\"\"\",1000,50,1,2000.0,100,1,3,true,-1\r\n";
	static const char fragments[] = PIECES "1,20,0\r\n2,50,2000\r\n1,30,7.5\r\n";

	draw_restart(state);
	for (int round = 0; round < 300; round++) {
		char one[sizeof(tasks)], other[sizeof(fragments)];
		bool failed;

		memcpy(one, tasks, sizeof(tasks));
		memcpy(other, fragments, sizeof(fragments));
		for (int64_t i = draw_between(1, 5); i > 0; i--) {
			one[draw_between(0, sizeof(tasks) - 2)] = (char)draw();
			other[draw_between(0, sizeof(fragments) - 2)] =
			    "\",;\r\n0-9."[draw_between(0, 8)];
		}
		scratch_bytes("d/tasks.csv", one, sizeof(tasks) - 1);
		scratch_bytes("d/fragments.csv", other, sizeof(fragments) - 1);
		free(verify((int)draw_between(0, 5), round % 2, &failed));
	}
}

/* Damaged traces end with a report. */
static void damage_is_told(void **state)
{
	size_t size[2];
	char *bytes[2];

	(void)state;
	draw_restart(state);
	for (int i = 0; i < 2; i++) {
		struct opendc_table table =
		    i ? opendc_fragments_table(5) : opendc_tasks_table(5);
		struct parquet_column column[16];
		size_t columns = columns_of(&table, column);
		char *path = mem_printf("d/%s.parquet", table.file);

		write_parquet(path, column, columns);
		bytes[i] = scratch_read(path, &size[i]);
		free(path);
	}
	for (int round = 0; round < 200; round++) {
		bool failed;

		for (int i = 0; i < 2; i++) {
			char *broken = mem_alloc(size[i]);

			memcpy(broken, bytes[i], size[i]);
			for (int64_t j = draw_between(0, 3); j > 0; j--)
				broken[draw_between(0, (int64_t)size[i] - 1)] =
				    (char)draw();
			scratch_bytes(i ? "d/fragments.parquet" : "d/tasks.parquet",
				      broken, size[i]);
			free(broken);
		}
		free(verify(0, round % 2, &failed));
	}
	free(bytes[0]);
	free(bytes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(every_mistake_is_told),
	    SCRATCH_TEST(what_is_right_is_not_told),
	    SCRATCH_TEST(many_of_a_sort_are_counted),
	    SCRATCH_TEST(types_are_those_of_the_version),
	    SCRATCH_TEST(a_list_is_called_as_it_should),
	    SCRATCH_TEST(what_is_no_trace_is_told),
	    SCRATCH_TEST(damaged_text_is_told),
	    SCRATCH_TEST(damage_is_told),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
