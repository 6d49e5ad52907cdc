/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_ROTATION_H
#define CT_INPUT_ROTATION_H

#include <stdbool.h>

#include "input/run.h"

/*
 * Captures that are rotated: tcpdump -C, -G and -W and dumpcap write one capture into
 * several files of one directory, whose names differ in a number or a time only, and
 * whose packets do not overlap in time.
 *
 * Add a file to a capture that it goes on. Return false, with nothing done, if it does
 * not.
 */
bool rotation_join(struct source *capture, const char *path);

/* Return true if the capture at a path holds no packet, or cannot be read. */
bool capture_is_empty(const char *path);

#endif
