/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CAPTURE_WRITER_H
#define CT_SIMULATE_CAPTURE_WRITER_H

#include <stdio.h>

#include "base/error.h"
#include "simulate/writer.h"

/* Which node has which address; where two have the same, either. */
struct sim_owners {
	struct sim_owner *item;
	size_t count;
};

/*
 * A new file to be written from begin to end, which is open to the system
 * only while its buffer is written out: thousands of them are no matter.
 * NULL with error on failure, also where the file is there already.
 */
FILE *sim_file_open(const char *path, struct error *error);

#endif
