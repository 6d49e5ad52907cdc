/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_PASS_H
#define CT_INPUT_NATIVE_PASS_H

#include "input/native/trace.h"

/*
 * Going over events that nobody wants, most of a trace for ctsync: a header that
 * native/quick.h knows, then fields of constant size with a few strings among them. Each
 * costs a table's entry and two additions, and a look at its strings; whatever is not so
 * ends the way and is for plans.
 */
struct native_pass {
	nsec_t until;              /* no event after this is passed over, */
	uint64_t most;             /* nor more than so many */
	nsec_t last_ns;            /* of the event before; NSEC_MIN: there is none */
	uint64_t events, backward; /* passed over; of them before the one before */
	nsec_t least_ns, most_ns;  /* their stamps; valid if events */
	nsec_t *stamp;             /* that each is put to, one after the other; or NULL */
};

/*
 * Pass over as many events of the packet as are like that; sets all below
 * last_ns. The cursor is then behind the last of them, as if plans had been run.
 */
void native_pass_run(const struct native_stream_class *stream,
		     struct native_cursor *cursor, struct native_pass *pass);

/* Find out which classes can be passed over; again where others are passed now. */
void native_pass_prepare(struct native_stream_class *stream);

#endif
