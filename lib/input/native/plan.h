/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_PLAN_H
#define CT_INPUT_NATIVE_PLAN_H

#include "base/error.h"
#include "input/native/bits.h"
#include "input/tsdl/field_class.h"

/*
 * How the fields of a scope are walked, compiled once a class: fields of
 * constant size are one addition with a check, whatever their number; only
 * strings, sequences and variants are looked at on the way. What is wanted of
 * the fields is noted where it stands, and is decoded by whoever wants it.
 */
struct native_plan;

struct native_place {
	uint64_t at;    /* bit of the packet, or NATIVE_ABSENT */
	uint64_t count; /* elements of a sequence, bytes of a string */
};

#define NATIVE_ABSENT UINT64_MAX

/* Where a walk through a packet stands. */
struct native_cursor {
	struct native_bytes bytes; /* from the packet's begin on */
	uint64_t at, end;          /* bits of the packet, of its content */
	uint64_t *slot;            /* values kept for later fields, see field_resolve */
	struct native_place *place;
	uint64_t
	    budget; /* of elements one by one, so that none of no size go on for ever */
	uint64_t clock;  /* what the last stamp made of it */
	uint64_t id;     /* of the event class, where the fields say it */
	const char *why; /* the walk stopped */
	bool is_beyond;  /* for it goes on behind the packet's end */
};

/*
 * A plan for these trees, one after the other; those that are NULL are left
 * out. NULL with error where fields cannot be walked. `mixed` as field_resolve
 * has it. The trees are borrowed while the plan is made.
 */
struct native_plan *native_plan_new(struct field_class *const *class, size_t count,
				    bool mixed, struct error *error);

/* Walk. Places of what is not there are left alone. False with cursor->why. */
bool native_plan_run(const struct native_plan *plan, struct native_cursor *cursor);

/*
 * What a plan does if it only skips and notes, wherever it begins: padding up to `align`,
 * so many bits, and then a few times a string, which begins with a byte, and so many
 * bits.
 */
enum { NATIVE_STRINGS = 3 };

struct native_stretches {
	uint64_t bits;
	uint32_t align, strings;
	uint64_t behind[NATIVE_STRINGS]; /* bits after each string */
};

/* False where it does more than that. */
bool native_plan_skips(const struct native_plan *plan, struct native_stretches *of);

void native_plan_free(struct native_plan *plan);

#endif
