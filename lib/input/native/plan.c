/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/native/plan_private.h"

#define MIXED "byte orders may change within a byte"

/* More ops than that of one class are a trick. */
enum { MOST_OPS = 1 << 20 };

/* What is known of the place where a field will begin, before any packet is. */
struct known {
	uint64_t modulus, rest; /* the bit is `rest` modulo this power of two */
	enum byte_order order;  /* of the number before; ORDER_NATIVE: unknown */
};

/* As long as nothing of unknown size comes, fields are one run. */
struct making {
	struct native_plan *plan;
	struct known known;
	uint64_t run;           /* bits that are not skipped yet */
	struct native_op *wait; /* what looks back into the run, `bits` from its begin */
	size_t waits, wait_room;
	bool mixed;
	struct error *error;
};

static struct native_op *add(struct making *making, enum native_op_kind kind,
			     uint64_t bits)
{
	struct native_plan *plan = making->plan;
	struct native_op *op;

	plan->op = mem_grow(plan->op, plan->ops, &plan->op_room, sizeof(*plan->op));
	op = &plan->op[plan->ops++];
	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)kind;
	op->index = -1;
	op->bits = bits;
	return op;
}

/* End the run: skip it, then let all that wait look back. */
static void flush(struct making *making)
{
	if (making->run)
		add(making, OP_SKIP, making->run);
	for (size_t i = 0; i < making->waits; i++) {
		struct native_op *op = add(making, OP_END, 0);

		*op = making->wait[i];
		op->bits = making->run - op->bits;
	}
	making->run = 0;
	making->waits = 0;
}

static void forget(struct making *making, uint64_t modulus)
{
	if (modulus < making->known.modulus)
		making->known.modulus = modulus;
	making->known.rest %= making->known.modulus;
	making->known.order = ORDER_NATIVE;
}

static void align(struct making *making, unsigned to)
{
	uint64_t padding;

	if (to > making->known.modulus) {
		flush(making);
		add(making, OP_ALIGN, to);
		making->known.modulus = to;
		making->known.rest = 0;
		return;
	}
	padding = -making->known.rest & (to - 1);
	making->run += padding;
	making->known.rest = (making->known.rest + padding) % making->known.modulus;
}

static void advance(struct making *making, uint64_t bits)
{
	making->run += bits;
	making->known.rest = (making->known.rest + bits) % making->known.modulus;
}

static struct native_op *wait_for(struct making *making, enum native_op_kind kind)
{
	struct native_op *op;

	making->wait = mem_grow(making->wait, making->waits, &making->wait_room,
				sizeof(*making->wait));
	op = &making->wait[making->waits++];
	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)kind;
	op->bits = making->run;
	return op;
}

static void wait_for_number(struct making *making, enum native_op_kind kind,
			    const struct field_class *class)
{
	struct native_op *op = wait_for(making, kind);

	op->size = (uint8_t) class->size;
	op->is_big = class->order == ORDER_BIG;
	op->is_signed = class->is_signed;
	op->index = class->slot;
}

static void wait_for_place(struct making *making, const struct field_class *class)
{
	struct native_op *op;

	if (class->place < 0)
		return;
	op = wait_for(making, OP_PLACE);
	op->index = class->place;
	op->count = class->length;
}

static int make(struct making *making, const struct field_class *class);

/* Whether the next field begins with a byte, whatever the packet. */
static bool is_whole(const struct making *making)
{
	return making->known.modulus % 8 == 0 && making->known.rest % 8 == 0;
}

/* Where byte orders change within a byte, nobody can say which bits are meant. */
static int make_number(struct making *making, const struct field_class *class)
{
	align(making, class->align);
	if (making->mixed && !is_whole(making) && making->known.order != class->order)
		return error_set(making->error, MIXED);
	making->known.order = class->order;
	if (class->slot >= 0)
		wait_for_number(making, OP_KEEP, class);
	if (class->clock)
		wait_for_number(making, OP_CLOCK, class);
	if (class->is_id)
		wait_for_number(making, OP_ID, class);
	wait_for_place(making, class);
	advance(making, class->size);
	return 0;
}

static int make_string(struct making *making, const struct field_class *class)
{
	align(making, 8);
	flush(making);
	add(making, OP_STRING, 0)->index = class->place;
	making->known.modulus = 8;
	making->known.rest = 0;
	return 0;
}

static int make_structure(struct making *making, const struct field_class *class)
{
	align(making, class->align);
	for (size_t i = 0; i < class->members; i++)
		if (make(making, class->member[i].class))
			return -1;
	return 0;
}

/* Elements one by one; what is known of the place is known of no element. */
static int make_repeat(struct making *making, const struct field_class *class)
{
	uint32_t begin;
	struct native_op *op;

	flush(making);
	begin = (uint32_t)making->plan->ops;
	op = add(making, class->refers ? OP_REPEAT_SLOT : OP_REPEAT, 0);
	op->index = class->refers ? class->refers->slot : -1;
	op->count = class->length;
	forget(making, 1);
	if (make(making, class->element))
		return -1;
	flush(making);
	add(making, OP_END, 0);
	making->plan->op[begin].target = (uint32_t)making->plan->ops;
	forget(making, 1);
	return 0;
}

/* Whether all numbers in there are of one byte order, or of the one given. */
static bool is_of_order(const struct field_class *class, enum byte_order *order)
{
	if (class->type == FIELD_INTEGER || class->type == FIELD_REAL) {
		if (*order == ORDER_NATIVE)
			*order = class->order;
		return *order == class->order;
	}
	for (size_t i = 0; i < class->members; i++)
		if (!is_of_order(class->member[i].class, order))
			return false;
	return !class->element || is_of_order(class->element, order);
}

/*
 * Whether elements of constant size can stand here in a trace of mixed orders;
 * they are not looked at one by one.
 */
static int check_elements(const struct making *making, const struct field_class *element,
			  enum byte_order *order)
{
	*order = ORDER_NATIVE;
	if (!is_of_order(element, order) && making->mixed)
		return error_set(making->error, MIXED);
	if (making->mixed && !is_whole(making) && making->known.order != *order)
		return error_set(making->error, MIXED);
	return 0;
}

static int make_array(struct making *making, const struct field_class *class)
{
	enum byte_order order;
	uint64_t bits;

	align(making, class->align);
	wait_for_place(making, class);
	if (!field_is_constant(class, &bits))
		return make_repeat(making, class);
	if (check_elements(making, class->element, &order))
		return -1;
	making->known.order = order;
	advance(making, bits);
	return 0;
}

static int make_sequence(struct making *making, const struct field_class *class)
{
	enum byte_order order;
	struct native_op *op;
	uint64_t bits, stride;

	align(making, class->align);
	flush(making);
	if (class->place >= 0) {
		op = add(making, OP_COUNTED, 0);
		op->index = class->place;
		op->count = (uint64_t) class->refers->slot;
	}
	if (!field_is_constant(class->element, &bits) || bits == 0)
		return make_repeat(making, class);
	if (check_elements(making, class->element, &order))
		return -1;
	stride = field_stride(class->element, bits);
	op = add(making, OP_SEQUENCE, stride);
	op->index = class->refers->slot;
	op->count = bits;
	/* The greatest power of two that divides both. */
	if (stride | bits)
		forget(making, (stride | bits) & -(stride | bits));
	making->known.order = order;
	return 0;
}

/* Labels of one name may be several ranges, and the first that fits counts. */
static int add_options(struct making *making, const struct field_class *class,
		       size_t option)
{
	const struct field_class *tag = class->refers;
	struct native_plan *plan = making->plan;
	bool found = false;

	for (size_t i = 0; i < tag->labels; i++) {
		if (strcmp(tag->label[i].name, class->member[option].name) != 0)
			continue;
		plan->option = mem_grow(plan->option, plan->options, &plan->option_room,
					sizeof(*plan->option));
		plan->option[plan->options++] = (struct native_option){
		    tag->label[i].first, tag->label[i].last, (uint32_t)option};
		found = true;
	}
	if (found)
		return 0;
	return error_set(making->error, "option %s: want a label of its tag",
			 class->member[option].name);
}

/* What is known after either of two ways. */
static void meet(struct known *one, const struct known *other)
{
	if (other->modulus < one->modulus)
		one->modulus = other->modulus;
	while (one->modulus > 1 && one->rest % one->modulus != other->rest % one->modulus)
		one->modulus /= 2;
	one->rest %= one->modulus;
	if (one->order != other->order)
		one->order = ORDER_NATIVE;
}

/*
 * One option after the other, each with a jump behind all of them; until that
 * place is known, a jump's target is the jump before it.
 */
static int make_options(struct making *making, const struct field_class *class,
			uint32_t *begin)
{
	const struct known before = making->known;
	struct known after = before;
	struct native_op *op;
	uint32_t jump = UINT32_MAX;

	for (size_t i = 0; i < class->members; i++) {
		begin[i] = (uint32_t)making->plan->ops;
		making->known = before;
		if (make(making, class->member[i].class))
			return -1;
		flush(making);
		if (i == 0)
			after = making->known;
		meet(&after, &making->known);
		op = add(making, OP_JUMP, 0);
		op->target = jump;
		jump = (uint32_t)(op - making->plan->op);
	}
	while (jump != UINT32_MAX) {
		op = &making->plan->op[jump];
		jump = op->target;
		op->target = (uint32_t)making->plan->ops;
	}
	making->known = after;
	return 0;
}

static int make_variant(struct making *making, const struct field_class *class)
{
	struct native_plan *plan = making->plan;
	size_t first = plan->options, end;
	uint32_t *begin;
	struct native_op *op;
	int status;

	flush(making);
	for (size_t i = 0; i < class->members; i++)
		if (add_options(making, class, i))
			return -1;
	end = plan->options;
	op = add(making, OP_CHOOSE, first);
	op->index = class->refers->slot;
	op->is_signed = class->refers->is_signed;
	op->count = end - first;
	begin = mem_zalloc(class->members * sizeof(*begin) + 1);
	status = make_options(making, class, begin);
	for (size_t i = first; !status && i < end; i++)
		plan->option[i].target = begin[plan->option[i].target];
	free(begin);
	return status;
}

static int make(struct making *making, const struct field_class *class)
{
	static int (*const by_type[])(struct making *, const struct field_class *) = {
	    [FIELD_INTEGER] = make_number,    [FIELD_REAL] = make_number,
	    [FIELD_STRING] = make_string,     [FIELD_STRUCTURE] = make_structure,
	    [FIELD_VARIANT] = make_variant,   [FIELD_ARRAY] = make_array,
	    [FIELD_SEQUENCE] = make_sequence,
	};

	if (making->plan->ops > MOST_OPS)
		return error_set(making->error, "want fewer fields");
	return by_type[class->type](making, class);
}

struct native_plan *native_plan_new(struct field_class *const *class, size_t count,
				    bool mixed, struct error *error)
{
	struct making making = {.plan = mem_zalloc(sizeof(struct native_plan)),
				.known = {1, 0, ORDER_NATIVE},
				.mixed = mixed,
				.error = error};
	int status = 0;

	for (size_t i = 0; !status && i < count; i++)
		if (class[i])
			status = make(&making, class[i]);
	flush(&making);
	add(&making, OP_END, 0);
	free(making.wait);
	if (!status)
		return making.plan;
	native_plan_free(making.plan);
	return NULL;
}

/* The bits that are skipped from here on, noted or not; moves behind them. */
static uint64_t skipped(const struct native_op **op)
{
	uint64_t bits = 0;

	for (; (*op)->kind == OP_SKIP || (*op)->kind == OP_PLACE; (*op)++)
		if ((*op)->kind == OP_SKIP)
			bits += (*op)->bits;
	return bits;
}

bool native_plan_skips(const struct native_plan *plan, struct native_stretches *of)
{
	const struct native_op *op = plan->op;

	*of = (struct native_stretches){.align = 1};
	if (op->kind == OP_ALIGN)
		of->align = (uint32_t)(op++)->bits;
	of->bits = skipped(&op);
	while (op->kind == OP_STRING && of->strings < NATIVE_STRINGS) {
		op++;
		of->behind[of->strings++] = skipped(&op);
	}
	return op->kind == OP_END;
}

void native_plan_free(struct native_plan *plan)
{
	if (!plan)
		return;
	free(plan->op);
	free(plan->option);
	free(plan);
}
