/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "ctf/tsdl.h"

enum {
	MOST_NODES = 1 << 20, /* field classes and labels of one trace */
	MOST_DEPTH = 64,
	MOST_MEMBERS = 1 << 12, /* of one structure, each is compared with all */
	MOST_ALIASES = 1 << 12, /* known at once; LTTng has some ten */
};

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
		class->text = TEXT_UTF8;
	else if (strcasecmp(value->text, "none") == 0)
		class->text = TEXT_NONE;
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

static struct field_class *copy(struct tsdl_parser *parser,
				const struct field_class *class)
{
	struct field_class *made = field_copy(class, &parser->nodes, MOST_NODES);

	if (!made)
		tsdl_wrong(parser, "less metadata, its types are too many");
	return made;
}

static struct field_class *find_alias(struct tsdl_parser *parser, const char *name)
{
	for (size_t i = parser->aliases; i-- > 0;)
		if (strcmp(parser->alias[i].name, name) == 0)
			return copy(parser, parser->alias[i].class);
	tsdl_wrong(parser, "a type that is known here");
	return NULL;
}

/* Takes the name and the class. */
static void add_alias(struct tsdl_parser *parser, char *name, struct field_class *class)
{
	if (parser->aliases >= MOST_ALIASES)
		tsdl_wrong(parser, "fewer types with a name");
	parser->alias = mem_grow(parser->alias, parser->aliases, &parser->room,
				 sizeof(*parser->alias));
	parser->alias[parser->aliases++] = (struct tsdl_alias){name, class};
}

void tsdl_forget(struct tsdl_parser *parser, size_t aliases)
{
	while (parser->aliases > aliases) {
		struct tsdl_alias *alias = &parser->alias[--parser->aliases];

		free(alias->name);
		field_free(alias->class);
	}
}

static char *take_word(struct tsdl_parser *parser)
{
	const struct tsdl_token *token = &parser->lexer.token;
	char *word = NULL;

	if (token->kind == TSDL_WORD) {
		word = mem_strndup(token->text, token->size);
		tsdl_next(&parser->lexer);
	}
	return word;
}

/*
 * Words joined by blanks. Where `last` is not NULL, the last of them is put
 * there instead: it names what is declared.
 */
static char *take_words(struct tsdl_parser *parser, char **last)
{
	char *words = NULL, *word, *before = last ? take_word(parser) : NULL;
	size_t size = 0;

	while ((word = take_word(parser))) {
		char *added = last ? before : word;

		words = tsdl_add_word(words, &size, ' ', added, strlen(added));
		free(added);
		before = word;
	}
	if (last)
		*last = before;
	if (!words)
		tsdl_wrong(parser, last ? "a type and a name" : "a type");
	return words;
}

/* `align(8)` behind the braces of a structure. */
static int take_align(struct tsdl_parser *parser, struct field_class *class)
{
	struct tsdl_value value = {.text = NULL};
	unsigned members = class->align;

	if (!tsdl_take_word(parser, "align"))
		return 0;
	if (tsdl_expect(parser, '('))
		return -1;
	value.kind = parser->lexer.token.kind;
	value.number = parser->lexer.token.number;
	tsdl_next(&parser->lexer);
	if (tsdl_set_align(parser, class, &value))
		return -1;
	if (class->align < members)
		class->align = members;
	return tsdl_expect(parser, ')');
}

/* The name of the field that says a length. */
static int take_name(struct tsdl_parser *parser, struct field_class *class)
{
	char *path = tsdl_path(parser);

	if (path)
		field_set_name(class, path);
	free(path);
	return path ? 0 : -1;
}

/* `[4]` or `[length]`, one or several, behind the name of a field. Takes and returns it.
 */
static struct field_class *take_length(struct tsdl_parser *parser,
				       struct field_class *element)
{
	const struct tsdl_token *token = &parser->lexer.token;
	struct field_class *class;
	int status = 0;

	if (!tsdl_take(parser, '['))
		return element;
	class = field_new(token->kind == TSDL_NUMBER ? FIELD_ARRAY : FIELD_SEQUENCE);
	class->length = token->number;
	parser->nodes++;
	if (class->type == FIELD_SEQUENCE)
		status = take_name(parser, class);
	else if (token->is_negative)
		status = tsdl_wrong(parser, "a length");
	else
		tsdl_next(&parser->lexer);
	if (!status)
		status = tsdl_expect(parser, ']');
	if (!status && parser->depth++ >= MOST_DEPTH)
		status = tsdl_wrong(parser, "types that are less deep");
	class->element = status ? element : take_length(parser, element);
	if (!status)
		parser->depth--;
	if (class->element)
		class->align = class->element->align;
	if (!status && class->element)
		return class;
	field_free(class);
	return NULL;
}

/* `type name;` with what may stand behind the name. */
static int take_declaration(struct tsdl_parser *parser, char **name,
			    struct field_class **class)
{
	static const char *const keyword[] = {"integer", "floating_point", "string",
					      "struct",  "variant",        "enum"};
	bool known = false;
	char *type;

	*name = NULL;
	for (size_t i = 0; i < sizeof(keyword) / sizeof(*keyword); i++)
		known |= tsdl_is_word(parser, keyword[i]);
	if (known) {
		*class = tsdl_type(parser);
		*name = take_word(parser);
	} else {
		type = take_words(parser, name);
		*class = type ? find_alias(parser, type) : NULL;
		free(type);
	}
	if (*class && !*name)
		tsdl_wrong(parser, "a name");
	if (*class)
		*class = take_length(parser, *class);
	if (*class && *name && !tsdl_expect(parser, ';'))
		return 0;
	field_free(*class);
	free(*name);
	return -1;
}

static int take_members(struct tsdl_parser *parser, struct field_class *class)
{
	size_t aliases = parser->aliases;
	int status = tsdl_expect(parser, '{');

	while (!status && !tsdl_take(parser, '}')) {
		struct field_class *member;
		char *name;

		if (tsdl_is_word(parser, "typealias") ||
		    tsdl_is_word(parser, "typedef")) {
			status = tsdl_definition(parser);
			continue;
		}
		status = take_declaration(parser, &name, &member);
		if (status)
			break;
		if (class->members >= MOST_MEMBERS)
			status = tsdl_wrong(parser, "fewer members");
		else if (field_member(class, name))
			status = tsdl_wrong(parser, "members of different names");
		if (class->type == FIELD_STRUCTURE && member->align > class->align)
			class->align = member->align;
		field_add_member(class, name, member);
		free(name);
	}
	tsdl_forget(parser, aliases);
	return status;
}

/* `<tag>`, which may stand before the braces of a variant or where it is used. */
static int take_tag(struct tsdl_parser *parser, char **tag)
{
	if (!tsdl_take(parser, '<'))
		return 0;
	free(*tag);
	*tag = tsdl_path(parser);
	return *tag ? tsdl_expect(parser, '>') : -1;
}

/* The type of these braces, known by the name from here on, if it has one. */
static struct field_class *take_body(struct tsdl_parser *parser, enum field_type type,
				     const char *name)
{
	struct field_class *class = field_new(type), *known;

	parser->nodes++;
	if (take_members(parser, class) ||
	    (type == FIELD_STRUCTURE && take_align(parser, class))) {
		field_free(class);
		return NULL;
	}
	known = name ? copy(parser, class) : NULL;
	if (known)
		add_alias(parser, mem_strdup(name), known);
	return class;
}

static struct field_class *take_structure(struct tsdl_parser *parser,
					  enum field_type type)
{
	const char *keyword = type == FIELD_VARIANT ? "variant" : "struct";
	char *name = take_word(parser), *tag = NULL;
	char *full = name ? mem_printf("%s %s", keyword, name) : NULL;
	struct field_class *class = NULL;

	if (type == FIELD_VARIANT && take_tag(parser, &tag))
		goto out;
	if (full && !tsdl_is_sign(parser, '{'))
		class = find_alias(parser, full);
	else
		class = take_body(parser, type, full);
	if (class && tag)
		field_set_name(class, tag);
out:
	free(tag);
	free(full);
	free(name);
	return class;
}

/* `enum name : integer { ... }`, or by its name alone. */
static struct field_class *take_enumeration(struct tsdl_parser *parser)
{
	char *name = take_word(parser);
	char *full = name ? mem_printf("enum %s", name) : NULL;
	struct field_class *class = NULL, *known;

	if (tsdl_take(parser, ':')) {
		class = tsdl_type(parser);
		if (class && class->type != FIELD_INTEGER)
			tsdl_wrong(parser, "an enumeration of integers");
		if (class && (parser->error->text || tsdl_labels(parser, class))) {
			field_free(class);
			class = NULL;
		}
		known =
		    class && full ? field_copy(class, &parser->nodes, MOST_NODES) : NULL;
		if (known)
			add_alias(parser, mem_strdup(full), known);
	} else if (full && !tsdl_is_sign(parser, '{')) {
		class = find_alias(parser, full);
	} else {
		tsdl_wrong(parser, "the integer of an enumeration");
	}
	free(full);
	free(name);
	return class;
}

static struct field_class *take_type(struct tsdl_parser *parser)
{
	struct field_class *class;
	char *words;

	if (tsdl_take_word(parser, "integer"))
		return tsdl_integer(parser);
	if (tsdl_take_word(parser, "floating_point"))
		return tsdl_real(parser);
	if (tsdl_take_word(parser, "string"))
		return tsdl_string(parser);
	if (tsdl_take_word(parser, "struct"))
		return take_structure(parser, FIELD_STRUCTURE);
	if (tsdl_take_word(parser, "variant"))
		return take_structure(parser, FIELD_VARIANT);
	if (tsdl_take_word(parser, "enum"))
		return take_enumeration(parser);
	words = take_words(parser, NULL);
	class = words ? find_alias(parser, words) : NULL;
	free(words);
	return class;
}

struct field_class *tsdl_type(struct tsdl_parser *parser)
{
	struct field_class *class = NULL;

	parser->nodes++;
	if (parser->depth++ >= MOST_DEPTH || parser->nodes > MOST_NODES)
		tsdl_wrong(parser, "types that are less deep and fewer");
	else
		class = take_type(parser);
	parser->depth--;
	if (class && parser->error->text) {
		field_free(class);
		class = NULL;
	}
	return class;
}

bool tsdl_is_definition(const struct tsdl_parser *parser)
{
	return tsdl_is_word(parser, "typealias") || tsdl_is_word(parser, "typedef") ||
	       tsdl_is_word(parser, "struct") || tsdl_is_word(parser, "variant") ||
	       tsdl_is_word(parser, "enum");
}

int tsdl_definition(struct tsdl_parser *parser)
{
	struct field_class *class;
	char *name;

	if (tsdl_take_word(parser, "typedef")) {
		if (take_declaration(parser, &name, &class))
			return -1;
		add_alias(parser, name, class);
		return 0;
	}
	if (!tsdl_take_word(parser, "typealias")) {
		/* It is kept by its name. */
		field_free(tsdl_type(parser));
		return parser->error->text ? -1 : tsdl_expect(parser, ';');
	}
	class = tsdl_type(parser);
	if (class && !parser->lexer.token.is_alias)
		tsdl_wrong(parser, "':='");
	if (class && parser->lexer.token.is_alias) {
		tsdl_next(&parser->lexer);
		name = take_words(parser, NULL);
		if (name) {
			add_alias(parser, name, class);
			return tsdl_expect(parser, ';');
		}
	}
	field_free(class);
	return -1;
}
