/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_EVENT_PLACES_H
#define CT_MERGE_EVENT_PLACES_H

#include "input/messages_file.h"
#include "merge/links.h"

/*
 * The links of events, by stream and ordinal. Memory: some kilobytes per stream; the rest
 * is in an unnamed file.
 */
struct event_places;

struct event_places *event_places_new(void);

/* Add an event's link. Call in order of the ordinals of a stream. Return 0, or -1 with
 * error. */
int event_places_add(struct event_places *places, uint32_t source,
		     const struct trace_event *event, const struct event_link *link,
		     struct error *error);

/* Set `link` to that of a message's end, with id 0 if it was not added. Return 0, or -1
 * with error. */
int event_places_find(struct event_places *places, const struct messages_end *end,
		      struct event_link *link, struct error *error);

void event_places_free(struct event_places *places);

#endif
