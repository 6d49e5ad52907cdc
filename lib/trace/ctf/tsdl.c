/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/tsdl.h"

#include <string.h>

#include "trace/ctf/metadata_private.h"

/*
 * A parser of TSDL, the metadata language of CTF 1.8.
 *
 * It only parses into values; their meaning and validity are checked together with those
 * of CTF 2. After an error the results are arbitrary, but never NULL.
 */
enum { MOST_DEPTH = 64 };

static const struct ast *read_type(struct metadata *in);
static void read_definition(struct metadata *in);

/*
 * Return true if the current token is one of these words; the first letter usually
 * decides.
 */
static bool is_word(const struct metadata *in, const char *const *words)
{
	const char *text = in->token.kind == AST_WORD ? in->token.text : "";

	while (*words && (**words != *text || strcmp(*words, text) != 0))
		words++;
	return *words;
}

static bool accept_word(struct metadata *in, const char *word)
{
	bool found = is_word(in, (const char *const[]){word, NULL});

	if (found)
		metadata_next(in);
	return found;
}

/* Read a word, or return NULL if the token is something else. */
static const char *read_word(struct metadata *in)
{
	const char *word = in->token.kind == AST_WORD ? in->token.text : NULL;

	if (word)
		metadata_next(in);
	return word;
}

/* Append a separator and a word; `words` may be NULL. */
static const char *join_words(struct metadata *in, const char *words, char between,
			      const char *word)
{
	size_t size = words ? strlen(words) : 0, length = strlen(word);
	char *joined;

	if (!words)
		return word;
	joined = metadata_memory(in, size + length + 2);
	memcpy(joined, words, size);
	joined[size] = between;
	memcpy(joined + size + 1, word, length + 1);
	return joined;
}

/* Read a word, or words joined by dots. */
static const char *read_path(struct metadata *in)
{
	const char *path = NULL, *word;

	do {
		word = read_word(in);
		if (word)
			path = join_words(in, path, '.', word);
		else
			metadata_wrong(&in->token, "expected a name");
	} while (metadata_accept(in, '.'));
	return path ? path : "";
}

/*
 * Read words and join them by blanks; "" if there are none. If `last` is not NULL,
 * the last word is stored there instead.
 */
static const char *read_words(struct metadata *in, const char **last)
{
	const char *words = NULL, *word = read_word(in), *next;

	for (; (next = read_word(in)); word = next)
		words = join_words(in, words, ' ', word);
	if (last)
		*last = word;
	else if (word)
		words = join_words(in, words, ' ', word);
	if (!words)
		metadata_wrong(&in->token, "expected %s",
			       last ? "a type and a name" : "a type");
	return words ? words : "";
}

static struct ast *new_object(struct metadata *in, const char *type)
{
	struct ast *object = ast_new(in, AST_OBJECT, NULL);

	object->text = type;
	return object;
}

/* Insert a member before an object's others. */
static void prepend_member(struct ast *object, struct ast *member)
{
	member->next = object->first;
	object->first = member;
}

static void add_text(struct ast *object, const char *name, const char *text)
{
	struct ast *value = ast_new(object->in, AST_TEXT, name);

	value->text = text;
	prepend_member(object, value);
}

/* Read a number, a string or a path. A number can be too large for AST_NUMBER. */
static struct ast *read_value(struct metadata *in, const char *name)
{
	struct ast *value = ast_copy(&in->token, name);

	if (value->kind == AST_NUMBER || value->kind == AST_TEXT ||
	    value->kind == AST_REAL) {
		metadata_next(in);
	} else {
		value->kind = AST_TEXT;
		value->text = read_path(in);
	}
	return value;
}

static bool is_definition(const struct metadata *in)
{
	static const char *const keyword[] = {"typealias", "typedef", "struct",
					      "variant",   "enum",    NULL};

	return is_word(in, keyword);
}

/* Read `{ key = value; place := type; ... }`. Definitions in a block are local to it. */
static struct ast *read_block(struct metadata *in, const char *type)
{
	struct ast *block = new_object(in, type);
	const size_t outer = in->outer_types, types = in->outer_types = in->types;

	metadata_expect(in, '{');
	while (!metadata_failed(in) && !metadata_accept(in, '}')) {
		const char *key;

		if (is_definition(in)) {
			read_definition(in);
			continue;
		}
		key = read_path(in);
		if (metadata_accept(in, SIGN_ALIAS)) {
			prepend_member(block, ast_copy(read_type(in), key));
		} else {
			metadata_expect(in, '=');
			prepend_member(block, read_value(in, key));
		}
		metadata_expect(in, ';');
	}
	in->types = types;
	in->outer_types = outer;
	return block;
}

/* Return the integer that `env.NAME` refers to, or `value` with error. */
static const struct ast *find_env_entry(struct metadata *in, const struct ast *value)
{
	const struct ast *entry =
	    in->environment ? ast_get(in->environment, NULL, value->text + strlen("env."))
			    : NULL;

	if (entry && entry->kind == AST_NUMBER)
		return entry;
	metadata_wrong(value, "%s: no such integer before its use", value->text);
	return value;
}

/*
 * Parse the lengths after a field's name: one or several `[4]`, `[length]`, `[env.NAME]`.
 */
static const struct ast *read_length(struct metadata *in, const struct ast *element)
{
	static const char env[] = "env.";
	struct ast *array = new_object(in, "static-length-array"), *value;
	const char *length = "size";

	if (!metadata_accept(in, '['))
		return element;
	if (in->token.kind != AST_NUMBER) {
		array->text = "dynamic-length-array";
		length = "length-field-location";
	}
	value = read_value(in, length);
	if (value->kind == AST_TEXT && strncmp(value->text, env, strlen(env)) == 0)
		value = ast_copy(find_env_entry(in, value), "size");
	if (value->kind == AST_NUMBER)
		array->text = "static-length-array";
	prepend_member(array, value);
	metadata_expect(in, ']');
	if (in->depth++ >= MOST_DEPTH)
		metadata_wrong(&in->token, "types nested too deeply");
	prepend_member(array, ast_copy(read_length(in, element), "element-field-class"));
	in->depth--;
	return array;
}

/* Read `type name;`, where lengths can follow the name. */
static const struct ast *read_declaration(struct metadata *in, const char **name)
{
	static const char *const keyword[] = {
	    "integer", "floating_point", "string", "struct", "variant", "enum", NULL};
	const struct ast *type;

	if (is_word(in, keyword)) {
		type = read_type(in);
		*name = read_word(in);
	} else {
		type = metadata_find_type(in, read_words(in, name));
	}
	if (!*name)
		metadata_wrong(&in->token, "expected a name");
	type = read_length(in, type);
	metadata_expect(in, ';');
	return type;
}

/* Read the members of a structure or the options of a variant. */
static struct ast *read_members(struct metadata *in, const char *list)
{
	struct ast *members = ast_new(in, AST_ARRAY, list);
	struct ast **last = &members->first;
	const size_t outer = in->outer_types, types = in->outer_types = in->types;

	metadata_expect(in, '{');
	while (!metadata_failed(in) && !metadata_accept(in, '}')) {
		static const char *const keyword[] = {"typealias", "typedef", NULL};
		const char *name;

		if (is_word(in, keyword)) {
			read_definition(in);
			continue;
		}
		*last = new_object(in, NULL);
		prepend_member(*last,
			       ast_copy(read_declaration(in, &name), "field-class"));
		add_text(*last, "name", name);
		last = &(*last)->next;
	}
	in->types = types;
	in->outer_types = outer;
	return members;
}

/* Read a structure or variant: a name, braces, or both. */
static const struct ast *read_compound(struct metadata *in, bool is_variant)
{
	const char *name = read_word(in), *tag = NULL;
	struct ast *type = new_object(in, is_variant ? "variant" : "structure");

	if (name)
		name = join_words(in, is_variant ? "variant" : "struct", ' ', name);
	if (is_variant && metadata_accept(in, '<')) {
		tag = read_path(in);
		metadata_expect(in, '>');
	}
	if (name && !metadata_is_sign(in, '{')) {
		type = ast_copy(metadata_find_type(in, name), NULL);
	} else {
		prepend_member(
		    type, read_members(in, is_variant ? "options" : "member-classes"));
		if (!is_variant && accept_word(in, "align")) {
			metadata_expect(in, '(');
			prepend_member(type, read_value(in, "minimum-alignment"));
			metadata_expect(in, ')');
		}
		if (name)
			metadata_define(in, name, ast_copy(type, NULL));
	}
	if (tag)
		add_text(type, "selector-field-location", tag);
	return type;
}

/*
 * Parse an integer or a character constant, which is its code. Other tokens are rejected
 * later.
 */
static struct ast read_constant(struct metadata *in)
{
	struct ast value = in->token;

	if (value.kind == AST_TEXT && value.number)
		value.kind = AST_NUMBER;
	metadata_next(in);
	return value;
}

/*
 * Read a label with its value or range; without a value it has the one after the previous
 * label's.
 */
static struct ast *read_label(struct metadata *in, struct ast *value)
{
	struct ast *label = ast_new(in, AST_ARRAY, in->token.text);
	struct ast first;

	if (in->token.kind != AST_WORD && in->token.kind != AST_TEXT)
		metadata_wrong(&in->token, "expected a label");
	metadata_next(in);
	if (metadata_accept(in, '='))
		*value = read_constant(in);
	first = *value;
	if (metadata_accept(in, SIGN_RANGE))
		*value = read_constant(in);
	label->first = ast_new(in, AST_ARRAY, NULL);
	prepend_member(label->first, ast_copy(value, NULL));
	prepend_member(label->first, ast_copy(&first, NULL));
	value->number++;
	value->is_negative &= value->number != 0;
	return label;
}

/*
 * Parse `enum name : integer { label = value, ... }`, where the integer's default is type
 * `int`, or a reference to an enumeration by name.
 */
static const struct ast *read_enumeration(struct metadata *in)
{
	const char *name = read_word(in);
	struct ast *type, *labels = ast_new(in, AST_OBJECT, "mappings");
	struct ast **last = &labels->first;
	struct ast value = {.in = in, .kind = AST_NUMBER};

	if (name)
		name = join_words(in, "enum", ' ', name);
	if (name && !metadata_is_sign(in, ':') && !metadata_is_sign(in, '{'))
		return metadata_find_type(in, name);
	type = ast_copy(metadata_accept(in, ':') ? read_type(in)
						 : metadata_find_type(in, "int"),
			NULL);
	if (strcmp(type->text ? type->text : "", "integer") != 0)
		metadata_wrong(&in->token, "expected an enumeration of integers");
	metadata_expect(in, '{');
	while (!metadata_failed(in) && !metadata_accept(in, '}')) {
		*last = read_label(in, &value);
		last = &(*last)->next;
		if (!metadata_accept(in, ',') && !metadata_is_sign(in, '}'))
			metadata_wrong(&in->token, "expected ',' or '}'");
	}
	if (!labels->first)
		metadata_wrong(&in->token, "expected a label");
	prepend_member(type, labels);
	if (name)
		metadata_define(in, name, type);
	return type;
}

/* Read a type: a name, or a keyword with its braces. */
static const struct ast *read_type(struct metadata *in)
{
	const struct ast *type;

	if (in->depth++ >= MOST_DEPTH)
		metadata_wrong(&in->token, "types nested too deeply");
	if (accept_word(in, "integer"))
		type = read_block(in, "integer");
	else if (accept_word(in, "floating_point"))
		type = read_block(in, "floating_point");
	else if (accept_word(in, "string"))
		type = metadata_is_sign(in, '{') ? read_block(in, "string")
						 : new_object(in, "string");
	else if (accept_word(in, "struct"))
		type = read_compound(in, false);
	else if (accept_word(in, "variant"))
		type = read_compound(in, true);
	else if (accept_word(in, "enum"))
		type = read_enumeration(in);
	else
		type = metadata_find_type(in, read_words(in, NULL));
	in->depth--;
	return type;
}

/* Read a typealias, a typedef, or a named structure, variant or enumeration. */
static void read_definition(struct metadata *in)
{
	static const char *const keyword[] = {
	    "integer", "floating_point", "string", "struct", "variant", "enum",
	    "event",   "stream",         "clock",  "trace",  "env",     NULL};
	const struct ast *type;
	const char *name;

	if (accept_word(in, "typedef")) {
		type = read_declaration(in, &name);
		metadata_define(in, name, type);
		return;
	}
	if (accept_word(in, "typealias")) {
		type = read_type(in);
		if (!metadata_accept(in, SIGN_ALIAS))
			metadata_wrong(&in->token, "expected ':='");
		if (is_word(in, keyword))
			metadata_wrong(&in->token, "expected a name other than %s",
				       in->token.text);
		metadata_define(in, read_words(in, NULL), type);
	} else {
		read_type(in); /* it defines its name */
	}
	metadata_expect(in, ';');
}

static void read_top(struct metadata *in)
{
	static const char *const keyword[] = {"event", "stream",   "clock", "env",
					      "trace", "callsite", NULL};
	struct metadata_mark mark = metadata_mark(in);
	const char *name = in->token.text;
	const struct ast *block;
	bool is_env, is_callsite;

	if (is_definition(in)) {
		read_definition(in);
		return;
	}
	if (!is_word(in, keyword))
		metadata_wrong(&in->token,
			       "expected trace, env, clock, stream, event or a type");
	is_env = accept_word(in, "env");
	is_callsite = !is_env && accept_word(in, "callsite");
	if (!is_env && !is_callsite)
		metadata_next(in);
	block = read_block(in, name);
	if (is_env)
		in->environment = block;
	/* Call sites are not used. */
	if (!metadata_failed(in) && !is_callsite)
		schema_add(block);
	if (metadata_is_sign(in, ';') && !is_env)
		metadata_forget(in, mark); /* before reading a token that has a text */
	metadata_expect(in, ';');
}

struct schema *tsdl_parse(const char *text, size_t size, struct error *error)
{
	struct metadata in;

	metadata_init(&in, text, size, false, error);
	while (in.token.kind != AST_END && !metadata_failed(&in))
		read_top(&in);
	if (in.schema->order == ORDER_NATIVE)
		metadata_wrong(&in.token, "expected a trace with a byte order");
	if (metadata_failed(&in))
		error_prefix(error, "line %u", in.place);
	return metadata_finish(&in);
}
