/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_SIMULATED_H
#define CT_TEST_SIMULATED_H

/* Runs of the tests, and what was written of them. To be included behind draw.h and
 * scratch.h. */
#include "simulate/simulate.h"
#include "simulate/world.h"

/*
 * Run a scenario's text into a directory: "messages", "captures", or traces in CTF 1.8
 * ("traces"), "ctf2" or "ctf2-lttng".
 */
static inline struct simulation_counts simulated(const char *text, uint64_t seed,
						 const char *directory, const char *what)
{
	struct simulation_counts counts = {0};
	struct scenario scenario;
	struct error error = ERROR_INIT;
	struct simulation simulation = {.scenario = &scenario,
					.seed = seed,
					.directory = directory,
					.messages = strcmp(what, "messages") == 0,
					.captures = strcmp(what, "captures") == 0,
					.quiet = true};

	if (strcmp(what, "ctf2") == 0)
		simulation.format = SIM_CTF_2;
	else if (strcmp(what, "ctf2-lttng") == 0)
		simulation.format = SIM_CTF_2_LTTNG;

	mkdir(directory, 0777);
	scenario_init(&scenario);
	if (scenario_parse(&scenario, "test", text, &error) ||
	    scenario_check(&scenario, &error) || simulate(&simulation, &counts, &error))
		fail_msg("%s", error_text(&error));
	scenario_clear(&scenario);
	return counts;
}

/* The next number of a line, behind its comma. */
static inline int64_t next_number(char **at)
{
	char *end;
	int64_t number;

	assert_int_equal(**at, ',');
	number = strtoll(*at + 1, &end, 10);
	assert_true(end > *at + 1);
	*at = end;
	return number;
}

/* The number of "nodeN", whose end *at becomes. */
static inline int next_node(char **at)
{
	assert_int_equal(strncmp(*at, "node", 4), 0);
	*at += 4;
	return (int)strtol(*at, at, 10);
}

#endif
