/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TSDL_FIELD_RESOLVE_H
#define CT_INPUT_TSDL_FIELD_RESOLVE_H

#include "input/tsdl/tsdl.h"

struct field_slots {
	int count;        /* of all values that are kept for later fields */
	bool mixed;       /* some bits within bytes are not in the trace's byte order */
	uint64_t matches; /* of options with labels, that plans will look for */
};

/*
 * Give every number its byte order, and find what each variant and sequence
 * refers to: a member before it, in a structure around it, or one in a scope
 * given whole ("stream.packet.context.cpu_id"). -1 with error where it is
 * not there or not an integer that can serve.
 */
int field_resolve(struct tsdl *tsdl, struct field_slots *slots, struct error *error);

#endif
