/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_SEEK_H
#define CT_INPUT_NATIVE_SEEK_H

#include "input/native/packet.h"
#include "input/native/window.h"

/*
 * Where the next packet begins at byte `from` of the file or behind it, or the
 * file's size: for packets are found by the one before, and damage hides all
 * that follow. They begin with a magic number; without one in the metadata, or
 * after many that were none, nothing is found. `first` as native_packet_read
 * has it. The last packet of a file, if it is cut, is known by its uuid only.
 */
uint64_t native_seek(struct native_window *window, const struct native_trace *trace,
		     const struct native_packet *first, struct native_cursor *cursor,
		     uint64_t from);

/*
 * Look at the packet that begins at byte `at`, with as much of the file as a
 * head can take; see native_packet_read.
 */
enum packet_found native_packet_at(struct native_window *window,
				   const struct native_trace *trace,
				   const struct native_packet *first,
				   struct native_cursor *cursor, uint64_t at,
				   struct native_packet *packet);

#endif
