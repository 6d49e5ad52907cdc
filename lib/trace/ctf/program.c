/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* No packet has as many; so many at once never overflow. */
#define MOST_BITS ((uint64_t)1 << 48)

/* What is known of the place where a field will begin, before any packet is. */
struct known {
	uint64_t modulus, rest; /* the bit is `rest` modulo this power of two */
};

/* As long as nothing of unknown size comes, fields are one run. */
struct making {
	struct ctf_program *program;
	struct known known;
	size_t run_at; /* the op that skips the run; what looks back into it follows */
	uint64_t run;  /* bits so far */
	bool has_run;
};

static struct ctf_op *add(struct making *making, enum ctf_op_kind kind, uint64_t bits)
{
	struct ctf_program *program = making->program;
	struct ctf_op *op = MEM_NEXT(program->op, program->ops, program->op_capacity);

	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)kind;
	op->index = -1;
	op->bits = bits;
	return op;
}

static void begin_run(struct making *making)
{
	if (making->has_run)
		return;
	making->run_at = (size_t)(add(making, OP_SKIP, 0) - making->program->op);
	making->has_run = true;
}

/* End the run: its length is known, and so is how far back from its end others look. */
static void flush(struct making *making)
{
	struct ctf_op *op = making->program->op;

	if (!making->has_run)
		return;
	op[making->run_at].bits = making->run;
	for (size_t i = making->run_at + 1; i < making->program->ops; i++)
		op[i].bits = making->run - op[i].bits;
	making->run = 0;
	making->has_run = false;
}

static void forget(struct making *making, uint64_t modulus)
{
	if (modulus < making->known.modulus)
		making->known.modulus = modulus;
	making->known.rest %= making->known.modulus;
}

static void advance(struct making *making, uint64_t bits)
{
	if (!bits)
		return;
	if (making->run > MOST_BITS)
		flush(making);
	begin_run(making);
	making->run += bits;
	making->known.rest = (making->known.rest + bits) % making->known.modulus;
}

static void align(struct making *making, unsigned to)
{
	if (to > making->known.modulus) {
		flush(making);
		add(making, OP_ALIGN, to);
		making->known.modulus = to;
		making->known.rest = 0;
		return;
	}
	advance(making, -making->known.rest & (to - 1));
}

/* What looks at the field that comes next, from behind the run. */
static struct ctf_op *look_at_next(struct making *making, enum ctf_op_kind kind)
{
	begin_run(making);
	return add(making, kind, making->run);
}

static void look_at_number(struct making *making, enum ctf_op_kind kind,
			   const struct field_class *class, int index)
{
	struct ctf_op *op = look_at_next(making, kind);

	op->number = ctf_number_of(class);
	op->index = index;
}

/* Whoever else wants to know the number that comes next. */
static void look_at_users(struct making *making, const struct field_class *class)
{
	for (size_t i = 0; i < class->slots; i++)
		look_at_number(making, OP_VALUE, class, class->slot[i]);
	if (class->clock)
		look_at_number(making, OP_CLOCK, class, -1);
	for (int role = 0; role < ROLES; role++)
		if (class->roles & 1u << role)
			look_at_number(making, OP_VALUE, class, role);
}

static void look_at_place(struct making *making, const struct field_class *class)
{
	struct ctf_op *op;

	if (class->type == FIELD_ARRAY && class->roles & 1u << ROLE_UUID)
		look_at_next(making, OP_UUID);
	if (class->place < 0)
		return;
	op = look_at_next(making, OP_PLACE);
	op->index = class->place;
	op->count = class->length;
}

static void make(struct making *making, const struct field_class *class);

static void make_number(struct making *making, const struct field_class *class)
{
	align(making, class->align);
	look_at_users(making, class);
	look_at_place(making, class);
	advance(making, class->size);
}

/* Bytes of a kind that begins with one and ends somewhere. */
static struct ctf_op *make_bytes(struct making *making, const struct field_class *class,
				 enum ctf_op_kind kind)
{
	struct ctf_op *op;

	align(making, 8);
	flush(making);
	op = add(making, kind, 0);
	op->index = class->place;
	making->known.modulus = 8;
	making->known.rest = 0;
	return op;
}

static void make_string(struct making *making, const struct field_class *class)
{
	make_bytes(making, class, OP_STRING)->number.size =
	    (uint8_t)text_unit(class->text);
}

static void make_leb128(struct making *making, const struct field_class *class)
{
	make_bytes(making, class, OP_LEB128)->number.is_signed = class->is_signed;
	look_at_users(making, class);
	flush(making);
}

static void make_structure(struct making *making, const struct field_class *class)
{
	align(making, class->align);
	for (size_t i = 0; i < class->members; i++)
		make(making, class->member[i].class);
}

/* Elements one by one; what is known of the place is known of no element. */
static void make_repeat(struct making *making, const struct field_class *class)
{
	uint32_t begin;
	struct ctf_op *op;

	flush(making);
	begin = (uint32_t)making->program->ops;
	op = add(making, OP_REPEAT, 0);
	op->index = class->from;
	op->count = class->length;
	forget(making, 1);
	make(making, class->element);
	flush(making);
	add(making, OP_END, 0);
	making->program->op[begin].target = (uint32_t)making->program->ops;
	forget(making, 1);
}

static bool array_bits(const struct field_class *class, uint64_t *bits);

/*
 * Add the bits that a field takes wherever it begins aligned. False where they are not
 * constant, or somebody looks at the field.
 */
static bool add_constant(const struct field_class *class, uint64_t *bits)
{
	uint64_t array = 0;

	if (class->slots || class->clock || class->roles || class->place >= 0)
		return false;
	*bits = field_stride(class, *bits);
	switch (class->type) {
	case FIELD_INTEGER:
	case FIELD_REAL:
		*bits += class->size;
		break;
	case FIELD_STRUCTURE:
		for (size_t i = 0; i < class->members; i++)
			if (!add_constant(class->member[i].class, bits))
				return false;
		break;
	case FIELD_ARRAY:
		if (class->length && !array_bits(class, &array))
			return false;
		*bits += array;
		break;
	default:
		return false;
	}
	return *bits <= MOST_BITS;
}

/*
 * The bits of an array of at least one element, if these are constant; none of those is
 * an element of no size, as no packet bounds their number.
 */
static bool array_bits(const struct field_class *class, uint64_t *bits)
{
	uint64_t element = 0, stride, all;

	if (!add_constant(class->element, &element) || !element)
		return false;
	stride = field_stride(class->element, element);
	if (__builtin_mul_overflow(class->length, stride, &all) || all > MOST_BITS)
		return false;
	*bits = all - stride + element;
	return true;
}

static void make_array(struct making *making, const struct field_class *class)
{
	uint64_t bits;

	align(making, class->align);
	look_at_place(making, class);
	if (!class->length)
		return;
	if (array_bits(class, &bits))
		advance(making, bits);
	else
		make_repeat(making, class);
}

static void make_sequence(struct making *making, const struct field_class *class)
{
	struct ctf_op *op;
	uint64_t bits = 0, stride;

	align(making, class->align);
	flush(making);
	if (class->place >= 0) {
		op = add(making, OP_COUNTED, 0);
		op->index = class->place;
		op->count = (uint64_t) class->from;
	}
	if (!add_constant(class->element, &bits) || !bits) {
		make_repeat(making, class);
		return;
	}
	stride = field_stride(class->element, bits);
	op = add(making, OP_SEQUENCE, stride);
	op->index = class->from;
	op->count = bits;
	/* The greatest power of two that divides both. */
	forget(making, (stride | bits) & -(stride | bits));
}

static void add_options(struct ctf_program *program, const struct field_class *class)
{
	for (size_t i = 0; i < class->members; i++)
		for (size_t k = 0; k < class->member[i].ranges; k++) {
			const struct field_range *range = &class->member[i].range[k];

			*MEM_NEXT(program->option, program->options,
				  program->option_capacity) =
			    (struct ctf_option){range->first, range->last, (uint32_t)i};
		}
}

/*
 * One option after the other, each with a jump behind all of them; until that
 * place is known, a jump's target is the jump before it.
 */
static void make_options(struct making *making, const struct field_class *class,
			 uint32_t *begin)
{
	const struct known before = making->known;
	struct ctf_op *op;
	uint32_t jump = UINT32_MAX;

	for (size_t i = 0; i < class->members; i++) {
		begin[i] = (uint32_t)making->program->ops;
		making->known = before;
		make(making, class->member[i].class);
		flush(making);
		op = add(making, OP_JUMP, 0);
		op->target = jump;
		jump = (uint32_t)(op - making->program->op);
	}
	while (jump != UINT32_MAX) {
		op = &making->program->op[jump];
		jump = op->target;
		op->target = (uint32_t)making->program->ops;
	}
	making->known = (struct known){1, 0};
}

static void make_variant(struct making *making, const struct field_class *class)
{
	struct ctf_program *program = making->program;
	size_t first = program->options, end, choice;
	uint32_t *begin;
	struct ctf_op *op;

	flush(making);
	begin = mem_zalloc(class->members * sizeof(*begin) + 1);
	add_options(program, class);
	end = program->options;
	op = add(making, OP_CHOOSE, first);
	op->index = class->from;
	op->number.is_signed = class->is_from_signed;
	op->count = end - first;
	choice = (size_t)(op - program->op);
	make_options(making, class, begin);
	for (size_t i = first; i < end; i++)
		program->option[i].target = begin[program->option[i].target];
	if (class->type == FIELD_OPTIONAL)
		program->op[choice].target = (uint32_t)program->ops;
	free(begin);
}

static void make(struct making *making, const struct field_class *class)
{
	static void (*const by_type[])(struct making *, const struct field_class *) = {
	    [FIELD_INTEGER] = make_number,    [FIELD_REAL] = make_number,
	    [FIELD_STRING] = make_string,     [FIELD_STRUCTURE] = make_structure,
	    [FIELD_VARIANT] = make_variant,   [FIELD_ARRAY] = make_array,
	    [FIELD_SEQUENCE] = make_sequence, [FIELD_LEB128] = make_leb128,
	    [FIELD_OPTIONAL] = make_variant,
	};

	by_type[class->type](making, class);
}

struct ctf_program *ctf_program_new(struct field_class *const *class, size_t count)
{
	struct making making = {.program = mem_zalloc(sizeof(struct ctf_program)),
				.known = {1, 0}};

	for (size_t i = 0; i < count; i++)
		if (class[i])
			make(&making, class[i]);
	flush(&making);
	add(&making, OP_END, 0);
	making.program->op = mem_realloc(making.program->op, making.program->ops,
					 sizeof(*making.program->op));
	return making.program;
}

void ctf_program_free(struct ctf_program *program)
{
	if (!program)
		return;
	free(program->op);
	free(program->option);
	free(program);
}

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

static bool run_ops(const struct ctf_program *program, const struct ctf_op *op,
		    struct ctf_cursor *cursor);

/* An element may be nothing at all, and so are sequences of those. */
static bool repeat(const struct ctf_program *program, const struct ctf_op *op,
		   struct ctf_cursor *cursor)
{
	uint64_t count = op->index < 0 ? op->count : cursor->slot[op->index];

	while (count--) {
		if (!cursor->budget--)
			return stop(cursor, "it has more elements than its packet bits");
		if (!run_ops(program, op + 1, cursor))
			return false;
	}
	return true;
}

static bool run_ops(const struct ctf_program *program, const struct ctf_op *op,
		    struct ctf_cursor *cursor)
{
	for (;; op++) {
		switch ((enum ctf_op_kind)op->kind) {
		case OP_END:
			return true;
		case OP_ALIGN:
			/* Every alignment counts from the packet's begin. */
			if (!skip(cursor, -cursor->at & (op->bits - 1)))
				return false;
			break;
		case OP_SKIP:
			if (!skip(cursor, op->bits))
				return false;
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
	return run_ops(program, program->op, cursor);
}
