/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "input/native/records.h"
#include "input/reader.h"
#include "input/trace_fields.h"

enum { HELPED = 4 }; /* packets that are gone through ahead */

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
	drop("rotated");
	drop("index/stream.idx");
	drop("index");
	drop("");
	free(trace);
}

static void make_trace(void)
{
	const char *parent = getenv("TMPDIR");
	char *index;

	trace = mem_printf("%s/fuzz-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(trace)) {
		perror(trace);
		exit(1);
	}
	index = mem_printf("%s/index", trace);
	mkdir(index, 0777);
	free(index);
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

static void take_record(void *context, const struct record *record)
{
	struct record_source *records = context;
	const struct record_class *class = record_source_class(records, record->class);

	for (size_t i = 0; record->cell && i < class->columns; i++)
		if (record->cell[i].type == CELL_TEXT ||
		    record->cell[i].type == CELL_BLOB)
			look(record->cell[i].bytes, record->cell[i].size);
		else
			look(&record->cell[i], sizeof(record->cell[i]));
}

/* One class in three of each sort. */
static enum record_use use_of(void *context, const struct record_class *class)
{
	(void)context;
	return (enum record_use)(strlen(class->name) % 3);
}

/* From a time on; returns one in the middle of what was read. */
static nsec_t read_records(nsec_t begin_ns)
{
	struct error error = ERROR_INIT;
	struct record_source *records = native_records_open(trace, &error);
	nsec_t middle_ns = NSEC_MIN;

	if (records && begin_ns != NSEC_MIN)
		record_source_begin(records, begin_ns, use_of, NULL);
	while (records && record_source_step(records, take_record, records) == STEP_MORE)
		;
	if (records) {
		const struct packet_source_facts *facts = record_source_facts(records);

		middle_ns = facts->begin_ns + (facts->end_ns - facts->begin_ns) / 2;
		record_source_free(records);
	} else if (!error.text) {
		abort(); /* a failure without a reason */
	}
	error_clear(&error);
	return middle_ns;
}

static void take_event(void *context, const struct event *event)
{
	const struct reader_wishes *wishes = context;
	const struct event_wish *wish = &wishes->wish[event->tag];

	for (size_t i = 0; i < wish->fields; i++)
		if (event->value[i].type == VALUE_TEXT)
			look(event->value[i].text, strlen(event->value[i].text));
		else
			look(&event->value[i], sizeof(event->value[i]));
}

static void read_wishes(void)
{
	struct event_wish wish[TRACE_WISHES];
	struct reader_wishes wishes = {wish, TRACE_WISHES};
	struct error error = ERROR_INIT;
	struct reader *reader;

	for (int i = 0; i < TRACE_WISHES; i++) {
		wish[i] = trace_wishes[i];
		wish[i].tag = i; /* so that an event leads to its wish */
	}
	reader = reader_open(trace, READER_NATIVE, &wishes, &error);
	/* The first packets by help, if they can, then in turn. */
	for (int i = 0; reader && i < HELPED && reader_help(reader); i++)
		;
	while (reader && reader_step(reader, take_event, &wishes))
		;
	reader_free(reader);
	error_clear(&error);
}

void scene_read(const struct scene *scene)
{
	if (!trace)
		make_trace();
	put("metadata", scene->metadata);
	put("stream", scene->stream);
	put("rotated", scene->rotated);
	put("index/stream.idx", scene->index);
	read_records(read_records(NSEC_MIN));
	read_wishes();
}
