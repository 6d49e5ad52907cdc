/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_NAMES_H
#define CT_TIMELINE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

/*
 * Names of tables and columns. Traces call their classes and fields what they
 * like, in any case, and two names that differ by case only are one to SQLite.
 */
struct name_set {
	struct texts texts; /* in small letters */
	struct intmap next; /* hash of a wanted name -> the number to try behind it */
};

/* Take a name; whether it was free. Letters A to Z count as a to z. */
bool name_take(struct name_set *set, const char *name);

/*
 * The wanted name, or with _2, _3, ... behind it where it is taken, and taken
 * now; the caller frees it. Bytes that are no UTF-8 become U+FFFD, an empty
 * name becomes `unnamed`. With `companion` (a suffix, or "") the name with
 * it must be free as well, and is taken, too.
 */
char *name_pick(struct name_set *set, const char *wanted, const char *companion);

/* The table of a class: its name, but not sqlite_..., which SQLite refuses; its view has
 * _v behind it. For free(). */
char *name_table(struct name_set *set, const char *class);

/* The name as SQL has it: in double quotes, those within doubled; for free(). */
char *name_quote(const char *name);

void name_clear(struct name_set *set);

#endif
