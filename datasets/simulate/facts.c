/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/facts.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/version.h"
#include "simulate/messages.h"

static json_t *make_parameters(const struct scenario *scenario)
{
	json_t *parameters = json_object();
	struct scenario_value value;

	for (size_t i = 0; scenario_describe(scenario, i, &value); i++)
		json_object_set_new(parameters, value.key,
				    value.word ? json_string(value.word)
					       : json_real(value.number));
	return parameters;
}

static json_t *make_nodes(const struct world *world)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < world->hosts; i++) {
		char address4[INET6_ADDRSTRLEN], address6[INET6_ADDRSTRLEN];

		inet_ntop(AF_INET, world->host[i].address[0], address4, sizeof(address4));
		inet_ntop(AF_INET6, world->host[i].address[1], address6,
			  sizeof(address6));
		json_array_append_new(nodes, json_pack("{s:s, s:s, s:s}", "name",
						       world->host[i].name, "address",
						       address4, "address6", address6));
	}
	return nodes;
}

static json_t *make_steps(const struct sim_clock *clock)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < clock->steps; i++)
		json_array_append_new(steps,
				      json_pack("{s:I, s:I}", "host_ns",
						(json_int_t)clock->step[i].true_ns, "ns",
						(json_int_t)clock->step[i].amount_ns));
	return steps;
}

static json_t *make_clocks(const struct world *world, const struct sim_clock_plan *plans)
{
	json_t *clocks = json_array();

	for (size_t i = 0; i < world->hosts; i++) {
		const struct sim_clock_plan *plan = &plans[i];

		json_array_append_new(
		    clocks,
		    json_pack(
			"{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "node",
			world->host[i].name, "offset_ns", (json_int_t)plan->offset_ns,
			"uptime_ns", (json_int_t)plan->uptime_ns, "drift_ppm",
			plan->drift_ppm, "drift_change_ppb_s", plan->drift_change_ppb,
			"slew_ms", plan->slew_ns * 1e-6, "slew_period_s", plan->period_s,
			"slew_phase", plan->phase_turns, "wander_ppm", plan->wander_ppm,
			"steps", make_steps(&world->host[i].clock)));
	}
	return clocks;
}

static json_t *make_facts(const struct world *world, const struct sim_clock_plan *plans)
{
	const struct scenario *scenario = world->scenario;
	json_t *facts = json_object();

	json_object_set_new(facts, "name",
			    json_string(scenario->name ? scenario->name : "run"));
	if (scenario->summary)
		json_object_set_new(facts, "summary", json_string(scenario->summary));
	json_object_set_new(facts, "recorder", json_string("ctsim " CT_VERSION));
	json_object_set_new(facts, "seed", json_integer((json_int_t)world->seed));
	json_object_set_new(facts, "begin_ns", json_integer(world->begin_ns));
	json_object_set_new(facts, "end_ns", json_integer(world->now));
	json_object_set_new(facts, "nodes", make_nodes(world));
	json_object_set_new(facts, "parameters", make_parameters(scenario));
	json_object_set_new(facts, "clocks", make_clocks(world, plans));
	if (world->events)
		json_object_set_new(facts, "events",
				    json_integer((json_int_t)world->events));
	if (world->messages) {
		struct message_counts count = message_sink_counts(world->messages);

		json_object_set_new(facts, "messages",
				    json_integer((json_int_t)count.messages));
		json_object_set_new(facts, "false_matches",
				    json_integer((json_int_t)count.false_ones));
	}
	return facts;
}

int facts_write(const struct world *world, const struct sim_clock_plan *plans,
		const char *directory, struct error *error)
{
	char *path = mem_printf("%s/run.json", directory);
	struct output output;
	int status = output_open(&output, path, error);

	if (!status) {
		json_t *facts = make_facts(world, plans);

		json_dumpf(facts, output.file, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		putc('\n', output.file);
		json_decref(facts);
		status = output_commit(&output, error);
	}
	free(path);
	return status;
}
