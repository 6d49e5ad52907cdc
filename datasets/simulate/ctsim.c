/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsim: simulate a run of a cluster whose true clocks are known. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"
#include "simulate/world.h"

static struct {
	struct text_list words, set;
	struct simulation simulation;
	char *output;
	double seed;
	int nodes;  /* 0: as the scenario says */
	int format; /* enum sim_trace_format, or -1 */
	bool list, keys;
} options = {.seed = 1, .format = -1};

static const struct option_row rows[] = {
    {'o', "output", OPTION_STRING, &options.output, "RUN",
     "write the run to this new directory", 0, 0},
    {0, "seed", OPTION_DOUBLE, &options.seed, "N",
     "seed of the random numbers (default: 1)", 0, 0x1p53},
    {0, "nodes", OPTION_INT, &options.nodes, "N",
     "simulate N nodes; the same as --set nodes=N", 2, 1000},
    {0, "set", OPTION_LIST, &options.set, "KEY=VALUE",
     "change a key of the scenario; may be repeated", 0, 0},
    {0, "messages", OPTION_FLAG, &options.simulation.messages, NULL,
     "write only the messages, as CSV for ctsync --messages", 0, 0},
    {0, "format", OPTION_WORD, &options.format, "FORMAT=ctf1.8|ctf2-lttng|ctf2",
     "write traces as ctf1.8 (default), ctf2, or ctf2-lttng", 0, 0},
    {0, "captures", OPTION_FLAG, &options.simulation.captures, NULL,
     "write captures instead of traces", 0, 0},
    {0, "spans", OPTION_FLAG, &options.simulation.spans, NULL,
     "also write what threads and disks truly did", 0, 0},
    {0, "list", OPTION_FLAG, &options.list, NULL, "list the built-in scenarios", 0, 0},
    {0, "keys", OPTION_FLAG, &options.keys, NULL,
     "list the keys of a scenario, with their defaults", 0, 0},
    {'q', "quiet", OPTION_FLAG, &options.simulation.quiet, NULL,
     "print nothing but errors", 0, 0},
    {0},
};

static const struct command command = {
    .name = "ctsim",
    .usage = "[OPTION...] SCENARIO -o RUN",
    .summary = "simulate a run of a cluster whose true clocks are known",
    .rows = rows,
};

/* Refuse other arguments with a list: they would ask for a run as well. */
static int check_list(struct error *error)
{
	const struct simulation *simulation = &options.simulation;

	if (options.list && options.keys)
		return error_misuse(error, "--list and --keys cannot be used together");
	if (options.words.count || options.output || options.set.count || options.nodes ||
	    simulation->messages || simulation->captures || simulation->spans ||
	    options.format >= 0)
		return error_set(
		    error, "%s cannot be used with SCENARIO or the options of a run",
		    options.list ? "--list" : "--keys");
	return 0;
}

static int check_request(struct error *error)
{
	bool traces = !options.simulation.messages && !options.simulation.captures;
	const char *of_traces = options.format >= 0        ? "format"
				: options.simulation.spans ? "spans"
							   : NULL;

	if (options.list || options.keys)
		return check_list(error);
	if (options.words.count != 1)
		return error_set(error, "expected one SCENARIO, a name or a file "
					"(--list names them)");
	if (!options.output || !*options.output)
		return error_set(error, "missing -o RUN, a directory to make");
	if (options.simulation.messages && options.simulation.captures)
		return error_misuse(error,
				    "--messages and --captures cannot be used together");
	if (of_traces && !traces)
		return error_misuse(error,
				    "--%s cannot be used with --messages "
				    "or --captures",
				    of_traces);
	if (options.seed != (double)(uint64_t)options.seed)
		return error_misuse(
		    error, "--seed: invalid value '%g' (expected a whole number)",
		    options.seed);
	return 0;
}

static int load_scenario(struct scenario *scenario, struct error *error)
{
	if (scenario_load(scenario, options.words.item[0], error))
		return -1;
	if (options.nodes)
		scenario->nodes = options.nodes;
	for (size_t i = 0; i < options.set.count; i++)
		if (scenario_set(scenario, options.set.item[i], error))
			return error_prefix(error, "--set");
	if (scenario_check(scenario, error))
		return error_prefix(error, "%s", scenario->name);
	if (options.simulation.spans && scenario->activity != ACTIVITY_FULL)
		return error_misuse(
		    error, "--spans requires activity full, which %s does not have",
		    scenario->name);
	return 0;
}

static void print_counts(const struct simulation *simulation,
			 const struct simulation_counts *counts)
{
	uint64_t written = simulation->messages ? counts->messages : counts->events;

	fprintf(stderr, "ctsim: %llu %s in %.1f s, %.2f million/s\n",
		(unsigned long long)written, simulation->messages ? "messages" : "events",
		counts->seconds, (double)written / counts->seconds / 1e6);
}

/* Make the run's directory, which appears at `path` when it is complete. */
static int make_run(struct simulation *simulation, const char *path,
		    struct simulation_counts *counts, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_EMPTY,
						.instead = "a new directory"};
	struct output_directory run;
	int status;

	if (output_directory_open(&run, path, &kind, error))
		return -1;
	simulation->directory = run.temporary;
	status = simulate(simulation, counts, error);
	if (status)
		output_directory_explain(&run, error);
	else
		status = output_directory_commit(&run, error);
	output_directory_discard(&run);
	return status;
}

static int ctsim_main(struct error *error)
{
	struct simulation *simulation = &options.simulation;
	struct simulation_counts counts;
	struct scenario scenario;
	int status = EXIT_MISUSE;

	scenario_init(&scenario);
	simulation->scenario = &scenario;
	simulation->seed = (uint64_t)options.seed;
	if (options.format >= 0)
		simulation->format = (enum sim_trace_format)options.format;
	if (!load_scenario(&scenario, error))
		status = make_run(simulation, options.output, &counts, error);
	if (status == EXIT_DONE && !simulation->quiet)
		print_counts(simulation, &counts);
	scenario_clear(&scenario);
	return status;
}

static int list_scenarios(struct error *error)
{
	int status = 0;

	for (const struct scenario_entry *entry = scenario_library;
	     entry->name && !status; entry++) {
		struct scenario scenario;

		scenario_init(&scenario);
		status = scenario_load(&scenario, entry->name, error);
		if (!status)
			printf("%-16s %s\n", entry->name,
			       scenario.summary ? scenario.summary : "");
		scenario_clear(&scenario);
	}
	return status;
}

static int run_request(struct error *error)
{
	if (check_request(error))
		return EXIT_MISUSE;
	if (options.keys)
		scenario_print_keys(stdout);
	return options.keys   ? EXIT_DONE
	       : options.list ? list_scenarios(error)
			      : ctsim_main(error);
}

int main(int argc, const char **argv)
{
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	output_catch_pipe();
	status = options_parse(&command, argc, argv, &options.words, &error);
	return program_end("ctsim", status == OPTIONS_GO ? run_request(&error) : status,
			   &error);
}
