/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_CLOCK_H
#define CT_INPUT_NATIVE_CLOCK_H

#include "input/native/trace.h"

/* The one clock of a stream's headers and packets. -1 with error if it has none. */
int native_find_clock(struct native_clock *clock, const struct tsdl *tsdl,
		      const struct tsdl_stream *stream, struct error *error);

/* -1 with error where a field of the tree, which may be NULL, sets a clock. */
int native_want_no_stamp(const struct field_class *class, struct error *error);

#endif
