/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_EVENTS_PRIVATE_H
#define CT_TIMELINE_EVENTS_PRIVATE_H

#include <sqlite3.h>

#include "timeline/events.h"

/* A wished class of the timeline, and where its fields are read. */
struct events_class {
	int64_t id, rows; /* of event_class */
	char *name;
	char *table; /* NULL: its fields were left out */
	size_t wish;
	int tag;
	size_t fields;               /* as many as its wish names */
	char *column[EVENTS_FIELDS]; /* of the table; NULL: none of that name */
	int place[EVENTS_FIELDS];    /* in the statement's rows; -1: none */
	sqlite3_stmt *statement;     /* NULL: nothing to be read, or all was */
	int64_t at;                  /* id of the row that the statement stands on */
	struct cell cell[EVENTS_FIELDS];
};

struct events_class_list {
	struct events_class *item;
	size_t count, room;
};

/*
 * The classes that the wishes name, by id; a class that two wishes name is the
 * first one's. `total` becomes the number of events of all classes. 0, or -1.
 */
int events_classes_read(struct events_class_list *list, struct timeline_reader *reader,
			const struct events_wish *wish, size_t wishes, int64_t *total,
			struct error *error);

/*
 * Prepare the reading of a class's own rows of the ids from `first` to `last`;
 * `joined`: with the event's columns (EVENTS_JOINED of them, behind the id) in
 * front of the fields. 0, or -1.
 */
enum { EVENTS_JOINED = 4 };
int events_class_open(struct events_class *class, struct timeline_reader *reader,
		      bool joined, const int64_t range[2], struct error *error);

/* Stand on the next row. 1, 0 at the end, or -1. */
int events_class_step(struct events_class *class, struct timeline_reader *reader,
		      struct error *error);

/* Fill the cells from the row that it stands on, or with NULL. */
void events_class_fill(struct events_class *class, bool stands);

void events_classes_clear(struct events_class_list *list);

#endif
