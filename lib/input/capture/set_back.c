/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/set_back.h"

enum {
	LEAST_AT_END = 4,  /* packets that show it if nothing follows */
	PART_OF_TIME = 10, /* inverse of the least part of the time so far */
};

static void release_held_packets(struct set_back *back, captured_fn *deliver,
				 void *context)
{
	for (size_t i = 0; i < back->count; i++) {
		if (back->held[i].ns > back->last_ns)
			back->last_ns = back->held[i].ns;
		back->held[i].ns += back->added_ns;
		deliver(context, &back->held[i]);
	}
	back->count = 0;
}

/*
 * Return true if the held packets are near each other, as those of a clock that was set,
 * and it was set by so much that one correction for each time would not do.
 */
static bool is_series(const struct set_back *back)
{
	for (size_t i = 1; i < back->count; i++)
		if (back->held[i].ns < back->held[i - 1].ns - NSEC_PER_SEC)
			return false;
	return back->last_ns - back->held[0].ns >
	       (back->last_ns - back->begin_ns) / PART_OF_TIME;
}

/* The clock was set back before the held packets: add to them what leads beyond it. */
static void add_set_back(struct set_back *back, struct trace_facts *facts)
{
	nsec_t first = back->held[0].ns, size;

	for (size_t i = 1; i < back->count; i++)
		first = back->held[i].ns < first ? back->held[i].ns : first;
	size = nsec_sub(back->last_ns, first) / NSEC_PER_SEC * NSEC_PER_SEC +
	       2 * NSEC_PER_SEC;
	facts->set_back[facts->set_backs++] = (struct trace_set_back){
	    nsec_add(back->last_ns, back->added_ns), size, back->held[0].ordinal};
	back->added_ns += size;
	back->begin_ns = back->last_ns = first;
}

/* Return true if a time is rather of before the clock may have been set. */
static bool is_of_before(const struct set_back *back, nsec_t ns)
{
	nsec_t held = back->count ? back->held[back->count - 1].ns : ns;

	return ns >= back->last_ns - SET_BACK_LEAST && back->last_ns - ns < ns - held;
}

void set_back_add(struct set_back *back, struct captured *captured,
		  struct trace_facts *facts, captured_fn *deliver, void *context)
{
	bool is_near = is_of_before(back, captured->ns);

	back->held[back->count++] = *captured;
	if (back->count < SET_BACK_HELD && !is_near)
		return;
	if (!is_near && is_series(back) && facts->set_backs < TRACE_MOST_SET_BACKS)
		add_set_back(back, facts);
	else if (!is_near)
		back->last_ns = captured->ns;
	release_held_packets(back, deliver, context);
}

void set_back_end(struct set_back *back, struct trace_facts *facts, captured_fn *deliver,
		  void *context)
{
	if (back->count >= LEAST_AT_END && is_series(back) &&
	    facts->set_backs < TRACE_MOST_SET_BACKS)
		add_set_back(back, facts);
	release_held_packets(back, deliver, context);
}
