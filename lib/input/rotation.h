/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_ROTATION_H
#define CT_INPUT_ROTATION_H

#include <stdbool.h>

#include "input/run.h"

/*
 * Add a file to a rotated capture: tcpdump -C, -G and -W and dumpcap write one capture
 * into several files of one directory, whose names differ only in a number or a time, and
 * whose packets do not overlap in time. Return false, without adding the file, if it does
 * not belong to the capture.
 */
bool rotation_join(struct source *capture, const char *path);

/*
 * Return true if the capture contains no packet with a usable timestamp or cannot be
 * read.
 */
bool capture_is_empty(const char *path);

#endif
