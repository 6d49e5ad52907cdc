/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCHEMA_H
#define CT_TIMELINE_SCHEMA_H

/*
 * What makes an SQLite database a timeline: these two numbers of its header,
 * which schema.sql sets. The version grows when a table that is there changes
 * its meaning.
 */
#define SCHEMA_APPLICATION_ID 1129600076 /* "CTTL" */
#define SCHEMA_VERSION        2

extern const char schema_tables[];  /* schema.sql: before the rows */
extern const char schema_classes[]; /* classes.sql: as columns of event classes */
extern const char schema_indexes[]; /* indexes.sql: after them */

#endif
