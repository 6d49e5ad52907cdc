/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CAPTURE_WRITER_FILE_H
#define CT_SIMULATE_CAPTURE_WRITER_FILE_H

#include <stdio.h>

#include "base/error.h"

/*
 * A new file to be written from begin to end, which is open to the system
 * only while its buffer is written out: thousands of them are no matter.
 * NULL with error on failure, also where the file is there already.
 */
FILE *sim_file_open(const char *path, struct error *error);

#endif
