/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_CTF_RANDOM_H
#define CT_TEST_CTF_RANDOM_H

/* Types drawn at random, said in TSDL, and values of them. */
#include "ctf_bits.h"

enum random_kind {
	RANDOM_INTEGER,
	RANDOM_LABEL,
	RANDOM_REAL,
	RANDOM_STRING,
	RANDOM_STRUCTURE,
	RANDOM_ARRAY,
	RANDOM_SEQUENCE,
	RANDOM_VARIANT,
	RANDOM_KINDS,
};

enum { RANDOM_MEMBERS = 8, RANDOM_LABELS = 4 };

struct random_type {
	enum random_kind kind;
	unsigned size, align, length;
	bool big, is_signed, is_text, is_length, is_tag;
	uint64_t value; /* written last */
	struct {
		int64_t first, last;
	} label[RANDOM_LABELS];
	unsigned labels, members;
	struct random_type *member[RANDOM_MEMBERS], *element;
	struct random_type *refers; /* borrowed */
};

struct random_trace {
	bool big;   /* byte order of the trace */
	bool mixed; /* whole bytes may be in the other one */
	bool plain; /* neither sequences nor variants */
	unsigned names;
	struct words text;
};

static inline struct random_type *random_new(enum random_kind kind)
{
	struct random_type *type = mem_zalloc(sizeof(*type));

	type->kind = kind;
	type->align = 1;
	return type;
}

static inline void random_free(struct random_type *type)
{
	if (!type)
		return;
	for (unsigned i = 0; i < type->members; i++)
		random_free(type->member[i]);
	random_free(type->element);
	free(type);
}

static inline bool chance(int percent)
{
	return draw_between(0, 99) < percent;
}

static inline void say_integer(struct random_trace *trace, struct random_type *type,
			       int least)
{
	static const unsigned common[] = {8, 16, 32, 64};

	type->size =
	    chance(60) ? common[draw_between(0, 3)] : (unsigned)draw_between(least, 64);
	type->align = chance(60) ? 8 : 1u << draw_between(0, 6);
	type->is_signed = chance(30);
	type->big = trace->big;
	say(&trace->text, "integer { size = %u; align = %u; signed = %s; ", type->size,
	    type->align, type->is_signed ? "true" : "false");
	if (trace->mixed && type->size % 8 == 0 && type->align % 8 == 0 && chance(30)) {
		type->big = chance(50);
		say(&trace->text, "byte_order = %s; ", type->big ? "be" : "le");
	}
	say(&trace->text, "} ");
}

/* Small, so that the sequence is. */
static inline struct random_type *say_length(struct random_trace *trace, unsigned name)
{
	struct random_type *type = random_new(RANDOM_INTEGER);

	type->size = (unsigned)draw_between(3, 40);
	type->align = chance(70) ? 8 : 1;
	type->big = trace->big;
	type->is_length = true;
	say(&trace->text, "integer { size = %u; align = %u; } __f%u_length;\n",
	    type->size, type->align, name);
	return type;
}

/* Ranges in the values of the integer; apart from each other where they are a tag's. */
static inline void say_labels(struct random_trace *trace, struct random_type *type)
{
	int64_t next = type->is_signed ? -5 : 0;
	bool overlap = !type->is_tag && chance(20);

	say(&trace->text, "{ ");
	type->labels = (unsigned)draw_between(1, RANDOM_LABELS);
	for (unsigned i = 0; i < type->labels; i++) {
		type->label[i].first = next + draw_between(0, 2);
		type->label[i].last = type->label[i].first + draw_between(0, 2);
		if (!overlap)
			next = type->label[i].last + 1;
		say(&trace->text, "o%u = %" PRId64, i, type->label[i].first);
		if (type->label[i].last > type->label[i].first)
			say(&trace->text, " ... %" PRId64, type->label[i].last);
		say(&trace->text, ", ");
	}
	say(&trace->text, "} ");
}

static inline struct random_type *say_enumeration(struct random_trace *trace, bool is_tag)
{
	struct random_type *type = random_new(RANDOM_LABEL);

	type->is_tag = is_tag;
	say(&trace->text, "enum : ");
	say_integer(trace, type, 6);
	say_labels(trace, type);
	return type;
}

static inline struct random_type *say_type(struct random_trace *trace, int depth);

/* `type name;` and before it what it refers to; adds all of it to the structure. */
static inline void say_member(struct random_trace *trace, struct random_type *into,
			      int depth)
{
	enum random_kind kind = (enum random_kind)draw_between(0, RANDOM_KINDS - 1);
	unsigned name = trace->names++;
	struct random_type *type, *before = NULL;

	if ((depth > 3 && kind >= RANDOM_STRUCTURE) ||
	    (trace->plain && kind >= RANDOM_SEQUENCE))
		kind = RANDOM_INTEGER;
	if (kind == RANDOM_SEQUENCE || kind == RANDOM_ARRAY) {
		type = random_new(kind);
		if (kind == RANDOM_SEQUENCE)
			before = say_length(trace, name);
		type->element = say_type(trace, depth + 1);
		type->align = type->element->align;
		type->length = (unsigned)draw_between(0, 5);
		type->refers = before;
		if (kind == RANDOM_SEQUENCE)
			say(&trace->text, "_f%u[__f%u_length];\n", name, name);
		else
			say(&trace->text, "_f%u[%u];\n", name, type->length);
	} else if (kind == RANDOM_VARIANT) {
		type = random_new(kind);
		before = say_enumeration(trace, true);
		say(&trace->text, "_t%u;\nvariant <_t%u> {\n", name, name);
		type->refers = before;
		for (unsigned i = 0; i < before->labels; i++) {
			type->member[type->members++] = say_type(trace, depth + 1);
			say(&trace->text, "o%u;\n", i);
		}
		say(&trace->text, "} _f%u;\n", name);
	} else {
		type = say_type(trace, depth + 1);
		say(&trace->text, "_f%u;\n", name);
	}
	if (before)
		into->member[into->members++] = before;
	into->member[into->members++] = type;
}

static inline struct random_type *say_structure(struct random_trace *trace, int depth)
{
	struct random_type *type = random_new(RANDOM_STRUCTURE);
	unsigned count = (unsigned)draw_between(0, RANDOM_MEMBERS - 2);

	say(&trace->text, "struct {\n");
	while (type->members < count)
		say_member(trace, type, depth);
	say(&trace->text, "} ");
	if (chance(20)) {
		type->align = 1u << draw_between(0, 6);
		say(&trace->text, "align(%u) ", type->align);
	}
	for (unsigned i = 0; i < type->members; i++)
		if (type->member[i]->align > type->align)
			type->align = type->member[i]->align;
	return type;
}

/* A type of a kind that can stand alone. */
static inline struct random_type *say_type(struct random_trace *trace, int depth)
{
	enum random_kind kind = (enum random_kind)draw_between(
	    0, depth > 3 ? RANDOM_STRING : RANDOM_STRUCTURE);
	struct random_type *type;

	switch (kind) {
	case RANDOM_LABEL:
		return say_enumeration(trace, false);
	case RANDOM_STRUCTURE:
		return say_structure(trace, depth);
	case RANDOM_STRING:
		type = random_new(kind);
		type->align = 8;
		say(&trace->text, "string ");
		return type;
	case RANDOM_REAL:
		type = random_new(kind);
		type->size = chance(70) ? 64 : 32;
		type->align = 1u << draw_between(trace->mixed ? 3 : 0, 6);
		type->big = trace->big;
		say(&trace->text,
		    "floating_point { exp_dig = %d; mant_dig = %d; align = %u; } ",
		    type->size == 64 ? 11 : 8, type->size == 64 ? 53 : 24, type->align);
		return type;
	default:
		type = random_new(RANDOM_INTEGER);
		type->is_text = chance(15);
		if (!type->is_text) {
			say_integer(trace, type, 1);
			return type;
		}
		type->size = type->align = 8;
		say(&trace->text, "integer { size = 8; align = 8; encoding = UTF8; } ");
		return type;
	}
}

static inline void put_random_number(struct bits *bits, struct random_type *type)
{
	double real = (double)draw_between(-1000000, 1000000) / 7;
	float single = (float)real;
	uint32_t half;

	type->value = draw();
	if (type->is_text)
		type->value = chance(75)   ? (uint64_t)draw_between('a', 'z')
			      : chance(80) ? 0
					   : (uint64_t)draw_between(1, 255);
	if (type->is_length)
		type->value = (uint64_t)draw_between(0, 5);
	if (type->kind == RANDOM_LABEL && (type->is_tag || chance(80))) {
		unsigned label = (unsigned)draw_between(0, (int)type->labels - 1);

		type->value = (uint64_t)draw_between(type->label[label].first,
						     type->label[label].last);
	}
	if (type->kind == RANDOM_REAL && type->size == 64) {
		memcpy(&type->value, &real, sizeof(real));
	} else if (type->kind == RANDOM_REAL) {
		memcpy(&half, &single, sizeof(half));
		type->value = half;
	}
	bits_put(bits, type->size, type->value, type->big);
}

static inline void put_random(struct bits *bits, uint64_t packet,
			      struct random_type *type);

/* Mostly ASCII, with bytes that are no UTF-8. */
static inline void put_random_text(struct bits *bits)
{
	int odd = chance(10) ? 30 : 0;

	while (chance(80))
		bits_put(bits, 8,
			 (uint64_t)(chance(odd) ? draw_between(1, 255)
						: draw_between('a', 'z')),
			 false);
	bits_put(bits, 8, 0, false);
}

static inline void put_random_elements(struct bits *bits, uint64_t packet,
				       struct random_type *type)
{
	uint64_t length =
	    type->kind == RANDOM_SEQUENCE ? type->refers->value : type->length;

	for (uint64_t i = 0; i < length; i++)
		put_random(bits, packet, type->element);
}

static inline void put_random_option(struct bits *bits, uint64_t packet,
				     struct random_type *type)
{
	int64_t tag = (int64_t)type->refers->value;

	for (unsigned i = 0; i < type->members; i++)
		if (tag >= type->refers->label[i].first &&
		    tag <= type->refers->label[i].last)
			put_random(bits, packet, type->member[i]);
}

static inline void put_random(struct bits *bits, uint64_t packet,
			      struct random_type *type)
{
	bits_align(bits, packet, type->align);
	switch (type->kind) {
	case RANDOM_STRING:
		put_random_text(bits);
		break;
	case RANDOM_STRUCTURE:
		for (unsigned i = 0; i < type->members; i++)
			put_random(bits, packet, type->member[i]);
		break;
	case RANDOM_ARRAY:
	case RANDOM_SEQUENCE:
		put_random_elements(bits, packet, type);
		break;
	case RANDOM_VARIANT:
		put_random_option(bits, packet, type);
		break;
	default:
		put_random_number(bits, type);
		break;
	}
}

#endif
