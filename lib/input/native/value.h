/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_VALUE_H
#define CT_INPUT_NATIVE_VALUE_H

#include "input/native/plan.h"
#include "input/reader.h"

/* Text that does not end with a zero is copied here. Zeroed is empty. */
struct native_text {
	char *bytes;
	size_t room;
};

/*
 * What stands at a place that a walk noted, as babeltrace2 has it. Text is
 * borrowed from the packet, or from `text` until the next call with it.
 */
void native_value_read(const struct field_class *class, struct native_bytes bytes,
		       struct native_place place, struct native_text *text,
		       struct value *value);

double native_real(const struct field_class *class, struct native_bytes bytes,
		   uint64_t at);

#endif
