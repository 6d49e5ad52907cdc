/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_PROGRAM_H
#define CT_TRACE_CTF_PROGRAM_H

#include <endian.h>
#include <string.h>

#include "trace/schema.h"

/* Bytes that may be read, whatever size a packet in them claims. */
struct ctf_bytes {
	const unsigned char *byte;
	uint64_t count;
};

static inline uint64_t ctf_sign(uint64_t value, unsigned size)
{
	return (uint64_t)((int64_t)(value << (64 - size)) >> (64 - size));
}

/*
 * Read a number of 1 to 64 bits, which must all be in `bytes`. In little-endian order
 * the first bit of a byte is the least significant one, in big-endian order the most
 * significant one.
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
 * Return a clock's value from the previous one and a timestamp of its low `size` bits. If
 * these are lower than before, they wrapped once.
 */
static inline uint64_t ctf_clock_after(uint64_t clock, uint64_t stamp, unsigned size)
{
	uint64_t mask = UINT64_MAX >> (64 - size);

	if (size < 64 && stamp < (clock & mask))
		clock += mask + 1;
	return (clock & ~mask) | stamp;
}

/*
 * The ops of a decode program, which is compiled once for each class.
 *
 * Consecutive fields of constant size cost one addition and one check, whatever their
 * number; only strings, sequences, variants and integers of variable size are read. The
 * positions of selected fields are stored as places, and decoded later if needed.
 */
enum ctf_op_kind {
	OP_END,
	OP_ALIGN, /* to a multiple of `bits` */
	OP_SKIP,  /* skip `bits` */
	/* The number that starts `bits` back; with number.size 0, the last LEB128. */
	OP_VALUE,   /* store it in slot `index` */
	OP_CLOCK,   /* update the clock from it */
	OP_UUID,    /* the packet's UUID starts `bits` back */
	OP_PLACE,   /* store in place `index`: `count` elements that start `bits` back */
	OP_COUNTED, /* store in place `index`: as many elements from here on as slot
		       `count` says */
	OP_STRING,  /* up to its terminating character of `size` bytes; store its place if
		       index >= 0 */
	OP_LEB128,  /* store its place if index >= 0 */
	OP_SEQUENCE, /* as many elements as slot `index` says, `bits` each, the last one
			`count` */
	OP_REPEAT,   /* run the ops up to OP_END as often as slot `index` says, or `count`
			times if index < 0; then go to `target` */
	OP_CHOOSE,   /* select one of `count` options, from option `bits` on, by slot
			`index`; if none fits go to `target`, unless that is 0 */
	OP_JUMP,     /* go to op `target` */
};

/* The encoding of a number. */
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

/* Reverse the order of bits. */
static inline uint64_t ctf_reverse(uint64_t value, unsigned size)
{
	uint64_t reversed = 0;

	for (unsigned i = 0; i < size; i++)
		reversed |= (value >> i & 1) << (size - 1 - i);
	return reversed;
}

/* Read the number of 1 to 64 bits at `at`. */
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
	uint8_t kind; /* enum ctf_op_kind */
	struct ctf_number
	    number;      /* for a string: size is that of a character, in bytes */
	int32_t index;   /* slot or place, by kind */
	uint32_t target; /* index of an op */
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
	uint64_t at;    /* offset in the packet in bits, or CTF_ABSENT */
	uint64_t count; /* elements of a sequence, bytes of a string */
};

#define CTF_ABSENT UINT64_MAX

/* The state of reading a packet. */
struct ctf_cursor {
	struct ctf_bytes bytes; /* from the start of the packet, or of its loaded slice */
	uint64_t at, end;       /* bits: position, and end of the content */
	uint64_t *
	    slot; /* values of roles, and values for later fields; see schema_resolve() */
	struct ctf_place *place;
	uint64_t budget; /* limit of elements that are read one by one, so that those
			    without size end */
	uint64_t clock;  /* value after the last timestamp */
	uint64_t leb128; /* last LEB128, of leb128_size bits */
	unsigned leb128_size;
	unsigned has; /* roles that were set, as a bit mask; for ROLE_UUID the slot is its
			 position in bits */
	const char *why; /* reason why the program stopped */
	bool is_beyond;  /* the program stopped because a field extends past `end` */
};

/*
 * Compile a program for these trees, one after the other; NULL trees are skipped. Borrows
 * the trees during the call.
 */
struct ctf_program *ctf_program_new(struct field_class *const *class, size_t count);

/*
 * Run a program. Places of absent fields are not changed. Return false with cursor->why.
 */
bool ctf_program_run(const struct ctf_program *program, struct ctf_cursor *cursor);

/* Return an LEB128 that a program has already read once, and move `at` past it. */
uint64_t ctf_leb128(const struct field_class *class, struct ctf_bytes bytes,
		    uint64_t *at);

void ctf_program_free(struct ctf_program *program);

#endif
