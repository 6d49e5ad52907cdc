/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/simulate.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/version.h"
#include "simulate/clock.h"
#include "simulate/event.h"
#include "simulate/host.h"
#include "simulate/messages.h"
#include "simulate/network.h"
#include "simulate/spans.h"

static int directory_is_free(const char *path, struct error *error)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int entries = 0;

	if (!directory)
		return errno == ENOENT ? 0 : error_errno(error, path);
	while ((entry = readdir(directory)))
		entries +=
		    strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	if (entries)
		return error_set(error, "%s: not empty, want a new directory", path);
	return 0;
}

static int directory_make(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0)
		return 0;
	return errno == EEXIST ? directory_is_free(path, error)
			       : error_errno(error, path);
}

int directory_ensure(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return error_errno(error, path);
}

static void write_line(FILE *file, struct host *host, nsec_t true_ns)
{
	nsec_t mono_ns = sim_clock_mono(&host->clock, true_ns);

	fprintf(file, "%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
		sim_clock_real(&host->clock, true_ns), mono_ns, mono_ns);
}

/*
 * Write a node's clock.csv, as its collector would: what its clocks read when the node's
 * part of the run began, every 10 s, and when it ended. A machine that never slept has
 * the same boot-time and monotonic clock. 0, or -1 with error.
 */
static int clock_log_write(const struct world *world, struct host *host, const char *path,
			   struct error *error)
{
	nsec_t begin =
	    host->trace_from > world->begin_ns ? host->trace_from : world->begin_ns;
	nsec_t end = host->trace_to < world->now ? host->trace_to : world->now;
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	fputs("realtime_ns,monotonic_ns,boottime_ns\n", output.file);
	write_line(output.file, host, begin);
	for (nsec_t at = begin + 10 * NSEC_PER_SEC; at < end; at += 10 * NSEC_PER_SEC)
		write_line(output.file, host, at);
	if (end > begin)
		write_line(output.file, host, end);
	return output_commit(&output, error);
}

static void write_row(FILE *file, struct host *host, nsec_t true_ns)
{
	fprintf(file, "%s,%" PRId64 ",%" PRId64 ",%" PRId64 "\n", host->name, true_ns,
		sim_clock_mono(&host->clock, true_ns),
		sim_clock_real(&host->clock, true_ns));
}

static void write_host(FILE *file, struct host *host)
{
	struct sim_clock *clock = &host->clock;
	nsec_t last = NSEC_MIN;
	size_t step = 0;

	for (size_t i = 0; i < clock->corners; i++) {
		nsec_t true_ns = clock->corner[i].true_ns;

		for (; step < clock->steps && clock->step[step].true_ns <= true_ns;
		     step++) {
			nsec_t at = clock->step[step].true_ns;

			if (at - 1 > last && at > clock->corner[0].true_ns)
				write_row(file, host, at - 1);
			if (at > last && at < true_ns)
				write_row(file, host, last = at);
		}
		write_row(file, host, last = true_ns);
	}
}

/*
 * Write DIRECTORY/truth.csv: what each node's clocks say at true times, a row
 * a corner of the polygons and two a step. 0, or -1 with error.
 */
static int truth_write(struct world *world, const char *directory, struct error *error)
{
	char *path = mem_printf("%s/truth.csv", directory);
	struct output output;
	int status = output_open(&output, path, error);

	if (!status) {
		fputs("node,host_ns,mono_ns,real_ns\n", output.file);
		for (size_t i = 0; i < world->hosts; i++)
			write_host(output.file, &world->host[i]);
		status = output_commit(&output, error);
	}
	free(path);
	return status;
}

/* What a run directory holds of each node, besides truth.csv and run.json. */

enum run_kind { RUN_TRACES, RUN_CAPTURES };

struct run_files {
	enum sim_trace_format format; /* of traces; set it before opening */
	struct sim_node *node;
};

enum { VLAN = 10 };

static enum sim_event_header event_header(const struct scenario *scenario)
{
	return scenario->event_header == HEADER_COMPACT ? SIM_HEADER_COMPACT
	       : scenario->event_header == HEADER_LARGE ? SIM_HEADER_LARGE
							: SIM_HEADER_FULL;
}

static struct sim_node *make_nodes(struct world *world, enum sim_trace_format format)
{
	static const uint8_t family[] = {4, 6};
	struct sim_node *nodes = mem_zalloc(world->hosts * sizeof(*nodes));

	for (size_t i = 0; i < world->hosts; i++) {
		struct host *host = &world->host[i];
		struct dice dice;

		nodes[i] = (struct sim_node){
		    .name = host->name,
		    .cpus = (unsigned)world->scenario->cpus,
		    .realtime_offset_ns = host->clock.boot_ns,
		    .address = host->address,
		    .family = family,
		    .addresses = 2,
		    .vlan = world->scenario->layers == LAYERS_VLAN ? VLAN : 0,
		    .event_header = event_header(world->scenario),
		    .format = format,
		};
		memcpy(nodes[i].mac, host->mac, sizeof(nodes[i].mac));
		dice_init(&dice, world->seed, DICE_BOOT, i);
		for (size_t k = 0; k < sizeof(nodes[i].boot_id); k++)
			nodes[i].boot_id[k] = (unsigned char)dice_next(&dice);
		/* A random uuid says so (RFC 9562, version 4). */
		nodes[i].boot_id[6] = (nodes[i].boot_id[6] & 0x0f) | 0x40;
		nodes[i].boot_id[8] = (nodes[i].boot_id[8] & 0x3f) | 0x80;
	}
	return nodes;
}

/* Open world->writer, and sar's files with activity full. 0, or -1 with error. */
static int run_files_open(struct run_files *files, struct world *world,
			  enum run_kind kind, const char *directory, struct error *error)
{
	const struct sim_class *classes[EVENT_KINDS];
	size_t count = world->full ? EVENT_KINDS : EVENT_NET_LAST + 1;

	files->node = make_nodes(world, files->format);
	for (size_t i = 0; i < count; i++)
		classes[i] = event_class((enum event_kind)i);
	if (kind == RUN_CAPTURES) {
		world->real_stamps = true;
		world->writer =
		    sim_capture_writer_new(directory, files->node, world->hosts, error);
	} else {
		world->writer = sim_ctf_writer_new(directory, files->node, world->hosts,
						   classes, count, error);
	}
	if (!world->writer)
		return -1;
	return world->full ? sar_open(world, directory, error) : 0;
}

static json_t *make_node(const struct world *world, const struct sim_node *node)
{
	char address4[INET6_ADDRSTRLEN], address6[INET6_ADDRSTRLEN], mac[18];

	inet_ntop(AF_INET, node->address[0], address4, sizeof(address4));
	inet_ntop(AF_INET6, node->address[1], address6, sizeof(address6));
	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", node->mac[0],
		 node->mac[1], node->mac[2], node->mac[3], node->mac[4], node->mac[5]);
	return json_pack("{s:s, s:s, s:i, s:i, s:[{s:s, s:s, s:[s, s]}]}", "hostname",
			 node->name, "kernel", "simulated", "cpus", world->scenario->cpus,
			 "mem_kib", MEMORY_KIB, "interfaces", "name", CARD_NAME, "mac",
			 mac, "addresses", address4, address6);
}

static int write_node(const struct world *world, const struct sim_node *node,
		      const char *directory, struct error *error)
{
	char *folder = mem_printf("%s/%s", directory, node->name);
	char *path = mem_printf("%s/node.json", folder);
	struct output output;
	int status = directory_ensure(folder, error);

	if (!status)
		status = output_open(&output, path, error);
	if (!status) {
		json_t *facts = make_node(world, node);

		json_dumpf(facts, output.file, JSON_INDENT(1));
		putc('\n', output.file);
		json_decref(facts);
		status = output_commit(&output, error);
	}
	free(folder);
	free(path);
	return status;
}

static int write_clock(const struct world *world, struct host *host,
		       const char *directory, struct error *error)
{
	char *path = mem_printf("%s/%s/clock.csv", directory, host->name);
	int status = clock_log_write(world, host, path, error);

	free(path);
	return status;
}

/* Finish them and write each node.json. 0, or -1 with error. */
static int run_files_close(struct run_files *files, struct world *world,
			   const char *directory, struct error *error)
{
	int status = sim_writer_finish(world->writer, error);

	world->writer = NULL;
	if (!status)
		status = sar_close(world, error);
	for (size_t i = 0; i < world->hosts && !status; i++)
		status = write_node(world, &files->node[i], directory, error);
	/* What is stamped by the real-time clock needs it. */
	for (size_t i = 0; i < world->hosts && world->full && !status; i++)
		status = write_clock(world, &world->host[i], directory, error);
	return status;
}

/* Free what is left; files that were not finished are not complete. */
static void run_files_discard(struct run_files *files, struct world *world)
{
	struct error ignored = ERROR_INIT;

	if (world->writer)
		sim_writer_finish(world->writer, &ignored);
	world->writer = NULL;
	error_clear(&ignored);
	free(files->node);
	files->node = NULL;
}

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

static json_t *describe_nodes(const struct world *world)
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
	json_object_set_new(facts, "nodes", describe_nodes(world));
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

/*
 * Write DIRECTORY/run.json: the nodes, what the scenario says of everything,
 * and how each clock runs. 0, or -1 with error.
 */
static int facts_write(const struct world *world, const struct sim_clock_plan *plans,
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

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int open_files(const struct simulation *simulation, struct world *world,
		      struct run_files *files, struct error *error)
{
	if (simulation->messages) {
		world->messages = message_sink_open(world, simulation->directory, error);
		if (!world->messages)
			return -1;
	}
	if (simulation->spans) {
		world->spans = spans_open(world, simulation->directory, error);
		if (!world->spans)
			return -1;
		world->requests = requests_open(world, simulation->directory, error);
		if (!world->requests)
			return -1;
	}
	if (simulation->traces || simulation->captures)
		return run_files_open(files, world,
				      simulation->captures ? RUN_CAPTURES : RUN_TRACES,
				      simulation->directory, error);
	return 0;
}

static int close_messages(struct world *world, struct simulation_counts *counts,
			  struct error *error)
{
	struct message_counts count;
	int status;

	if (!world->messages)
		return 0;
	count = message_sink_counts(world->messages);
	counts->messages = count.messages;
	counts->false_matches = count.false_ones;
	status = message_sink_close(world->messages, error);
	world->messages = NULL;
	return status;
}

static int close_files(const struct simulation *simulation, struct world *world,
		       const struct sim_clock_plan *plans, struct run_files *files,
		       struct error *error)
{
	const char *directory = simulation->directory;

	if (world->messages)
		message_sink_flush(world);
	if (world->writer && run_files_close(files, world, directory, error))
		return -1;
	if (world->spans && spans_close(world, error))
		return -1;
	if (world->requests && requests_close(world, error))
		return -1;
	if (facts_write(world, plans, directory, error))
		return -1;
	return truth_write(world, directory, error);
}

int simulate(const struct simulation *simulation, struct simulation_counts *counts,
	     struct error *error)
{
	struct sim_clock_plan *plans;
	struct run_files files = {.format = simulation->format};
	struct world world;
	double begun = now_s();
	int status;

	*counts = (struct simulation_counts){0};
	if (directory_make(simulation->directory, error))
		return -1;
	plans = world_init(&world, simulation->scenario, simulation->seed);
	world.error = error;
	status = open_files(simulation, &world, &files, error);
	if (!status) {
		world_run(&world, simulation->quiet);
		status = world.failed ? -1 : 0;
	}
	if (!status)
		status = close_files(simulation, &world, plans, &files, error);
	if (!status)
		status = close_messages(&world, counts, error);
	counts->events = world.events;
	counts->seconds = now_s() - begun;
	run_files_discard(&files, &world);
	world_clear(&world);
	free(plans);
	return status;
}
