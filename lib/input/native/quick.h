/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_QUICK_H
#define CT_INPUT_NATIVE_QUICK_H

#include "input/native/plan.h"

/*
 * The event headers that LTTng and sink.ctf.fs write, read at once: a little-endian id
 * and the low bits of the stamp behind it, or the whole stamp. An id of LTTng's may say
 * instead that a longer header follows. Every event has one, so a plan for it would cost
 * more than all else of an event that nobody wants.
 */
struct native_quick {
	unsigned id_size, stamp_size; /* bits; stamp 0: the header is another one */
	unsigned stamp_at, size;      /* from its begin: bits, bits in all */
	uint64_t last;                /* id that is no sign of a longer header */
	int slot;                     /* of the id; -1: nobody refers to it */
};

void native_quick_find(const struct field_class *header, struct native_quick *quick);

/* The header that begins with a byte: 16 bytes or more from there must be to be had. */
static inline void native_quick_load(const struct native_quick *quick,
				     const unsigned char *byte, uint64_t *id,
				     uint64_t *stamp)
{
	memcpy(id, byte, sizeof(*id));
	memcpy(stamp, byte + quick->stamp_at / 8, sizeof(*stamp));
	*id = le64toh(*id) & (UINT64_MAX >> (64 - quick->id_size));
	*stamp = le64toh(*stamp) >> quick->stamp_at % 8 &
		 (UINT64_MAX >> (64 - quick->stamp_size));
}

enum { NATIVE_QUICK_BYTES = 16 }; /* that native_quick_load looks at, at most */

/* False with nothing done where the header's plan has to be run. */
static inline bool native_quick_read(const struct native_quick *quick,
				     struct native_cursor *cursor)
{
	uint64_t byte = (cursor->at + 7) / 8, id, stamp;

	if (!quick->stamp_size || cursor->end - cursor->at < quick->size + 7 ||
	    cursor->bytes.count - byte < NATIVE_QUICK_BYTES)
		return false;
	native_quick_load(quick, cursor->bytes.byte + byte, &id, &stamp);
	if (id > quick->last)
		return false;
	cursor->id = id;
	if (quick->slot >= 0)
		cursor->slot[quick->slot] = id;
	cursor->clock = native_clock_after(cursor->clock, stamp, quick->stamp_size);
	cursor->at = 8 * byte + quick->size;
	return true;
}

#endif
