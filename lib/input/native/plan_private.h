/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_PLAN_PRIVATE_H
#define CT_INPUT_NATIVE_PLAN_PRIVATE_H

#include "input/native/plan.h"

/* What a plan is made of, for those who make it and who walk it. */
enum native_op_kind {
	OP_END,
	OP_ALIGN,       /* to `bits` */
	OP_SKIP,        /* `bits` */
	OP_KEEP,        /* the number that begins `bits` back, in slot `index` */
	OP_CLOCK,       /* it is a stamp */
	OP_ID,          /* it is the id of the event class */
	OP_PLACE,       /* note what begins `bits` back, of `count` elements */
	OP_COUNTED,     /* note what begins here, of as many elements as slot says */
	OP_STRING,      /* up to its zero; noted where place >= 0 */
	OP_SEQUENCE,    /* slot times `bits`, but `count` for the last one */
	OP_REPEAT,      /* what follows up to its OP_END, `count` times; then `target` */
	OP_REPEAT_SLOT, /* the same, as many times as slot says */
	OP_CHOOSE,      /* one of `count` options from `bits` on, by the slot */
	OP_JUMP,        /* to `target` */
};

struct native_op {
	uint8_t kind; /* enum native_op_kind */
	uint8_t size; /* of a number */
	bool is_big, is_signed;
	int32_t index;   /* slot or place */
	uint32_t target; /* op */
	uint64_t bits, count;
};

struct native_option {
	uint64_t first, last; /* values of the tag */
	uint32_t target;
};

struct native_plan {
	struct native_op *op;
	struct native_option *option;
	size_t ops, op_room, options, option_room;
};

#endif
