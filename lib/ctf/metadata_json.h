/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_METADATA_JSON_H
#define CT_CTF_METADATA_JSON_H

#include "base/json.h"
#include "ctf/schema.h"

/*
 * Metadata of CTF 2: JSON texts, each after a record separator (CTF2-SPEC-2.0rB,
 * RFC 7464). What the readers of fragments and those of field classes share.
 */
enum {
	METADATA_LARGE = 0x7f, /* begins a string of digits that jansson's integers cannot
				  hold */
};

#define METADATA_CLOCK "*" /* of a stamp, until its stream is known */

struct metadata_alias {
	char *name;
	struct field_class *class;
};

struct metadata {
	struct schema *schema;
	struct error *error;
	struct metadata_alias *alias;
	size_t aliases, alias_room;
	size_t nodes; /* of all field classes, so that no text makes too many */
	unsigned depth;
	size_t fragments;
	bool has_trace_class;
};

/* Always -1. */
int metadata_wrong(const struct metadata *metadata, const char *name, const char *wanted);

/* An integer that is not negative; left alone where it is not there. */
int metadata_natural(const struct metadata *metadata, const json_t *object,
		     const char *name, uint64_t *value);

/* A text, or NULL; -1 where it is something else. */
int metadata_string(const struct metadata *metadata, const json_t *object,
		    const char *name, const char **text);

/* That it is an object of known properties and without extensions. */
int metadata_check(const struct metadata *metadata, const json_t *object);

/* The field class that a text describes, or its alias. NULL with error. */
struct field_class *metadata_field(struct metadata *metadata, const json_t *json);

#endif
