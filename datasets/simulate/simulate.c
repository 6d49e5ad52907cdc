/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/simulate.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/version.h"
#include "simulate/capture_writer.h"
#include "simulate/clock.h"
#include "simulate/ctf_writer.h"
#include "simulate/dice.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/network.h"
#include "simulate/truth.h"
#include "simulate/world.h"

static void write_line(FILE *file, struct host *host, nsec_t true_ns)
{
	nsec_t mono_ns = sim_clock_mono(&host->clock, true_ns);

	fprintf(file, "%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
		sim_clock_real(&host->clock, true_ns), mono_ns, mono_ns);
}

/*
 * Write a node's clock.csv, as its collector would: samples of its clocks at the start of
 * the node's part of the run, every 10 s, and at its end. A machine that never slept has
 * equal boot-time and monotonic clocks. Return 0, or -1 with error.
 */
static int clock_log_write(const struct world *world, struct host *host,
			   const char *directory, struct error *error)
{
	nsec_t begin =
	    host->trace_from > world->begin_ns ? host->trace_from : world->begin_ns;
	nsec_t end = host->trace_to < world->now ? host->trace_to : world->now;
	struct output output;

	if (sim_output_open(&output, error, "%s/%s/clock.csv", directory, host->name))
		return -1;
	fputs("realtime_ns,monotonic_ns,boottime_ns\n", output.file);
	write_line(output.file, host, begin);
	for (nsec_t at = begin + 10 * NSEC_PER_SEC; at < end; at += 10 * NSEC_PER_SEC)
		write_line(output.file, host, at);
	if (end > begin)
		write_line(output.file, host, end);
	return output_commit(&output, error);
}

/* Return by how much the node's daemon is wrong at a true time. */
static nsec_t lie_at(const struct world *world, const struct host *host, nsec_t true_ns)
{
	const struct scenario_lines *lies = &world->scenario->lines[SCENARIO_LIE];
	double seconds = (double)(true_ns - world->begin_ns) / 1e9, us = 0;

	for (size_t i = 0; i < lies->count; i++) {
		const struct scenario_line *lie = &lies->item[i];

		if (&world->host[lie->node[0] - 1] == host && seconds >= lie->value[0] &&
		    seconds < lie->value[1])
			us += lie->value[2];
	}
	return nsec_round(us * 1e3);
}

/*
 * Write a node's clock_claims.csv, as its collector would: every 10 s, give or take 20
 * ms, what a daemon says that knows the offset of its clock to within claim_us. Return 0,
 * or -1 with error.
 */
static int claims_write(const struct world *world, struct host *host,
			const char *directory, struct error *error)
{
	nsec_t bound = nsec_round(world->scenario->claim_us * 1e3);
	struct output output;
	struct dice dice;

	dice_init(&dice, world->seed, DICE_CLAIMS, (uint64_t)(host - world->host));
	if (sim_output_open(&output, error, "%s/%s/clock_claims.csv", directory,
			    host->name))
		return -1;
	fputs("realtime_ns,took_ns,source,offset_ns,bound_ns,frequency_ppb,estimate_ns,"
	      "status\n",
	      output.file);
	for (nsec_t at = world->begin_ns; at < world->now; at += 10 * NSEC_PER_SEC) {
		nsec_t took = dice_between(&dice, NSEC_PER_MSEC, 20 * NSEC_PER_MSEC);
		nsec_t asked = at + dice_between(&dice, 0, 20 * NSEC_PER_MSEC);
		nsec_t claimed = asked + took / 2;
		nsec_t offset = sim_clock_real(&host->clock, claimed) - claimed +
				dice_between(&dice, -bound, bound) +
				lie_at(world, host, claimed);

		fprintf(output.file,
			"%" PRId64 ",%" PRId64 ",chrony,%" PRId64 ",%" PRId64
			",,,synchronized\n",
			sim_clock_real(&host->clock, asked), took, offset, bound);
	}
	return output_commit(&output, error);
}

static void write_row(FILE *file, struct host *host, nsec_t true_ns)
{
	fprintf(file, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", host->name, true_ns,
		sim_clock_mono(&host->clock, true_ns),
		sim_clock_real(&host->clock, true_ns));
}

/*
 * Write DIRECTORY/truth.csv: each node's clocks at true times, with a row for each corner
 * of the polygon and two at each step. Return 0, or -1 with error.
 */
static int truth_write(struct world *world, const char *directory, struct error *error)
{
	struct output output;

	if (sim_output_open(&output, error, "%s/truth.csv", directory))
		return -1;
	fputs("node,host_ns,mono_ns,real_ns\n", output.file);
	for (size_t i = 0; i < world->hosts; i++)
		for (size_t k = 0; k < world->host[i].clock.corners; k++)
			write_row(output.file, &world->host[i],
				  world->host[i].clock.corner[k].true_ns);
	return output_commit(&output, error);
}

/* Open world->writer and, with activity full, sar's files. Return 0, or -1 with error. */
static int open_writer(struct world *world, const struct simulation *simulation,
		       struct error *error)
{
	size_t count = world->full ? EVENT_KINDS : EVENT_NET_LAST + 1;
	const char *directory = simulation->directory;

	world->real_stamps = simulation->captures;
	world->promiscuous = simulation->captures && simulation->scenario->promiscuous;
	for (size_t i = 0; i < world->hosts; i++)
		world->node[i].format = simulation->format;
	world->writer =
	    simulation->captures
		? sim_capture_writer_new(directory, world->node, world->hosts, error)
		: sim_ctf_writer_new(directory, world->node, world->hosts, event_class(0),
				     count, error);
	if (!world->writer)
		return -1;
	return world->full ? sar_open(world, directory, error) : 0;
}

/* A node's addresses as strings. */
struct addresses {
	char ipv4[INET6_ADDRSTRLEN], ipv6[INET6_ADDRSTRLEN];
};

static struct addresses addresses_of(const struct host *host)
{
	struct addresses text;

	inet_ntop(AF_INET, host->node->address[0], text.ipv4, sizeof(text.ipv4));
	inet_ntop(AF_INET6, host->node->address[1], text.ipv6, sizeof(text.ipv6));
	return text;
}

/* Write DIRECTORY/NAME. Takes ownership of `object`. Return 0, or -1 with error. */
static int write_json(const char *directory, const char *name, json_t *object,
		      struct error *error)
{
	struct output output;
	int status = sim_output_open(&output, error, "%s/%s", directory, name);

	if (!status) {
		json_write_lines(output.file, object, 1);
		status = output_commit(&output, error);
	}
	json_decref(object);
	return status;
}

static int write_node(const struct world *world, const struct host *host,
		      const char *directory, struct error *error)
{
	struct addresses address = addresses_of(host);
	const unsigned char *byte = host->node->mac;
	char mac[18], *name;
	int status;

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", byte[0], byte[1],
		 byte[2], byte[3], byte[4], byte[5]);
	name = mem_printf("%s/node.json", host->name);
	status = write_json(directory, name,
			    json_pack("{s:s, s:s, s:i, s:i, s:[{s:s, s:s, s:[s, s]}]}",
				      "hostname", host->name, "kernel", "simulated",
				      "cpus", world->scenario->cpus, "mem_kib",
				      MEMORY_KIB, "interfaces", "name", NIC_NAME, "mac",
				      mac, "addresses", address.ipv4, address.ipv6),
			    error);
	free(name);
	return status;
}

/* Finish the writer's files and write each node's node.json and clock.csv. Return 0, or
 * -1 with error. */
static int close_writer(struct world *world, const char *directory, struct error *error)
{
	bool has_daemons = world->scenario->claim_us > 0;
	int status = sim_writer_finish(world->writer, error);

	world->writer = NULL;
	if (!status)
		status = sar_close(world, error);
	for (size_t i = 0; i < world->hosts && !status; i++)
		status = write_node(world, &world->host[i], directory, error);
	/* sar's samples and claims have real-time timestamps, which clock.csv relates to
	 * the trace. */
	for (size_t i = 0; i < world->hosts && (world->full || has_daemons) && !status;
	     i++)
		status = clock_log_write(world, &world->host[i], directory, error);
	for (size_t i = 0; i < world->hosts && has_daemons && !status; i++)
		status = claims_write(world, &world->host[i], directory, error);
	return status;
}

static json_t *make_parameters(const struct scenario *scenario)
{
	json_t *parameters = json_object();

	for (const struct scenario_key *key = scenario_keys; key->form.name; key++) {
		double value = scenario_key_load(key, scenario);
		AUTOFREE char *word = scenario_key_word(key, value);

		json_object_set_new(parameters, key->form.name,
				    word ? json_string(word) : json_real(value));
	}
	return parameters;
}

static json_t *describe_clock(const struct host *host)
{
	const struct scenario_clock *course = &host->clock.course;
	json_t *steps = json_array(), *slews = json_array();

	for (size_t i = 0; i < host->clock.steps; i++)
		json_array_append_new(
		    steps, json_pack("{s:I, s:I}", "host_ns",
				     (json_int_t)host->clock.step[i].true_ns, "ns",
				     (json_int_t)host->clock.step[i].amount_ns));
	for (size_t i = 0; i < host->clock.slews; i++)
		json_array_append_new(
		    slews, json_pack("{s:I, s:I, s:f}", "from_host_ns",
				     (json_int_t)host->clock.slew[i].from_ns,
				     "to_host_ns", (json_int_t)host->clock.slew[i].to_ns,
				     "ppm", host->clock.slew[i].ppm));
	return json_pack(
	    "{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "node", host->name,
	    "offset_ns", (json_int_t)nsec_round(course->offset_s * 1e9), "uptime_ns",
	    (json_int_t)nsec_round(course->uptime_s * 1e9), "drift_ppm",
	    course->drift_ppm, "drift_change_ppb_s", course->drift_change_ppb, "slew_ms",
	    course->slew_ms, "slew_period_s", course->slew_period_s, "slew_phase",
	    course->slew_phase, "wander_ppm", course->wander_ppm, "steps", steps, "slews",
	    slews);
}

static json_t *make_facts(const struct world *world)
{
	const struct scenario *scenario = world->scenario;
	json_t *facts, *nodes = json_array(), *clocks = json_array();

	for (size_t i = 0; i < world->hosts; i++) {
		const struct host *host = &world->host[i];
		struct addresses address = addresses_of(host);

		json_array_append_new(
		    nodes, json_pack("{s:s, s:s, s:s}", "name", host->name, "address",
				     address.ipv4, "address6", address.ipv6));
		json_array_append_new(clocks, describe_clock(host));
	}
	facts = json_pack(
	    "{s:s, s:s*, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "name",
	    scenario->name ? scenario->name : "run", "summary", scenario->summary,
	    "recorder", "ctsim " CT_VERSION, "seed", (json_int_t)world->seed, "begin_ns",
	    (json_int_t)world->begin_ns, "end_ns", (json_int_t)world->now, "nodes", nodes,
	    "parameters", make_parameters(scenario), "clocks", clocks);
	if (world->events)
		json_object_set_new(facts, "events",
				    json_integer((json_int_t)world->events));
	if (world->messages) {
		json_object_set_new(facts, "messages",
				    json_integer((json_int_t)world->messages_written));
		json_object_set_new(facts, "false_matches",
				    json_integer((json_int_t)world->false_matches));
	}
	return facts;
}

static int open_files(const struct simulation *simulation, struct world *world,
		      struct error *error)
{
	const char *directory = simulation->directory;

	if (simulation->messages &&
	    !(world->messages = message_sink_open(world, directory, error)))
		return -1;
	if (simulation->spans && !(world->truth = truth_open(world, directory, error)))
		return -1;
	if (!simulation->messages)
		return open_writer(world, simulation, error);
	return 0;
}

static int close_files(struct world *world, const char *directory, struct error *error)
{
	if (world->messages && message_sink_close(world, error))
		return -1;
	if (world->writer && close_writer(world, directory, error))
		return -1;
	if (world->truth && truth_close(world, error))
		return -1;
	if (write_json(directory, "run.json", make_facts(world), error))
		return -1;
	return truth_write(world, directory, error);
}

int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error)
{
	struct error ignored = ERROR_INIT;
	struct world world;
	nsec_t begun_ns = nsec_monotonic();
	int status;

	world_init(&world, simulation->scenario, simulation->seed);
	world.error = error;
	status = open_files(simulation, &world, error);
	if (!status) {
		world_run(&world, simulation->quiet);
		status = world.failed ? -1 : 0;
	}
	if (!status)
		status = close_files(&world, simulation->directory, error);
	*counts = (struct simulation_counts){
	    .messages = world.messages_written,
	    .events = world.events,
	    .seconds = (double)(nsec_monotonic() - begun_ns) / 1e9};
	/* Files that were not finished are not complete. */
	if (world.writer)
		sim_writer_finish(world.writer, &ignored);
	error_clear(&ignored);
	world_clear(&world);
	return status;
}
