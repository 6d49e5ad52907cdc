/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_TREE_H
#define CT_TIMELINE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "timeline/row_bytes.h"

/*
 * Pages of a database file, written one behind the other before SQLite opens it:
 * https://www.sqlite.org/fileformat2.html. Page 1 is that of a database without
 * tables; SQLite takes the pages behind it for ones in use, and puts its own behind
 * them.
 */
#define PAGE_BYTES 8192

struct pages;

/* Takes the descriptor of an empty file. `place` goes in front of errors; copied. */
struct pages *pages_new(int fd, const char *place);

/* The number of the page behind one, which is not always the next number. */
uint32_t page_after(uint32_t number);

/*
 * A table or an index as SQLite's file has it, a tree of pages, made of what comes
 * in order: https://www.sqlite.org/fileformat2.html#b_tree_pages. Each page is filled
 * and written once, when the next one begins. Only the root waits until SQLite has
 * said which page that is.
 */
struct tree;

/* That of a table or index, by its name in the schema. The pages own it. */
struct tree *tree_new(struct pages *pages, const char *name, bool is_index);

/*
 * Add a row of a table by ascending id, or a key of an index or a row of a table
 * without rowid (whose `id` counts for nothing) by ascending key. 0, or -1 with error: it
 * is of no use then.
 */
int tree_add(struct tree *tree, int64_t id, const struct row_bytes *row,
	     struct error *error);

/* Write all pages of all trees but their roots. 0, or -1 with error. */
int pages_finish(struct pages *pages, struct error *error);

/* SQLite's page for the root of that table or index, which may be none of ours. */
void pages_set_root(struct pages *pages, const char *name, uint32_t page);

/* Put the roots into their pages, once SQLite has closed the file. 0, or -1 with error.
 */
int pages_write_roots(struct pages *pages, struct error *error);

/* With the trees. Closes the file, as it is. */
void pages_free(struct pages *pages);

#endif
