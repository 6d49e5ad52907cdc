/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_SET_BACK_H
#define CT_INPUT_CAPTURE_SET_BACK_H

#include "input/capture/frames.h"

/*
 * Local times that go on where the clock of a capture was set back by a second or more,
 * and by a good part of the time captured so far, so that each time is shown once. From
 * there on, a whole number of seconds is added to the recorded timestamps: as far as the
 * clock went back, and one to two seconds, so that different captures of a node get the
 * same number, and what is left is a clear step. Whether the clock was set back is
 * decided by the packets that follow: none of them is of the time before.
 */
#define SET_BACK_LEAST NSEC_PER_SEC

enum { SET_BACK_HELD = 16 };

/* Zero-initialize before use. */
struct set_back {
	struct captured held[SET_BACK_HELD]; /* packets far before last_ns */
	size_t count;
	bool begun, is_off; /* if `is_off` is set, nothing is added */
	nsec_t begin_ns;    /* first recorded timestamp since the clock was set back */
	nsec_t last_ns;     /* latest one */
	nsec_t added_ns;
};

/* Return true if a packet need not be added because it is not far before others. */
static inline bool set_back_pass(struct set_back *back, struct captured *captured)
{
	if (back->count || (back->begun && captured->ns < back->last_ns - SET_BACK_LEAST))
		return back->is_off;
	if (!back->begun)
		back->begin_ns = captured->ns;
	if (!back->begun || captured->ns > back->last_ns)
		back->last_ns = captured->ns;
	back->begun = true;
	captured->ns += back->added_ns;
	return true;
}

/*
 * Add a packet: hold it back until it is known whether the clock was set. Note in `facts`
 * where it was.
 */
void set_back_add(struct set_back *back, struct captured *captured,
		  struct trace_facts *facts, captured_fn *deliver, void *context);

/* End the capture: deliver the packets that are held. */
void set_back_end(struct set_back *back, struct trace_facts *facts, captured_fn *deliver,
		  void *context);

#endif
