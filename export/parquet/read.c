/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "export/parquet/format.h"
#include "export/parquet/read_private.h"

/* The magic at both ends, and the footer's length. */
enum { MAGIC = 4, TAIL = 8 };

int parquet_read_at(const struct parquet_reader *reader, uint64_t offset, uint8_t *data,
		    size_t size, struct error *error)
{
	size_t done = 0;

	while (done < size) {
		ssize_t more =
		    pread(reader->fd, data + done, size - done, (off_t)(offset + done));

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return error_errno(error, reader->path);
		if (more == 0)
			return error_set(error, "%s: ends within what it says to hold",
					 reader->path);
		done += (size_t)more;
	}
	return 0;
}

/* Only plain files: others may block, and have no end to begin at. */
static int open_file(struct parquet_reader *reader, struct error *error)
{
	struct stat status;

	reader->fd = open(reader->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reader->fd < 0 || fstat(reader->fd, &status))
		return error_errno(error, reader->path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s: no plain file", reader->path);
	reader->size = (uint64_t)status.st_size;
	return 0;
}

static int read_footer(struct parquet_reader *reader, struct error *error)
{
	uint8_t head[MAGIC], tail[TAIL];
	struct bytes footer = {0};
	uint64_t length;
	int status = -1;

	if (reader->size < MAGIC + TAIL)
		return error_set(error, "%s: %llu bytes, no Parquet file", reader->path,
				 (unsigned long long)reader->size);
	if (parquet_read_at(reader, 0, head, MAGIC, error) ||
	    parquet_read_at(reader, reader->size - TAIL, tail, TAIL, error))
		return -1;
	if (memcmp(tail + 4, "PARE", MAGIC) == 0)
		return error_set(error, "%s: an encrypted footer, want a plain one",
				 reader->path);
	if (memcmp(head, FORMAT_MAGIC, MAGIC) || memcmp(tail + 4, FORMAT_MAGIC, MAGIC))
		return error_set(error, "%s: no Parquet file, or one without its end",
				 reader->path);
	length = bytes_le(tail, 4);
	if (length > reader->size - MAGIC - TAIL)
		return error_set(error, "%s: a footer of %llu bytes, more than there are",
				 reader->path, (unsigned long long)length);
	bytes_extend(&footer, (size_t)length);
	if (parquet_read_at(reader, reader->size - TAIL - length, footer.data,
			    (size_t)length, error) == 0) {
		status = parquet_read_footer(reader, footer.data, (size_t)length, error);
		if (status)
			error_prefix(error, "%s", reader->path);
	}
	bytes_clear(&footer);
	return status;
}

struct parquet_reader *parquet_reader_open(const char *path, struct error *error)
{
	struct parquet_reader *reader = mem_zalloc(sizeof(*reader));

	reader->path = mem_strdup(path);
	if (open_file(reader, error) || read_footer(reader, error)) {
		parquet_reader_free(reader);
		return NULL;
	}
	return reader;
}

uint64_t parquet_reader_rows(const struct parquet_reader *reader)
{
	return reader->rows;
}

size_t parquet_reader_leaves(const struct parquet_reader *reader)
{
	return reader->leaves;
}

const struct parquet_leaf *parquet_reader_leaf(const struct parquet_reader *reader,
					       size_t leaf)
{
	return &reader->leaf[leaf];
}

const struct parquet_leaf *parquet_reader_find(const struct parquet_reader *reader,
					       const char *name)
{
	const struct parquet_leaf *found = NULL;

	for (size_t i = 0; i < reader->leaves; i++) {
		if (strcmp(reader->leaf[i].name, name))
			continue;
		if (found)
			return NULL;
		found = &reader->leaf[i];
	}
	return found;
}

const char *parquet_reader_metadata(const struct parquet_reader *reader, const char *key)
{
	for (size_t i = 0; i < reader->pairs; i++)
		if (strcmp(reader->pair[i].key, key) == 0)
			return reader->pair[i].value;
	return NULL;
}

void parquet_reader_free(struct parquet_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	for (size_t i = 0; i < reader->leaves; i++) {
		free((char *)reader->leaf[i].name);
		free((char *)reader->leaf[i].path);
	}
	for (size_t i = 0; i < reader->pairs; i++) {
		free(reader->pair[i].key);
		free(reader->pair[i].value);
	}
	free(reader->leaf);
	free(reader->group);
	free(reader->chunk);
	free(reader->pair);
	free(reader->path);
	free(reader);
}
