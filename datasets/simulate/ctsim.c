/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsim: runs of a cluster whose clocks are known. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/options.h"
#include "base/output.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct request {
	struct text_list words, set;
	struct simulation simulation;
	char *output;
	double seed;
	int nodes;  /* 0: as the scenario says */
	int format; /* enum sim_trace_format, or -1 */
	bool list, keys;
};

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	struct simulation *simulation = &request->simulation;
	struct option_row rows[] = {
	    {'o', "output", OPTION_STRING, &request->output, "RUN",
	     "make this run directory", 0, 0},
	    {0, "seed", OPTION_DOUBLE, &request->seed, "N",
	     "draw all that is random from this number (default: 1)", 0, 0x1p53},
	    {0, "nodes", OPTION_INT, &request->nodes, "N",
	     "simulate N nodes, like --set nodes=N", 2, 1000},
	    {0, "set", OPTION_LIST, &request->set, "KEY=VALUE",
	     "change the scenario; repeat for each", 0, 0},
	    {0, "messages", OPTION_FLAG, &simulation->messages, NULL,
	     "write only the messages, as CSV for ctsync --messages", 0, 0},
	    {0, "format", OPTION_WORD, &request->format, "FORMAT=ctf1.8|ctf2-lttng|ctf2",
	     "write traces as ctf1.8 (default), ctf2, or ctf2-lttng", 0, 0},
	    {0, "captures", OPTION_FLAG, &simulation->captures, NULL,
	     "write captures instead of traces", 0, 0},
	    {0, "spans", OPTION_FLAG, &simulation->spans, NULL,
	     "write also what threads and disks truly did", 0, 0},
	    {0, "list", OPTION_FLAG, &request->list, NULL,
	     "name the scenarios that there are", 0, 0},
	    {0, "keys", OPTION_FLAG, &request->keys, NULL,
	     "list what a scenario can say, with defaults", 0, 0},
	    {'q', "quiet", OPTION_FLAG, &simulation->quiet, NULL,
	     "say nothing but errors", 0, 0},
	    {0},
	};
	const struct command command = {
	    .name = "ctsim",
	    .usage = "[OPTION...] SCENARIO -o RUN",
	    .summary = "runs of a cluster whose clocks are known, from a scenario",
	    .rows = rows,
	};

	return options_parse(&command, argc, argv, &request->words, error);
}

/* A list stands alone: whoever gives more waits for a run that does not come. */
static int check_list(const struct request *request, struct error *error)
{
	const struct simulation *simulation = &request->simulation;

	if (request->list && request->keys)
		return error_misuse(error, "--list and --keys exclude each other");
	if (request->words.count || request->output || request->set.count ||
	    request->nodes || simulation->messages || simulation->captures ||
	    simulation->spans || request->format >= 0)
		return error_set(error,
				 "%s lists only, want no SCENARIO and no option of "
				 "a run beside it",
				 request->list ? "--list" : "--keys");
	return 0;
}

static int check_request(const struct request *request, struct error *error)
{
	bool traces = !request->simulation.messages && !request->simulation.captures;
	const char *of_traces = request->format >= 0        ? "format"
				: request->simulation.spans ? "spans"
							    : NULL;

	if (request->list || request->keys)
		return check_list(request, error);
	if (request->words.count != 1)
		return error_set(error, "want one SCENARIO, by name or as a file "
					"(--list names them)");
	if (!request->output || !*request->output)
		return error_set(error, "want -o RUN, a directory to make");
	if (request->simulation.messages && request->simulation.captures)
		return error_misuse(error,
				    "--messages and --captures exclude each other");
	if (of_traces && !traces)
		return error_misuse(error,
				    "--%s goes with traces, not with --messages "
				    "or --captures",
				    of_traces);
	if (request->seed != (double)(uint64_t)request->seed)
		return error_misuse(error, "--seed: %g is no whole number",
				    request->seed);
	return 0;
}

static int load(const struct request *request, struct scenario *scenario,
		struct error *error)
{
	if (scenario_load(scenario, request->words.item[0], error))
		return -1;
	if (request->nodes)
		scenario->nodes = request->nodes;
	for (size_t i = 0; i < request->set.count; i++)
		if (scenario_set(scenario, request->set.item[i], error))
			return error_prefix(error, "--set");
	if (scenario_check(scenario, error))
		return error_prefix(error, "%s", scenario->name);
	if (request->simulation.spans && scenario->activity != ACTIVITY_FULL)
		return error_misuse(error,
				    "--spans: %s has no threads, want activity full",
				    scenario->name);
	return 0;
}

static void report(const struct simulation *simulation,
		   const struct simulation_counts *counts)
{
	uint64_t written = simulation->messages ? counts->messages : counts->events;

	fprintf(stderr, "ctsim: %llu %s in %.1f s, %.2f million/s\n",
		(unsigned long long)written, simulation->messages ? "messages" : "events",
		counts->seconds, (double)written / counts->seconds / 1e6);
}

/* The run comes into place when it is whole. */
static int make_run(struct simulation *simulation, const char *path,
		    struct simulation_counts *counts, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_EMPTY,
						.want = "a new directory"};
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

static enum exit_status run(struct request *request, struct error *error)
{
	struct simulation *simulation = &request->simulation;
	struct simulation_counts counts;
	struct scenario scenario;
	enum exit_status status = EXIT_MISUSE;

	scenario_init(&scenario);
	simulation->scenario = &scenario;
	simulation->seed = (uint64_t)request->seed;
	if (request->format >= 0)
		simulation->format = (enum sim_trace_format)request->format;
	if (!load(request, &scenario, error))
		status = make_run(simulation, request->output, &counts, error)
			     ? EXIT_FAILED
			     : EXIT_DONE;
	if (status == EXIT_DONE && !simulation->quiet)
		report(simulation, &counts);
	scenario_clear(&scenario);
	return status;
}

static enum exit_status list(struct error *error)
{
	for (const struct scenario_entry *entry = scenario_library; entry->name;
	     entry++) {
		struct scenario scenario;
		int status;

		scenario_init(&scenario);
		status = scenario_load(&scenario, entry->name, error);
		if (!status)
			printf("%-16s %s\n", entry->name,
			       scenario.summary ? scenario.summary : "");
		scenario_clear(&scenario);
		if (status)
			return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static enum exit_status act(struct request *request, struct error *error)
{
	enum exit_status status = EXIT_DONE;

	if (check_request(request, error))
		return EXIT_MISUSE;
	if (!request->list && !request->keys)
		return run(request, error);
	if (request->list)
		status = list(error);
	if (request->keys)
		scenario_print_keys(stdout);
	if (status == EXIT_DONE && output_flush_stdout(error))
		status = EXIT_FAILED;
	return status;
}

int main(int argc, const char **argv)
{
	struct request request = {.seed = 1, .format = -1};
	struct error error = ERROR_INIT;
	int status;

	output_catch_signals();
	output_catch_pipe();
	status = options_end(parse(&request, argc, argv, &error), &error);
	if (status < 0)
		status = (int)act(&request, &error);
	if (error.misuse)
		status = EXIT_MISUSE;
	error_tell(&error, "ctsim", stderr);
	text_list_clear(&request.words);
	text_list_clear(&request.set);
	free(request.output);
	return status;
}
