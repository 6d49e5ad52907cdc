/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_HEADER_H
#define CT_TIMELINE_HEADER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * What a file is by its first 100 bytes, the header of an SQLite database
 * (sqlite.org/fileformat.html, 1.3). It is asked before SQLite is, which would
 * take an empty file for a database, and which waits for what is no file.
 */
enum header {
	HEADER_TIMELINE,
	HEADER_OTHER_VERSION, /* a timeline, but of another SCHEMA_VERSION */
	HEADER_DATABASE,      /* SQLite's, but no timeline */
	HEADER_EMPTY,
	HEADER_FOREIGN,    /* something else */
	HEADER_NO_FILE,    /* a directory, a device, ... */
	HEADER_UNREADABLE, /* not there, say, or not ours to read: see errno */
};

/* Links are followed. `version` gets the user_version of a timeline. */
enum header header_read(const char *path, unsigned *version);

/*
 * Whether a timeline may be written to a path: nothing is there, or with `force` a
 * timeline or an empty file, which can be made again. Links, devices and pipes never are.
 * 0, or -1 with error.
 */
int header_check_target(const char *path, bool force, struct error *error);

#endif
