/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios: what is read of them, and what is refused. */
#include "../scratch.h"

#include "simulate/scenario.h"

static void assert_refused(const char *line, const char *message)
{
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	if (!scenario_set(&scenario, line, &error))
		assert_int_equal(scenario_check(&scenario, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	scenario_clear(&scenario);
}

TEST(test_defaults_are_sound)
{
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	assert_int_equal(scenario_check(&scenario, &error), 0);
	assert_int_equal(scenario.nodes, 2);
	scenario_clear(&scenario);
	for (const struct scenario_key *key = scenario_keys; key->form.name; key++)
		if (key->kind != KEY_WORD)
			assert_true(key->preset >= key->form.least &&
				    key->preset <= key->form.most);
}

TEST(test_named_ones_are_sound)
{
	size_t count = 0;

	for (const struct scenario_entry *entry = scenario_library; entry->name;
	     entry++) {
		struct scenario scenario;
		struct error error = ERROR_INIT;

		scenario_init(&scenario);
		if (scenario_load(&scenario, entry->name, &error) ||
		    scenario_check(&scenario, &error))
			fail_msg("%s", error_text(&error));
		assert_string_equal(scenario.name, entry->name);
		assert_true(scenario.summary && *scenario.summary);
		scenario_clear(&scenario);
		count++;
	}
	assert_true(count >= 28);
}

/* The only line of a form: its nodes and numbers. */
static void assert_line(const struct scenario *scenario, enum scenario_form form,
			const char *want)
{
	const struct scenario_line *line = scenario->lines[form].item;
	char text[64];

	assert_int_equal(scenario->lines[form].count, 1);
	snprintf(text, sizeof(text), "%d %d %g %g", line->node[0], line->node[1],
		 line->value[0], line->value[1]);
	assert_string_equal(text, want);
}

TEST(test_lines)
{
	static const char text[] = "# Of three\n\n"
				   "nodes 3   # all of them\n"
				   "\tseconds\t2.5\r\n"
				   "loss=0.25\n"
				   "jitter uniform\n"
				   "gso yes\n"
				   "drift_ppm 7\n"
				   "node 2 drift_ppm -60\n"
				   "step 3 1.5 -2000\n"
				   "pair 1 3 0\n"
				   "idle 1 2\n"
				   "trace 2 0.5 1\n"
				   "nodes 4";
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	assert_int_equal(scenario_parse(&scenario, "x", text, &error), 0);
	assert_int_equal(scenario_check(&scenario, &error), 0);
	assert_string_equal(scenario.summary, "Of three");
	assert_int_equal(scenario.nodes, 4);
	assert_true(scenario.seconds == 2.5 && scenario.loss == 0.25);
	assert_int_equal(scenario.jitter, SPREAD_UNIFORM);
	assert_true(scenario.gso && !scenario.gro);
	assert_true(scenario.clock.drift_ppm == 7);
	assert_line(&scenario, SCENARIO_NODE, "2 0 -60 0");
	assert_line(&scenario, SCENARIO_STEP, "3 0 1.5 -2000");
	assert_line(&scenario, SCENARIO_PAIR, "1 3 0 0");
	assert_line(&scenario, SCENARIO_IDLE, "0 0 1 2");
	assert_line(&scenario, SCENARIO_TRACE, "2 0 0.5 1");
	scenario_clear(&scenario);
}

TEST(test_refused)
{
	static const char *const row[][2] = {
	    {"wobble 3", "unknown key 'wobble' (ctsim --keys lists them)"},
	    {"nodes", "nodes: expected one value"},
	    {"nodes 2 3", "nodes: expected one value"},
	    {"nodes 2.5",
	     "nodes: invalid value '2.5' (expected a whole number from 2 to 1000)"},
	    {"nodes 1",
	     "nodes: invalid value '1' (expected a whole number from 2 to 1000)"},
	    {"seconds nan",
	     "seconds: invalid value 'nan' (expected a number from 0.001 to 10000000)"},
	    {"seconds 1e999",
	     "seconds: invalid value '1e999' (expected a number from 0.001 to 10000000)"},
	    {"loss 0x", "loss: invalid value '0x' (expected a number from 0 to 0.9)"},
	    {"gso maybe", "gso: invalid value 'maybe' (expected no or yes)"},
	    {"jitter odd",
	     "jitter: invalid value 'odd' (expected fixed, uniform or exponential)"},
	    {"step 1 2", "step: expected NODE SECOND MS"},
	    {"step 1 2 3 4", "step: expected NODE SECOND MS"},
	    {"step 1 2 3 4 5 6", "step: too many words (limit 6)"},
	    {"hog 1 3 2 1", "hog: 3 is not before 2"},
	    {"slew 1 5 4 500", "slew: 5 is not before 4"},
	    {"slew 1 4 5 1e6",
	     "slew: invalid value '1e6' (expected a number from -100000 to 100000)"},
	    {"step 3 2 1", "node 3 is named, but there are 2 nodes"},
	    {"step 1 2 1e12", "step: invalid value '1e12' (expected a number from "
			      "-100000000000 to 100000000000)"},
	    {"node 1 loss 0", "node: 'loss' is not a key of a clock"},
	    {"node 0 drift_ppm 0",
	     "node: invalid value '0' (expected a whole number from 1 to 1000)"},
	    {"node 1 drift_ppm 2e5",
	     "drift_ppm: invalid value '2e5' (expected a number from -100000 to 100000)"},
	    {"pair 1 1 5", "pair: 1 cannot talk to itself"},
	    {"pair 1 2 -5",
	     "pair: invalid interval '-5' (expected 0, or 0.001 ms or more)"},
	    {"idle 3 3", "idle: 3 is not before 3"},
	    {"trace 1 4 3", "trace: 4 is not before 3"},
	    {"lone 1", "lone: 1 of 2 nodes (2 must exchange messages)"},
	    {"nat 2", "nat: all nodes are translated (one must not be)"},
	    {"active_to_s 0", "active_from_s: 0 is not before active_to_s 0"},
	    {"slew_ms 1e6", "clocks may be off by 1745383 ppm (limit 250000)"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		assert_refused(row[i][0], row[i][1]);
}

TEST(test_topologies_want_nodes)
{
	static const struct {
		const char *text, *message;
	} row[] = {
	    {"topology islands\nislands 2",
	     "islands: 2 for 2 nodes (each needs 2 nodes)"},
	    {"topology clients\nservers 2",
	     "servers: all 2 nodes are servers (one must be a client)"},
	    {"topology random\npairs 5", "pairs: 2 nodes have 1 to 1 pairs, not 5"},
	    {"protocol icmp\npattern both",
	     "pattern: icmp has requests and replies only"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct scenario scenario;
		struct error error = ERROR_INIT;

		scenario_init(&scenario);
		assert_int_equal(scenario_parse(&scenario, "x", row[i].text, &error), 0);
		assert_int_equal(scenario_check(&scenario, &error), -1);
		assert_string_equal(error_text(&error), row[i].message);
		error_clear(&error);
		scenario_clear(&scenario);
	}
}

static void assert_not_loaded(const char *word, const char *message)
{
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scenario_init(&scenario);
	assert_int_equal(scenario_load(&scenario, word, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	scenario_clear(&scenario);
}

SCRATCH_TEST(test_files)
{
	static const char binary[] = "nodes 2\0nodes 3";
	struct scenario scenario;
	struct error error = ERROR_INIT;

	scratch_text("my.scenario", "# Mine\nnodes 5\n");
	scenario_init(&scenario);
	assert_int_equal(scenario_load(&scenario, "./my.scenario", &error), 0);
	assert_string_equal(scenario.name, "my");
	assert_int_equal(scenario.nodes, 5);
	scenario_clear(&scenario);

	scratch_text("bad.scenario", "nodes 5\n\nwobble\n");
	assert_not_loaded("bad.scenario",
			  "bad.scenario:3: unknown key 'wobble' (ctsim --keys "
			  "lists them)");
	scratch_bytes("binary.scenario", binary, sizeof(binary));
	assert_not_loaded("binary.scenario",
			  "binary.scenario: not a scenario (expected a short text file)");
	assert_not_loaded("./none", "./none: No such file or directory");
	assert_not_loaded("none", "unknown scenario 'none' (expected a name that "
				  "ctsim --list prints, or a file)");
}
