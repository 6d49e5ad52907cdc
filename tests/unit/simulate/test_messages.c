/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages and truth.csv of whole runs: what is said of clocks must be so. */
#include "../draw.h"
#include "../scratch.h"

#include "simulated.h"
#include "told.h"

/* True time of a CLOCK_REALTIME that no step hides, within a nanosecond or two. */
static int64_t true_time(const struct truth *truth, int node, int64_t real_ns)
{
	const struct truth_row *row = truth->row[node];
	size_t last = truth->rows[node] - 1, i = 0;
	const struct truth_row *a, *b;

	while (i + 1 < last && row[i + 1].real_ns < real_ns)
		i++;
	a = &row[i];
	b = &row[i + 1];
	return a->true_ns +
	       (int64_t)((__int128)(real_ns - a->real_ns) * (b->true_ns - a->true_ns) /
			 (b->real_ns - a->real_ns));
}

static struct messages run(const char *text, struct truth **truth)
{
	struct messages messages;

	simulated(text, draw_seed, "run", "messages");
	*truth = read_truth("run/truth.csv");
	messages = read_messages("run/messages.csv");
	assert_true(messages.count > 0);
	return messages;
}

static void assert_causal(const char *text, int64_t least_ns)
{
	struct truth *truth;
	struct messages messages = run(text, &truth);

	for (size_t i = 0; i < messages.count; i++) {
		const struct message *message = &messages.item[i];
		int64_t sent = true_time(truth, message->from, message->send_ns);
		int64_t came = true_time(truth, message->to, message->recv_ns);

		assert_true(came - sent >= least_ns - 3);
	}
	free(messages.item);
	free(truth);
}

SCRATCH_TEST(test_messages_are_causal)
{
	assert_causal("nodes 4\nseconds 20\ndelay_us 200\nloss 0.1\nduplicate 0.1\n"
		      "reorder 0.1\nprotocol mixed\nfamily mixed\n"
		      "slew_ms 1\nslew_period_s 60\nwander_ppm 0.5",
		      200000);
}

SCRATCH_TEST(test_large_transfers_are_causal)
{
	assert_causal("nodes 3\nseconds 5\nrequest_bytes 300000\ngso yes\ngro yes\n"
		      "coalesce_us 50\nloss 0.02\nfamily mixed\nlayers vlan",
		      100000);
}

SCRATCH_TEST(test_full_activity_is_causal)
{
	assert_causal("nodes 3\nseconds 10\nactivity full\nprotocol mixed\ncpus 3\n"
		      "interval_ms 5",
		      100000);
}

SCRATCH_TEST(test_truth_has_every_corner)
{
	struct truth *truth;
	struct messages messages = run("seconds 100\nnode 2 drift_ppm 50\n"
				       "node 2 offset_s 3\nnode 2 uptime_s 10\n"
				       "node 1 drift_ppm 0\nnode 1 offset_s 0\n"
				       "step 2 30 5\nstep 2 60 -2000",
				       &truth);
	const struct truth_row *row = truth->row[2];
	int64_t begin = row[0].true_ns, steps = 0;

	assert_int_equal(begin, INT64_C(1767225600000000000));
	assert_int_equal(row[0].real_ns - begin, 3000000000);
	assert_int_equal(row[0].mono_ns, 10000000000);
	for (size_t i = 1; i < truth->rows[2]; i++) {
		int64_t since = row[i].true_ns - row[i - 1].true_ns;
		int64_t gained = row[i].real_ns - row[i - 1].real_ns - since;

		assert_true(since > 0);
		/* CLOCK_MONOTONIC does not step. */
		assert_true(llabs(row[i].mono_ns - row[i - 1].mono_ns - since -
				  since / 20000) <= 1);
		if (since > 1)
			assert_true(llabs(gained - since / 20000) <= 1);
		else
			steps += gained;
	}
	assert_int_equal(steps, 5000000 - 2000000000);
	assert_true(row[truth->rows[2] - 1].true_ns >= begin + 100 * INT64_C(1000000000));
	for (size_t i = 0; i < truth->rows[1]; i++)
		assert_int_equal(truth->row[1][i].real_ns, truth->row[1][i].true_ns);
	free(messages.item);
	free(truth);
}

static void assert_same_file(const char *a, const char *b, bool same)
{
	size_t have, want;
	char *first = scratch_read(a, &have), *second = scratch_read(b, &want);

	assert_int_equal(have == want && memcmp(first, second, have) == 0, same);
	free(first);
	free(second);
}

SCRATCH_TEST(test_seed_decides_all)
{
	static const char text[] = "nodes 4\nseconds 5\nprotocol mixed\nloss 0.1\n"
				   "wander_ppm 1\nactivity full\nfalse_matches 0.01";

	simulated(text, draw_seed, "a", "messages");
	simulated(text, draw_seed, "b", "messages");
	simulated(text, draw_seed + 1, "c", "messages");
	assert_same_file("a/messages.csv", "b/messages.csv", true);
	assert_same_file("a/false.csv", "b/false.csv", true);
	assert_same_file("a/truth.csv", "b/truth.csv", true);
	assert_same_file("a/run.json", "b/run.json", true);
	assert_same_file("a/messages.csv", "c/messages.csv", false);
	assert_same_file("a/truth.csv", "c/truth.csv", false);
}

/* A change of one part leaves the others as they were. */
SCRATCH_TEST(test_parts_do_not_disturb_each_other)
{
	simulated("nodes 3\nseconds 5", draw_seed, "a", "messages");
	simulated("nodes 3\nseconds 5\nloss 0.2", draw_seed, "b", "messages");
	assert_same_file("a/truth.csv", "b/truth.csv", true);
	assert_same_file("a/messages.csv", "b/messages.csv", false);
}

static int compare(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	return x->send_ns != y->send_ns ? (x->send_ns < y->send_ns ? -1 : 1)
					: x->from - y->from;
}

/* False ones have another one's receipt; the rest is as it was. */
static void check_false(const char *direction, bool both)
{
	char text[200];
	struct messages plain, mixed;
	size_t wrong = 0, back = 0, meant = 0;
	char *listed;

	snprintf(text, sizeof(text),
		 "seconds 30\ninterval_ms 5\nfalse_matches 0.02\nfalse_direction %s",
		 direction);
	simulated("seconds 30\ninterval_ms 5", draw_seed, "plain", "messages");
	simulated(text, draw_seed, "mixed", "messages");
	plain = read_messages("plain/messages.csv");
	mixed = read_messages("mixed/messages.csv");
	assert_int_equal(plain.count, mixed.count);
	qsort(plain.item, plain.count, sizeof(*plain.item), compare);
	qsort(mixed.item, mixed.count, sizeof(*mixed.item), compare);
	for (size_t i = 0; i < plain.count; i++) {
		assert_int_equal(plain.item[i].send_ns, mixed.item[i].send_ns);
		assert_int_equal(plain.item[i].from, mixed.item[i].from);
		meant += both || plain.item[i].from == 1;
		wrong += plain.item[i].recv_ns != mixed.item[i].recv_ns;
		back += plain.item[i].recv_ns != mixed.item[i].recv_ns &&
			plain.item[i].from == 2;
	}
	/* 2 % of those that are meant, twice as many at most. */
	assert_true(wrong > meant / 100 && wrong < meant / 25);
	assert_int_equal(back > 0, both);
	listed = scratch_read("mixed/false.csv", NULL);
	for (char *at = listed; (at = strchr(at, '\n')); at++)
		wrong -= at[1] != '\0';
	assert_int_equal(wrong, 0);
	free(listed);
	free(plain.item);
	free(mixed.item);
}

SCRATCH_TEST(test_false_matches)
{
	check_false("both", true);
}

SCRATCH_TEST(test_false_matches_of_one_direction)
{
	check_false("one", false);
}

SCRATCH_TEST(test_windows)
{
	struct truth *truth;
	struct messages messages =
	    run("nodes 3\nseconds 20\noffset_s 0\ndrift_ppm 0\ninterval_ms 3\n"
		"protocol udp\nactive_from_s 2\nidle 5 8\ntrace 3 10 12\n"
		"burst_on_ms 500\nburst_off_ms 500",
		&truth);
	bool third = false;

	for (size_t i = 0; i < messages.count; i++) {
		const struct message *message = &messages.item[i];
		double at = (double)(message->send_ns - truth->row[1][0].true_ns) / 1e9;

		assert_true(at >= 2 && !(at > 5.1 && at < 8));
		assert_true(at - (double)(int)at < 0.6);
		if (message->from != 3 && message->to != 3)
			continue;
		third = true;
		assert_true(at >= 10 && at < 12);
	}
	assert_true(third);
	free(messages.item);
	free(truth);
}

SCRATCH_TEST(test_patterns)
{
	struct truth *truth;
	struct messages messages = run("seconds 5\npattern oneway\nprotocol udp", &truth);

	for (size_t i = 0; i < messages.count; i++)
		assert_int_equal(messages.item[i].from, 1);
	free(messages.item);
	free(truth);
}

SCRATCH_TEST(test_limit)
{
	struct simulation_counts counts =
	    simulated("seconds 1000\nmessages 1234", draw_seed, "run", "messages");
	struct messages messages = read_messages("run/messages.csv");

	assert_int_equal(counts.messages, 1234);
	assert_int_equal(messages.count, 1234);
	free(messages.item);
}

SCRATCH_TEST(test_no_directory)
{
	struct scenario scenario;
	struct simulation_counts counts;
	struct error error = ERROR_INIT;
	struct simulation simulation = {
	    .scenario = &scenario, .directory = "run", .messages = true, .quiet = true};

	scenario_init(&scenario);
	simulation.directory = "none/run";
	assert_int_equal(simulate(&simulation, &counts, &error), -1);
	assert_string_equal(error_text(&error),
			    "none/run/messages.csv: No such file or directory");
	error_clear(&error);
	scenario_clear(&scenario);
}
