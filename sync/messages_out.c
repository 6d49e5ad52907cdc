/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/messages_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/process.h"
#include "input/messages_file.h"
#include "input/packet_rows.h"

/* A node's file; sources are added to it as messages name them. */
struct node_file {
	uint32_t trace; /* its first trace, whose name is the node's */
	char *path;
	FILE *file;
	struct packet_rows rows; /* not written yet */
	uint32_t sources;
};

struct messages_out {
	const struct observations *seen;
	const struct clock_map *map;
	struct node_file *node;
	size_t nodes;
	uint32_t *node_of;    /* by trace */
	uint32_t *trace_of;   /* by source of the list */
	struct intmap listed; /* node and trace -> index in the node's file */
};

/* Nodes by their first traces, in the order of these. */
static void find_nodes(struct messages_out *out)
{
	const struct observations *seen = out->seen;
	const size_t traces = observations_read(seen);
	uint32_t sources = 0;

	for (size_t i = 0; i < traces; i++)
		if (seen->trace[i].source_index >= sources)
			sources = seen->trace[i].source_index + 1;
	out->node = mem_zalloc(seen->traces * sizeof(*out->node));
	out->node_of = mem_zalloc(seen->traces * sizeof(*out->node_of));
	out->trace_of = mem_zalloc(sources * sizeof(*out->trace_of));
	for (uint32_t i = 0; i < traces; i++) {
		uint32_t first = seen->trace[i].host_index;

		if (first == i)
			out->node[out->nodes++].trace = i;
		out->node_of[i] =
		    first == i ? (uint32_t)out->nodes - 1 : out->node_of[first];
		out->trace_of[seen->trace[i].source_index] = i;
	}
}

static const char *node_name(const struct messages_out *out, uint32_t node)
{
	return out->seen->trace[out->node[node].trace].name;
}

/* Return the index of a trace in a node's file, and describe it on first use. */
static uint32_t list_trace(struct messages_out *out, uint32_t node, uint32_t trace)
{
	uint64_t key = (uint64_t)node << 32 | trace;
	uint32_t of = out->node_of[trace];
	struct node_file *file = &out->node[node];
	int64_t at;

	if (intmap_get(&out->listed, key, &at))
		return (uint32_t)at;
	intmap_put(&out->listed, key, file->sources);
	messages_write_source(file->file, file->sources,
			      &(struct messages_source){
				  out->seen->trace[trace].name, node_name(out, of), of,
				  out->seen->trace[trace].kind == SOURCE_CAPTURE});
	return file->sources++;
}

/* To the node of its own end; the ends' sources are traces yet. */
static int add_message(struct messages_out *out, struct node_message message,
		       struct error *error)
{
	uint32_t node = out->node_of[message.own.source];
	struct node_file *file = &out->node[node];

	message.own.source = list_trace(out, node, message.own.source);
	message.other.source = list_trace(out, node, message.other.source);
	if (message.first.local_ns < NSEC_MAX)
		message.first.source = list_trace(out, node, message.first.source);
	messages_write(file->file, &file->rows, &message);
	return ferror(file->file) ? error_errno(error, file->path) : 0;
}

static int write_message(void *context, const struct message_ends *ends,
			 struct error *error)
{
	struct messages_out *out = context;
	struct node_message message = message_of_receiver(ends);
	struct messages_end received;

	message.own.source = out->trace_of[message.own.source];
	message.other.source = out->trace_of[message.other.source];
	if (message.first.local_ns < NSEC_MAX)
		message.first.source = out->trace_of[message.first.source];
	if (add_message(out, message, error))
		return -1;
	received = message.own;
	message.own = message.other;
	message.other = received;
	message.received = false;
	return add_message(out, message, error);
}

/* Open all files at once; the sources' files, as many, have been open before. */
static int begin_files(struct messages_out *out, const struct output_directory *directory,
		       struct error *error)
{
	AUTOFREE const char **text = mem_alloc(out->nodes * sizeof(*text));
	uint64_t clocks = clock_map_fingerprint(out->map);
	char **name;
	int status = 0;

	for (uint32_t i = 0; i < out->nodes; i++)
		text[i] = node_name(out, i);
	name = file_names_of(text, out->nodes);
	raise_open_file_limit();
	for (uint32_t i = 0; !status && i < out->nodes; i++) {
		struct node_file *node = &out->node[i];

		node->path =
		    mem_printf("%s/%s" MESSAGES_SUFFIX, directory->temporary, name[i]);
		node->file = fopen(node->path, "wb");
		if (node->file)
			messages_write_begin(node->file,
					     &(struct messages_head){text[i], i, clocks});
		else
			status = error_errno(error, node->path);
	}
	file_names_free(name, out->nodes);
	return status;
}

static int end_files(struct messages_out *out, struct error *error)
{
	int status = 0;

	for (uint32_t i = 0; i < out->nodes; i++) {
		struct node_file *node = &out->node[i];
		bool failed;

		messages_write_end(node->file, &node->rows);
		failed = ferror(node->file);
		if (fclose(node->file) || failed)
			status = error_errno(error, node->path);
		node->file = NULL;
	}
	return status;
}

static void clear_files(struct messages_out *out)
{
	for (size_t i = 0; i < out->nodes; i++) {
		packet_rows_clear(&out->node[i].rows);
		free(out->node[i].path);
		if (out->node[i].file)
			fclose(out->node[i].file);
	}
	intmap_clear(&out->listed);
	free(out->node);
	free(out->node_of);
	free(out->trace_of);
}

int messages_out_write(const struct observations *seen, struct message_log *log,
		       const struct clock_map *map, const char *path, struct error *error)
{
	static const struct output_kind kind = {
	    .rule = OUTPUT_REPLACE, .list = ".ctsync-messages", .parents = true};
	struct messages_out out = {.seen = seen, .map = map};
	struct output_directory directory;
	int status;

	if (output_directory_open(&directory, path, &kind, error))
		return -1;
	find_nodes(&out);
	status = begin_files(&out, &directory, error) ||
		 message_log_walk_ends(log, write_message, &out, error) ||
		 end_files(&out, error);
	if (status)
		output_directory_explain(&directory, error);
	else
		status = output_directory_commit(&directory, error);
	output_directory_discard(&directory);
	clear_files(&out);
	return status ? -1 : 0;
}
