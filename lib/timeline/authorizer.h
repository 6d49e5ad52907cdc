/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_AUTHORIZER_H
#define CT_TIMELINE_AUTHORIZER_H

#include <stdbool.h>

struct sqlite3;

/*
 * From here on a statement, whoever wrote it, may only read, and call functions, of which
 * none reaches a file; while `keeps` is set it may also make temporary tables. An SQLite
 * code.
 */
int authorize_reading(struct sqlite3 *db, const bool *keeps);

#endif
