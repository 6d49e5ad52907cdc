/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CONDITION_H
#define CT_ANALYZE_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/question.h"
#include "base/cell.h"
#include "base/error.h"
#include "timeline/events.h"

/*
 * Which events are meant: "CLASS" or "CLASS[FIELD OP VALUE && ...]". A class may have *
 * and ? in it. OP is one of = == != < <= > >=, or ~ for a name with * and ?. A value is a
 * number, or a text with or without quotes. Fields are the event's, and node, cpu, tid
 * and procname; .tid is the event's own where it has one of such a name.
 */
struct condition {
	char *class;
	struct condition_term {
		char *field, *value;
		enum condition_op {
			OP_EQUAL,
			OP_OTHER,
			OP_LESS,
			OP_AT_MOST,
			OP_MORE,
			OP_AT_LEAST,
			OP_LIKE
		} op;
		bool is_number;
		double number;
		size_t place; /* in the list of fields */
	} * term;
	size_t terms, room;
};

/* Fields that conditions and groups look at, in the order of an events_wish. The first
 * four are none of its: they are node, cpu, tid, procname. */
enum { FIELD_NODE, FIELD_CPU, FIELD_TID, FIELD_PROCNAME, FIELD_OWN };

struct field_list {
	char *name[FIELD_OWN + EVENTS_FIELDS];
	size_t count;
};

void field_list_init(struct field_list *list);

/* The place of a field, added if it is new. -1 with error where there are too many. */
int field_list_add(struct field_list *list, const char *name, struct error *error);
void field_list_clear(struct field_list *list);

/* 0, or -1 with an error that says what is wrong in the text. */
int condition_parse(struct condition *condition, const char *text,
		    struct field_list *fields, struct error *error);

/* A field of an event; texts are borrowed until the next event. */
struct cell field_of(struct question *question, const struct event_row *row,
		     size_t place);

/* Whether the event is meant. A field that it does not have fails any condition. */
bool condition_holds(const struct condition *condition, struct question *question,
		     const struct event_row *row);

void condition_clear(struct condition *condition);

#endif
