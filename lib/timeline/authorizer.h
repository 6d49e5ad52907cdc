/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_AUTHORIZER_H
#define CT_TIMELINE_AUTHORIZER_H

#include <stdbool.h>

struct sqlite3;

/*
 * Restrict all further statements to reading, and to functions that do not access files.
 * While `*keeps` is true, they may also make temporary tables; it must outlive the
 * connection. Return an SQLite code.
 */
int authorize_reading(struct sqlite3 *db, const bool *keeps);

#endif
