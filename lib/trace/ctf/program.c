/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A limit above any packet's size, so that sums never overflow. */
#define MOST_BITS ((uint64_t)1 << 48)

/* Knowledge of a field's position before any packet is read. */
struct position {
	uint64_t modulus, rest; /* position is `rest` modulo this power of two */
};

/*
 * A program that is being compiled. Consecutive fields of constant size form a run, which
 * is one op.
 */
struct builder {
	struct ctf_program *program;
	struct position position;
	size_t run_at; /* op that skips the run; the ops that look back into it follow */
	uint64_t run;  /* bits so far */
	bool has_run;
};

static struct ctf_op *add_op(struct builder *builder, enum ctf_op_kind kind,
			     uint64_t bits)
{
	struct ctf_program *program = builder->program;
	struct ctf_op *op = MEM_NEXT(program->op, program->ops, program->op_capacity);

	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)kind;
	op->index = -1;
	op->bits = bits;
	return op;
}

static void begin_run(struct builder *builder)
{
	if (builder->has_run)
		return;
	builder->run_at = (size_t)(add_op(builder, OP_SKIP, 0) - builder->program->op);
	builder->has_run = true;
}

/*
 * End the run. Its length is now known, and so is the distance of each look from its
 * end.
 */
static void end_run(struct builder *builder)
{
	struct ctf_op *op = builder->program->op;

	if (!builder->has_run)
		return;
	op[builder->run_at].bits = builder->run;
	for (size_t i = builder->run_at + 1; i < builder->program->ops; i++)
		op[i].bits = builder->run - op[i].bits;
	builder->run = 0;
	builder->has_run = false;
}

static void reduce_modulus(struct builder *builder, uint64_t modulus)
{
	if (modulus < builder->position.modulus)
		builder->position.modulus = modulus;
	builder->position.rest %= builder->position.modulus;
}

static void add_bits(struct builder *builder, uint64_t bits)
{
	if (!bits)
		return;
	if (builder->run > MOST_BITS)
		end_run(builder);
	begin_run(builder);
	builder->run += bits;
	builder->position.rest =
	    (builder->position.rest + bits) % builder->position.modulus;
}

static void align_next(struct builder *builder, unsigned to)
{
	if (to > builder->position.modulus) {
		end_run(builder);
		add_op(builder, OP_ALIGN, to);
		builder->position.modulus = to;
		builder->position.rest = 0;
		return;
	}
	add_bits(builder, -builder->position.rest & (to - 1));
}

/* Add an op that looks at the next field from the end of its run. */
static struct ctf_op *look_at_next(struct builder *builder, enum ctf_op_kind kind)
{
	begin_run(builder);
	return add_op(builder, kind, builder->run);
}

static void look_at_number(struct builder *builder, enum ctf_op_kind kind,
			   const struct field_class *class, int index)
{
	struct ctf_op *op = look_at_next(builder, kind);

	op->number = ctf_number_of(class);
	op->index = index;
}

/* Emit an op for each use of the next number: as a slot, a clock value or a role. */
static void look_at_uses(struct builder *builder, const struct field_class *class)
{
	for (size_t i = 0; i < class->slots; i++)
		look_at_number(builder, OP_VALUE, class, class->slot[i]);
	if (class->clock)
		look_at_number(builder, OP_CLOCK, class, -1);
	for (int role = 0; role < ROLES; role++)
		if (class->roles & 1u << role)
			look_at_number(builder, OP_VALUE, class, role);
}

static void look_at_place(struct builder *builder, const struct field_class *class)
{
	struct ctf_op *op;

	if (class->type == FIELD_ARRAY && class->roles & 1u << ROLE_UUID)
		look_at_next(builder, OP_UUID);
	if (class->place < 0)
		return;
	op = look_at_next(builder, OP_PLACE);
	op->index = class->place;
	op->count = class->length;
}

static void compile_field(struct builder *builder, const struct field_class *class);

static void compile_number(struct builder *builder, const struct field_class *class)
{
	align_next(builder, class->align);
	look_at_uses(builder, class);
	look_at_place(builder, class);
	add_bits(builder, class->size);
}

/* Add an op for bytes whose number is found by reading them. */
static struct ctf_op *compile_bytes(struct builder *builder,
				    const struct field_class *class,
				    enum ctf_op_kind kind)
{
	struct ctf_op *op;

	align_next(builder, 8);
	end_run(builder);
	op = add_op(builder, kind, 0);
	op->index = class->place;
	builder->position.modulus = 8;
	builder->position.rest = 0;
	return op;
}

static void compile_string(struct builder *builder, const struct field_class *class)
{
	compile_bytes(builder, class, OP_STRING)->number.size =
	    (uint8_t)text_unit(class->text);
}

static void compile_leb128(struct builder *builder, const struct field_class *class)
{
	compile_bytes(builder, class, OP_LEB128)->number.is_signed = class->is_signed;
	look_at_uses(builder, class);
	end_run(builder);
}

static void compile_structure(struct builder *builder, const struct field_class *class)
{
	align_next(builder, class->align);
	for (size_t i = 0; i < class->members; i++)
		compile_field(builder, class->member[i].class);
}

/* Compile elements that are read one by one; their positions are unknown. */
static void compile_repeat(struct builder *builder, const struct field_class *class)
{
	uint32_t begin;
	struct ctf_op *op;

	end_run(builder);
	begin = (uint32_t)builder->program->ops;
	op = add_op(builder, OP_REPEAT, 0);
	op->index = class->from;
	op->count = class->length;
	reduce_modulus(builder, 1);
	compile_field(builder, class->element);
	end_run(builder);
	add_op(builder, OP_END, 0);
	builder->program->op[begin].target = (uint32_t)builder->program->ops;
	reduce_modulus(builder, 1);
}

static bool array_bits(const struct field_class *class, uint64_t *bits);

/*
 * Add the bits of a field that starts aligned. Return false if they are not constant or
 * the field is used.
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
 * Compute the bits of an array of at least one element, if they are constant. Elements
 * without size do not count, because no packet limits their number.
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

static void compile_array(struct builder *builder, const struct field_class *class)
{
	uint64_t bits;

	align_next(builder, class->align);
	look_at_place(builder, class);
	if (!class->length)
		return;
	if (array_bits(class, &bits))
		add_bits(builder, bits);
	else
		compile_repeat(builder, class);
}

static void compile_sequence(struct builder *builder, const struct field_class *class)
{
	struct ctf_op *op;
	uint64_t bits = 0, stride;

	align_next(builder, class->align);
	end_run(builder);
	if (class->place >= 0) {
		op = add_op(builder, OP_COUNTED, 0);
		op->index = class->place;
		op->count = (uint64_t) class->from;
	}
	if (!add_constant(class->element, &bits) || !bits) {
		compile_repeat(builder, class);
		return;
	}
	stride = field_stride(class->element, bits);
	op = add_op(builder, OP_SEQUENCE, stride);
	op->index = class->from;
	op->count = bits;
	/* Largest power of two that divides both. */
	reduce_modulus(builder, (stride | bits) & -(stride | bits));
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
 * Compile one option after the other, each followed by a jump to the end of all. Until
 * the end is known, a jump's target is the previous jump.
 */
static void compile_options(struct builder *builder, const struct field_class *class,
			    uint32_t *begin)
{
	const struct position before = builder->position;
	struct ctf_op *op;
	uint32_t jump = UINT32_MAX;

	for (size_t i = 0; i < class->members; i++) {
		begin[i] = (uint32_t)builder->program->ops;
		builder->position = before;
		compile_field(builder, class->member[i].class);
		end_run(builder);
		op = add_op(builder, OP_JUMP, 0);
		op->target = jump;
		jump = (uint32_t)(op - builder->program->op);
	}
	while (jump != UINT32_MAX) {
		op = &builder->program->op[jump];
		jump = op->target;
		op->target = (uint32_t)builder->program->ops;
	}
	builder->position = (struct position){1, 0};
}

static void compile_variant(struct builder *builder, const struct field_class *class)
{
	struct ctf_program *program = builder->program;
	size_t first = program->options, end, choice;
	uint32_t *begin;
	struct ctf_op *op;

	end_run(builder);
	begin = mem_zalloc(class->members * sizeof(*begin) + 1);
	add_options(program, class);
	end = program->options;
	op = add_op(builder, OP_CHOOSE, first);
	op->index = class->from;
	op->number.is_signed = class->is_from_signed;
	op->count = end - first;
	choice = (size_t)(op - program->op);
	compile_options(builder, class, begin);
	for (size_t i = first; i < end; i++)
		program->option[i].target = begin[program->option[i].target];
	if (class->type == FIELD_OPTIONAL)
		program->op[choice].target = (uint32_t)program->ops;
	free(begin);
}

static void compile_field(struct builder *builder, const struct field_class *class)
{
	static void (*const by_type[])(struct builder *, const struct field_class *) = {
	    [FIELD_INTEGER] = compile_number,    [FIELD_REAL] = compile_number,
	    [FIELD_STRING] = compile_string,     [FIELD_STRUCTURE] = compile_structure,
	    [FIELD_VARIANT] = compile_variant,   [FIELD_ARRAY] = compile_array,
	    [FIELD_SEQUENCE] = compile_sequence, [FIELD_LEB128] = compile_leb128,
	    [FIELD_OPTIONAL] = compile_variant,
	};

	by_type[class->type](builder, class);
}

struct ctf_program *ctf_program_new(struct field_class *const *class, size_t count)
{
	struct builder builder = {.program = mem_zalloc(sizeof(struct ctf_program)),
				  .position = {1, 0}};

	for (size_t i = 0; i < count; i++)
		if (class[i])
			compile_field(&builder, class[i]);
	end_run(&builder);
	add_op(&builder, OP_END, 0);
	builder.program->op = mem_realloc(builder.program->op, builder.program->ops,
					  sizeof(*builder.program->op));
	return builder.program;
}

void ctf_program_free(struct ctf_program *program)
{
	if (!program)
		return;
	free(program->op);
	free(program->option);
	free(program);
}

static bool stop_program(struct ctf_cursor *cursor, const char *why)
{
	cursor->why = why;
	return false;
}

static bool stop_beyond(struct ctf_cursor *cursor, const char *why)
{
	cursor->is_beyond = true;
	return stop_program(cursor, why);
}

static bool advance_cursor(struct ctf_cursor *cursor, uint64_t bits)
{
	if (bits > cursor->end - cursor->at)
		return stop_beyond(cursor, "field extends past its packet");
	cursor->at += bits;
	return true;
}

static uint64_t read_op_number(const struct ctf_cursor *cursor, const struct ctf_op *op)
{
	if (op->number.size == 0)
		return cursor->leb128;
	return ctf_number_at(op->number, cursor->bytes, cursor->at - op->bits);
}

/*
 * Read an LEB128: seven bits a byte, least significant first; the last byte's top bit is
 * 0.
 */
static bool read_leb128(struct ctf_cursor *cursor, const struct ctf_op *op)
{
	uint64_t begin = cursor->at, value = 0, more = 0x80;
	unsigned size = 0;

	for (; more; size += 7) {
		uint64_t byte, rest;

		if (cursor->end - cursor->at < 8)
			return stop_beyond(cursor, "field extends past its packet");
		byte = cursor->bytes.byte[cursor->at / 8];
		cursor->at += 8;
		more = byte & 0x80;
		byte &= 0x7f;
		if (size < 64)
			value |= byte << size;
		/* Bits that do not fit must be copies of the sign. */
		rest = !op->number.is_signed ? (size == 63 ? byte & 1 : 0)
		       : value >> 63         ? 0x7f
					     : 0;
		if (size >= 63 && byte != rest)
			return stop_program(cursor, "integer of more than 64 bits");
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

	read_leb128(&cursor, &op);
	*at = cursor.at;
	return cursor.leb128;
}

static bool skip_text(struct ctf_cursor *cursor, const struct ctf_op *op)
{
	const char *begin = (const char *)cursor->bytes.byte + cursor->at / 8;
	size_t most = (size_t)(cursor->end - cursor->at) / 8, unit = op->number.size;
	size_t size = text_size(begin, most, op->number.size);

	if (size + unit > most)
		return stop_beyond(cursor, "string extends past its packet");
	if (op->index >= 0)
		cursor->place[op->index] = (struct ctf_place){cursor->at, size};
	cursor->at += 8 * (size + unit);
	return true;
}

static bool skip_sequence(struct ctf_cursor *cursor, const struct ctf_op *op)
{
	uint64_t count = cursor->slot[op->index], bits;

	if (count == 0)
		return true;
	if (__builtin_mul_overflow(count - 1, op->bits, &bits) ||
	    __builtin_add_overflow(bits, op->count, &bits))
		return stop_beyond(cursor, "sequence extends past its packet");
	return advance_cursor(cursor, bits);
}

/* Return the op of the option that the tag selects, or NULL. */
static const struct ctf_op *select_option(const struct ctf_program *program,
					  struct ctf_cursor *cursor,
					  const struct ctf_op *op)
{
	const struct ctf_option *option = program->option + op->bits;
	uint64_t flip = op->number.is_signed ? (uint64_t)1 << 63 : 0;
	uint64_t tag = cursor->slot[op->index] ^ flip;

	for (const struct ctf_option *end = option + op->count; option < end; option++)
		if (tag >= (option->first ^ flip) && tag <= (option->last ^ flip))
			return program->op + option->target;
	if (op->target)
		return program->op + op->target;
	stop_program(cursor, "variant has no option for its tag");
	return NULL;
}

static bool run_ops(const struct ctf_program *program, const struct ctf_op *op,
		    struct ctf_cursor *cursor);

/* The budget limits elements, because they and sequences of them may have no size. */
static bool run_repeat(const struct ctf_program *program, const struct ctf_op *op,
		       struct ctf_cursor *cursor)
{
	uint64_t count = op->index < 0 ? op->count : cursor->slot[op->index];

	while (count--) {
		if (!cursor->budget--)
			return stop_program(cursor,
					    "more elements than its packet has bits");
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
			/* Every alignment counts from the start of the packet. */
			if (!advance_cursor(cursor, -cursor->at & (op->bits - 1)))
				return false;
			break;
		case OP_SKIP:
			if (!advance_cursor(cursor, op->bits))
				return false;
			break;
		case OP_VALUE:
			if (op->index < ROLES)
				cursor->has |= 1u << op->index;
			cursor->slot[op->index] = read_op_number(cursor, op);
			break;
		case OP_CLOCK:
			cursor->clock = ctf_clock_after(
			    cursor->clock, read_op_number(cursor, op),
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
			if (!skip_text(cursor, op))
				return false;
			break;
		case OP_LEB128:
			if (!read_leb128(cursor, op))
				return false;
			break;
		case OP_SEQUENCE:
			if (!skip_sequence(cursor, op))
				return false;
			break;
		case OP_REPEAT:
			if (!run_repeat(program, op, cursor))
				return false;
			op = program->op + op->target - 1;
			break;
		case OP_CHOOSE:
			op = select_option(program, cursor, op);
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
