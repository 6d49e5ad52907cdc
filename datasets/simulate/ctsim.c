/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsim: runs of a cluster whose clocks are known. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/output.h"
#include "simulate/scenario.h"
#include "simulate/simulate.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2 };

struct request {
	struct text_list words, set;
	char *output, *format;
	double seed;
	int nodes; /* 0: as the scenario says */
	bool messages, captures, spans, list, keys, quiet;
};

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	struct option_row rows[] = {
	    {'o', "output", OPTION_STRING, &request->output, "RUN",
	     "make this run directory", 0, 0},
	    {0, "seed", OPTION_DOUBLE, &request->seed, "N",
	     "draw all that is random from this number (default: 1)", 0, 0x1p53},
	    {0, "nodes", OPTION_INT, &request->nodes, "N",
	     "simulate N nodes, like --set nodes=N", 2, 1000},
	    {0, "set", OPTION_LIST, &request->set, "KEY=VALUE",
	     "change the scenario; repeat for each", 0, 0},
	    {0, "messages", OPTION_FLAG, &request->messages, NULL,
	     "write only the messages, as CSV for ctsync --messages", 0, 0},
	    {0, "format", OPTION_STRING, &request->format, "FORMAT",
	     "write traces as ctf1.8 (default), ctf2, or ctf2-lttng", 0, 0},
	    {0, "captures", OPTION_FLAG, &request->captures, NULL,
	     "write captures instead of traces", 0, 0},
	    {0, "spans", OPTION_FLAG, &request->spans, NULL,
	     "write also what threads and disks truly did", 0, 0},
	    {0, "list", OPTION_FLAG, &request->list, NULL,
	     "name the scenarios that there are", 0, 0},
	    {0, "keys", OPTION_FLAG, &request->keys, NULL,
	     "list what a scenario can say, with defaults", 0, 0},
	    {'q', "quiet", OPTION_FLAG, &request->quiet, NULL, "say nothing but errors",
	     0, 0},
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
	const char *option = request->list ? "--list" : "--keys";

	if (request->list && request->keys)
		return error_misuse(error, "--list and --keys exclude each other");
	if (request->words.count || request->output || request->set.count ||
	    request->nodes || request->messages || request->captures || request->spans ||
	    request->format)
		return error_set(error,
				 "%s lists only, want no SCENARIO and no option of "
				 "a run beside it",
				 option);
	return 0;
}

static int check_request(const struct request *request, struct error *error)
{
	if (request->list || request->keys)
		return check_list(request, error);
	if (request->words.count != 1)
		return error_set(error, "want one SCENARIO, by name or as a file "
					"(--list names them)");
	if (!request->output || !*request->output)
		return error_set(error, "want -o RUN, a directory to make");
	if (request->messages && request->captures)
		return error_misuse(error,
				    "--messages and --captures exclude each other");
	if (request->format && (request->messages || request->captures))
		return error_misuse(error,
				    "--format goes with traces, not with --messages "
				    "or --captures");
	if (request->spans && (request->messages || request->captures))
		return error_misuse(error,
				    "--spans goes with traces, not with --messages "
				    "or --captures");
	if (request->seed != (double)(uint64_t)request->seed)
		return error_misuse(error, "--seed: %g is no whole number",
				    request->seed);
	return 0;
}

static int load(const struct request *request, struct scenario *scenario,
		struct error *error)
{
	scenario_init(scenario);
	if (scenario_load(scenario, request->words.item[0], error))
		return -1;
	if (request->nodes)
		scenario->nodes = request->nodes;
	for (size_t i = 0; i < request->set.count; i++)
		if (scenario_set(scenario, request->set.item[i], error))
			return error_prefix(error, "--set");
	if (scenario_check(scenario, error))
		return error_prefix(error, "%s", scenario->name);
	if (request->spans && scenario->activity != ACTIVITY_FULL)
		return error_misuse(error,
				    "--spans: %s has no threads, want activity full",
				    scenario->name);
	return 0;
}

static void report(const struct request *request, const struct simulation_counts *counts)
{
	uint64_t written = request->messages ? counts->messages : counts->events;

	fprintf(stderr, "ctsim: %llu %s in %.1f s, %.2f million/s\n",
		(unsigned long long)written, request->messages ? "messages" : "events",
		counts->seconds, (double)written / counts->seconds / 1e6);
}

static int parse_format(const char *name, enum sim_trace_format *format,
			struct error *error)
{
	static const char *const names[] = {
	    [SIM_CTF_1_8] = "ctf1.8",
	    [SIM_CTF_2_LTTNG] = "ctf2-lttng",
	    [SIM_CTF_2] = "ctf2",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*format = (enum sim_trace_format)i;
			return 0;
		}
	return error_misuse(error, "--format: %s, want ctf1.8, ctf2 or ctf2-lttng", name);
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

static enum exit_status run(const struct request *request, struct error *error)
{
	struct simulation_counts counts;
	struct scenario scenario;
	struct simulation simulation = {
	    .scenario = &scenario,
	    .seed = (uint64_t)request->seed,
	    .messages = request->messages,
	    .captures = request->captures,
	    .traces = !request->messages && !request->captures,
	    .spans = request->spans,
	    .quiet = request->quiet,
	};
	enum exit_status status = EXIT_MISUSE;

	if (request->format && parse_format(request->format, &simulation.format, error))
		return status;
	if (!load(request, &scenario, error))
		status = make_run(&simulation, request->output, &counts, error)
			     ? EXIT_FAILED
			     : EXIT_DONE;
	if (status == EXIT_DONE && !request->quiet)
		report(request, &counts);
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

static enum exit_status act(const struct request *request, struct error *error)
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
	struct request request = {.seed = 1};
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
	free(request.format);
	return status;
}
