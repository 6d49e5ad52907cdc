/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_ROTATION_H
#define CT_INPUT_NATIVE_ROTATION_H

#include "input/native/stream.h"

/*
 * The order of a stream's packets over all of its files. In a single file it is that of
 * the file, whatever the packets' times. Those of several files, as LTTng's tracefile
 * rotation and snapshots leave them, are put in the order of their begins, and one that
 * is there twice comes once: as libbabeltrace2 has it, also in what that leaves open.
 * There the first file, as the directory lists it, keeps its order, and each packet of
 * the others, one file after the other, goes in front of the first one that does not
 * begin before it.
 */

/*
 * Set the stream's parts. If it has several files, of those without an index the heads of
 * all packets are read.
 */
void native_rotation_order(struct native_stream *stream,
			   const struct native_trace *trace);

#endif
