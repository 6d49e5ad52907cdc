/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole run directories: what is in them, and that a seed decides every byte. */
#include "../draw.h"
#include "../scratch.h"

#include "simulated.h"

#include "base/json.h"

static const char full[] = "# Small\nnodes 2\ncpus 2\nseconds 4\nactivity full\n"
			   "interval_ms 5\nsample_s 0.5\nuptime_s 5";

static json_t *load(const char *path)
{
	struct error error = ERROR_INIT;
	json_t *object = json_read_object(path, &error);

	if (!object)
		fail_msg("%s", error_text(&error));
	return object;
}

/* A row of sadf -p: host, seconds, stamp, item, metric, value. */
struct sadf {
	char host[16], item[16], metric[16];
	double span, value;
	long long stamp;
};

static bool next_row(FILE *file, struct sadf *row)
{
	int fields =
	    fscanf(file, "%15[^\t]\t%lf\t%lld\t%15[^\t]\t%15[^\t]\t%lf\n", row->host,
		   &row->span, &row->stamp, row->item, row->metric, &row->value);

	assert_true(fields == EOF || fields == 6);
	return fields == 6;
}

static void check_samples(const char *path, const char *host)
{
	FILE *file = fopen(path, "r");
	long long first = 0, last = 0;
	double sum = 0, packets = 0;
	struct sadf row;
	int items = 0;

	assert_non_null(file);
	while (next_row(file, &row)) {
		assert_string_equal(row.host, host);
		assert_true(row.stamp >= last && row.value >= 0);
		last = row.stamp;
		first = first ? first : last;
		if (strcmp(row.metric, "%usr") == 0)
			sum = 0;
		sum += row.value;
		if (strcmp(row.metric, "%idle") == 0) {
			assert_true(fabs(sum - 100) < 0.1);
			items++;
		}
		if (strcmp(row.metric, "rxpck/s") == 0)
			packets += row.value;
	}
	assert_int_equal(items, 7 * 3); /* all, cpu0, cpu1 */
	assert_true(last - first >= 2 && packets > 0);
	fclose(file);
}

static void test_traces(void **unused)
{
	struct simulation_counts counts = simulated(full, draw_seed, "run", "traces");
	json_t *node, *facts;

	(void)unused;
	assert_true(counts.events > 1000);
	assert_int_equal(access("run/node1/kernel/metadata", F_OK), 0);
	assert_int_equal(access("run/node2/kernel/metadata", F_OK), 0);
	assert_int_equal(access("run/truth.csv", F_OK), 0);
	assert_int_not_equal(access("run/messages.csv", F_OK), 0);
	node = load("run/node1/node.json");
	assert_string_equal(json_text(node, "hostname"), "node1");
	json_decref(node);
	facts = load("run/run.json");
	assert_string_equal(json_text(facts, "summary"), "Small");
	assert_int_equal(json_array_size(json_object_get(facts, "nodes")), 2);
	assert_int_equal(json_array_size(json_object_get(facts, "clocks")), 2);
	assert_true(json_real_value(json_object_get(json_object_get(facts, "parameters"),
						    "interval_ms")) == 5);
	assert_int_equal(json_integer_value(json_object_get(facts, "events")),
			 (json_int_t)counts.events);
	json_decref(facts);
	check_samples("run/node1/sar.sadf", "node1");
	check_samples("run/node2/sar.sadf", "node2");
}

static void test_captures(void **unused)
{
	struct simulation_counts counts =
	    simulated("nodes 2\nseconds 1", draw_seed, "run", "captures");

	(void)unused;
	assert_true(counts.events > 0);
	assert_int_equal(access("run/node1/node1.pcap", F_OK), 0);
	assert_int_equal(access("run/node2/node.json", F_OK), 0);
	assert_int_not_equal(access("run/node1/kernel", F_OK), 0);
	assert_int_not_equal(access("run/node1/sar.sadf", F_OK), 0);
}

static void assert_same_file(const char *name, const char *b, bool same)
{
	char first[64], second[64];
	char *x, *y;
	size_t have, want;

	snprintf(first, sizeof(first), "a/%s", name);
	snprintf(second, sizeof(second), "%s/%s", b, name);
	x = scratch_read(first, &have);
	y = scratch_read(second, &want);
	assert_int_equal(have == want && memcmp(x, y, have) == 0, same);
	free(x);
	free(y);
}

static void test_seed_decides_all(void **unused)
{
	static const char *const file[] = {
	    "node1/kernel/metadata", "node1/kernel/ch_0", "node2/kernel/ch_1",
	    "node1/sar.sadf",        "truth.csv",         "run.json"};

	(void)unused;
	simulated(full, draw_seed, "a", "traces");
	simulated(full, draw_seed, "b", "traces");
	simulated(full, draw_seed + 1, "c", "traces");
	for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++) {
		assert_same_file(file[i], "b", true);
		assert_same_file(file[i], "c", false);
	}
}

/* What is written does not change what happens. */
static void test_same_run_in_each_form(void **unused)
{
	(void)unused;
	simulated(full, draw_seed, "a", "traces");
	simulated(full, draw_seed, "b", "messages");
	simulated(full, draw_seed, "c", "captures");
	assert_same_file("truth.csv", "b", true);
	assert_same_file("truth.csv", "c", true);
	assert_same_file("node1/sar.sadf", "c", true);
}

static void test_end_by_events(void **unused)
{
	struct simulation_counts counts = simulated(
	    "nodes 2\nseconds 600\nactivity full\nevents 5000", 7, "run", "traces");

	(void)unused;
	assert_int_equal(counts.events, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_traces),           SCRATCH_TEST(test_captures),
	    SCRATCH_TEST(test_seed_decides_all), SCRATCH_TEST(test_same_run_in_each_form),
	    SCRATCH_TEST(test_end_by_events),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
