/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TSDL_FIELD_CLASS_H
#define CT_INPUT_TSDL_FIELD_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What metadata says of a field: how wide, how aligned, how made up. A tree;
 * every use of a type has a tree of its own, as what a variant or a sequence
 * refers to depends on where it stands. Sizes and alignments are in bits.
 */
enum field_type {
	FIELD_INTEGER, /* enumerations, too */
	FIELD_REAL,
	FIELD_STRING,
	FIELD_STRUCTURE,
	FIELD_VARIANT,
	FIELD_ARRAY,    /* of `length` elements */
	FIELD_SEQUENCE, /* of as many as a field before it says */
};

enum byte_order { ORDER_NATIVE, ORDER_LITTLE, ORDER_BIG };

/* Values with a label; ends included, in the bits of the enumeration's integer. */
struct field_label {
	char *name;
	uint64_t first, last;
};

struct field_member {
	char *name; /* as in the metadata, with leading underscores */
	struct field_class *class;
};

struct field_class {
	enum field_type type;
	enum byte_order order;             /* of numbers */
	unsigned size;                     /* of numbers */
	unsigned align;                    /* a power of two */
	bool is_signed, is_label, is_text; /* an enumeration; encoded characters */
	char *clock;                       /* that the integer is a stamp of, or NULL */
	struct field_label *label;
	size_t labels, label_room;
	struct field_member *member; /* of a structure; options of a variant */
	size_t members, member_room;
	struct field_class *element; /* of array and sequence */
	uint64_t length;
	char *path; /* of a sequence's length or a variant's tag; NULL: none yet */

	/* Set by field_resolve. */
	const struct field_class *refers; /* to the length or the tag */
	int slot; /* where the integer's value is kept for others, or -1 */

	/* Set by whoever makes a plan. */
	int place;  /* where it is noted that the field stands, or -1 */
	bool is_id; /* of the event's class */
};

struct field_class *field_new(enum field_type type);

/* All of the tree. Adds the nodes to *count; NULL when that passes `most`. */
struct field_class *field_copy(const struct field_class *class, size_t *count,
			       size_t most);

void field_add_label(struct field_class *class, const char *name, uint64_t first,
		     uint64_t last);

/* Takes the member's class; copies the name. */
void field_add_member(struct field_class *class, const char *name,
		      struct field_class *member);

const struct field_class *field_member(const struct field_class *class, const char *name);

/*
 * A member's name as readers give it, part of the name: LTTng puts an underscore
 * before each, and one more before what it adds itself, a sequence's length.
 */
const char *field_name(const char *name);

/* Whether an array or a sequence is text: babeltrace2 makes one string of it. */
bool field_is_string(const struct field_class *class);

/*
 * Whether the field takes the same bits wherever it begins aligned, and how
 * many. A size that no packet has counts as none, and so does an array of
 * elements of no size, for no packet bounds their number.
 */
bool field_is_constant(const struct field_class *class, uint64_t *bits);

/* From the begin of an element of so many bits to that of the next. */
uint64_t field_stride(const struct field_class *element, uint64_t bits);

void field_free(struct field_class *class);

#endif
