/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_QUICK_H
#define CT_INPUT_NATIVE_QUICK_H

#include "input/native/plan.h"

/*
 * The event headers that LTTng writes, read at once: a little-endian word with
 * an id and, unless that says that a longer header follows, the low bits of
 * the stamp behind it. Every event has one, so a plan for it would cost more
 * than all else of an event that nobody wants.
 */
struct native_quick {
	unsigned id_size, stamp_size; /* bits; 0: the header is another one */
	uint64_t last;                /* id that is no sign of a longer header */
	int slot;                     /* of the id */
};

void native_quick_find(const struct field_class *header, struct native_quick *quick);

/* False with nothing done where the header's plan has to be run. */
static inline bool native_quick_read(const struct native_quick *quick,
				     struct native_cursor *cursor)
{
	unsigned size = quick->id_size + quick->stamp_size;
	uint64_t at = (cursor->at + 7) & ~(uint64_t)7, word, id;

	if (!quick->stamp_size || cursor->end - cursor->at < size + 7)
		return false;
	word = native_bits(cursor->bytes, at, size, false);
	id = word & (((uint64_t)1 << quick->id_size) - 1);
	if (id > quick->last)
		return false;
	cursor->id = cursor->slot[quick->slot] = id;
	cursor->clock =
	    native_clock_after(cursor->clock, word >> quick->id_size, quick->stamp_size);
	cursor->at = at + size;
	return true;
}

#endif
