/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Bounds of clocks in relations.sql and report.sql. */
#include "analyze/catalog.h"
#include "analyze/query.h"

#include "../timeline/timeline.h"

enum { OPEN = -99 };

/* Node 1 with a kernel trace (source 1) and a capture (2) of another clock, node 2 with
 * one trace (3) whose clock has two segments. */
static void make(void)
{
	struct timeline_writer *writer = write_timeline("run.db", true);
	const struct timeline_node node = {
	    .id = 2, .name = "n2", .cpus = TIMELINE_NONE, .mem_kib = TIMELINE_NONE};
	const struct timeline_source sources[] = {
	    {.id = 2, .node = 1, .kind = "capture", .name = "n1:a.pcap", .reference = 1},
	    {.id = 3, .node = 2, .kind = "kernel", .name = "n2", .reference = 1}};
	const struct timeline_clock clocks[] = {{1, 1000, 1000, 0},
						{2, 1000, 1010, 0},
						{3, 0, 5000000, 0},
						{3, 1000000, 6000000, 100000}};
	const struct timeline_clock_bound rows[] = {{1, 0, 0, 0},
						    {2, 1000, -7, 9},
						    {3, 0, -10, 20},
						    {3, 1000000, -30, 5},
						    {3, 2000000, NSEC_MIN, 40}};
	const struct timeline_clock_pair pair = {.a = 1, .b = 3, .quality = "accurate"};
	struct error error = ERROR_INIT;

	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(timeline_add_source(writer, &sources[i], &error), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(timeline_add_clock(writer, &clocks[i], &error), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(timeline_add_clock_bound(writer, &rows[i], &error), 0);
	assert_int_equal(timeline_add_clock_pair(writer, &pair, &error), 0);
	finish_timeline(writer);
}

/* The first table of a file of SQL, or the bounds of the report up to a time, a cell
 * after the other; OPEN: NULL. */
static size_t ask_for(const char *name, const char *sql, nsec_t end_ns, int64_t *found,
		      size_t most)
{
	struct text_list files = {0};
	struct catalog catalog;
	struct request request;
	struct query query;
	struct result result;
	struct error error = ERROR_INIT;
	size_t count = 0;
	FILE *file = fopen("asked.sql", "w");

	fputs(sql, file);
	fclose(file);
	text_list_add(&files, "asked.sql");
	request_init(&request);
	assert_int_equal(catalog_init(&catalog, &files, &error), 0);
	result_init(&result, &request);
	assert_int_equal(query_open(&query, catalog_find(&catalog, name, &error),
				    &request, "run.db", &error),
			 0);
	if (end_ns) {
		query.scope.begin_ns = 0;
		query.scope.end_ns = end_ns;
		query.tables = "curves";
	}
	query_file_run(&query, &result, &error);
	assert_string_equal(error_text(&error), "");
	for (size_t i = 0; i < result.table[0]->rows * result.table[0]->columns; i++) {
		const struct cell *cell = &result.table[0]->cell[i];

		assert_true(count < most);
		found[count++] = cell->type == CELL_INTEGER ? cell->integer : OPEN;
	}
	result_clear(&result);
	query_close(&query);
	catalog_clear(&catalog);
	text_list_clear(&files);
	return count;
}

static size_t ask_sql(const char *sql, int64_t *found, size_t most)
{
	return ask_for("asked", sql, 0, found, most);
}

static void expect(int source, long long at_ns, int64_t low, int64_t high)
{
	char sql[400];
	int64_t found[2];

	snprintf(sql, sizeof(sql),
		 "SELECT low_ns, high_ns FROM clock_uncertainty WHERE source = %d AND "
		 "%lld >= begin_ns AND %lld < end_ns",
		 source, at_ns, at_ns);
	if (ask_sql(sql, found, 2)) {
		assert_int_equal(found[0], low);
		assert_int_equal(found[1], high);
	} else {
		assert_int_equal(low, OPEN);
		assert_int_equal(high, OPEN);
	}
}

/* At a stated time its own bound, between two the wider sides, beyond the ends none. */
SCRATCH_TEST(test_at_a_time)
{
	make();
	expect(3, 5000000, -10, 20);
	expect(3, 5500000, -30, 20);
	expect(3, 6000000, -30, 5);
	expect(3, 6500000, OPEN, 40);
	expect(3, 7000100, OPEN, 40);
	/* A stamp that was corrected twice is off by a little. */
	expect(3, 5000000 - 1000, -10, 20);
	expect(3, 5000000 - 1001, OPEN, OPEN);
	expect(3, 7000100 + 1001, OPEN, OPEN);
	expect(99, 0, OPEN, OPEN);
}

SCRATCH_TEST(test_sources_of_nodes)
{
	int64_t found[4];

	make();
	assert_int_equal(
	    ask_sql("SELECT node, source FROM node_source ORDER BY node", found, 4), 4);
	assert_int_equal(found[1], 1);
	assert_int_equal(found[3], 3);
}

/* While the kernel's trace was not recorded, its capture was, and then nothing: a row is
 * 0, as no sample is there, node, from, to, bound and 1. */
SCRATCH_TEST(test_of_nodes)
{
	int64_t found[120 * 6];

	make();
	assert_int_equal(ask_for("report", "SELECT 1", 12000, found, 120 * 6), 20 * 6);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(found[6 * i + 1], 0);
		assert_int_equal(found[6 * i + 2], 100 * i);
		assert_int_equal(found[6 * i + 4], i < 10 ? 0 : 9);
	}
}
