/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/result.h"

#include "../scratch.h"

static const struct result_column columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"max_ns", "MAX", UNIT_SPAN},
    {"count", "COUNT", UNIT_COUNT},
    {NULL, NULL, 0},
};

static void add(struct result_table *table, const char *node, int64_t most, int64_t count)
{
	result_add(table, (struct cell[]){cell_of_text(node), cell_of_known(most, -1),
					  cell_of_integer(count)});
}

/* "node max count;..." of what is left. */
static char *rows(const struct result_table *table)
{
	char *text = mem_strdup("");

	for (size_t i = 0; i < table->rows; i++) {
		const struct cell *row = &table->cell[i * table->columns];
		char *more = mem_printf(
		    "%s%s%s %lld %lld", text, i ? ";" : "", row[0].bytes,
		    row[1].type == CELL_NULL ? -1LL : (long long)row[1].integer,
		    (long long)row[2].integer);

		free(text);
		text = more;
	}
	return text;
}

static void expect(struct result *result, const char *wanted)
{
	struct error error = ERROR_INIT;
	char *got;

	assert_int_equal(result_finish(result, &error), 0);
	got = rows(result->table[0]);
	assert_string_equal(got, wanted);
	free(got);
}

static struct result_table *fill(struct result *result, const struct request *request,
				 const char *order)
{
	struct result_table *table;

	result_init(result, request);
	table = result_table_new(result, "nodes", "Nodes", columns);
	result_table_sort(table, order);
	add(table, "node10", 5, 1);
	add(table, "node2", 5, 2);
	add(table, "node1", 7, 3);
	add(table, "node3", -1, 4);
	return table;
}

TEST(test_order)
{
	struct request request;
	struct result result;

	request_init(&request);
	fill(&result, &request, "-max_ns,node");
	expect(&result, "node1 7 3;node2 5 2;node10 5 1;node3 -1 4");
	result_clear(&result);

	request.sort = mem_strdup("max");
	fill(&result, &request, "-count");
	expect(&result, "node2 5 2;node10 5 1;node1 7 3;node3 -1 4");
	result_clear(&result);
	request_clear(&request);
}

TEST(test_no_order_keeps_what_came_first)
{
	struct request request;
	struct result result;

	request_init(&request);
	request.limit_given = 2;
	assert_int_equal(fill(&result, &request, "")->added, 4);
	expect(&result, "node10 5 1;node2 5 2");
	result_clear(&result);
	request_clear(&request);
}

/* Those kept on the way are those that sorting everything would keep. */
TEST(test_limit_keeps_the_first_in_order)
{
	struct request request;
	struct result result;
	struct result_table *table;

	request_init(&request);
	result_init(&result, &request);
	table = result_table_new(&result, "nodes", "Nodes", columns);
	result_table_sort(table, "-max");
	result_table_limit(table, 3);
	for (int64_t i = 0; i < 10000; i++)
		add(table, "n", i * 7919 % 10007, i);
	assert_true(table->rows <= 64);
	assert_int_equal(table->added, 10000);
	expect(&result, "n 10006 1040;n 10005 2080;n 10004 3120");
	result_clear(&result);
	request_clear(&request);
}
