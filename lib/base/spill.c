/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/process.h"

/* Create a file and remove its name, for file systems without O_TMPFILE. Signals are
 * blocked, so that the name does not remain. */
static int make_and_unlink(const char *parent)
{
	AUTOFREE char *name = mem_printf("%s/clustertrace-XXXXXX", parent);
	sigset_t before;
	int fd;

	signals_hold(&before);
	fd = mkstemp(name);
	if (fd >= 0)
		unlink(name);
	signals_release(&before);
	return fd;
}

static int open_unnamed(void)
{
	const char *parent = getenv("TMPDIR");
	int fd;

	if (!parent || !*parent)
		parent = P_tmpdir;
	fd = open(parent, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = make_and_unlink(parent);
	return fd;
}

static int spill_io_error(const struct spill *spill, const char *what,
			  struct error *error)
{
	return error_set(error, "cannot %s temporary file %s: %s", what, spill->what,
			 strerror(errno));
}

int spill_change(const struct spill *spill, uint64_t at, const void *bytes, size_t size,
		 struct error *error)
{
	return output_write_all(spill->fd, bytes, size, (off_t)at)
		   ? spill_io_error(spill, "write the", error)
		   : 0;
}

int spill_add(struct spill *spill, const void *bytes, size_t size, struct error *error)
{
	if (!spill->is_open) {
		spill->fd = open_unnamed();
		if (spill->fd < 0)
			return spill_io_error(spill, "make a", error);
		spill->is_open = true;
	}
	if (spill_change(spill, spill->size, bytes, size, error))
		return -1;
	spill->size += size;
	return 0;
}

int spill_read(const struct spill *spill, uint64_t at, void *bytes, size_t size,
	       struct error *error)
{
	char *to = bytes;

	while (size) {
		ssize_t done = pread(spill->fd, to, size, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = EIO; /* the file was truncated */
		if (done <= 0)
			return spill_io_error(spill, "read the", error);
		to += done;
		at += (uint64_t)done;
		size -= (size_t)done;
	}
	return 0;
}

void spill_clear(struct spill *spill)
{
	if (spill->is_open)
		close(spill->fd);
	spill->is_open = false;
	spill->size = 0;
}

int spill_chain_close(struct spill_chain *chain, struct spill *spill, struct error *error)
{
	const struct spill_chunk chunk = {chain->first, spill->size, chain->open.size};

	if (!chunk.size)
		return 0;
	*MEM_NEXT(chain->chunk, chain->chunks, chain->capacity) = chunk;
	chain->open.size = 0;
	return spill_add(spill, chain->open.data, chunk.size, error);
}

int spill_chain_read(const struct spill_chain *chain, const struct spill *spill, size_t n,
		     struct bytes *memory, struct bytes_cursor *chunk,
		     struct error *error)
{
	const struct bytes *bytes = n < chain->chunks ? memory : &chain->open;

	if (n < chain->chunks) {
		size_t size = chain->chunk[n].size;

		memory->size = 0;
		if (spill_read(spill, chain->chunk[n].at, bytes_extend(memory, size),
			       size, error))
			return -1;
	}
	*chunk =
	    (struct bytes_cursor){.at = bytes->data, .end = bytes->data + bytes->size};
	return 0;
}

void spill_chain_clear(struct spill_chain *chain)
{
	bytes_clear(&chain->open);
	free(chain->chunk);
}
