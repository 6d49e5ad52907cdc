/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/program.h"

#include <string.h>

static bool stop(struct ctf_cursor *cursor, const char *why)
{
	cursor->why = why;
	return false;
}

static bool stop_beyond(struct ctf_cursor *cursor, const char *why)
{
	cursor->is_beyond = true;
	return stop(cursor, why);
}

static bool skip(struct ctf_cursor *cursor, uint64_t bits)
{
	if (bits > cursor->end - cursor->at)
		return stop_beyond(cursor, "it ends beyond its packet");
	cursor->at += bits;
	return true;
}

/* The packet begins with a byte, and every alignment counts from there. */
static bool align(struct ctf_cursor *cursor, uint64_t to)
{
	return skip(cursor, -cursor->at & (to - 1));
}

/* The first bit is the last one. */
static uint64_t reverse(uint64_t value, unsigned size)
{
	uint64_t reversed = 0;

	for (unsigned i = 0; i < size; i++)
		reversed |= (value >> i & 1) << (size - 1 - i);
	return reversed;
}

uint64_t ctf_number_at(struct ctf_number number, struct ctf_bytes bytes, uint64_t at)
{
	uint64_t value = ctf_bits(bytes, at, number.size, number.is_big);

	if (number.is_reversed)
		value = reverse(value, number.size);
	if (number.is_boolean)
		return value != 0;
	return number.is_signed ? ctf_sign(value, number.size) : value;
}

static uint64_t number(const struct ctf_cursor *cursor, const struct ctf_op *op)
{
	if (op->number.size == 0)
		return cursor->leb128;
	return ctf_number_at(op->number, cursor->bytes, cursor->at - op->bits);
}

/* Seven bits a byte, the least first; the last byte has no highest bit. */
static bool leb128(struct ctf_cursor *cursor, const struct ctf_op *op)
{
	uint64_t begin = cursor->at, value = 0, more = 0x80;
	unsigned size = 0;

	for (; more; size += 7) {
		uint64_t byte, rest;

		if (cursor->end - cursor->at < 8)
			return stop_beyond(cursor, "it ends beyond its packet");
		byte = cursor->bytes.byte[cursor->at / 8];
		cursor->at += 8;
		more = byte & 0x80;
		byte &= 0x7f;
		if (size < 64)
			value |= byte << size;
		/* Of what does not fit, only copies of the sign. */
		rest = !op->number.is_signed ? (size == 63 ? byte & 1 : 0)
		       : value >> 63         ? 0x7f
					     : 0;
		if (size >= 63 && byte != rest)
			return stop(cursor, "its integer has more than 64 bits");
	}
	if (op->number.is_signed && size < 64)
		value = ctf_sign(value, size);
	cursor->leb128 = value;
	cursor->leb128_size = size < 64 ? size : 64;
	if (op->index >= 0)
		cursor->place[op->index] =
		    (struct ctf_place){begin, (cursor->at - begin) / 8};
	return true;
}

uint64_t ctf_leb128(const struct field_class *class, struct ctf_bytes bytes, uint64_t *at)
{
	const struct ctf_op op = {.number = ctf_number_of(class), .index = -1};
	struct ctf_cursor cursor = {.bytes = bytes, .at = *at, .end = 8 * bytes.count};

	leb128(&cursor, &op);
	*at = cursor.at;
	return cursor.leb128;
}

static bool string(struct ctf_cursor *cursor, const struct ctf_op *op)
{
	const char *begin = (const char *)cursor->bytes.byte + cursor->at / 8;
	size_t most = (size_t)(cursor->end - cursor->at) / 8, unit = op->number.size;
	size_t size = text_size(begin, most, op->number.size);

	if (size + unit > most)
		return stop_beyond(cursor, "its text ends beyond its packet");
	if (op->index >= 0)
		cursor->place[op->index] = (struct ctf_place){cursor->at, size};
	cursor->at += 8 * (size + unit);
	return true;
}

static bool sequence(struct ctf_cursor *cursor, const struct ctf_op *op)
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
static const struct ctf_op *choose(const struct ctf_program *program,
				   struct ctf_cursor *cursor, const struct ctf_op *op)
{
	const struct ctf_option *option = program->option + op->bits;
	uint64_t flip = op->number.is_signed ? (uint64_t)1 << 63 : 0;
	uint64_t tag = cursor->slot[op->index] ^ flip;

	for (const struct ctf_option *end = option + op->count; option < end; option++)
		if (tag >= (option->first ^ flip) && tag <= (option->last ^ flip))
			return program->op + option->target;
	if (op->target)
		return program->op + op->target;
	stop(cursor, "its variant has no option for its tag");
	return NULL;
}

static bool run(const struct ctf_program *program, const struct ctf_op *op,
		struct ctf_cursor *cursor);

/* An element may be nothing at all, and so are sequences of those. */
static bool repeat(const struct ctf_program *program, const struct ctf_op *op,
		   struct ctf_cursor *cursor)
{
	uint64_t count = op->index < 0 ? op->count : cursor->slot[op->index];

	while (count--) {
		if (!cursor->budget--)
			return stop(cursor, "it has more elements than its packet bits");
		if (!run(program, op + 1, cursor))
			return false;
	}
	return true;
}

static bool run(const struct ctf_program *program, const struct ctf_op *op,
		struct ctf_cursor *cursor)
{
	for (;; op++) {
		switch ((enum ctf_op_kind)op->kind) {
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
		case OP_ORDER:
			/* Then nobody can say which bits are meant. */
			if (cursor->at % 8 && cursor->order != op->index)
				return stop(cursor, "byte orders change within a byte");
			cursor->order = op->index;
			break;
		case OP_VALUE:
			if (op->index < ROLES)
				cursor->has |= 1u << op->index;
			cursor->slot[op->index] = number(cursor, op);
			break;
		case OP_CLOCK:
			cursor->clock = ctf_clock_after(
			    cursor->clock, number(cursor, op),
			    op->number.size ? op->number.size : cursor->leb128_size);
			break;
		case OP_UUID:
			cursor->has |= 1u << ROLE_UUID;
			cursor->slot[ROLE_UUID] = cursor->at - op->bits;
			break;
		case OP_PLACE:
			cursor->place[op->index] =
			    (struct ctf_place){cursor->at - op->bits, op->count};
			break;
		case OP_COUNTED:
			cursor->place[op->index] =
			    (struct ctf_place){cursor->at, cursor->slot[op->count]};
			break;
		case OP_STRING:
			if (!string(cursor, op))
				return false;
			break;
		case OP_LEB128:
			if (!leb128(cursor, op))
				return false;
			break;
		case OP_SEQUENCE:
			if (!sequence(cursor, op))
				return false;
			break;
		case OP_REPEAT:
			if (!repeat(program, op, cursor))
				return false;
			op = program->op + op->target - 1;
			break;
		case OP_CHOOSE:
			op = choose(program, cursor, op);
			if (!op)
				return false;
			op--;
			break;
		case OP_JUMP:
			op = program->op + op->target - 1;
			break;
		}
	}
}

bool ctf_program_run(const struct ctf_program *program, struct ctf_cursor *cursor)
{
	return run(program, program->op, cursor);
}
