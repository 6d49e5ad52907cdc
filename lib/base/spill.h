/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SPILL_H
#define CT_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/*
 * An unnamed file in $TMPDIR for what does not fit into memory, to be written
 * and read; it is gone once closed. NULL with errno.
 */
FILE *spill_open(void);

/* The same, made when something is first added to it. */
struct spill {
	const char *what; /* for errors: "of messages" */
	uint64_t size;    /* in bytes */
	bool is_open;
	int fd;
};

/* Add bytes at the end, or read or change some that were added. 0, or -1 with error. */
int spill_add(struct spill *spill, const void *bytes, size_t size, struct error *error);
int spill_read(const struct spill *spill, uint64_t at, void *bytes, size_t size,
	       struct error *error);
int spill_change(const struct spill *spill, uint64_t at, const void *bytes, size_t size,
		 struct error *error);
void spill_clear(struct spill *spill);

#endif
