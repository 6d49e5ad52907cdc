/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SQLITE_PAGES_H
#define CT_TIMELINE_SQLITE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "timeline/row_bytes.h"

/*
 * A writer of tables and indexes in SQLite's file format
 * (https://www.sqlite.org/fileformat2.html), for rows that arrive in order of their keys.
 * Inserting them through SQLite takes several times as long (docs/benchmarks.md).
 *
 * - Every page is written once, in the order of the file, when it is full. Page 1 is that
 *   of a database without tables, so when SQLite opens the file, it regards all our pages
 *   as used and appends its own.
 * - A table or an index is a tree of pages (section 1.6), filled from left to right. When
 *   all rows have been added, all its pages but the root are written. SQLite then creates
 *   the same tables, empty, and our roots replace theirs. A detached tree writes its root
 *   itself, for an entry in sqlite_schema.
 * - The page that contains the byte at 1 GiB is never used: SQLite locks bytes there.
 */
#define SQLITE_PAGE_BYTES 8192

struct sqlite_pages;
struct sqlite_tree;

/* Write to an empty file. Takes ownership of the descriptor. Copies `place`, which is put
 * in front of errors. */
struct sqlite_pages *sqlite_pages_new(int fd, const char *place);

/* Return the number of the page after `number`. */
uint32_t sqlite_page_after(uint32_t number);

/* Begin the tree of the table or index with this name in the schema. The pages own it. */
struct sqlite_tree *sqlite_tree_new(struct sqlite_pages *pages, const char *name,
				    bool is_index);

/* Detach a tree: sqlite_pages_finish() writes its root, too, and sqlite_tree_root()
 * returns the number of that page. */
void sqlite_tree_detach(struct sqlite_tree *tree);
uint32_t sqlite_tree_root(const struct sqlite_tree *tree);

/*
 * Add a row to a table in ascending order of `id`, or a row to an index or a table
 * without rowid in ascending order of the key; `id` is then ignored. Return 0, or -1 with
 * error, after which the file is useless.
 */
int sqlite_tree_add(struct sqlite_tree *tree, int64_t id, const struct row_bytes *row,
		    struct error *error);

/* Write all pages, except the roots of trees that are not detached. Return 0, or -1 with
 * error. */
int sqlite_pages_finish(struct sqlite_pages *pages, struct error *error);

/* Set the page that SQLite gave to the root of a table or index. Names that are not those
 * of a tree are ignored. */
void sqlite_pages_set_root(struct sqlite_pages *pages, const char *name, uint32_t page);

/* Write the roots to these pages. Call after SQLite has closed the file. Return 0, or -1
 * with error. */
int sqlite_pages_write_roots(struct sqlite_pages *pages, struct error *error);

/* Close the file and free the pages with their trees. */
void sqlite_pages_free(struct sqlite_pages *pages);

#endif
