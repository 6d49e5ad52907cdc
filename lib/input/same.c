/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/same.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

/* Whether nothing that is known of both says that they are of two nodes. */
static bool may_be_one_node(const struct source *a, const struct ctf_facts *a_facts,
			    const struct source *b, const struct ctf_facts *b_facts)
{
	if (a->node && b->node)
		return strcmp(a->node, b->node) == 0;
	return !*a_facts->hostname || !*b_facts->hostname ||
	       strcmp(a_facts->hostname, b_facts->hostname) == 0;
}

bool same_clock_identity(const struct ctf_facts *a, const struct ctf_facts *b)
{
	return a->has_uuid && b->has_uuid && a->clock_frequency == b->clock_frequency &&
	       (!*a->clock_name || !*b->clock_name ||
		strcmp(a->clock_name, b->clock_name) == 0) &&
	       memcmp(a->clock_uuid, b->clock_uuid, sizeof(a->clock_uuid)) == 0;
}

enum same_clock same_clock(const struct source *a, const struct ctf_facts *a_facts,
			   const struct source *b, const struct ctf_facts *b_facts)
{
	if (!same_clock_identity(a_facts, b_facts))
		return SAME_NOT;
	return may_be_one_node(a, a_facts, b, b_facts) ? SAME_CLOCK : SAME_CLONED;
}

/* Of a trace: its streams and its metadata. */
static int is_part(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/*
 * Add a file's size, its begin and its end to a hash; what is no file adds nothing. -1
 * where it cannot be read.
 */
static int hash_file(const char *path, uint64_t *hash, uint64_t *size)
{
	enum { END = 1 << 14 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t bytes[2 * END];
	struct stat status;
	ssize_t begin = -1, end = -1;

	if (fd >= 0 && fstat(fd, &status) == 0) {
		*size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
		*hash = hash_bytes(*hash, size, sizeof(*size));
		begin = *size ? pread(fd, bytes, END, 0) : 0;
		end = *size > END ? pread(fd, bytes + END, END, status.st_size - END) : 0;
	}
	if (fd >= 0)
		close(fd);
	if (begin < 0 || end < 0)
		return -1;
	*hash = hash_bytes(*hash, bytes, (size_t)begin);
	*hash = hash_bytes(*hash, bytes + END, (size_t)end);
	return 0;
}

/* Traces without a stream, or with empty ones, have no event in common. */
static uint64_t fingerprint_of_trace(const char *path, uint64_t hash)
{
	struct dirent **entry = NULL;
	int count = scandir(path, &entry, is_part, alphasort), status = 0;
	uint64_t streams = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entry[i]->d_name;
		char *part = mem_printf("%s/%s", path, name);
		uint64_t size = 0;

		hash = hash_text(hash, name);
		status |= hash_file(part, &hash, &size);
		streams += strcmp(name, "metadata") != 0 ? size : 0;
		free(part);
		free(entry[i]);
	}
	free(entry);
	return status || !streams ? 0 : hash;
}

uint64_t same_events_fingerprint(const struct source *source)
{
	uint64_t hash = HASH_INIT ^ (source->kind + 2 * source->extract), size = 0;

	if (source->kind == SOURCE_TRACE && !source->extract)
		return fingerprint_of_trace(source->path, hash);
	return hash_file(source->path, &hash, &size) || !size ? 0 : hash;
}
