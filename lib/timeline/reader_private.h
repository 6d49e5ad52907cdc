/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_READER_PRIVATE_H
#define CT_TIMELINE_READER_PRIVATE_H

#include <sqlite3.h>

/* For those who read a timeline without the detour over a row of cells. */
struct timeline_reader {
	sqlite3 *db;
	char *path;
};

#endif
