/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/ctf/files.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "input/ctf/packets.h"

#define METADATA_MAGIC      0x75d11d57u
#define METADATA_HEADER     37 /* bytes before the text of each packet */
#define METADATA_CONTENT_AT 24 /* uint32: bits of header and text */
#define METADATA_PACKET_AT  28 /* uint32: bits with the padding */
#define INDEX_HEADER        16 /* four big-endian uint32 */

bool ctf_files_probe(const char *path)
{
	char *metadata = mem_printf("%s/metadata", path);
	struct stat status;
	bool found = stat(metadata, &status) == 0 && S_ISREG(status.st_mode);

	free(metadata);
	return found;
}

static uint32_t read_u32(const unsigned char *bytes, bool swap)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

/* Walk the packets of a packetized metadata file: each must be there whole. */
static int check_packets(FILE *file, uint64_t size, bool swap, struct error *error)
{
	unsigned char header[METADATA_HEADER];
	uint64_t at = 0;

	while (at < size) {
		uint32_t content, packet;

		if (fseeko(file, (off_t)at, SEEK_SET) ||
		    fread(header, sizeof(header), 1, file) != 1)
			return error_set(
			    error, "cut in the middle of a packet at byte %" PRIu64, at);
		if (read_u32(header, swap) != METADATA_MAGIC)
			return error_set(error, "no metadata packet at byte %" PRIu64,
					 at);
		content = read_u32(header + METADATA_CONTENT_AT, swap) / 8;
		packet = read_u32(header + METADATA_PACKET_AT, swap) / 8;
		if (packet < METADATA_HEADER || content < METADATA_HEADER ||
		    content > packet)
			return error_set(error, "broken packet header at byte %" PRIu64,
					 at);
		if (packet > size - at)
			return error_set(
			    error, "cut in the middle of a packet at byte %" PRIu64, at);
		at += packet;
	}
	return 0;
}

static int check_metadata_file(FILE *file, uint64_t size, struct error *error)
{
	unsigned char magic[10];
	size_t n = fread(magic, 1, sizeof(magic), file);

	if (n >= 4 && read_u32(magic, false) == METADATA_MAGIC)
		return check_packets(file, size, false, error);
	if (n >= 4 && read_u32(magic, true) == METADATA_MAGIC)
		return check_packets(file, size, true, error);
	if (n < sizeof(magic) || memcmp(magic, "/* CTF 1.8", sizeof(magic)) != 0)
		return error_set(error, "no CTF 1.8 metadata");
	return 0;
}

static int check_metadata(const char *path, struct ctf_files *files, struct error *error)
{
	char *name = mem_printf("%s/metadata", path);
	FILE *file = fopen(name, "rb");
	struct stat status;
	int result = -1;

	if (!file || fstat(fileno(file), &status))
		error_errno(error, name);
	else if (check_metadata_file(file, (uint64_t)status.st_size, error))
		error_prefix(error, "%s", name);
	else
		result = fseeko(file, 0, SEEK_SET);
	files->known = !result && packets_are_known(file);
	if (file)
		fclose(file);
	free(name);
	return result;
}

/* How many packets an index file lists; 0 if it is none. */
static uint64_t index_packets(FILE *index)
{
	uint32_t header[INDEX_HEADER / 4];
	struct stat status;

	if (fread(header, sizeof(header), 1, index) != 1 ||
	    fstat(fileno(index), &status) || be32toh(header[3]) == 0)
		return 0;
	return ((uint64_t)status.st_size - INDEX_HEADER) / be32toh(header[3]);
}

static FILE *open_index(const char *path, const char *stream)
{
	char *name = mem_printf("%s/index/%s.idx", path, stream);
	struct stat status;
	FILE *index = NULL;

	if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
		index = fopen(name, "rb");
	free(name);
	return index;
}

/* Whether a stream file is a row of whole packets, and so says its index, or NULL. */
static bool check_stream(const char *path, const char *stream, uint64_t size, FILE *index)
{
	char *name = mem_printf("%s/%s", path, stream);
	FILE *file = fopen(name, "rb");
	bool sound;

	if (index)
		rewind(index);
	sound = file && packets_are_sound(file, size, index);
	if (file)
		fclose(file);
	free(name);
	return sound;
}

/* Sum up one stream file and its index. */
static void add_stream(const char *path, const char *stream, uint64_t size,
		       struct ctf_files *files)
{
	FILE *index = open_index(path, stream);
	uint64_t packets = index ? index_packets(index) : 0;

	if (files->known && files->sound)
		files->sound = check_stream(path, stream, size, index);
	if (index)
		fclose(index);
	files->bytes += size;
	files->packets += packets;
	files->indexed &= packets > 0;
}

static int look(const char *path, struct ctf_files *files, struct error *error)
{
	struct dirent *entry;
	DIR *directory;

	files->indexed = true;
	if (check_metadata(path, files, error))
		return -1;
	directory = opendir(path);
	if (!directory)
		return error_errno(error, path);
	while ((entry = readdir(directory))) {
		struct stat status;

		if (fstatat(dirfd(directory), entry->d_name, &status, 0) ||
		    !S_ISREG(status.st_mode) || status.st_size == 0 ||
		    entry->d_name[0] == '.' || strcmp(entry->d_name, "metadata") == 0)
			continue;
		add_stream(path, entry->d_name, (uint64_t)status.st_size, files);
	}
	closedir(directory);
	if (!files->indexed)
		files->packets = 0;
	return 0;
}

int ctf_files_check(const char *path, struct ctf_files *files, struct error *error)
{
	*files = (struct ctf_files){.sound = true};
	return look(path, files, error);
}

int ctf_files_sum(const char *path, struct ctf_files *files, struct error *error)
{
	*files = (struct ctf_files){.sound = false};
	return look(path, files, error);
}
