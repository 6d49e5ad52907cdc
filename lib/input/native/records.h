/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_RECORDS_H
#define CT_INPUT_NATIVE_RECORDS_H

#include "input/native/walk.h"
#include "input/record.h"

/* What trace_records_open does, by our own reader. NULL with error. */
struct record_source *native_records_open(const char *path, struct error *error);

/* The same by libbabeltrace2, which mends what is damaged. */
struct record_source *babeltrace2_records_open(const char *path, struct error *error);

#endif
