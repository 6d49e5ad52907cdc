/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	BLOCK = 1 << 18, /* bytes read at once, at least */
	AHEAD = 1 << 23, /* that the system is asked for meanwhile, at most */
};

int ctf_window_open(struct ctf_window *window, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	int result;

	if (fd < 0)
		return -1;
	result = fstat(fd, &status);
	close(fd);
	window->path = path;
	window->size = result ? 0 : (uint64_t)status.st_size;
	window->at = window->count = 0;
	return result;
}

/*
 * Have the system read what comes next while this is decoded, so that a disk is never
 * waited for twice: a file that is opened anew for each block has no readahead of its
 * own. As much again as was read, for the next packet is about as large.
 */
static void ask_ahead(const struct ctf_window *window, int fd, uint64_t count)
{
	uint64_t next = window->at + window->count;

	if (next < window->size && !window->is_scattered)
		posix_fadvise(fd, (off_t)next, (off_t)(count < AHEAD ? count : AHEAD),
			      POSIX_FADV_WILLNEED);
}

/* Read on behind what is there. What cannot be had ends the file. */
static void read_on(struct ctf_window *window, uint64_t until)
{
	int fd = open(window->path, O_RDONLY | O_CLOEXEC);

	while (window->count < until) {
		ssize_t got = pread(fd, window->byte + window->count,
				    (size_t)(until - window->count),
				    (off_t)(window->at + window->count));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			window->size = window->at + window->count;
			break;
		}
		window->count += (uint64_t)got;
	}
	if (fd >= 0) {
		ask_ahead(window, fd, until);
		close(fd);
	}
}

struct ctf_bytes ctf_window_show(struct ctf_window *window, uint64_t at, uint64_t count)
{
	uint64_t rest = at < window->size ? window->size - at : 0, kept, wanted;

	if (count > rest)
		count = rest;
	if (at < window->at || at > window->at + window->count) {
		window->at = at;
		window->count = 0;
	}
	kept = window->at + window->count - at;
	if (count > kept) {
		wanted = window->is_scattered || count > BLOCK ? count
			 : rest < BLOCK                        ? rest
							       : BLOCK;
		if (kept && at > window->at)
			memmove(window->byte, window->byte + (at - window->at), kept);
		window->at = at;
		window->count = kept;
		if (wanted > window->room) {
			window->room = wanted;
			window->byte = mem_realloc(window->byte, (size_t)wanted, 1);
		}
		read_on(window, wanted);
	}
	return (struct ctf_bytes){window->byte ? window->byte + (at - window->at) : NULL,
				  window->at + window->count - at};
}

void ctf_window_swap(struct ctf_window *window, uint64_t at, unsigned char **byte,
		     uint64_t count, uint64_t *room)
{
	unsigned char *own = window->byte;
	uint64_t own_room = window->room;

	window->byte = *byte;
	window->room = *room;
	window->at = at;
	window->count = count;
	*byte = own;
	*room = own_room;
}

void ctf_window_clear(struct ctf_window *window)
{
	free(window->byte);
	memset(window, 0, sizeof(*window));
}
