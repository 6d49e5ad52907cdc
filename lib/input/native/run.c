/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "input/native/plan_private.h"

static bool stop(struct native_cursor *cursor, const char *why)
{
	cursor->why = why;
	return false;
}

static bool stop_beyond(struct native_cursor *cursor, const char *why)
{
	cursor->is_beyond = true;
	return stop(cursor, why);
}

static bool skip(struct native_cursor *cursor, uint64_t bits)
{
	if (bits > cursor->end - cursor->at)
		return stop_beyond(cursor, "it ends beyond its packet");
	cursor->at += bits;
	return true;
}

/* The packet begins with a byte, and every alignment counts from there. */
static bool align(struct native_cursor *cursor, uint64_t to)
{
	return skip(cursor, -cursor->at & (to - 1));
}

static uint64_t number(const struct native_cursor *cursor, const struct native_op *op)
{
	uint64_t value =
	    native_bits(cursor->bytes, cursor->at - op->bits, op->size, op->is_big);

	return op->is_signed ? native_sign(value, op->size) : value;
}

static bool string(struct native_cursor *cursor, const struct native_op *op)
{
	const unsigned char *begin = cursor->bytes.byte + cursor->at / 8;
	size_t most = (size_t)(cursor->end - cursor->at) / 8;
	const unsigned char *end = memchr(begin, '\0', most);

	if (!end)
		return stop_beyond(cursor, "its text ends beyond its packet");
	if (op->index >= 0)
		cursor->place[op->index] =
		    (struct native_place){cursor->at, (uint64_t)(end - begin)};
	cursor->at += 8 * ((uint64_t)(end - begin) + 1);
	return true;
}

static bool sequence(struct native_cursor *cursor, const struct native_op *op)
{
	uint64_t count = cursor->slot[op->index], bits;

	if (count == 0)
		return true;
	if (__builtin_mul_overflow(count - 1, op->bits, &bits) ||
	    __builtin_add_overflow(bits, op->count, &bits))
		return stop_beyond(cursor, "its sequence ends beyond its packet");
	return skip(cursor, bits);
}

/* The op of the option that the tag selects, or NULL. */
static const struct native_op *choose(const struct native_plan *plan,
				      struct native_cursor *cursor,
				      const struct native_op *op)
{
	const struct native_option *option = plan->option + op->bits;
	uint64_t flip = op->is_signed ? (uint64_t)1 << 63 : 0;
	uint64_t tag = cursor->slot[op->index] ^ flip;

	for (const struct native_option *end = option + op->count; option < end; option++)
		if (tag >= (option->first ^ flip) && tag <= (option->last ^ flip))
			return plan->op + option->target;
	stop(cursor, "its variant has no option for its tag");
	return NULL;
}

static bool run(const struct native_plan *plan, const struct native_op *op,
		struct native_cursor *cursor);

/* An element may be nothing at all, and so are sequences of those. */
static bool repeat(const struct native_plan *plan, const struct native_op *op,
		   struct native_cursor *cursor)
{
	uint64_t count = op->kind == OP_REPEAT ? op->count : cursor->slot[op->index];

	while (count--) {
		if (!cursor->budget--)
			return stop(cursor, "it has more elements than its packet bits");
		if (!run(plan, op + 1, cursor))
			return false;
	}
	return true;
}

static bool run(const struct native_plan *plan, const struct native_op *op,
		struct native_cursor *cursor)
{
	for (;; op++) {
		switch ((enum native_op_kind)op->kind) {
		case OP_END:
			return true;
		case OP_ALIGN:
			if (!align(cursor, op->bits))
				return false;
			break;
		case OP_SKIP:
			if (!skip(cursor, op->bits))
				return false;
			break;
		case OP_KEEP:
			cursor->slot[op->index] = number(cursor, op);
			break;
		case OP_CLOCK:
			cursor->clock = native_clock_after(cursor->clock,
							   number(cursor, op), op->size);
			break;
		case OP_ID:
			cursor->id = number(cursor, op);
			break;
		case OP_PLACE:
			cursor->place[op->index] =
			    (struct native_place){cursor->at - op->bits, op->count};
			break;
		case OP_COUNTED:
			cursor->place[op->index] =
			    (struct native_place){cursor->at, cursor->slot[op->count]};
			break;
		case OP_STRING:
			if (!string(cursor, op))
				return false;
			break;
		case OP_SEQUENCE:
			if (!sequence(cursor, op))
				return false;
			break;
		case OP_REPEAT:
		case OP_REPEAT_SLOT:
			if (!repeat(plan, op, cursor))
				return false;
			op = plan->op + op->target - 1;
			break;
		case OP_CHOOSE:
			op = choose(plan, cursor, op);
			if (!op)
				return false;
			op--;
			break;
		case OP_JUMP:
			op = plan->op + op->target - 1;
			break;
		}
	}
}

bool native_plan_run(const struct native_plan *plan, struct native_cursor *cursor)
{
	return run(plan, plan->op, cursor);
}
