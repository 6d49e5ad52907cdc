/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_WINDOW_H
#define CT_CTF_WINDOW_H

#include "ctf/bits.h"

/*
 * The bytes of a stream file that are looked at, read in large blocks. The file
 * is not mapped: one that gets shorter under a map ends the program by a signal.
 * Reading costs a few per cent (docs/benchmarks.md): a copy, but no page faults.
 * It is open only while a block is read, as a cluster has more streams than a
 * process may have open files.
 */
struct ctf_window {
	const char *path;    /* borrowed; NULL: of no file */
	uint64_t size;       /* of the file: at first, or as reading found it */
	bool is_scattered;   /* read no more at once than is asked for */
	unsigned char *byte; /* `count` bytes of the file from `at` on */
	uint64_t at, count, room;
};

/* Look at this file from now on. -1 with errno set where it cannot be read. */
int ctf_window_open(struct ctf_window *window, const char *path);

/*
 * The bytes from `at` on: `count` or more of them, fewer only where the file
 * ends, of which window->size then tells, or where it cannot be read, which is
 * its end, too. Borrowed until the next call.
 */
struct ctf_bytes ctf_window_show(struct ctf_window *window, uint64_t at, uint64_t count);

/*
 * Take over `count` bytes of the file from `at` on that somebody else has read, which
 * then gets the window's own room. Both are for realloc().
 */
void ctf_window_swap(struct ctf_window *window, uint64_t at, unsigned char **byte,
		     uint64_t count, uint64_t *room);

void ctf_window_clear(struct ctf_window *window);

#endif
