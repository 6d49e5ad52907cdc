/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "simulate/writer_private.h"

int sim_writer_add(struct sim_writer *writer, const struct sim_event *event,
		   struct error *error)
{
	if (event->node >= writer->nodes)
		return error_set(error, "event of node %u, want one below %zu",
				 event->node, writer->nodes);
	if (event->cpu >= writer->node[event->node].cpus)
		return error_set(error, "%s: event of cpu %u, want one below %u",
				 writer->node[event->node].name, event->cpu,
				 writer->node[event->node].cpus);
	return writer->ops->add(writer, event, error);
}

int sim_writer_finish(struct sim_writer *writer, struct error *error)
{
	return writer->ops->finish(writer, error);
}

static int make_directory(const char *path, struct error *error)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return 0;
	return error_errno(error, path);
}

int sim_writer_directory(const char *directory, const char *node, struct error *error)
{
	char *path = mem_printf("%s/%s", directory, node);
	int status = make_directory(directory, error);

	if (!status)
		status = make_directory(path, error);
	free(path);
	return status;
}
