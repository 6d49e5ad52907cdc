/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_QUESTION_SCOPE_H
#define CT_TABLES_QUESTION_SCOPE_H

#include "tables/question.h"

enum question_kind {
	QUESTION_TABLE,       /* any table but those of the classes */
	QUESTION_CLASS_TABLE, /* fields of events: id is event.id */
	QUESTION_EVENT_VIEW,  /* a view with id, ts_ns and the node's name */
};

/*
 * " WHERE ..." for the scope's part of a table that goes by the name t, and what ?1 and
 * ?2 in it are. "" where all of it is of the scope. For free().
 */
char *question_scope(const struct scope *scope, enum question_kind kind,
		     const char *table, enum question_bounds *bounds);

#endif
