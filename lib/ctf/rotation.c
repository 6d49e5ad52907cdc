/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ctf/stream.h"

/*
 * More packets than any tracer leaves of one stream, four million, are a trick to have
 * much memory used: then the files stay as they are, by their begins.
 */
enum { MOST_ENTRIES = 1 << 22 };

/* One packet, and what of its file is damaged behind it. */
struct entry {
	uint64_t ns;  /* since the clock's value 0 */
	uint64_t key; /* by which it is put in order */
	uint64_t from, to;
	uint64_t end, sequence, size;
	size_t file, number; /* among all, as they were added */
};

struct entries {
	struct entry *item;
	size_t count, room;
};

static void add_entry(struct entries *entries, const struct ctf_packet *packet,
		      uint64_t from, size_t file)
{
	entries->item = mem_grow(entries->item, entries->count, &entries->room,
				 sizeof(*entries->item));
	entries->item[entries->count] = (struct entry){
	    .ns = ctf_clock_ns(packet->stream->clock, packet->value[ROLE_BEGIN]),
	    .from = from,
	    .to = UINT64_MAX,
	    .end = packet->value[ROLE_END],
	    .sequence = UINT64_MAX, /* is looked at in an index only */
	    .size = packet->size,
	    .file = file,
	    .number = entries->count,
	};
	entries->count++;
}

/*
 * The index that LTTng keeps of a stream file, index/NAME.idx beside it: big-endian, a
 * header of four 32-bit numbers (a magic one, two of the version, the bytes of an entry)
 * and an entry a packet of seven 64-bit numbers, nine since 1.1: offset in bytes, packet
 * size and content size in bits, begin, end, events discarded, stream, stream instance,
 * sequence number.
 */
enum {
	INDEX_MAGIC = (int)0xc1f1dcc1,
	MOST_ENTRY = 1 << 10, /* bytes, so that there is no use in a larger one */
	OLD_ENTRY = 7 * 8,
	NEW_ENTRY = 9 * 8,
};

enum {
	INDEX_OFFSET,
	INDEX_SIZE,
	INDEX_CONTENT,
	INDEX_BEGIN,
	INDEX_END,
	INDEX_SEQUENCE = 8
};

/* dir/name to dir/index/name.idx; none is much larger than what it is of. */
static FILE *open_index(const char *path, uint64_t bytes)
{
	const char *name = strrchr(path, '/');
	int length = name ? (int)(name - path + 1) : 0;
	char *index =
	    mem_printf("%.*sindex/%s.idx", length, path, name ? name + 1 : path);
	FILE *file = fopen(index, "rb");
	struct stat status;

	free(index);
	if (file && (fstat(fileno(file), &status) || !S_ISREG(status.st_mode) ||
		     (uint64_t)status.st_size / 2 > bytes)) {
		fclose(file);
		return NULL;
	}
	return file;
}

/* The header: how many bytes an entry has, at least NEW_ENTRY if it is of 1.1; or 0. */
static uint32_t read_form(FILE *file, bool *is_new)
{
	uint32_t form[4]; /* magic, major, minor, bytes */

	if (fread(form, sizeof(form), 1, file) != 1)
		return 0;
	for (int i = 0; i < 4; i++)
		form[i] = be32toh(form[i]);
	*is_new = form[2] > 0;
	return form[0] == (uint32_t)INDEX_MAGIC && form[1] == 1 &&
		       form[3] <= MOST_ENTRY &&
		       form[3] >= (*is_new ? NEW_ENTRY : OLD_ENTRY)
		   ? form[3]
		   : 0;
}

/*
 * The packets of a stream file of so many bytes, by its index. False with none added
 * where that is not there, or its packets are not the whole file one after the other.
 */
static bool add_index(struct entries *entries, const struct ctf_file *of, uint64_t bytes,
		      size_t number)
{
	const size_t begin = entries->count;
	uint64_t field[MOST_ENTRY / sizeof(uint64_t) + 1] = {0}, at = 0;
	struct ctf_packet packet = {.stream = of->first.stream};
	FILE *file = open_index(of->path, bytes);
	bool is_new, is_whole;
	uint32_t size;

	if (!file)
		return false;
	size = read_form(file, &is_new);
	while (size && at < bytes && fread(field, 1, size, file) == size) {
		for (int i = 0; i <= INDEX_SEQUENCE; i++)
			field[i] = be64toh(field[i]);
		if (field[INDEX_OFFSET] != at || !field[INDEX_SIZE] ||
		    field[INDEX_SIZE] % 8 || field[INDEX_SIZE] / 8 > bytes - at ||
		    field[INDEX_BEGIN] > field[INDEX_END])
			break;
		packet.size = field[INDEX_SIZE];
		packet.value[ROLE_BEGIN] = field[INDEX_BEGIN];
		packet.value[ROLE_END] = field[INDEX_END];
		add_entry(entries, &packet, at, number);
		at += packet.size / 8;
		entries->item[entries->count - 1].to = at;
		if (is_new)
			entries->item[entries->count - 1].sequence =
			    field[INDEX_SEQUENCE];
	}
	is_whole = entries->count > begin && at == bytes && fgetc(file) == EOF;
	if (!is_whole)
		entries->count = begin;
	fclose(file);
	return is_whole;
}

/* The packets of a file; the first begins with the file and each ends with the next. */
static void scan(struct entries *entries, const struct ctf_stream *stream, size_t file)
{
	const struct ctf_file *of = &stream->file[file];
	const size_t begin = entries->count;
	struct ctf_window window = {.schema = stream->window.schema,
				    .is_scattered = true};
	struct ctf_cursor cursor = stream->cursor;
	struct ctf_packet packet;
	uint64_t at = 0;

	if (ctf_window_open(&window, of))
		window.size = 0;
	if (add_index(entries, of, window.size, file))
		return;
	while (at < window.size && entries->count <= MOST_ENTRIES) {
		enum packet_found found = ctf_packet_at(&window, &cursor, at, &packet);

		if (found == PACKET_GARBLED) {
			at = ctf_packet_seek(&window, &cursor, at + 1);
			continue;
		}
		if (entries->count > begin)
			entries->item[entries->count - 1].to = at;
		add_entry(entries, &packet, entries->count > begin ? at : 0, file);
		if (found != PACKET_WHOLE)
			break;
		at += packet.size / 8;
	}
	if (entries->count == begin)
		add_entry(entries, &of->first, 0, file);
	ctf_window_clear(&window);
}

static int by_rank(const void *a, const void *b)
{
	const struct ctf_file *const *one = a, *const *other = b;

	return (*one)->rank < (*other)->rank ? -1 : 1;
}

/* The packets of all files, in the order of the directory. */
static void scan_all(struct entries *entries, const struct ctf_stream *stream)
{
	const struct ctf_file **file = mem_alloc(stream->files * sizeof(*file));
	uint64_t most = 0;

	for (size_t i = 0; i < stream->files; i++)
		file[i] = &stream->file[i];
	qsort(file, stream->files, sizeof(*file), by_rank);
	for (size_t i = 0; i < stream->files && entries->count <= MOST_ENTRIES; i++)
		scan(entries, stream, (size_t)(file[i] - stream->file));
	/* The first file keeps its order. */
	for (size_t i = 0; i < entries->count; i++) {
		struct entry *entry = &entries->item[i];

		if (entry->ns > most && entry->file == entries->item[0].file)
			most = entry->ns;
		entry->key = entry->file == entries->item[0].file ? most : entry->ns;
	}
	free(file);
}

static int by_key(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

static bool is_same(const struct entry *one, const struct entry *other)
{
	return one->ns == other->ns && one->end == other->end &&
	       one->sequence == other->sequence && one->size == other->size;
}

static void add_part(struct ctf_stream *stream, size_t *room, struct ctf_part part)
{
	struct ctf_part *last = stream->parts ? &stream->part[stream->parts - 1] : NULL;

	if (last && last->file == part.file && last->to == part.from) {
		last->to = part.to;
		return;
	}
	stream->part = mem_grow(stream->part, stream->parts, room, sizeof(*stream->part));
	stream->part[stream->parts++] = part;
}

/*
 * Packets of one key, as they were added: those of the first file, and then each in front
 * of all before, if it is not the same as the foremost. Those left out get no size.
 */
static void add_group(struct ctf_stream *stream, size_t *room, struct entry *item,
		      size_t count, size_t first_file)
{
	size_t firsts = 0, front;

	while (firsts < count && item[firsts].file == first_file)
		firsts++;
	front = firsts ? 0 : SIZE_MAX;
	for (size_t i = firsts; i < count; i++)
		if (front != SIZE_MAX && is_same(&item[i], &item[front]))
			item[i].size = 0;
		else
			front = i;
	for (size_t i = count; i-- > firsts;)
		if (item[i].size)
			add_part(
			    stream, room,
			    (struct ctf_part){item[i].file, item[i].from, item[i].to});
	for (size_t i = 0; i < firsts; i++)
		add_part(stream, room,
			 (struct ctf_part){item[i].file, item[i].from, item[i].to});
}

void ctf_stream_order(struct ctf_stream *stream)
{
	struct entries all = {NULL, 0, 0};
	size_t room = 0, first_file = 0, count;

	if (stream->files > 1)
		scan_all(&all, stream);
	if (all.count > MOST_ENTRIES)
		all.count = 0;
	if (all.count) {
		first_file = all.item[0].file;
		qsort(all.item, all.count, sizeof(*all.item), by_key);
	}
	for (size_t i = 0; i < all.count; i += count) {
		count = 1;
		while (i + count < all.count &&
		       all.item[i + count].key == all.item[i].key)
			count++;
		add_group(stream, &room, &all.item[i], count, first_file);
	}
	for (size_t i = 0; !all.count && i < stream->files; i++)
		add_part(stream, &room, (struct ctf_part){i, 0, UINT64_MAX});
	free(all.item);
}
