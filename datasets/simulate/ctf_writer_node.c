/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/ctf_writer_node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "ctf/babeltrace2_error.h"
#include "simulate/ctf_writer_source.h"
#include "simulate/ctf_writer_stamps.h"
#include "simulate/ctf_writer_uuid.h"

enum { METADATA_ROOM = 1 << 20 }; /* bytes, more than it ever takes */

struct sim_ctf_node {
	char *path;
	const struct sim_ctf_parts *parts;
	bt_graph *graph;
	struct sim_ctf_source source;
};

int sim_ctf_parts_init(struct sim_ctf_parts *parts, struct error *error)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE,
			   &parts->plugin) == BT_PLUGIN_FIND_STATUS_OK)
		parts->sink = bt_plugin_borrow_sink_component_class_by_name_const(
		    parts->plugin, "fs");
	if (!parts->sink)
		return error_set(error,
				 "the ctf plugin of libbabeltrace2 is not installed");
	parts->source = sim_ctf_source_class();
	return 0;
}

void sim_ctf_parts_release(struct sim_ctf_parts *parts)
{
	bt_component_class_source_put_ref(parts->source);
	bt_plugin_put_ref(parts->plugin);
	parts->sink = NULL;
	parts->source = NULL;
	parts->plugin = NULL;
}

/* The sink says that it failed, but not why; a full disk is what we can tell. */
static int check_room(const struct sim_ctf_node *node, struct error *error)
{
	struct statvfs status;

	if (statvfs(node->path, &status))
		return error_errno(error, node->path);
	if (status.f_bavail < METADATA_ROOM / status.f_frsize)
		return error_set(error, "%s: no space left on device", node->path);
	return 0;
}

static int fail(struct sim_ctf_node *node, struct error *error)
{
	babeltrace2_error_take(error);
	error_prefix(error, "%s: could not be written", node->path);
	check_room(node, error);
	return -1;
}

static int connect(struct sim_ctf_node *node, const struct sim_ctf_parts *parts,
		   const bt_value *params)
{
	const bt_component_source *source;
	const bt_component_sink *sink;

	if (bt_graph_add_source_component_with_initialize_method_data(
		node->graph, parts->source, "source", NULL, &node->source,
		BT_LOGGING_LEVEL_NONE, &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
	    bt_graph_add_sink_component(node->graph, parts->sink, "sink", params,
					BT_LOGGING_LEVEL_NONE,
					&sink) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		return -1;
	return bt_graph_connect_ports(
		   node->graph,
		   bt_component_source_borrow_output_port_by_index_const(source, 0),
		   bt_component_sink_borrow_input_port_by_index_const(sink, 0),
		   NULL) == BT_GRAPH_CONNECT_PORTS_STATUS_OK
		   ? 0
		   : -1;
}

struct sim_ctf_node *sim_ctf_node_new(const struct sim_ctf_parts *parts,
				      const struct sim_node *node, const char *path,
				      struct error *error)
{
	struct sim_ctf_node *made = mem_zalloc(sizeof(*made));
	bt_value *params = bt_value_map_create();
	int status;

	made->path = mem_strdup(path);
	made->parts = parts;
	sim_ctf_source_init(&made->source, node, parts->classes);
	made->graph = bt_graph_create(0);
	bt_value_map_insert_string_entry(params, "path", path);
	bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE);
	bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE);
	status = connect(made, parts, params);
	bt_value_put_ref(params);
	if (status == 0)
		return made;
	fail(made, error);
	sim_ctf_node_leave(made);
	return NULL;
}

/* Write all that is buffered. */
static int drain(struct sim_ctf_node *node, struct error *error)
{
	while (sim_ctf_buffer_first(&node->source.buffer))
		if (bt_graph_run_once(node->graph) != BT_GRAPH_RUN_ONCE_STATUS_OK)
			return fail(node, error);
	return 0;
}

int sim_ctf_node_add(struct sim_ctf_node *node, const struct sim_event *event,
		     uint64_t class_id, struct error *error)
{
	struct sim_headers built, *headers = NULL;

	switch (sim_headers_of_event(&built, event, error)) {
	case -1:
		return error_prefix(error, "%s", node->path);
	case 1:
		headers = &built;
	}
	while (!sim_ctf_buffer_add(&node->source.buffer, event, class_id, headers))
		if (drain(node, error))
			return -1;
	return 0;
}

static int end_streams(struct sim_ctf_node *node, struct error *error)
{
	bt_graph_run_once_status status;

	if (drain(node, error))
		return -1;
	node->source.ending = true;
	do
		status = bt_graph_run_once(node->graph);
	while (status == BT_GRAPH_RUN_ONCE_STATUS_OK);
	return status == BT_GRAPH_RUN_ONCE_STATUS_END ? 0 : fail(node, error);
}

/* The trace's own, but the same each time that the boot's is the same. */
static int set_uuid(const struct sim_ctf_node *node, struct error *error)
{
	unsigned char uuid[16];

	for (unsigned i = 0; i < sizeof(uuid); i++)
		uuid[i] =
		    (unsigned char)(node->source.node->boot_id[i] ^ (i < 6 ? 0xff : 0));
	return sim_ctf_set_uuid(node->path, uuid, error);
}

static int shorten_stamps(const struct sim_ctf_node *node, struct error *error)
{
	enum sim_event_header header = node->source.node->event_header;

	if (header == SIM_HEADER_FULL)
		return 0;
	return sim_ctf_shorten_stamps(node->path, header, node->parts->class,
				      node->parts->classes, error);
}

static void release(struct sim_ctf_node *node)
{
	bt_graph_put_ref(node->graph);
	sim_ctf_source_release(&node->source);
}

static void free_node(struct sim_ctf_node *node)
{
	sim_ctf_source_clear(&node->source);
	free(node->path);
	free(node);
}

int sim_ctf_node_finish(struct sim_ctf_node *node, struct error *error)
{
	int status;

	/* Freeing the graph writes the metadata and ends badly on a full disk. */
	if (end_streams(node, error) || check_room(node, error)) {
		free_node(node);
		return -1;
	}
	release(node);
	status = shorten_stamps(node, error);
	if (!status)
		status = set_uuid(node, error);
	free_node(node);
	return status;
}

void sim_ctf_node_leave(struct sim_ctf_node *node)
{
	if (!node)
		return;
	if (!node->source.iterator) /* nothing was written yet */
		release(node);
	free_node(node);
}
