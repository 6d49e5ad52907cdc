/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/same.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Whether two files begin and end alike; they are of one size. */
static bool same_ends(int a, int b, off_t size)
{
	enum { END = 1 << 16 };
	char *bytes = mem_alloc(2 * END);
	const off_t at[] = {0, size > END ? size - END : 0};
	bool same = true;

	for (int i = 0; i < 2 && same; i++) {
		ssize_t of_a = pread(a, bytes, END, at[i]);
		ssize_t of_b = pread(b, bytes + END, END, at[i]);

		same = of_a >= 0 && of_a == of_b &&
		       memcmp(bytes, bytes + END, (size_t)of_a) == 0;
	}
	free(bytes);
	return same;
}

/* Whether two files are alike; adds their size. What is no file on both sides is. */
static bool same_file(const char *a, const char *b, uint64_t *size)
{
	struct stat of_a, of_b;
	int file_a, file_b;
	bool same = false;

	if (stat(a, &of_a) || stat(b, &of_b) ||
	    (of_a.st_mode & S_IFMT) != (of_b.st_mode & S_IFMT))
		return false;
	if (!S_ISREG(of_a.st_mode))
		return true;
	*size += (uint64_t)of_a.st_size;
	if (of_a.st_size != of_b.st_size)
		return false;
	if (of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino)
		return true;
	file_a = open(a, O_RDONLY | O_CLOEXEC);
	file_b = open(b, O_RDONLY | O_CLOEXEC);
	if (file_a >= 0 && file_b >= 0)
		same = same_ends(file_a, file_b, of_a.st_size);
	if (file_a >= 0)
		close(file_a);
	if (file_b >= 0)
		close(file_b);
	return same;
}

static bool same_entry(const char *a, const char *b, const char *name, uint64_t *size)
{
	char *of_a = mem_printf("%s/%s", a, name), *of_b = mem_printf("%s/%s", b, name);
	bool same = same_file(of_a, of_b, size);

	free(of_a);
	free(of_b);
	return same;
}

static void free_entries(struct dirent **entry, int count)
{
	for (int i = 0; i < count; i++)
		free(entry[i]);
	if (count >= 0)
		free(entry);
}

/* Traces without a stream, or with empty ones, have no event in common. */
static bool same_traces(const char *a, const char *b)
{
	struct dirent **of_a = NULL, **of_b = NULL;
	int count = scandir(a, &of_a, is_part, alphasort);
	int count_b = scandir(b, &of_b, is_part, alphasort);
	bool same = count > 0 && count == count_b;
	uint64_t size = 0;

	for (int i = 0; i < count && same; i++) {
		const char *name = of_a[i]->d_name;
		uint64_t more = 0;

		same =
		    strcmp(name, of_b[i]->d_name) == 0 && same_entry(a, b, name, &more);
		size += strcmp(name, "metadata") != 0 ? more : 0;
	}
	free_entries(of_a, count);
	free_entries(of_b, count_b);
	return same && size > 0;
}

static bool is_directory(const struct source *source)
{
	return source->kind == SOURCE_TRACE && !source->extract;
}

bool same_events(const struct source *a, const struct source *b)
{
	uint64_t size = 0;

	if (a->kind != b->kind || a->extract != b->extract)
		return false;
	if (is_directory(a))
		return same_traces(a->path, b->path);
	return same_file(a->path, b->path, &size) && size > 0;
}

static uint64_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode)
		   ? (uint64_t)status.st_size
		   : 0;
}

uint64_t same_events_hint(const struct source *source)
{
	uint64_t hint = source->kind + 2 * source->extract;
	struct dirent **entry = NULL;
	int count;

	if (!is_directory(source))
		return hint * 31 + size_of(source->path);
	count = scandir(source->path, &entry, is_part, alphasort);
	for (int i = 0; i < count; i++) {
		char *path = mem_printf("%s/%s", source->path, entry[i]->d_name);

		hint = hint * 0x100000001b3u + size_of(path);
		free(path);
	}
	free_entries(entry, count);
	return hint;
}
