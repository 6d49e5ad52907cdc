/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_COLUMNS_PRIVATE_H
#define CT_INPUT_CTF_COLUMNS_PRIVATE_H

#include "base/intmap.h"
#include "input/ctf/columns.h"
#include "input/ctf/text.h"

/* The tree of an event class, for those who make it and who walk it. */
enum node_kind {
	NODE_STRUCTURE,
	NODE_VARIANT,
	NODE_OPTION,
	NODE_UNSIGNED,
	NODE_SIGNED,
	NODE_UNSIGNED_LABEL,
	NODE_SIGNED_LABEL,
	NODE_BOOL,
	NODE_BITS,
	NODE_SINGLE,
	NODE_DOUBLE,
	NODE_STRING,
	NODE_UNSIGNED_BYTES,
	NODE_SIGNED_BYTES,
	NODE_JSON,
};

struct node {
	enum node_kind kind;
	uint64_t index;    /* among the members of the node above */
	size_t first, end; /* cells of it and of what is below */
	struct node *child;
	size_t children;
	struct intmap labels; /* value -> address of the label, or 0 */
	struct ctf_text text; /* of the cell */
};

enum { PARTS = 3 }; /* payload, specific and common context */

struct ctf_columns {
	struct node part[PARTS];
	bool has[PARTS];
	struct cell *cell;
};

#endif
