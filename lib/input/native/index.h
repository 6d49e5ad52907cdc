/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_INDEX_H
#define CT_INPUT_NATIVE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/*
 * The index that LTTng keeps of a stream file, index/NAME.idx beside it: big-endian, a
 * header of four 32-bit numbers (a magic one, two of the version, the bytes of an entry)
 * and an entry a packet of seven 64-bit numbers, nine since 1.1: offset, packet size,
 * content size, begin, end, events discarded, stream, stream instance, sequence number.
 */
struct native_index_entry {
	uint64_t offset;     /* bytes */
	uint64_t size;       /* bits */
	uint64_t begin, end; /* values of the clock */
	uint64_t sequence;   /* UINT64_MAX: not recorded */
};

/*
 * The index of a stream file of so many bytes: how many entries at *entry, for free().
 * 0 where there is none, or none whose packets are the whole file one after the other.
 */
size_t native_index_read(const char *path, uint64_t bytes,
			 struct native_index_entry **entry);

#endif
