/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/run_files.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "simulate/card.h"
#include "simulate/clock_log.h"
#include "simulate/directory.h"
#include "simulate/event.h"
#include "simulate/memory.h"
#include "simulate/sar.h"

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

int run_files_open(struct run_files *files, struct world *world, enum run_kind kind,
		   const char *directory, struct error *error)
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

int run_files_close(struct run_files *files, struct world *world, const char *directory,
		    struct error *error)
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

void run_files_discard(struct run_files *files, struct world *world)
{
	struct error ignored = ERROR_INIT;

	if (world->writer)
		sim_writer_finish(world->writer, &ignored);
	world->writer = NULL;
	error_clear(&ignored);
	free(files->node);
	files->node = NULL;
}
