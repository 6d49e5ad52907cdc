/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_WINDOW_H
#define CT_INPUT_NATIVE_WINDOW_H

#include "input/native_bits.h"

/*
 * The bytes of a stream file that are looked at, read in large blocks. The file
 * is not mapped: one that gets shorter under a map ends the program by a signal.
 * Reading costs no more, as a map takes a fault each few pages.
 */
struct native_window {
	int fd;
	uint64_t size;       /* of the file: when it was opened, or as reading found it */
	unsigned char *byte; /* `count` bytes of the file from `at` on */
	uint64_t at, count, room;
};

/* Nothing is open. */
#define NATIVE_WINDOW_NONE ((struct native_window){.fd = -1})

/* Close the file, if there is one, and open another. -1 with errno set. */
int native_window_open(struct native_window *window, const char *path);

/*
 * The bytes from `at` on: `count` or more of them, fewer only where the file
 * ends, of which window->size then tells, or where it cannot be read, which is
 * its end, too. Borrowed until the next call.
 */
struct native_bytes native_window_show(struct native_window *window, uint64_t at,
				       uint64_t count);

/* Close the file; keeps the memory for the next one. */
void native_window_close(struct native_window *window);

void native_window_clear(struct native_window *window);

#endif
