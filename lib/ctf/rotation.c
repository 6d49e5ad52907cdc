/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "ctf/packet.h"
#include "ctf/stream.h"

/*
 * The index that LTTng keeps of a stream file, index/NAME.idx beside it: big-endian, a
 * header of four 32-bit numbers (a magic one, two of the version, the bytes of an entry)
 * and an entry a packet of seven 64-bit numbers, nine since 1.1: offset, packet size,
 * content size, begin, end, events discarded, stream, stream instance, sequence number.
 */
struct index_entry {
	uint64_t offset;     /* bytes */
	uint64_t size;       /* bits */
	uint64_t begin, end; /* values of the clock */
	uint64_t sequence;   /* UINT64_MAX: not recorded */
};

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

struct index_form {
	uint32_t magic, major, minor, bytes; /* of an entry */
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

static bool read_form(FILE *file, struct index_form *form)
{
	if (fread(form, sizeof(*form), 1, file) != 1)
		return false;
	form->minor = be32toh(form->minor);
	form->bytes = be32toh(form->bytes);
	return be32toh(form->magic) == (uint32_t)INDEX_MAGIC &&
	       be32toh(form->major) == 1 && form->bytes <= MOST_ENTRY &&
	       form->bytes >= (form->minor ? NEW_ENTRY : OLD_ENTRY);
}

/* False at the end, and where it is cut. */
static bool read_entry(FILE *file, const struct index_form *form,
		       struct index_entry *entry)
{
	uint64_t field[MOST_ENTRY / sizeof(uint64_t) + 1];

	if (fread(field, 1, form->bytes, file) != form->bytes)
		return false;
	entry->offset = be64toh(field[INDEX_OFFSET]);
	entry->size = be64toh(field[INDEX_SIZE]);
	entry->begin = be64toh(field[INDEX_BEGIN]);
	entry->end = be64toh(field[INDEX_END]);
	entry->sequence = form->minor ? be64toh(field[INDEX_SEQUENCE]) : UINT64_MAX;
	return true;
}

/*
 * The index of a stream file of so many bytes: how many entries at *entry, for free().
 * 0 where there is none, or none whose packets are the whole file one after the other.
 */
static size_t index_read(const char *path, uint64_t bytes, struct index_entry **entry)
{
	FILE *file = open_index(path, bytes);
	struct index_entry next;
	struct index_form form;
	size_t count = 0, room = 0;
	uint64_t at = 0;

	*entry = NULL;
	if (!file)
		return 0;
	if (read_form(file, &form))
		while (at < bytes && read_entry(file, &form, &next) &&
		       next.offset == at && next.size && next.size % 8 == 0 &&
		       next.size / 8 <= bytes - at && next.begin <= next.end) {
			*entry = mem_grow(*entry, count, &room, sizeof(next));
			(*entry)[count++] = next;
			at += next.size / 8;
		}
	if (at != bytes || fgetc(file) != EOF) {
		free(*entry);
		*entry = NULL;
		count = 0;
	}
	fclose(file);
	return count;
}

/*
 * More packets than any tracer leaves of one stream, four million, are a trick to have
 * much memory used: then the files stay as they are, by their begins.
 */
enum { MOST_ENTRIES = 1 << 22 };

/* One packet, and what of its file is damaged behind it. */
struct entry {
	uint64_t ns;   /* since the clock's value 0 */
	uint64_t most; /* of this and of all entries before it */
	uint64_t from, to;
	uint64_t end, sequence, size;
	size_t file;
};

struct entries {
	struct entry *item;
	size_t count, room;
};

static struct entry *add_entry(struct entries *entries, size_t file)
{
	struct entry *entry;

	entries->item = mem_grow(entries->item, entries->count, &entries->room,
				 sizeof(*entries->item));
	entry = &entries->item[entries->count++];
	memset(entry, 0, sizeof(*entry));
	entry->file = file;
	return entry;
}

static void add_packet(struct entries *entries, const struct ctf_packet *packet,
		       uint64_t from, size_t file)
{
	struct entry *entry = add_entry(entries, file);

	entry->ns = ctf_clock_ns(&packet->stream->clock, packet->value[ROLE_BEGIN]);
	entry->from = from;
	entry->to = UINT64_MAX;
	entry->end = packet->value[ROLE_END];
	entry->sequence = UINT64_MAX; /* is looked at in an index only */
	entry->size = packet->size;
}

/* The packets of a file by its index. False where it has none. */
static bool add_index(struct entries *entries, const struct ctf_file *of, uint64_t bytes,
		      size_t file)
{
	struct index_entry *index;
	size_t count = index_read(of->path, bytes, &index);

	for (size_t i = 0; i < count; i++) {
		struct entry *entry = add_entry(entries, file);

		entry->ns = ctf_clock_ns(&of->first.stream->clock, index[i].begin);
		entry->from = index[i].offset;
		entry->to = index[i].offset + index[i].size / 8;
		entry->end = index[i].end;
		entry->sequence = index[i].sequence;
		entry->size = index[i].size;
	}
	free(index);
	return count > 0;
}

/* The packets of a file; the first begins with the file and each ends with the next. */
static void scan(struct entries *entries, const struct ctf_stream *stream,
		 const struct ctf_trace *trace, size_t file)
{
	const struct ctf_file *of = &stream->file[file];
	const size_t begin = entries->count;
	struct ctf_window window = {.is_scattered = true};
	struct ctf_cursor cursor = stream->cursor;
	struct ctf_packet packet;
	uint64_t at = 0;

	if (ctf_window_open(&window, of->path))
		window.size = 0;
	if (add_index(entries, of, window.size, file))
		return;
	while (at < window.size && entries->count <= MOST_ENTRIES) {
		enum packet_found found =
		    ctf_packet_at(&window, trace, &of->first, &cursor, at, &packet);

		if (found == PACKET_GARBLED) {
			at = ctf_seek(&window, trace, &of->first, &cursor, at + 1);
			continue;
		}
		if (entries->count > begin)
			entries->item[entries->count - 1].to = at;
		add_packet(entries, &packet, entries->count > begin ? at : 0, file);
		if (found != PACKET_WHOLE)
			break;
		at += packet.size / 8;
	}
	if (entries->count == begin)
		add_packet(entries, &of->first, 0, file);
	ctf_window_clear(&window);
}

static bool is_same(const struct entry *one, const struct entry *other)
{
	return one->ns == other->ns && one->end == other->end &&
	       one->sequence == other->sequence && one->size == other->size;
}

/* The first entry that does not begin before this time. */
static size_t find(const struct entries *entries, uint64_t ns)
{
	size_t low = 0, high = entries->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries->item[middle].most < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many entries from the first one on go to the same place, one after the other. */
static size_t run_length(const struct entry *first, size_t count,
			 const struct entry *behind)
{
	size_t length = 1;

	while (length < count && first[length].ns > first[length - 1].ns &&
	       (!behind || first[length].ns < behind->ns))
		length++;
	return length;
}

/* Put a file's entries among those of others; there is room for them. */
static void insert(struct entries *all, struct entry *item, size_t count)
{
	while (count) {
		size_t at = find(all, item->ns), length;
		struct entry *behind = at < all->count ? &all->item[at] : NULL;

		if (behind && is_same(item, behind)) {
			item++;
			count--;
			continue;
		}
		length = run_length(item, count, behind);
		if (behind)
			memmove(behind + length, behind,
				(all->count - at) * sizeof(*behind));
		for (size_t i = 0; i < length; i++) {
			all->item[at + i] = item[i];
			all->item[at + i].most = item[i].ns;
		}
		all->count += length;
		item += length;
		count -= length;
	}
}

/* The file that the directory lists first keeps its order. */
static void take_first(struct entries *all, const struct entry *item, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (item[i].ns > most)
			most = item[i].ns;
		all->item[i] = item[i];
		all->item[i].most = most;
	}
	all->count = count;
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

static int by_rank(const void *a, const void *b)
{
	const struct ctf_file *const *one = a, *const *other = b;

	return (*one)->rank < (*other)->rank ? -1 : 1;
}

/*
 * The entries of all files, in the order of the directory; those of one end at end[].
 * False where there are too many.
 */
static bool scan_all(struct entries *entries, const struct ctf_stream *stream,
		     const struct ctf_trace *trace, size_t *end)
{
	const struct ctf_file **file = mem_alloc(stream->files * sizeof(*file));

	for (size_t i = 0; i < stream->files; i++)
		file[i] = &stream->file[i];
	qsort(file, stream->files, sizeof(*file), by_rank);
	for (size_t i = 0; i < stream->files && entries->count <= MOST_ENTRIES; i++) {
		scan(entries, stream, trace, (size_t)(file[i] - stream->file));
		end[i] = entries->count;
	}
	free(file);
	return entries->count <= MOST_ENTRIES;
}

/* All packets in the order of their begins. False where there are too many. */
static bool order_packets(struct ctf_stream *stream, const struct ctf_trace *trace)
{
	struct entries scanned = {NULL, 0, 0}, all = {NULL, 0, 0};
	size_t *end = mem_alloc(stream->files * sizeof(*end)), room = 0;
	bool can = scan_all(&scanned, stream, trace, end);

	if (can) {
		all.item = mem_alloc(scanned.count * sizeof(*all.item));
		take_first(&all, scanned.item, end[0]);
	}
	for (size_t i = 1; can && i < stream->files; i++)
		insert(&all, scanned.item + end[i - 1], end[i] - end[i - 1]);
	for (size_t i = 0; i < all.count; i++)
		add_part(stream, &room,
			 (struct ctf_part){all.item[i].file, all.item[i].from,
					   all.item[i].to});
	free(all.item);
	free(scanned.item);
	free(end);
	return can;
}

void ctf_stream_order(struct ctf_stream *stream, const struct ctf_trace *trace)
{
	size_t room = 0;

	if (stream->files > 1 && order_packets(stream, trace))
		return;
	for (size_t i = 0; i < stream->files; i++)
		add_part(stream, &room, (struct ctf_part){i, 0, UINT64_MAX});
}
