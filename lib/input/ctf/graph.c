/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "input/ctf/error.h"
#include "input/ctf/trial.h"
#include "input/native/records.h"

/* libbabeltrace2 loads and unloads plugins through globals of its own. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

static struct ctf_graph *graph_of(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_consume_method_status
sink_consume(bt_self_component_sink *self)
{
	struct ctf_graph *graph = graph_of(self);

	return graph->consume(graph->context)
		   ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
		   : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}

static bt_component_class_initialize_method_status
sink_initialize(bt_self_component_sink *self,
		bt_self_component_sink_configuration *configuration,
		const bt_value *params, void *data)
{
	struct ctf_graph *graph = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), graph);
	for (size_t i = 0; i < graph->streams; i++) {
		char name[24];

		snprintf(name, sizeof(name), "in%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_configured(bt_self_component_sink *self)
{
	struct ctf_graph *graph = graph_of(self);

	for (size_t i = 0; i < graph->streams; i++) {
		bt_message_iterator *iterator;

		if (bt_message_iterator_create_from_sink_component(
			self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			&iterator) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
		graph->iterator[i] = iterator;
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* The iterators must be gone before the graph is. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct ctf_graph *graph = graph_of(self);

	for (size_t i = 0; i < graph->streams; i++)
		BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(graph->iterator[i]);
}

static int add_source(struct ctf_graph *graph, const char *path, struct error *error)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class;
	bt_value *params, *inputs;
	int status = -1;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, BT_TRUE,
			   &plugin) != BT_PLUGIN_FIND_STATUS_OK)
		return error_set(error,
				 "the ctf plugin of libbabeltrace2 is not installed");
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	params = bt_value_map_create();
	bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
	bt_value_array_append_string_element(inputs, path);
	if (bt_graph_add_source_component(graph->graph, class, "source", params,
					  BT_LOGGING_LEVEL_NONE, &graph->source) ==
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = 0;
	else
		ctf_error_take(error);
	/* Its cause names a directory of ours, and nothing of what is broken. */
	if (status)
		error_set(error, "libbabeltrace2 cannot make sense of its metadata "
				 "or packet headers");
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return status;
}

static int add_sink(struct ctf_graph *graph, struct error *error)
{
	bt_component_class_sink *class =
	    bt_component_class_sink_create("clustertrace", sink_consume);
	const bt_component_sink *sink;
	int status = 0;

	bt_component_class_sink_set_initialize_method(class, sink_initialize);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
	bt_component_class_sink_set_finalize_method(class, sink_finalize);
	if (bt_graph_add_sink_component_with_initialize_method_data(
		graph->graph, class, "sink", NULL, graph, BT_LOGGING_LEVEL_NONE, &sink) !=
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		status = -1;
	for (size_t i = 0; !status && i < graph->streams; i++)
		if (bt_graph_connect_ports(
			graph->graph,
			bt_component_source_borrow_output_port_by_index_const(
			    graph->source, i),
			bt_component_sink_borrow_input_port_by_index_const(sink, i),
			NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			status = -1;
	bt_component_class_sink_put_ref(class);
	if (status)
		ctf_error_take(error);
	return status;
}

/* All that reads metadata and packet headers. */
static void attempt(const char *path)
{
	struct ctf_graph graph = {.graph = bt_graph_create(0)};
	struct error error = ERROR_INIT;

	add_source(&graph, path, &error);
}

/* Whether the metadata may be broken: our own reader cannot take it. */
static bool is_suspect(const char *path)
{
	struct error why = ERROR_INIT;
	struct record_source *source = native_records_open(path, &why);

	error_clear(&why);
	record_source_free(source);
	return !source;
}

static int make(struct ctf_graph *graph, const char *path, struct error *error)
{
	bt_logging_set_global_level(BT_LOGGING_LEVEL_NONE);
	if (is_suspect(path) && !trial_passes(attempt, path))
		return error_set(error, "libbabeltrace2 breaks down over its metadata");
	graph->graph = bt_graph_create(0);
	graph->streams = 0;
	if (add_source(graph, path, error))
		return -1;
	graph->streams = bt_component_source_get_output_port_count(graph->source);
	graph->iterator = mem_zalloc(graph->streams * sizeof(*graph->iterator));
	return add_sink(graph, error);
}

int ctf_graph_open(struct ctf_graph *graph, const char *path, struct error *error)
{
	int status;

	pthread_mutex_lock(&graph_lock);
	status = make(graph, path, error);
	pthread_mutex_unlock(&graph_lock);
	if (status)
		ctf_graph_close(graph);
	return status;
}

int ctf_graph_run(struct ctf_graph *graph, struct error *error)
{
	switch (bt_graph_run_once(graph->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		return 1;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return 0;
	default:
		/* Left with the thread, it would abort the next call. */
		ctf_error_take(error);
		return -1;
	}
}

void ctf_graph_close(struct ctf_graph *graph)
{
	pthread_mutex_lock(&graph_lock);
	BT_GRAPH_PUT_REF_AND_RESET(graph->graph);
	pthread_mutex_unlock(&graph_lock);
	free(graph->iterator);
	graph->iterator = NULL;
	graph->streams = 0;
}
