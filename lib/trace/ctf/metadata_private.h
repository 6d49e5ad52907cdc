/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_METADATA_PRIVATE_H
#define CT_TRACE_CTF_METADATA_PRIVATE_H

#include "trace/ctf/metadata_ast.h"

/* Add a fragment of CTF 2 or a block of TSDL to the schema. */
void schema_add(const struct ast *fragment);

/*
 * Make the field class that a value describes or names. Return NULL with error, or if
 * `value` is NULL.
 */
struct field_class *schema_field(const struct ast *value);

/*
 * Make the field classes of some scopes of an object. Timestamps in them are of `clock`
 * unless it is NULL.
 */
void schema_scopes(const struct ast *object, struct field_class **of,
		   enum field_scope first, enum field_scope last, const char *clock);

enum byte_order schema_order(const struct ast *value);

#endif
