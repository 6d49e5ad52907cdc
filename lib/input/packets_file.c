/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packets_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunk_file.h"
#include "base/json.h"
#include "base/mem.h"
#include "input/packet_rows.h"

enum kind { KIND_SOURCE = 1, KIND_PACKETS, KIND_FACTS };

enum {
	CHUNK_PACKETS =
	    4096, /* number of packets; a source's reader holds one chunk, about 80 KiB */
	STEP_PACKETS = 256,
	MOST_SOURCES = 4096, /* per file */
};

static const struct chunk_format format = {.name = "a " PACKETS_SUFFIX " file",
					   .magic = "\x89"
						    "ctpk\r\n\x1a",
					   .version = 2};

struct writing {
	struct packet_rows rows;
	nsec_t begin_ns;
};

struct packets_writer {
	FILE *file;
	struct writing *source;
	size_t sources;
	struct bytes content; /* buffer for a chunk */
};

struct packets_writer *packets_writer_new(FILE *file, size_t sources)
{
	struct packets_writer *writer = mem_zalloc(sizeof(*writer));

	writer->file = file;
	writer->sources = sources;
	writer->source = mem_zalloc(sources * sizeof(*writer->source));
	chunk_write_begin(file, &format);
	return writer;
}

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, json_integer((json_int_t)count));
}

static void write_object(struct packets_writer *writer, enum kind kind, size_t index,
			 json_t *object)
{
	chunk_write_object(
	    writer->file,
	    &(struct chunk){.kind = (uint8_t)kind, .number = (uint32_t)index}, object);
}

static json_t *clock_object(const struct trace_facts *facts)
{
	json_t *clock = json_object();
	char uuid[2 * sizeof(facts->clock_uuid) + 1];

	for (size_t i = 0; i < sizeof(facts->clock_uuid); i++)
		snprintf(uuid + 2 * i, 3, "%02x", facts->clock_uuid[i]);
	json_set_text(clock, "uuid", uuid);
	json_set_text(clock, "name", facts->clock_name);
	json_object_set_new(clock, "offset_ns", json_integer(facts->clock_offset_ns));
	set_count(clock, "frequency", facts->clock_frequency);
	return clock;
}

static json_t *realtime_array(const struct source *source)
{
	json_t *array = json_array();

	for (size_t i = 0; i < source->realtimes; i++) {
		const struct realtime_offset *offset = &source->realtime[i];

		json_array_append_new(array,
				      json_pack("{sI sI sI sI sI}", "from_ns",
						(json_int_t)offset->from_ns, "to_ns",
						(json_int_t)offset->to_ns, "low_ns",
						(json_int_t)offset->low_ns, "high_ns",
						(json_int_t)offset->high_ns, "samples",
						(json_int_t)offset->samples));
	}
	return array;
}

void packets_writer_describe(struct packets_writer *writer, size_t index,
			     const struct source *source,
			     const struct packet_source *packets)
{
	const struct trace_facts *facts = &packets->facts;
	const char *slash = source->node ? strrchr(source->node, '/') : NULL;
	json_t *object = json_object();

	json_set_text(object, "kind", source->kind == SOURCE_TRACE ? "trace" : "capture");
	json_set_text(object, "name", source->name);
	json_set_text(object, "node", slash ? slash + 1 : source->node);
	json_set_text(object, "path", source->path);
	json_set_text(object, "hostname", facts->hostname);
	if (facts->has_uuid)
		json_object_set_new(object, "clock", clock_object(facts));
	if (facts->has_udp_data)
		json_object_set_new(object, "udp_data", json_true());
	if (packets->has_counted)
		json_object_set_new(object, "counted", json_true());
	if (source->realtimes)
		json_object_set_new(object, "realtime", realtime_array(source));
	if (source->claims.sources)
		json_object_set_new(object, "claims", node_claims_array(&source->claims));
	write_object(writer, KIND_SOURCE, index, object);
}

/*
 * Write a chunk of packets. It starts with the source's start, which readers need before
 * the facts at the end.
 */
static void write_packets(struct packets_writer *writer, size_t index)
{
	struct packet_rows *rows = &writer->source[index].rows;
	struct bytes *content = &writer->content;

	content->size = 0;
	bytes_add_zigzag(content, writer->source[index].begin_ns);
	bytes_add(content, rows->bytes.data, rows->bytes.size);
	chunk_write(writer->file,
		    &(struct chunk){.kind = KIND_PACKETS,
				    .number = (uint32_t)index,
				    .items = rows->count},
		    content);
	packet_rows_reset(rows);
}

void packets_writer_add(struct packets_writer *writer, size_t index,
			const struct packet_event *packet_event, nsec_t begin_ns)
{
	struct writing *source = &writer->source[index];

	source->begin_ns = begin_ns;
	packet_rows_add(&source->rows, packet_event);
	if (source->rows.count == CHUNK_PACKETS)
		write_packets(writer, index);
}

static json_t *problem_array(const struct problem_list *problems)
{
	json_t *array = json_array();

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];
		json_t *object = json_object();

		json_set_text(object, "place", problem->place);
		json_set_text(object, "kind", problem_kind_word(problem->kind));
		set_count(object, "count", problem->count);
		json_set_text(object, "text", problem->text);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *set_back_array(const struct trace_facts *facts)
{
	json_t *array = json_array();

	for (size_t i = 0; i < facts->set_backs; i++)
		json_array_append_new(
		    array,
		    json_pack("{sI sI}", "at_ns", (json_int_t)facts->set_back[i].at_ns,
			      "size_ns", (json_int_t)facts->set_back[i].size_ns));
	return array;
}

static json_t *second_clock_object(const struct trace_second_clock *clock)
{
	return json_pack("{ss sI sI sI sf}", "scale", clock->scale, "local_ns",
			 (json_int_t)clock->local_ns, "ahead_ns",
			 (json_int_t)clock->ahead_ns, "high_ns",
			 (json_int_t)clock->high_ns, "fast_ppb", clock->fast_ppb);
}

void packets_writer_finish(struct packets_writer *writer, size_t index,
			   const struct packet_source *packets)
{
	const struct trace_facts *facts = &packets->facts;
	const struct packet_counts *counts = &packets->counts;
	json_t *object;

	if (writer->source[index].rows.count)
		write_packets(writer, index);
	packet_rows_clear(&writer->source[index].rows);
	object = json_pack("{sI sI sI sI sI sI sI sI}", "events",
			   (json_int_t)facts->events, "bytes", (json_int_t)facts->bytes,
			   "begin_ns", (json_int_t)facts->begin_ns, "end_ns",
			   (json_int_t)facts->end_ns, "sent", (json_int_t)counts->sent,
			   "received", (json_int_t)counts->received, "network_events",
			   (json_int_t)counts->network_events, "headerless",
			   (json_int_t)counts->headerless);
	if (facts->set_backs)
		json_object_set_new(object, "set_back", set_back_array(facts));
	if (facts->has_second_clock)
		json_object_set_new(object, "second_clock",
				    second_clock_object(&facts->second_clock));
	json_object_set_new(object, "problems", problem_array(&packets->problems));
	write_object(writer, KIND_FACTS, index, object);
}

void packets_writer_end(struct packets_writer *writer)
{
	chunk_write_end(writer->file);
	for (size_t i = 0; i < writer->sources; i++)
		packet_rows_clear(&writer->source[i].rows);
	free(writer->source);
	bytes_clear(&writer->content);
	free(writer);
}

struct packets_file {
	struct packet_source base;
	struct chunk_reader reader;
	size_t index;
	char *name; /* used in messages */
	struct bytes content;
	struct packet_rows rows; /* rows of `content` */
	struct chunk chunk;      /* current chunk */
	uint32_t left;           /* unread rows of the chunk */
	uint64_t lost;           /* packets in damaged chunks */
};

bool packets_file_probe(const char *path)
{
	return chunk_probe(path, &format);
}

/*
 * Load the next description of a source; sources are described in the order of their
 * indexes. Return NULL with error, or NULL if there are no more, in which case `chunk` is
 * the one after them.
 */
static json_t *next_source(struct chunk_reader *reader, size_t index, struct chunk *chunk,
			   struct error *error)
{
	int status = chunk_next(reader, chunk, error);
	json_t *object = NULL;

	if (status < 0 ||
	    (status && chunk->kind == KIND_SOURCE && chunk->number != index)) {
		if (status >= 0)
			error_set(error,
				  "the chunk at offset %" PRIu64
				  " describes source %" PRIu32 " (expected %zu)",
				  chunk->at, chunk->number, index);
		return NULL;
	}
	if (status && chunk->kind == KIND_SOURCE)
		object = chunk_load_object(reader, chunk, error);
	return object;
}

static char *copy_text(const json_t *object, const char *name)
{
	const char *text = json_text(object, name);

	return text ? mem_strdup(text) : NULL;
}

static void read_count(const json_t *object, const char *name, uint64_t *count)
{
	nsec_t value;

	if (!json_nsec(object, name, &value) && value >= 0)
		*count = (uint64_t)value;
}

/* Read the offsets that clock.csv gave; keep none of them if one is invalid. */
static void read_realtime(const json_t *array, struct source *source)
{
	size_t count = json_array_size(array);

	source->realtime = mem_zalloc(count * sizeof(*source->realtime) + 1);
	for (size_t i = 0; i < count; i++) {
		const json_t *object = json_array_get(array, i);
		struct realtime_offset *offset = &source->realtime[i];

		if (json_nsec(object, "from_ns", &offset->from_ns) ||
		    json_nsec(object, "to_ns", &offset->to_ns) ||
		    json_nsec(object, "low_ns", &offset->low_ns) ||
		    json_nsec(object, "high_ns", &offset->high_ns) ||
		    !nsec_is_stamp(offset->low_ns) || !nsec_is_stamp(offset->high_ns) ||
		    !nsec_is_stamp(offset->from_ns) || !nsec_is_stamp(offset->to_ns) ||
		    offset->low_ns > offset->high_ns || offset->from_ns > offset->to_ns)
			return;
		read_count(object, "samples", &offset->samples);
	}
	source->realtimes = count;
}

static struct source parse_source(const json_t *object)
{
	const char *kind = json_text(object, "kind");
	struct source source = {
	    .kind = kind && strcmp(kind, "capture") == 0 ? SOURCE_CAPTURE : SOURCE_TRACE,
	    .name = copy_text(object, "name"),
	    .node = copy_text(object, "node"),
	};

	read_realtime(json_object_get(object, "realtime"), &source);
	node_claims_parse(&source.claims, json_object_get(object, "claims"));
	return source;
}

int packets_file_contents(const char *path, struct source_list *contents,
			  struct error *error)
{
	struct chunk_reader reader;
	struct error cause = ERROR_INIT;
	struct chunk chunk;
	json_t *object;
	int status = chunk_reader_open(&reader, path, &format, error);

	memset(contents, 0, sizeof(*contents));
	while (!status && contents->count < MOST_SOURCES &&
	       (object = next_source(&reader, contents->count, &chunk, &cause))) {
		*MEM_NEXT(contents->item, contents->count, contents->capacity) =
		    parse_source(object);
		json_decref(object);
	}
	if (!status && (*error_text(&cause) || !contents->count))
		status = error_set(error, "%s: %s", path,
				   *error_text(&cause) ? error_text(&cause)
						       : "missing source");
	error_clear(&cause);
	chunk_reader_clear(&reader);
	if (status)
		source_list_clear(contents);
	return status;
}

static void read_text(const json_t *object, const char *name, char *to, size_t size)
{
	const char *text = json_text(object, name);

	snprintf(to, size, "%s", text ? text : "");
}

/* Read a time that arithmetic can be done with; add a problem for any other. */
static bool read_instant(struct packets_file *file, const json_t *object,
			 const char *name, nsec_t *instant)
{
	nsec_t value = *instant;

	json_nsec(object, name, &value);
	if (nsec_is_stamp(value)) {
		*instant = value;
		return true;
	}
	problem_add(&file->base.problems, file->base.path, PROBLEM_DAMAGED, 1,
		    "%s%s%s is %" PRId64 ", which is not a time; ignored",
		    file->name ? file->name : "", file->name ? ": " : "", name, value);
	return false;
}

static void read_clock(struct packets_file *file, const json_t *clock)
{
	struct trace_facts *facts = &file->base.facts;
	const char *uuid = json_text(clock, "uuid");

	if (!uuid || parse_uuid(uuid, facts->clock_uuid) ||
	    !read_instant(file, clock, "offset_ns", &facts->clock_offset_ns))
		return;
	facts->has_clock = facts->has_uuid = true;
	read_text(clock, "name", facts->clock_name, sizeof(facts->clock_name));
	read_count(clock, "frequency", &facts->clock_frequency);
}

static void read_description(struct packets_file *file, const json_t *object)
{
	struct trace_facts *facts = &file->base.facts;
	const json_t *clock = json_object_get(object, "clock");

	read_text(object, "hostname", facts->hostname, sizeof(facts->hostname));
	file->name = copy_text(object, "name");
	facts->has_udp_data = json_is_true(json_object_get(object, "udp_data"));
	file->base.has_counted = json_is_true(json_object_get(object, "counted"));
	if (json_is_object(clock))
		read_clock(file, clock);
}

static void read_problems(struct packets_file *file, const json_t *array)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *object = json_array_get(array, i);
		const char *place = json_text(object, "place");
		const char *kind = json_text(object, "kind");
		const char *text = json_text(object, "text");
		uint64_t count = 0;

		read_count(object, "count", &count);
		if (place && kind && text)
			problem_add(&file->base.problems, place, problem_kind_of(kind),
				    count, "%s", text);
	}
}

static void read_set_backs(struct packets_file *file, const json_t *array)
{
	struct trace_facts *facts = &file->base.facts;

	for (size_t i = 0; i < json_array_size(array) && i < TRACE_MOST_SET_BACKS; i++) {
		const json_t *object = json_array_get(array, i);
		struct trace_set_back *back = &facts->set_back[facts->set_backs];

		facts->set_backs += read_instant(file, object, "at_ns", &back->at_ns) &&
				    read_instant(file, object, "size_ns", &back->size_ns);
	}
}

static void read_second_clock(struct packets_file *file, const json_t *object)
{
	static const char *const scales[] = {"TAI", "GPS"};
	struct trace_second_clock *clock = &file->base.facts.second_clock;
	const char *scale = json_text(object, "scale");

	clock->scale = "";
	for (size_t i = 0; scale && i < sizeof(scales) / sizeof(*scales); i++)
		if (strcmp(scale, scales[i]) == 0)
			clock->scale = scales[i];
	json_nsec(object, "ahead_ns", &clock->ahead_ns);
	json_nsec(object, "high_ns", &clock->high_ns);
	clock->fast_ppb = json_number_value(json_object_get(object, "fast_ppb"));
	file->base.facts.has_second_clock =
	    read_instant(file, object, "local_ns", &clock->local_ns);
}

/*
 * Compare the number of packets read with that written, so that no packet is lost
 * unnoticed.
 */
static void compare_counts(struct packets_file *file, const json_t *object)
{
	const struct packet_counts *counts = &file->base.counts;
	uint64_t sent = counts->sent, received = counts->received;

	read_count(object, "sent", &sent);
	read_count(object, "received", &received);
	if (!file->lost && (sent != counts->sent || received != counts->received))
		problem_add(&file->base.problems, file->base.path, PROBLEM_DAMAGED, 1,
			    "%s%s%" PRIu64 " packets sent and %" PRIu64
			    " received are in it, %" PRIu64 " and %" PRIu64
			    " were written",
			    file->name ? file->name : "", file->name ? ": " : "",
			    counts->sent, counts->received, sent, received);
}

static void read_facts(struct packets_file *file, const json_t *object)
{
	struct trace_facts *facts = &file->base.facts;

	compare_counts(file, object);
	read_count(object, "events", &facts->events);
	read_instant(file, object, "begin_ns", &facts->begin_ns);
	read_instant(file, object, "end_ns", &facts->end_ns);
	read_count(object, "network_events", &file->base.counts.network_events);
	read_count(object, "headerless", &file->base.counts.headerless);
	read_set_backs(file, json_object_get(object, "set_back"));
	if (json_object_get(object, "second_clock"))
		read_second_clock(file, json_object_get(object, "second_clock"));
	read_problems(file, json_object_get(object, "problems"));
}

/* End the source early; what was read before is used. */
static void end_early(struct packets_file *file, const struct error *cause)
{
	const struct packet_source *base = &file->base;
	char when[NSEC_TEXT];

	problem_add(&file->base.problems, file->base.path, PROBLEM_TRUNCATED, 1,
		    "%s, so nothing is known of %s after %s", error_text(cause),
		    file->name ? file->name : "this source",
		    base->counts.sent + base->counts.received
			? nsec_format_utc(when, base->facts.end_ns)
			: "its beginning");
	file->left = 0;
	file->base.ended = true;
}

static void lose_chunk(struct packets_file *file, const struct error *cause)
{
	problem_add(&file->base.problems, file->base.path, PROBLEM_DAMAGED, file->left,
		    "%s; %" PRIu32 " packets%s%s skipped", error_text(cause), file->left,
		    file->name ? " of " : "", file->name ? file->name : "");
	file->lost += file->left;
	file->left = 0;
}

static void begin_packets(struct packets_file *file)
{
	struct trace_facts *facts = &file->base.facts;
	struct bytes_cursor cursor = {file->content.data,
				      file->content.data + file->content.size, false};
	struct error error = ERROR_INIT;

	facts->begin_ns = bytes_read_zigzag(&cursor);
	packet_rows_open(&file->rows, cursor.at, (size_t)(cursor.end - cursor.at));
	if (!cursor.is_bad && nsec_is_stamp(facts->begin_ns))
		return;
	error_set(&error, "the chunk at offset %" PRIu64 " is broken", file->chunk.at);
	lose_chunk(file, &error);
	error_clear(&error);
}

/* Process the current chunk if it belongs to this source. */
static void process_chunk(struct packets_file *file)
{
	const struct chunk *chunk = &file->chunk;
	struct error error = ERROR_INIT;
	json_t *object;

	if (chunk->number != file->index)
		return;
	if (chunk->kind == KIND_PACKETS) {
		file->left = chunk->items;
		if (chunk_load(&file->reader, chunk, &file->content, &error) == 0)
			begin_packets(file);
		else if (file->reader.at <= file->base.facts.total_bytes)
			lose_chunk(file, &error);
		else
			end_early(file, &error);
	} else if (chunk->kind == KIND_FACTS) {
		object = chunk_load_object(&file->reader, chunk, &error);
		if (object)
			read_facts(file, object);
		else
			end_early(file, &error);
		json_decref(object);
		file->base.ended = true;
	}
	error_clear(&error);
}

/* Go on to the next packets or to the end. */
static void find_next_packets(struct packets_file *file)
{
	struct error error = ERROR_INIT;

	while (!file->left && !file->base.ended) {
		int status = chunk_next(&file->reader, &file->chunk, &error);

		if (!status)
			error_set(&error,
				  "truncated at offset %" PRIu64 ", before its facts",
				  file->reader.at);
		if (status > 0)
			process_chunk(file);
		else
			end_early(file, &error);
	}
	file->base.facts.bytes =
	    file->base.ended ? file->base.facts.total_bytes : file->reader.at;
	chunk_reader_close_file(&file->reader);
	error_clear(&error);
}

static bool deliver_next(struct packets_file *file, packet_event_fn *on_packet,
			 void *context)
{
	struct packet_counts *counts = &file->base.counts;
	struct error error = ERROR_INIT;
	struct packet_event packet_event;

	if (!packet_rows_next(&file->rows, &packet_event)) {
		error_set(&error, "the chunk at offset %" PRIu64 " is broken",
			  file->chunk.at);
		lose_chunk(file, &error);
		error_clear(&error);
		return false;
	}
	file->left--;
	counts->network_events++;
	++*(packet_event.received ? &counts->received : &counts->sent);
	file->base.facts.events++;
	file->base.facts.end_ns = packet_event.event_ns;
	on_packet(context, &packet_event);
	return true;
}

static bool packets_step(struct packet_source *source, packet_event_fn *on_packet,
			 void *context)
{
	struct packets_file *file = (struct packets_file *)source;

	if (!file->left)
		find_next_packets(file);
	for (int i = 0; i < STEP_PACKETS && file->left; i++)
		if (!deliver_next(file, on_packet, context))
			break;
	return !file->base.ended;
}

static void packets_free(struct packet_source *source)
{
	struct packets_file *file = (struct packets_file *)source;

	chunk_reader_clear(&file->reader);
	packet_rows_clear(&file->rows);
	bytes_clear(&file->content);
	free(file->name);
	free(file);
}

/* Find the source's description, and position the reader after all descriptions. */
static int find_description(struct packets_file *file, struct error *error)
{
	struct error cause = ERROR_INIT;
	struct chunk chunk = {0};
	json_t *object;
	bool found = false;

	for (size_t i = 0;
	     !found && (object = next_source(&file->reader, i, &chunk, &cause)); i++) {
		found = i == file->index;
		if (found)
			read_description(file, object);
		json_decref(object);
	}
	if (!found)
		error_set(error, "%s: %s", file->base.path,
			  *error_text(&cause) ? error_text(&cause) : "too few sources");
	error_clear(&cause);
	return found ? 0 : -1;
}

struct packet_source *packets_file_open(const char *path, size_t index,
					struct error *error)
{
	struct packets_file *file = mem_zalloc(sizeof(*file));

	file->base.step = packets_step;
	file->base.free = packets_free;
	file->base.path = mem_strdup(path);
	file->index = index;
	if (chunk_reader_open(&file->reader, path, &format, error) ||
	    find_description(file, error)) {
		packet_source_free(&file->base);
		return NULL;
	}
	file->base.facts.total_bytes = chunk_reader_size(&file->reader);
	chunk_reader_close_file(&file->reader);
	return &file->base;
}
