/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/ctf/metadata_ast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "trace/ctf/metadata_private.h"

enum {
	MOST_TYPES =
	    1
	    << 12, /* limit, because each lookup searches all; LTTng defines about ten */
};

#define obstack_chunk_alloc mem_alloc
#define obstack_chunk_free  free

/* obstack.h aligns pointers as distances from NULL. */
__attribute__((no_sanitize("pointer-overflow"))) char *
metadata_memory(struct metadata *in, size_t size)
{
	return obstack_alloc(&in->memory, (int)size);
}

struct ast *ast_copy(const struct ast *value, const char *name)
{
	struct ast *copy = (void *)metadata_memory(value->in, sizeof(*copy));

	*copy = *value;
	copy->name = name;
	copy->next = NULL;
	return copy;
}

struct ast *ast_new(struct metadata *in, enum ast_kind kind, const char *name)
{
	const struct ast value = {.in = in, .kind = kind, .line = in->line};

	return ast_copy(&value, name);
}

struct metadata_mark metadata_mark(struct metadata *in)
{
	return (struct metadata_mark){metadata_memory(in, 1), in->types};
}

void metadata_forget(struct metadata *in, struct metadata_mark mark)
{
	in->types = mark.types;
	obstack_free(&in->memory, mark.memory);
}

void metadata_define(struct metadata *in, const char *name, const struct ast *ast)
{
	field_free(schema_field(ast));
	if (in->types >= MOST_TYPES)
		metadata_wrong(&in->token, "too many named types");
	for (size_t i = in->outer_types; i < in->types && !metadata_failed(in); i++)
		if (strcmp(in->type[i].name, name) == 0)
			metadata_wrong(&in->token, "duplicate type %s", name);
	if (metadata_failed(in))
		return;
	*MEM_NEXT(in->type, in->types, in->type_capacity) =
	    (struct metadata_type){name, ast};
}

const struct ast *metadata_find_type(struct metadata *in, const char *name)
{
	for (size_t i = in->types; i-- > 0;)
		if (strcmp(in->type[i].name, name) == 0)
			return in->type[i].ast;
	metadata_wrong(&in->token, "no type %s before its use", name);
	return ast_new(in, AST_WRONG, NULL);
}

void metadata_wrong(const struct ast *value, const char *format, ...)
{
	struct metadata *in = value ? value->in : NULL;
	AUTOFREE char *text = MEM_VPRINTF(format);

	if (!in || metadata_failed(in))
		return;
	if (value->name && value->kind != AST_OBJECT)
		error_set(in->error, "%s: %s", value->name, text);
	else
		error_set(in->error, "%s", text);
	in->place = value->line;
	in->token.kind = AST_WRONG;
}

/* Compare strings; the first character usually differs, which saves the call. */
static bool is_same(const char *one, const char *other)
{
	return *one == *other && strcmp(one, other) == 0;
}

static bool starts_with(const struct metadata *in, const char *text)
{
	return strncmp(in->at, text, strlen(text)) == 0;
}

/* Most of metadata is blanks and words, so these functions are inlined. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || is_digit(c) || c == '_';
}

/* Skip blanks and, in TSDL, comments. Return false if a comment does not end. */
static bool skip_space(struct metadata *in)
{
	const char *end;

	for (;; in->at++) {
		if (is_space(*in->at)) {
			in->line += *in->at == '\n';
		} else if (in->is_json || *in->at != '/') {
			return true;
		} else if (in->at[1] == '/') {
			in->at += strcspn(in->at, "\n") - 1;
		} else {
			end = in->at[1] == '*' ? strstr(in->at + 2, "*/") : NULL;
			if (!end)
				return false;
			for (; in->at < end; in->at++)
				in->line += *in->at == '\n';
			in->at++;
		}
	}
}

static enum ast_kind scan_word(struct metadata *in)
{
	const char *begin = in->at;
	char *text;

	while (is_word(*in->at))
		in->at++;
	text = metadata_memory(in, (size_t)(in->at - begin) + 1);
	memcpy(text, begin, (size_t)(in->at - begin));
	text[in->at - begin] = '\0';
	in->token.text = text;
	return AST_WORD;
}

/* Scan a number. TSDL has C's bases and suffixes, which are ignored; JSON is decimal. */
static enum ast_kind scan_number(struct metadata *in)
{
	struct ast *token = &in->token;
	bool is_old = !in->is_json, is_right;
	char *end;
	int base = 10;

	token->is_negative = *in->at == '-';
	in->at += token->is_negative || (*in->at == '+' && is_old);
	if (is_old && *in->at == '0') {
		base = (in->at[1] | 0x20) == 'x' ? 16 : (in->at[1] | 0x20) == 'b' ? 2 : 8;
		in->at += base == 8 ? 0 : 2;
	}
	errno = 0;
	token->number = strtoull(in->at, &end, base);
	is_right = is_word(*in->at) && end > in->at;
	in->at = end + strspn(end, is_old ? "uUlL" : ".eE+-0123456789");
	if (!is_right || is_word(*in->at))
		return AST_WRONG;
	if (errno || (token->is_negative && token->number > (uint64_t)1 << 63))
		return AST_REAL;
	if (token->is_negative)
		token->number = -token->number;
	return in->at > end && !is_old ? AST_REAL : AST_NUMBER;
}

/* Scan the four digits of a JSON \u escape. Return -1 if they are not hexadecimal. */
static int32_t scan_unit(struct metadata *in)
{
	char digits[5] = "";

	if (strspn(in->at, "0123456789abcdefABCDEF") < 4)
		return -1;
	memcpy(digits, in->at, 4);
	in->at += 4;
	return (int32_t)strtol(digits, NULL, 16);
}

/*
 * Scan what follows \u, with a second escape if both are a surrogate pair. Return the
 * number of bytes, or 0 if it is not a character.
 */
static size_t scan_unicode(struct metadata *in, char *to)
{
	int32_t c = scan_unit(in), low;

	if (c >= 0xd800 && c < 0xdc00 && starts_with(in, "\\u")) {
		in->at += 2;
		low = scan_unit(in);
		if (low < 0xdc00 || low > 0xdfff)
			return 0;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	return c <= 0 || (c >= 0xd800 && c <= 0xdfff)
		   ? 0
		   : utf8_from_character((uint32_t)c, to);
}

/* Scan up to `most` digits of a byte in TSDL. Return 1, or 0 if there is no digit. */
static size_t scan_byte(struct metadata *in, int base, size_t most, char *to)
{
	char digits[4] = "";
	size_t count = strspn(in->at, base == 8 ? "01234567" : "0123456789abcdefABCDEF");

	if (!count)
		return 0;
	count = count < most ? count : most;
	memcpy(digits, in->at, count);
	in->at += count;
	*to = (char)strtol(digits, NULL, base);
	return 1;
}

/*
 * Scan what follows a backslash. Return the number of bytes, or 0 if the escape is
 * unknown.
 */
static size_t scan_escape(struct metadata *in, char *to)
{
	static const char from[] = "\"\\bfnrt/av'?", is[] = "\"\\\b\f\n\r\t/\a\v'?";
	enum { JSON = 8, TSDL = 12 };
	char c = *in->at++;
	const char *found = memchr(from, c, in->is_json ? JSON : TSDL);

	if (c == 'u' && in->is_json)
		return scan_unicode(in, to);
	if (c == 'x' && !in->is_json)
		return scan_byte(in, 16, 2, to);
	if (c >= '0' && c <= '7' && !in->is_json) {
		in->at--;
		return scan_byte(in, 8, 3, to);
	}
	if (!found)
		return 0;
	*to = is[found - from];
	return 1;
}

/* Scan a string or a character constant, which babeltrace2 also treats as a string. */
static enum ast_kind scan_string(struct metadata *in)
{
	const char quote = *in->at, *end = ++in->at;
	size_t size = 0, step;
	char *text;

	while (*end && *end != quote)
		end += *end == '\\' && end[1] ? 2 : 1;
	text = metadata_memory(in, (size_t)(end - in->at) + 1);
	for (; *in->at != quote; size += step) {
		unsigned char c = (unsigned char)*in->at++;

		if (c == '\0' || c == '\n' || (c < ' ' && in->is_json))
			return AST_WRONG;
		text[size] = (char)c;
		step = c == '\\' ? scan_escape(in, text + size) : 1;
		if (!step)
			return AST_WRONG;
	}
	in->at++;
	text[size] = '\0';
	in->token.text = text;
	if (quote == '\'' && size == 1)
		in->token.number = (unsigned char)text[0];
	return in->is_json && !utf8_is_valid(text, size) ? AST_WRONG : AST_TEXT;
}

static enum ast_kind scan_sign(struct metadata *in)
{
	bool is_alias = starts_with(in, ":=") && !in->is_json;
	bool is_range = starts_with(in, "...");

	if (!strchr(in->is_json ? "{}[]:,\x1e" : "{}[]()<>;:,=.", *in->at))
		return AST_WRONG;
	in->token.number = is_alias   ? SIGN_ALIAS
			   : is_range ? SIGN_RANGE
				      : (unsigned char)*in->at;
	in->at += is_range ? 3 : is_alias ? 2 : 1;
	return AST_SIGN;
}

static enum ast_kind scan_token(struct metadata *in)
{
	bool is_right = in->token.kind != AST_WRONG && skip_space(in);
	char first;

	in->token = (struct ast){.in = in, .line = in->line};
	if (!is_right) /* After an error, nothing more is read. */
		return AST_WRONG;
	first = *in->at;
	if (!first)
		return in->at == in->end ? AST_END : AST_WRONG;
	if (is_digit(first) || first == '-' || first == '+')
		return scan_number(in);
	if (is_word(first))
		return scan_word(in);
	return first == '"' || (first == '\'' && !in->is_json) ? scan_string(in)
							       : scan_sign(in);
}

void metadata_next(struct metadata *in)
{
	in->token.kind = scan_token(in);
}

bool metadata_is_sign(const struct metadata *in, char sign)
{
	return in->token.kind == AST_SIGN && in->token.number == (unsigned char)sign;
}

bool metadata_accept(struct metadata *in, char sign)
{
	bool found = metadata_is_sign(in, sign);

	if (found)
		metadata_next(in);
	return found;
}

void metadata_expect(struct metadata *in, char sign)
{
	if (!metadata_accept(in, sign))
		metadata_wrong(&in->token, "expected '%c'", sign);
}

void metadata_init(struct metadata *in, const char *text, size_t size, bool is_json,
		   struct error *error)
{
	error_clear(error);
	*in = (struct metadata){.schema = mem_zalloc(sizeof(*in->schema)),
				.error = error,
				.at = text,
				.end = text + size,
				.line = 1,
				.token.in = in,
				.scope = SCOPES,
				.is_json = is_json};
	obstack_init(&in->memory);
	metadata_next(in);
}

struct schema *metadata_finish(struct metadata *in)
{
	obstack_free(&in->memory, NULL);
	free(in->type);
	if (!metadata_failed(in))
		return in->schema;
	schema_free(in->schema);
	return NULL;
}

static const char *name_here(const struct ast *object, const char *json, const char *tsdl)
{
	return object->in->is_json ? json : tsdl;
}

const struct ast *ast_get(const struct ast *object, const char *json, const char *tsdl)
{
	const char *name = name_here(object, json, tsdl);
	struct ast *member = name && object->kind == AST_OBJECT ? object->first : NULL;

	while (member && !is_same(member->name, name))
		member = member->next;
	if (!member)
		return NULL;
	member->is_known = true;
	for (const struct ast *other = member->next; other; other = other->next)
		if (!object->in->is_json && is_same(other->name, name))
			metadata_wrong(member, "duplicate attribute");
	return member;
}

const struct ast *ast_need(const struct ast *object, const char *json, const char *tsdl)
{
	const struct ast *member = ast_get(object, json, tsdl);

	if (!member)
		metadata_wrong(object, "missing %s", name_here(object, json, tsdl));
	return member;
}

const struct ast *ast_need_json(const struct ast *object, const char *json,
				const char *tsdl)
{
	return (object->in->is_json ? ast_need : ast_get)(object, json, tsdl);
}

/*
 * Report unknown extensions. They can change the rules, so a reader that does not support
 * them must stop (CTF2-SPEC-2.0, section 5.1).
 */
static void check_extensions(const struct ast *extensions)
{
	const struct ast *of = ast_first(extensions, AST_OBJECT);

	for (; of; of = of->next)
		if (ast_first(of, AST_OBJECT))
			metadata_wrong(of, "unknown extension %s of %s", of->first->name,
				       of->name);
}

/*
 * Ignore an attribute that TSDL does not define, as babeltrace2 does. Count it, and store
 * the first one.
 */
static void ignore_attribute(const struct ast *object, struct ast *member)
{
	struct schema *schema = object->in->schema;

	member->is_known = true;
	if (!schema->ignored++)
		schema->ignored_name = mem_printf("%s of %s in line %u", member->name,
						  object->text, member->line);
}

void ast_expect_no_more(const struct ast *object)
{
	static const struct ast_word no_matter[] = {
	    {"type", 0},        {"attributes", 0}, {"name", 0},
	    {"namespace", 0},   {"uid", 0},        {"flags", 0},
	    {"media-type", 0},  {"loglevel", 0},   {"preferred-display-base", 0},
	    {"description", 0}, {"base", 0},       {"model.emf.uri", 0},
	    {"absolute", 0},    {"precision", 0},  {"accuracy", 0},
	    {"origin", 0},      {NULL, 0}};
	struct ast *member = object->kind == AST_OBJECT ? object->first : NULL;

	ast_first(object, AST_OBJECT);
	check_extensions(ast_get(object, "extensions", NULL));
	for (; member; member = member->next) {
		const struct ast_word *word = no_matter;

		while (!member->is_known && word->name &&
		       !is_same(word->name, member->name))
			word++;
		if (!word->name && object->in->is_json)
			metadata_wrong(member, "unknown attribute");
		else if (!word->name)
			ignore_attribute(object, member);
	}
}

const struct ast *ast_first(const struct ast *value, enum ast_kind kind)
{
	if (value && value->kind != kind)
		metadata_wrong(value, "expected an %s",
			       kind == AST_ARRAY ? "array" : "object");
	return value && value->kind == kind ? value->first : NULL;
}

uint64_t ast_natural(const struct ast *value, uint64_t otherwise)
{
	if (value && (value->kind != AST_NUMBER || value->is_negative))
		metadata_wrong(value, "expected a non-negative integer");
	return value ? value->number : otherwise;
}

const char *ast_text(const struct ast *value, const char *otherwise)
{
	if (value && value->kind != AST_TEXT)
		metadata_wrong(value, "expected a string");
	return value && value->kind == AST_TEXT ? value->text : otherwise;
}

int ast_word(const struct ast *value, const struct ast_word *known, int otherwise)
{
	const char *text = ast_text(value, NULL);

	for (; text && known->name; known++)
		if (strcasecmp(known->name, text) == 0)
			return known->is;
	metadata_wrong(value, "unknown keyword");
	return otherwise;
}

bool ast_truth(const struct ast *value)
{
	static const char *const known[] = {"true", "TRUE", "false", "FALSE"};

	if (!value)
		return false;
	if (value->kind == AST_NUMBER)
		return value->number != 0;
	for (size_t i = 0; value->kind == AST_TEXT && i < 4; i++)
		if (strcmp(known[i], value->text) == 0)
			return i < 2;
	metadata_wrong(value, "expected true, false or a number");
	return false;
}
