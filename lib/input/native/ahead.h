/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_AHEAD_H
#define CT_INPUT_NATIVE_AHEAD_H

#include "input/native/digest.h"
#include "input/native/stream.h"

/*
 * Packets of one trace that are gone through ahead of the walk, by threads that have
 * nothing else to do: so one stream alone can keep several busy. A few packets at
 * most are kept. The walk says where it is; what it finds done there it takes,
 * everything else it does itself, so help never changes what it gives.
 */
struct native_ahead;

/* Borrows both; the streams must stay where they are. */
struct native_ahead *native_ahead_new(const struct native_trace *trace,
				      const struct native_streams *streams);

/*
 * Go through one packet that the walk will come to. False where there is none, or
 * enough are done. For any thread, at any time.
 */
bool native_ahead_help(struct native_ahead *ahead);

/* For the walk's thread: what was done of the packet that comes next, or NULL. */
struct native_digest *native_ahead_take(struct native_ahead *ahead, size_t stream);

/* The walk has come to the packet at hand; help may go on behind it. */
void native_ahead_follow(struct native_ahead *ahead, size_t stream);

/* The digest is used up; NULL is none. */
void native_ahead_give_back(struct native_ahead *ahead, struct native_digest *digest);

void native_ahead_free(struct native_ahead *ahead);

#endif
