/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-timeline EVENTS FILE: a timeline of so many events of three nodes, of the classes
 * and fields that a kernel's trace has, the same one each time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "insert_rows.h"
#include "timeline/rows.h"

enum { EXIT_MISUSE = 2 };

static int add_nodes(struct timeline_writer *writer, struct error *error)
{
	for (int64_t i = 1; i <= INSERT_NODES; i++) {
		char *name = mem_printf("node%d", (int)i);
		const struct timeline_node node = {.id = i, .name = name};
		const struct timeline_source source = {
		    .id = i, .node = i, .kind = "kernel", .name = name, .reference = 1};
		int status = timeline_add_node(writer, &node, error) ||
			     timeline_add_source(writer, &source, error);

		free(name);
		if (status)
			return -1;
	}
	return 0;
}

static int add_classes(struct timeline_writer *writer, uint32_t id[INSERT_CLASSES],
		       struct error *error)
{
	for (int i = 0; i < INSERT_CLASSES; i++) {
		struct timeline_column column[INSERT_COLUMNS];
		char name[INSERT_COLUMNS][24];
		const struct timeline_class class = {
		    .kind = "kernel",
		    .name = insert_class[i].name,
		    .column = column,
		    .columns = insert_columns(&insert_class[i], column, name)};

		if (timeline_add_class(writer, &class, &id[i], error))
			return -1;
	}
	return 0;
}

static int write_timeline(const char *path, long events, struct error *error)
{
	struct timeline_writer *writer = timeline_writer_new(path, NULL, true, error);
	struct timeline_event event = {0};
	uint32_t id[INSERT_CLASSES];
	struct insert_rows rows;
	int status =
	    !writer || add_nodes(writer, error) || add_classes(writer, id, error);

	insert_rows_init(&rows);
	for (long i = 0; !status && i < events; i++) {
		insert_rows_next(&rows, &event);
		event.class = id[event.class];
		status = timeline_add_event(writer, &event, NULL, error);
	}
	if (!status)
		status = timeline_writer_finish(writer, error);
	timeline_writer_free(writer);
	return status;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	long events = argc == 3 ? atol(argv[1]) : 0;
	int status;

	if (events < 1) {
		fputs("usage: bench-timeline EVENTS FILE\n", stderr);
		return EXIT_MISUSE;
	}
	status = write_timeline(argv[2], events, &error);
	if (status)
		fprintf(stderr, "bench-timeline: %s\n", error_text(&error));
	error_clear(&error);
	return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
