/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/packet_source.h"
#include "input/trace_packets.h"
#include "trace/reader.h"

/* The directory of the trace; made once, gone with the process's own end. */
static char *trace;

static void drop(const char *name)
{
	char *path = mem_printf("%s/%s", trace, name);

	remove(path);
	free(path);
}

static void remove_trace(void)
{
	drop("metadata");
	drop("stream");
	drop("rotated0");
	drop("rotated1");
	drop("");
	free(trace);
}

static void make_trace(void)
{
	const char *parent = getenv("TMPDIR");

	trace = mem_printf("%s/fuzz-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(trace)) {
		perror(trace);
		exit(1);
	}
	atexit(remove_trace);
}

static void put(const char *name, struct scene_file file)
{
	char *path = mem_printf("%s/%s", trace, name);
	FILE *out = fopen(path, "wb");

	if (!out || (file.size && fwrite(file.bytes, 1, file.size, out) != file.size) ||
	    fclose(out)) {
		perror(path);
		exit(1);
	}
	free(path);
}

struct scene_file scene_load(const char *name)
{
	char *path =
	    mem_printf("%s/%s", getenv("CT_SOURCE") ? getenv("CT_SOURCE") : ".", name);
	FILE *in = fopen(path, "rb");
	struct stat status;
	char *bytes;

	if (!in || fstat(fileno(in), &status)) {
		perror(path);
		exit(1);
	}
	bytes = mem_alloc((size_t)status.st_size + 1);
	if (fread(bytes, 1, (size_t)status.st_size, in) != (size_t)status.st_size)
		exit(1);
	fclose(in);
	free(path);
	return (struct scene_file){bytes, (size_t)status.st_size};
}

/* Look at every byte of a value, so that the sanitizers see where it is. */
static void look(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	volatile unsigned char sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (unsigned char)(sum + at[i]);
}

static void take_record(void *context, const struct trace_event *record)
{
	struct trace_reader *records = context;
	const struct trace_class *class = trace_reader_class(records, record->class);

	for (size_t i = 0; record->cell && i < class->columns; i++)
		if (record->cell[i].type == CELL_TEXT ||
		    record->cell[i].type == CELL_BLOB)
			look(record->cell[i].bytes, record->cell[i].size);
		else
			look(&record->cell[i], sizeof(record->cell[i]));
}

/* All columns; before a begin, one class in three of each sort. */
static void select_columns(struct trace_reader *reader, nsec_t begin_ns)
{
	struct trace_selection selection = {.what = SELECT_COLUMNS};
	const struct trace_class *class;

	for (uint32_t i = 0; (class = trace_reader_columns(reader, i)); i++) {
		if (begin_ns != NSEC_MIN)
			selection.before = (enum trace_use)(strlen(class->name) % 3);
		trace_reader_select(reader, i, &selection);
	}
	if (begin_ns != NSEC_MIN)
		trace_reader_begin(reader, begin_ns);
}

/* From a time on; returns one in the middle of what was read. */
static nsec_t read_records(nsec_t begin_ns)
{
	struct error error = ERROR_INIT;
	struct trace_reader *records = trace_reader_open(trace, &error);
	nsec_t middle_ns = NSEC_MIN;

	if (records)
		select_columns(records, begin_ns);
	while (records && trace_reader_step(records, UINT64_MAX, take_record, records))
		;
	if (records) {
		const struct trace_facts *facts = trace_reader_facts(records);

		middle_ns = facts->begin_ns + (facts->end_ns - facts->begin_ns) / 2;
		trace_reader_free(records);
	} else if (!error.text) {
		abort(); /* a failure without a reason */
	}
	error_clear(&error);
	return middle_ns;
}

struct selected {
	struct trace_reader *reader;
	size_t *fields; /* one an event class */
};

static void take_event(void *context, const struct trace_event *event)
{
	const struct selected *selected = context;

	for (size_t i = 0; i < selected->fields[event->class]; i++)
		if (event->cell[i].type == CELL_TEXT || event->cell[i].type == CELL_BLOB)
			look(event->cell[i].bytes, event->cell[i].size);
		else
			look(&event->cell[i], sizeof(event->cell[i]));
}

static void read_selection(void)
{
	struct error error = ERROR_INIT;
	struct selected selected = {trace_reader_open(trace, &error), NULL};
	const struct trace_class *class;
	size_t capacity = 0;

	for (uint32_t i = 0;
	     selected.reader && (class = trace_reader_class(selected.reader, i)); i++) {
		int number = 0;

		while (number + 1 < PACKET_CLASSES &&
		       strcmp(packet_classes[number].name, class->name) != 0)
			number++;
		selected.fields =
		    mem_grow(selected.fields, i, &capacity, sizeof(*selected.fields));
		selected.fields[i] = packet_classes[number].fields;
		trace_reader_select(selected.reader, i,
				    &(struct trace_selection){
					SELECT_FIELDS, packet_classes[number].field,
					packet_classes[number].fields, TRACE_NEEDED});
	}
	while (selected.reader &&
	       trace_reader_step(selected.reader, UINT64_MAX, take_event, &selected))
		;
	trace_reader_free(selected.reader);
	free(selected.fields);
	error_clear(&error);
}

void scene_read(const struct scene *scene)
{
	if (!trace)
		make_trace();
	put("metadata", scene->metadata);
	put("stream", scene->stream);
	put("rotated0", scene->rotated[0]);
	put("rotated1", scene->rotated[1]);
	read_records(read_records(NSEC_MIN));
	read_selection();
}
