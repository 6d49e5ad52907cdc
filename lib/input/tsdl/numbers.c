/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/tsdl/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

static int set_size(struct tsdl_parser *parser, void *target,
		    const struct tsdl_value *value)
{
	struct field_class *class = target;

	if (value->kind != TSDL_NUMBER || value->number < 1 || value->number > 64)
		return tsdl_wrong(parser, "a size from 1 to 64");
	class->size = (unsigned)value->number;
	return 0;
}

int tsdl_set_align(struct tsdl_parser *parser, struct field_class *class,
		   const struct tsdl_value *value)
{
	if (value->kind != TSDL_NUMBER || value->number < 1 || value->number > 1 << 16 ||
	    (value->number & (value->number - 1)))
		return tsdl_wrong(parser, "an alignment that is a power of two");
	class->align = (unsigned)value->number;
	return 0;
}

static int set_align(struct tsdl_parser *parser, void *target,
		     const struct tsdl_value *value)
{
	return tsdl_set_align(parser, target, value);
}

static int set_signed(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct field_class *class = target;

	if (value->kind == TSDL_NUMBER && value->number <= 1)
		class->is_signed = value->number == 1;
	else if (value->kind == TSDL_WORD && strcasecmp(value->text, "true") == 0)
		class->is_signed = true;
	else if (value->kind == TSDL_WORD && strcasecmp(value->text, "false") == 0)
		class->is_signed = false;
	else
		return tsdl_wrong(parser, "signed true or false");
	return 0;
}

static int set_encoding(struct tsdl_parser *parser, void *target,
			const struct tsdl_value *value)
{
	struct field_class *class = target;

	if (!value->text)
		return tsdl_wrong(parser, "encoding none, UTF8 or ASCII");
	if (strcasecmp(value->text, "utf8") == 0 || strcasecmp(value->text, "ascii") == 0)
		class->is_text = true;
	else if (strcasecmp(value->text, "none") == 0)
		class->is_text = false;
	else
		return tsdl_wrong(parser, "encoding none, UTF8 or ASCII");
	return 0;
}

static int set_order(struct tsdl_parser *parser, void *target,
		     const struct tsdl_value *value)
{
	struct field_class *class = target;

	return tsdl_set_order(parser, &class->order, value);
}

static int set_map(struct tsdl_parser *parser, void *target,
		   const struct tsdl_value *value)
{
	static const char before[] = "clock.", after[] = ".value";
	struct field_class *class = target;
	size_t size = value->text ? strlen(value->text) : 0;
	size_t around = strlen(before) + strlen(after);

	if (size <= around || strncmp(value->text, before, strlen(before)) != 0 ||
	    strcmp(value->text + size - strlen(after), after) != 0)
		return tsdl_wrong(parser, "map = clock.NAME.value");
	free(class->clock);
	class->clock = mem_strndup(value->text + strlen(before), size - around);
	return 0;
}

struct field_class *tsdl_integer(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {
	    {"size", set_size},         {"align", set_align},  {"signed", set_signed},
	    {"encoding", set_encoding}, {"base", tsdl_ignore}, {"byte_order", set_order},
	    {"map", set_map},           {NULL, NULL},
	};
	struct field_class *class = field_new(FIELD_INTEGER);

	class->align = 0;
	if (tsdl_attributes(parser, table, class) ||
	    (!class->size && tsdl_wrong(parser, "an integer with a size"))) {
		field_free(class);
		return NULL;
	}
	if (!class->align)
		class->align = class->size % 8 ? 1 : 8;
	return class;
}

static int set_digits(struct tsdl_parser *parser, void *target,
		      const struct tsdl_value *value)
{
	struct field_class *class = target;

	if (value->kind != TSDL_NUMBER || value->number > 64)
		return tsdl_wrong(parser, "a number of bits");
	class->size += (unsigned)value->number;
	return 0;
}

struct field_class *tsdl_real(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {
	    {"exp_dig", set_digits},
	    {"mant_dig", set_digits},
	    {"align", set_align},
	    {"byte_order", set_order},
	    {NULL, NULL},
	};
	struct field_class *class = field_new(FIELD_REAL);

	class->align = 0;
	if (tsdl_attributes(parser, table, class) ||
	    ((class->size != 32 && class->size != 64) &&
	     tsdl_wrong(parser, "a number of 32 or 64 bits")) ||
	    (!class->align && tsdl_wrong(parser, "a number with an alignment"))) {
		field_free(class);
		return NULL;
	}
	return class;
}

struct field_class *tsdl_string(struct tsdl_parser *parser)
{
	static const struct tsdl_key table[] = {{"encoding", set_encoding}, {NULL, NULL}};
	struct field_class *class = field_new(FIELD_STRING);

	if (tsdl_is_sign(parser, '{') && tsdl_attributes(parser, table, class)) {
		field_free(class);
		return NULL;
	}
	return class;
}

/* One label, with its value or range of values, or the value after the last one. */
static int read_label(struct tsdl_parser *parser, struct field_class *class,
		      uint64_t *next)
{
	const struct tsdl_token *token = &parser->lexer.token;
	uint64_t first = *next, last;
	char *name;

	if (token->kind != TSDL_WORD && token->kind != TSDL_STRING)
		return tsdl_wrong(parser, "a label");
	name = mem_strndup(token->text, token->size);
	tsdl_next(&parser->lexer);
	if (tsdl_take(parser, '=')) {
		first = token->number;
		if (token->kind != TSDL_NUMBER)
			tsdl_wrong(parser, "a value");
		tsdl_next(&parser->lexer);
	}
	last = first;
	if (token->kind == TSDL_SIGN && token->is_range) {
		tsdl_next(&parser->lexer);
		last = token->number;
		if (token->kind != TSDL_NUMBER)
			tsdl_wrong(parser, "a value");
		tsdl_next(&parser->lexer);
	}
	if (class->is_signed ? (int64_t)last < (int64_t)first : last < first)
		tsdl_wrong(parser, "a range that ends after its begin");
	field_add_label(class, name, first, last);
	parser->nodes++;
	*next = last + 1;
	free(name);
	return parser->error->text ? -1 : 0;
}

int tsdl_labels(struct tsdl_parser *parser, struct field_class *class)
{
	uint64_t next = 0;

	class->is_label = true;
	if (tsdl_expect(parser, '{'))
		return -1;
	while (!tsdl_take(parser, '}')) {
		if (read_label(parser, class, &next))
			return -1;
		if (!tsdl_take(parser, ',') && !tsdl_is_sign(parser, '}'))
			return tsdl_wrong(parser, "',' or '}'");
	}
	return 0;
}
