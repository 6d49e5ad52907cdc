/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf_files.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * The head of a packet as lttng-modules and lttng-ust 2.x lay it out: packet
 * header, then packet context. Sizes are in bits.
 */
struct packet_head {
	uint32_t magic;
	unsigned char uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin, timestamp_end, content_size, packet_size;
	uint64_t sequence, discarded;
} __attribute__((packed));

/* An index file: this head, then the entries; all big-endian. */
struct index_head {
	uint32_t magic, major, minor, entry_size;
};

struct index_entry {
	uint64_t offset, packet_size, content_size, timestamp_begin, timestamp_end;
	uint64_t discarded, stream_id, stream_instance_id, sequence;
};

#define STREAM_MAGIC 0xc1fc1fc1u
#define INDEX_MAGIC  0xc1f1dcc1u

static void write_entry(FILE *index, const struct packet_head *head, uint64_t offset,
			uint64_t packet_bytes)
{
	uint64_t content = le64toh(head->content_size);
	struct index_entry entry = {
	    .offset = htobe64(offset),
	    .packet_size = htobe64(packet_bytes * 8),
	    .content_size =
		htobe64(content < packet_bytes * 8 ? content : packet_bytes * 8),
	    .timestamp_begin = htobe64(le64toh(head->timestamp_begin)),
	    .timestamp_end = htobe64(le64toh(head->timestamp_end)),
	    .discarded = htobe64(le64toh(head->discarded)),
	    .stream_id = htobe64(le32toh(head->stream_id)),
	    .stream_instance_id = htobe64(le64toh(head->stream_instance_id)),
	    .sequence = htobe64(le64toh(head->sequence)),
	};

	fwrite(&entry, sizeof(entry), 1, index);
}

/*
 * List the packets of a stream file that begin as a packet must. The last
 * one, when it is cut, is listed with what is left of it. Returns how many.
 */
static uint64_t index_stream(FILE *stream, uint64_t size, FILE *index,
			     struct problem_list *problems, const char *name)
{
	struct packet_head head;
	uint64_t at = 0, count = 0;

	while (at < size) {
		uint64_t bytes;

		if (fseeko(stream, (off_t)at, SEEK_SET) ||
		    fread(&head, sizeof(head), 1, stream) != 1 ||
		    le32toh(head.magic) != STREAM_MAGIC ||
		    (bytes = le64toh(head.packet_size) / 8) < sizeof(head)) {
			problem_add(problems, name, "garbled", 1,
				    "no packet at byte %" PRIu64 " of %" PRIu64
				    ", the rest is left out",
				    at, size);
			return count;
		}
		if (bytes > size - at) {
			problem_add(problems, name, "truncated", 1,
				    "cut in the middle of a packet, %" PRIu64
				    " of its %" PRIu64 " bytes are there",
				    size - at, bytes);
			bytes = size - at;
		}
		write_entry(index, &head, at, bytes);
		at += bytes;
		count++;
	}
	return count;
}

/* Index and link one stream file. What cannot be read becomes a problem. */
static void mend_stream(const char *path, const char *view, const char *name,
			struct problem_list *problems)
{
	const struct index_head head = {htobe32(INDEX_MAGIC), htobe32(1), htobe32(1),
					htobe32(sizeof(struct index_entry))};
	char *from = mem_printf("%s/%s", path, name);
	char *to = mem_printf("%s/%s", view, name);
	char *index_name = mem_printf("%s/index/%s.idx", view, name);
	FILE *stream = fopen(from, "rb");
	FILE *index = fopen(index_name, "wb");
	struct stat status;
	uint64_t packets = 0;

	if (!stream || !index || fstat(fileno(stream), &status)) {
		problem_add(problems, from, "unreadable", 1, "%s, left out",
			    strerror(errno));
	} else {
		fwrite(&head, sizeof(head), 1, index);
		packets =
		    index_stream(stream, (uint64_t)status.st_size, index, problems, from);
	}
	if (stream)
		fclose(stream);
	if (index && fclose(index))
		packets = 0;
	if (!packets || symlink(from, to))
		unlink(index_name);
	free(index_name);
	free(to);
	free(from);
}

static void mend_streams(const char *path, const char *view,
			 struct problem_list *problems)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	struct stat status;

	while (directory && (entry = readdir(directory)))
		if (fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 &&
		    S_ISREG(status.st_mode) && entry->d_name[0] != '.' &&
		    status.st_size > 0 && strcmp(entry->d_name, "metadata") != 0)
			mend_stream(path, view, entry->d_name, problems);
	if (directory)
		closedir(directory);
}

char *ctf_mend(const char *path, struct problem_list *problems, struct error *error)
{
	const char *parent = getenv("TMPDIR");
	char *view =
	    mem_printf("%s/clustertrace-XXXXXX", parent && *parent ? parent : P_tmpdir);
	char *whole = realpath(path, NULL);
	char *metadata, *link, *index;

	if (!whole || !mkdtemp(view)) {
		error_errno(error, whole ? view : path);
		free(whole);
		free(view);
		return NULL;
	}
	metadata = mem_printf("%s/metadata", whole);
	link = mem_printf("%s/metadata", view);
	index = mem_printf("%s/index", view);
	if (symlink(metadata, link) || mkdir(index, 0700)) {
		error_errno(error, view);
		ctf_mend_remove(view);
		view = NULL;
	} else {
		mend_streams(whole, view, problems);
	}
	free(index);
	free(link);
	free(metadata);
	free(whole);
	return view;
}

static void remove_files(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(path);
}

void ctf_mend_remove(char *directory)
{
	char *index = mem_printf("%s/index", directory);

	remove_files(index);
	remove_files(directory);
	free(index);
	free(directory);
}
