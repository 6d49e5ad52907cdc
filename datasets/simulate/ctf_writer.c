/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "simulate/ctf_writer_node.h"
#include "simulate/writer_private.h"

enum { OTHER_FILES = 64 }; /* that the program may have open besides */

struct ctf_writer {
	struct sim_writer base;
	struct sim_ctf_parts parts;
	const struct sim_class **class;
	struct intmap ids; /* of classes, by their address */
	struct sim_ctf_node **trace;
	bool failed;
};

/* The sink keeps a file open for each CPU: raise the limit where we may. */
static int allow_files(const struct sim_node *node, size_t nodes, struct error *error)
{
	rlim_t want = OTHER_FILES;
	struct rlimit limit;

	for (size_t i = 0; i < nodes; i++)
		want += node[i].cpus;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return error_errno(error, "limit of open files");
	if (limit.rlim_cur >= want)
		return 0;
	if (limit.rlim_max < want)
		return error_set(error,
				 "traces of %zu nodes need %llu files open at once, but "
				 "the limit is %llu, want a higher one (ulimit -Hn)",
				 nodes, (unsigned long long)want,
				 (unsigned long long)limit.rlim_max);
	limit.rlim_cur = want;
	return setrlimit(RLIMIT_NOFILE, &limit)
		   ? error_errno(error, "limit of open files")
		   : 0;
}

static int ctf_add(struct sim_writer *base, const struct sim_event *event,
		   struct error *error)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;
	const char *name = base->node[event->node].name;
	int64_t id;

	if (writer->failed)
		return error_set(error, "%s: writing failed before", name);
	if (!intmap_get(&writer->ids, (uintptr_t)event->class, &id))
		return error_set(error, "%s: event of a class that was not announced: %s",
				 name, event->class->name);
	if (event->mono_ns < 0)
		return error_set(error, "%s: event at %lld ns, want a stamp from 0 up",
				 name, (long long)event->mono_ns);
	if (!sim_ctf_node_add(writer->trace[event->node], event, (uint64_t)id, error))
		return 0;
	writer->failed = true;
	return -1;
}

/* Whatever nodes are still there are left unfinished. */
static void ctf_free(struct ctf_writer *writer)
{
	for (size_t i = 0; i < writer->base.nodes; i++)
		sim_ctf_node_leave(writer->trace[i]);
	sim_ctf_parts_release(&writer->parts);
	intmap_clear(&writer->ids);
	free(writer->trace);
	free(writer->class);
	free(writer);
}

static int ctf_finish(struct sim_writer *base, struct error *error)
{
	struct ctf_writer *writer = (struct ctf_writer *)base;
	int status = writer->failed ? -1 : 0;

	for (size_t i = 0; i < base->nodes && !status; i++) {
		status = sim_ctf_node_finish(writer->trace[i], error);
		writer->trace[i] = NULL;
	}
	ctf_free(writer);
	return status;
}

static int open_trace(struct ctf_writer *writer, size_t i, const char *directory,
		      struct error *error)
{
	const struct sim_node *node = &writer->base.node[i];
	char *path;

	if (sim_writer_directory(directory, node->name, error))
		return -1;
	path = mem_printf("%s/%s/kernel", directory, node->name);
	if (access(path, F_OK) == 0)
		error_set(error, "%s: is there already", path);
	else
		writer->trace[i] = sim_ctf_node_new(&writer->parts, node, path, error);
	free(path);
	return writer->trace[i] ? 0 : -1;
}

static int open_traces(struct ctf_writer *writer, const char *directory,
		       struct error *error)
{
	const struct sim_writer *base = &writer->base;

	if (allow_files(base->node, base->nodes, error) ||
	    sim_ctf_parts_init(&writer->parts, error))
		return -1;
	for (size_t i = 0; i < base->nodes; i++)
		if (open_trace(writer, i, directory, error))
			return -1;
	return 0;
}

struct sim_writer *sim_ctf_writer_new(const char *directory, const struct sim_node *node,
				      size_t nodes,
				      const struct sim_class *const *classes,
				      size_t class_count, struct error *error)
{
	static const struct sim_writer_ops ops = {ctf_add, ctf_finish};
	struct ctf_writer *writer = mem_zalloc(sizeof(*writer));

	writer->base = (struct sim_writer){&ops, node, nodes};
	writer->trace = mem_zalloc(nodes * sizeof(struct sim_ctf_node *));
	writer->class = mem_alloc(class_count * sizeof(*writer->class));
	writer->parts.class = writer->class;
	writer->parts.classes = class_count;
	for (size_t i = 0; i < class_count; i++) {
		writer->class[i] = classes[i];
		intmap_put(&writer->ids, (uintptr_t)classes[i], (int64_t)i);
	}
	if (open_traces(writer, directory, error)) {
		ctf_free(writer);
		return NULL;
	}
	return &writer->base;
}
