/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/stream.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/order.h"
#include "trace/ctf/resolve.h"

/* Open the next part that is readable. Return false if there is none. */
static bool open_next(struct ctf_stream *stream)
{
	while (stream->at_part < stream->parts) {
		const struct ctf_part *part = &stream->part[stream->at_part++];
		const struct ctf_file *file = &stream->file[part->file];

		if (ctf_window_open(&stream->window, file)) {
			ctf_window_report(&stream->window, stream->problems);
			continue;
		}
		stream->next = part->from;
		stream->until = part->to;
		if (stream->next < stream->window.size)
			return true;
	}
	ctf_window_clear(&stream->window);
	return false;
}

static void report_truncated(struct ctf_stream *stream)
{
	if (stream->is_cut)
		return;
	stream->is_cut = true;
	if (ctf_window_report(&stream->window, stream->problems))
		return;
	problem_add(stream->problems, stream->window.file->path, PROBLEM_TRUNCATED, 1,
		    "truncated in the middle of a packet: only %" PRIu64
		    " of its %" PRIu64 " bytes are present",
		    stream->window.size - stream->at, stream->packet.size / 8);
}

/* Report the first gap of a part; count the others. */
static void report_gap(struct ctf_stream *stream)
{
	uint64_t gap = stream->next - stream->at;

	if (stream->gaps++)
		stream->gap_bytes += gap;
	else
		problem_add(stream->problems, stream->window.file->path, PROBLEM_GARBLED,
			    1,
			    "no packet at byte %" PRIu64 " of %" PRIu64 ", %" PRIu64
			    " bytes skipped",
			    stream->at, stream->window.size, gap);
}

/* Report the other gaps of a part, at its end. */
static void report_more_gaps(struct ctf_stream *stream)
{
	if (stream->gaps > 1)
		problem_add(stream->problems, stream->window.file->path, PROBLEM_GARBLED,
			    stream->gaps - 1,
			    "no packet at %" PRIu64 " more places, %" PRIu64
			    " bytes skipped there",
			    stream->gaps - 1, stream->gap_bytes);
	stream->gaps = stream->gap_bytes = 0;
}

/* Read the header of the current packet, and find the start of the next one. */
static enum packet_found read_head(struct ctf_stream *stream)
{
	struct ctf_window *window = &stream->window;
	struct ctf_cursor *cursor = &stream->cursor;
	enum packet_found found =
	    ctf_packet_at(window, cursor, stream->at, &stream->packet);

	/*
	 * A packet that extends past its file is truncated, or its size is wrong and
	 * another packet starts within it. The latter can only be recognized if both have
	 * the uuid.
	 */
	stream->next = window->size;
	if (found == PACKET_WHOLE)
		stream->next = stream->at + stream->packet.size / 8;
	else if (found != PACKET_CUT || packet_has(&stream->packet, ROLE_UUID))
		stream->next = ctf_packet_seek(window, cursor, stream->at + 1);
	if (found != PACKET_CUT)
		return found;
	if (stream->next < window->size)
		return PACKET_GARBLED;
	return ctf_packet_at(window, cursor, stream->at, &stream->packet);
}

/*
 * Packets are read in slices, because a trace has many streams. A slice starts at a
 * multiple of the largest alignment, in bytes from the packet's start.
 */
enum { SLICE = 1 << 18, ALIGNED = 1 << 13, MOST_LOADED = 1 << 29 };

/*
 * Load up to `count` bytes of the packet, from byte `from` on; fewer if the file has
 * shrunk.
 */
static void load_slice(struct ctf_stream *stream, uint64_t from, uint64_t count)
{
	struct ctf_cursor *cursor = &stream->cursor;
	uint64_t *content = &stream->packet.content;
	uint64_t left = (*content + 7) / 8 - from;

	cursor->bytes = ctf_window_load(&stream->window, stream->at + from,
					count < left ? count : left);
	if (cursor->bytes.count < count && cursor->bytes.count < left) {
		*content = 8 * (from + cursor->bytes.count);
		report_truncated(stream);
	}
	cursor->end = *content - 8 * from;
	if (cursor->end > 8 * cursor->bytes.count)
		cursor->end = 8 * cursor->bytes.count;
	stream->from = from;
	stream->rest = *content - 8 * from - cursor->end;
}

bool ctf_stream_more(struct ctf_stream *stream)
{
	struct ctf_cursor *cursor = &stream->cursor;
	uint64_t passed = cursor->at / 8 & ~(uint64_t)(ALIGNED - 1);

	if (!stream->rest || cursor->bytes.count > MOST_LOADED)
		return false;
	cursor->at -= 8 * passed;
	load_slice(stream, stream->from + passed, passed ? SLICE : cursor->end / 4);
	return true;
}

/* Return true if the packet's header shows that it ends before the reader's start. */
static bool can_skip(const struct ctf_stream *stream)
{
	const struct ctf_packet *packet = &stream->packet;
	uint64_t end = packet->value[ROLE_END];
	nsec_t end_ns;

	return packet->stream->can_skip && packet_has(packet, ROLE_END_STAMP) &&
	       packet_has(packet, ROLE_BEGIN) && packet_has(packet, ROLE_END) &&
	       packet->value[ROLE_BEGIN] <= end &&
	       schema_clock_instant(packet->stream->clock, end, &end_ns) &&
	       end_ns < stream->skip_before;
}

bool ctf_stream_next(struct ctf_stream *stream)
{
	bool has_content = false;

	while (!has_content) {
		enum packet_found found;

		if (stream->next >= stream->until ||
		    stream->next >= stream->window.size) {
			report_more_gaps(stream);
			ctf_window_report(&stream->window, stream->problems);
			if (!open_next(stream))
				return false;
		}
		stream->at = stream->next;
		found = read_head(stream);
		stream->is_cut = false;
		if (found == PACKET_WHOLE && can_skip(stream)) {
			stream->rest = 0;
			stream->cursor.at = stream->cursor.end;
			return true;
		}
		if (found == PACKET_WHOLE || found == PACKET_CUT) {
			load_slice(stream, 0, SLICE);
			has_content = stream->cursor.at <= stream->cursor.end;
		}
		if (found == PACKET_CUT)
			report_truncated(stream);
		if (found == PACKET_GARBLED && !stream->window.error)
			report_gap(stream);
	}
	return true;
}

static uint64_t *new_slots(const struct schema *schema)
{
	return mem_zalloc((size_t)schema->slots * sizeof(uint64_t) + 1);
}

/*
 * Read the first packet of a file, wherever it is. Set `is_foreign` if the file starts
 * with a packet of another trace.
 */
static enum packet_found read_first(const struct schema *schema, struct ctf_file *file,
				    uint64_t *size, bool *is_foreign)
{
	struct ctf_window window = {.schema = schema, .is_scattered = true};
	struct ctf_cursor cursor = {.slot = new_slots(schema)};
	enum packet_found found = PACKET_NONE;
	struct ctf_packet first;
	uint64_t at;

	if (ctf_window_open(&window, file) == 0) {
		*size = window.size;
		found = ctf_packet_at(&window, &cursor, 0, &first);
		*is_foreign = !ctf_packet_has_uuid(&first, schema);
		at = found == PACKET_GARBLED ? ctf_packet_seek(&window, &cursor, 1) : 0;
		if (at && at < window.size)
			found = ctf_packet_at(&window, &cursor, at, &first);
		if (found == PACKET_WHOLE || found == PACKET_CUT)
			file->first = first;
	}
	if (window.error && !file->first.stream) {
		found = PACKET_NONE;
		errno = window.error;
	}
	free(cursor.slot);
	ctf_window_clear(&window);
	return found;
}

/* Return the stream that a file continues, or a new one. */
static struct ctf_stream *find_or_add_stream(struct ctf_streams *streams,
					     const struct schema *schema,
					     const struct ctf_packet *packet)
{
	struct ctf_stream *stream;

	for (size_t i = 0; i < streams->count; i++) {
		const struct ctf_packet *other = &streams->stream[i].file[0].first;

		/* Files without these cannot be ordered. */
		if (packet_has(packet, ROLE_INSTANCE) && packet_has(packet, ROLE_BEGIN) &&
		    other->stream == packet->stream &&
		    other->value[ROLE_INSTANCE] == packet->value[ROLE_INSTANCE])
			return &streams->stream[i];
	}
	stream = MEM_NEXT(streams->stream, streams->count, streams->capacity);
	*stream = (struct ctf_stream){.window = {.schema = schema},
				      .cursor = {.slot = new_slots(schema)},
				      .skip_before = NSEC_MIN};
	return stream;
}

/* Takes ownership of file.path. */
static void add_file(struct ctf_streams *streams, const struct schema *schema,
		     struct ctf_file file, struct problem_list *problems)
{
	enum packet_found found;
	struct ctf_stream *stream;
	bool is_foreign = false;
	uint64_t size = 0;

	errno = 0;
	found = read_first(schema, &file, &size, &is_foreign);
	streams->bytes += size;
	if (file.first.stream && file.first.stream->clock) {
		stream = find_or_add_stream(streams, schema, &file.first);
		stream->problems = problems;
		*MEM_NEXT(stream->file, stream->files, stream->capacity) = file;
		return;
	}
	if (found == PACKET_GARBLED && is_foreign)
		problem_add(problems, file.path, PROBLEM_GARBLED, 1,
			    "skipped: the uuid of its packets is not that of the "
			    "metadata, so it is a stream of another trace");
	else if (found == PACKET_GARBLED)
		problem_add(problems, file.path, PROBLEM_GARBLED, 1,
			    "no packet at byte 0 of %" PRIu64 ", file skipped", size);
	else
		problem_add(problems, file.path, PROBLEM_UNREADABLE, 1, "%s, skipped",
			    found == PACKET_NONE ? strerror(errno)
						 : "its events have no timestamps");
	free(file.path);
}

/*
 * More packets than this in one stream are not from a tracer but an attempt to exhaust
 * memory. Their files are then read whole, in the order of their starts.
 */
enum { MOST_ENTRIES = 1 << 22, HEAD_VALUES = 4 };

/* A packet, with the damaged bytes that follow it in its file. */
struct entry {
	uint64_t head[HEAD_VALUES]; /* start, end, sequence number, size */
	struct ctf_part part;
};

struct entries {
	struct entry *item;
	size_t count, capacity;
};

static void add_entry(struct entries *entries, const struct ctf_packet *packet,
		      size_t file, uint64_t from)
{
	*MEM_NEXT(entries->item, entries->count, entries->capacity) = (struct entry){
	    .head = {packet->value[ROLE_BEGIN], packet->value[ROLE_END],
		     packet->value[ROLE_SEQUENCE], packet->size},
	    .part = {file, from, UINT64_MAX},
	};
}

/* Add the packets of one file. Damaged bytes before the first packet are added to it. */
static void scan_file(struct entries *entries, const struct ctf_stream *stream,
		      size_t file)
{
	const struct ctf_file *of = &stream->file[file];
	const size_t first = entries->count;
	struct ctf_window window = {.schema = stream->window.schema,
				    .is_scattered = true};
	struct ctf_cursor cursor = stream->cursor;
	struct ctf_packet packet;
	uint64_t at = 0;

	ctf_window_open(&window, of);
	while (at < window.size && entries->count <= MOST_ENTRIES) {
		enum packet_found found = ctf_packet_at(&window, &cursor, at, &packet);

		if (found == PACKET_GARBLED) {
			at = ctf_packet_seek(&window, &cursor, at + 1);
			continue;
		}
		if (entries->count > first)
			entries->item[entries->count - 1].part.to = at;
		add_entry(entries, &packet, file, entries->count > first ? at : 0);
		if (found != PACKET_WHOLE)
			break;
		at += packet.size / 8;
	}
	if (entries->count == first)
		add_entry(entries, &of->first, file, 0);
	ctf_window_report(&window, stream->problems);
	ctf_window_clear(&window);
}

/* Compare what packets record about themselves; equal only for copies of one packet. */
static int compare_heads(const struct entry *one, const struct entry *other)
{
	int order = 0;

	for (int i = 0; !order && i < HEAD_VALUES; i++)
		order = COMPARE(one->head[i], other->head[i]);
	return order;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	return compare_heads(one, other) ?:
	       COMPARE(one->part.file, other->part.file) ?:
	       COMPARE(one->part.from, other->part.from);
}

static void add_part(struct ctf_stream *stream, size_t *capacity, struct ctf_part part)
{
	struct ctf_part *last = stream->parts ? &stream->part[stream->parts - 1] : NULL;

	if (last && last->file == part.file && last->to == part.from) {
		last->to = part.to;
		return;
	}
	stream->part =
	    mem_grow(stream->part, stream->parts, capacity, sizeof(*stream->part));
	stream->part[stream->parts++] = part;
}

/*
 * Determine the order of a stream's packets over all of its files. A single file keeps
 * its order, whatever the packets' times. The packets of several files, as LTTng's
 * tracefile rotation and snapshots write them, are sorted by time, and copies of one
 * packet are read once. This reads the headers of all packets.
 */
static void order_parts(struct ctf_stream *stream)
{
	struct entries all = {NULL, 0, 0};
	const struct entry *last = NULL;
	size_t capacity = 0;

	for (size_t i = 0; stream->files > 1 && i < stream->files; i++)
		scan_file(&all, stream, i);
	if (all.count > MOST_ENTRIES)
		all.count = 0;
	SORT(all.item, all.count, compare_entries);
	for (size_t i = 0; i < all.count; i++) {
		const struct entry *at = &all.item[i];

		if (last && at->part.file != last->part.file &&
		    compare_heads(last, at) == 0)
			continue;
		add_part(stream, &capacity, at->part);
		last = at;
	}
	for (size_t i = 0; !all.count && i < stream->files; i++)
		add_part(stream, &capacity, (struct ctf_part){i, 0, UINT64_MAX});
	free(all.item);
}

/* Compare the starts of two files, then their names. */
static int compare_files(const void *a, const void *b)
{
	const struct ctf_file *one = a, *other = b;

	return COMPARE(one->first.value[ROLE_BEGIN], other->first.value[ROLE_BEGIN])
		   ?: strcmp(one->path, other->path);
}

static int compare_streams(const void *a, const void *b)
{
	const struct ctf_stream *one = a, *other = b;

	return strcmp(one->file[0].path, other->file[0].path);
}

/* Return true if a file may belong to a stream. A dangling link becomes a problem. */
static bool is_candidate(const char *path, const char *name,
			 struct problem_list *problems)
{
	struct stat status;

	if (name[0] == '.' || strcmp(name, "metadata") == 0)
		return false;
	if (stat(path, &status) == 0)
		return S_ISREG(status.st_mode) && status.st_size > 0;
	problem_add(problems, path, PROBLEM_UNREADABLE, 1, "%s, skipped",
		    strerror(errno));
	return false;
}

/*
 * List the candidate files of a directory in the order of their names. Return their
 * number, or -1.
 */
static int list_files(struct ctf_file **file, const char *path,
		      struct problem_list *problems)
{
	AUTOFREE struct dirent **entry = NULL;
	int entries = scandir(path, &entry, NULL, alphasort), count = 0;

	*file = mem_zalloc((size_t)(entries > 0 ? entries : 0) * sizeof(**file) + 1);
	for (int i = 0; i < entries; i++) {
		char *whole = mem_printf("%s/%s", path, entry[i]->d_name);

		if (is_candidate(whole, entry[i]->d_name, problems))
			(*file)[count++] = (struct ctf_file){.path = whole};
		else
			free(whole);
		free(entry[i]);
	}
	return entries < 0 ? -1 : count;
}

int ctf_streams_open(struct ctf_streams *streams, const struct schema *schema,
		     const char *path, struct problem_list *problems, struct error *error)
{
	struct ctf_file *file;
	int count = list_files(&file, path, problems);

	memset(streams, 0, sizeof(*streams));
	if (count < 0)
		error_errno(error, path);
	for (int i = 0; i < count; i++)
		add_file(streams, schema, file[i], problems);
	free(file);
	for (size_t i = 0; i < streams->count; i++) {
		struct ctf_stream *stream = &streams->stream[i];

		SORT(stream->file, stream->files, compare_files);
		order_parts(stream);
	}
	SORT(streams->stream, streams->count, compare_streams);
	return count < 0 ? -1 : 0;
}

void ctf_streams_clear(struct ctf_streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		struct ctf_stream *stream = &streams->stream[i];

		ctf_window_clear(&stream->window);
		for (size_t k = 0; k < stream->files; k++)
			free(stream->file[k].path);
		free(stream->file);
		free(stream->part);
		free(stream->cursor.slot);
		free(stream->cursor.place);
	}
	free(streams->stream);
	memset(streams, 0, sizeof(*streams));
}
