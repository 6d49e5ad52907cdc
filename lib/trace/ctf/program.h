/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_PROGRAM_H
#define CT_TRACE_CTF_PROGRAM_H

#include <endian.h>
#include <string.h>

#include "trace/schema.h"

/* Bytes that may be looked at, whatever a packet in them says of its size. */
struct ctf_bytes {
	const unsigned char *byte;
	uint64_t count;
};

static inline uint64_t ctf_sign(uint64_t value, unsigned size)
{
	return (uint64_t)((int64_t)(value << (64 - size)) >> (64 - size));
}

/*
 * A number of 1 to 64 bits. In little-endian order the first bit of a byte is
 * its least, in big-endian order its most significant one. All of its bytes
 * must be there.
 */
static inline uint64_t ctf_bits(struct ctf_bytes bytes, uint64_t at, unsigned size,
				bool big)
{
	uint64_t first = at / 8, value;
	unsigned shift = at % 8;
	unsigned char end[9];
	const unsigned char *byte = bytes.byte + first;

	if (bytes.count - first < sizeof(end)) {
		memset(end, 0, sizeof(end));
		memcpy(end, byte, bytes.count - first);
		byte = end;
	}
	memcpy(&value, byte, sizeof(value));
	if (big) {
		value = be64toh(value) << shift;
		if (shift)
			value |= (uint64_t)byte[8] >> (8 - shift);
		return value >> (64 - size);
	}
	value = le64toh(value) >> shift;
	if (shift)
		value |= (uint64_t)byte[8] << (64 - shift);
	return value & (UINT64_MAX >> (64 - size));
}

/*
 * A clock's value from the one before and a stamp of its low bits; when they are
 * lower than before, they turned over once.
 */
static inline uint64_t ctf_clock_after(uint64_t clock, uint64_t stamp, unsigned size)
{
	uint64_t mask = UINT64_MAX >> (64 - size);

	if (size < 64 && stamp < (clock & mask))
		clock += mask + 1;
	return (clock & ~mask) | stamp;
}

/*
 * How the fields of a scope are gone through, compiled once a class: fields of constant
 * size are one addition with a check, whatever their number; only strings, sequences,
 * variants and integers of variable size are looked at on the way. What is wanted of the
 * fields is noted where it stands, and is decoded by whoever wants it.
 */
enum ctf_op_kind {
	OP_END,
	OP_ALIGN, /* to `bits` */
	OP_SKIP,  /* `bits` */
	/* With the number that begins `bits` back; size 0: the LEB128 just read. */
	OP_VALUE,    /* it goes to slot `index` */
	OP_CLOCK,    /* it is a stamp */
	OP_UUID,     /* the packet's UUID begins `bits` back */
	OP_PLACE,    /* note what begins `bits` back, of `count` elements, at `index` */
	OP_COUNTED,  /* note what begins here, of as many elements as slot `count` says */
	OP_STRING,   /* up to its zero of `size` bytes; noted where index >= 0 */
	OP_LEB128,   /* noted where index >= 0 */
	OP_SEQUENCE, /* slot `index` times `bits`, but `count` for the last one */
	OP_REPEAT,   /* what follows up to its OP_END, as many times as slot `index` says,
			or `count` where index < 0; then `target` */
	OP_CHOOSE,   /* one of `count` options from `bits` on, by slot `index`; else
			`target`, if it is not 0 */
	OP_JUMP,     /* to `target` */
};

/* How a number is written. */
struct ctf_number {
	uint8_t size; /* bits */
	bool is_big, is_signed, is_reversed, is_boolean;
};

static inline struct ctf_number ctf_number_of(const struct field_class *class)
{
	return (struct ctf_number){(uint8_t) class->size, class->order == ORDER_BIG,
				   class->is_signed, class->is_reversed,
				   class->is_boolean};
}

/* The first bit is the last one. */
static inline uint64_t ctf_reverse(uint64_t value, unsigned size)
{
	uint64_t reversed = 0;

	for (unsigned i = 0; i < size; i++)
		reversed |= (value >> i & 1) << (size - 1 - i);
	return reversed;
}

/* The number of 1 to 64 bits that begins there. */
static inline uint64_t ctf_number_at(struct ctf_number number, struct ctf_bytes bytes,
				     uint64_t at)
{
	uint64_t value = ctf_bits(bytes, at, number.size, number.is_big);

	if (number.is_reversed)
		value = ctf_reverse(value, number.size);
	if (number.is_boolean)
		return value != 0;
	return number.is_signed ? ctf_sign(value, number.size) : value;
}

struct ctf_op {
	uint8_t kind;             /* enum ctf_op_kind */
	struct ctf_number number; /* size: also of a string's characters, in bytes */
	int32_t index;            /* slot or place */
	uint32_t target;          /* op */
	uint64_t bits, count;
};

struct ctf_option {
	uint64_t first, last; /* values of the selector */
	uint32_t target;
};

struct ctf_program {
	struct ctf_op *op;
	struct ctf_option *option;
	size_t ops, op_capacity, options, option_capacity;
};

struct ctf_place {
	uint64_t at;    /* bit of the packet, or CTF_ABSENT */
	uint64_t count; /* elements of a sequence, bytes of a string */
};

#define CTF_ABSENT UINT64_MAX

/* Where the way through a packet stands. */
struct ctf_cursor {
	struct ctf_bytes bytes; /* from the packet's begin on */
	uint64_t at, end;       /* bits of the packet, of its content */
	uint64_t *slot; /* of roles, and of values for later fields, see schema_resolve */
	struct ctf_place *place;
	uint64_t
	    budget; /* of elements one by one, so that none of no size go on for ever */
	uint64_t clock;  /* what the last stamp made of it */
	uint64_t leb128; /* the last one, of so many bits */
	unsigned leb128_size;
	unsigned has;    /* roles that were told, a bit each; of a UUID, its bit */
	const char *why; /* the way ended */
	bool is_beyond;  /* for it goes on behind the packet's end */
};

/*
 * A program for these trees, one after the other; those that are NULL are left out. The
 * trees are borrowed meanwhile.
 */
struct ctf_program *ctf_program_new(struct field_class *const *class, size_t count);

/* Go through. Places of what is not there are left alone. False with cursor->why. */
bool ctf_program_run(const struct ctf_program *program, struct ctf_cursor *cursor);

/* The LEB128 there, which has been read once already; moves behind it. */
uint64_t ctf_leb128(const struct field_class *class, struct ctf_bytes bytes,
		    uint64_t *at);

void ctf_program_free(struct ctf_program *program);

#endif
