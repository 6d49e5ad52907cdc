/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "ctf/metadata_ast.h"

/*
 * Metadata of CTF 2: JSON texts, each after a record separator (CTF2-SPEC-2.0rB,
 * RFC 7464).
 */
enum {
	SEPARATOR = 0x1e,
	MOST_DEPTH = 512, /* four levels a field class */
};

static struct ast *read_value(struct metadata *in, const char *name);

/* The rest of an object or an array, up to its end. */
static void read_list(struct metadata *in, struct ast *list, char end)
{
	struct ast **last = &list->first;

	if (metadata_accept(in, end))
		return;
	do {
		const char *name = end == '}' ? in->token.text : NULL;

		if (end == '}') {
			if (in->token.kind != AST_TEXT)
				metadata_wrong(&in->token, "want a name");
			metadata_next(in);
			metadata_expect(in, ':');
		}
		*last = read_value(in, name);
		if (name && strcmp(name, "type") == 0)
			list->text = (*last)->text;
		last = &(*last)->next;
	} while (metadata_accept(in, ','));
	metadata_expect(in, end);
}

static struct ast *read_value(struct metadata *in, const char *name)
{
	struct ast *value = ast_copy(&in->token, name);
	bool is_word = value->kind == AST_WORD;

	if (in->depth++ >= MOST_DEPTH)
		metadata_wrong(value, "want values less deep");
	if (metadata_is_sign(in, '{'))
		value->kind = AST_OBJECT;
	else if (metadata_is_sign(in, '['))
		value->kind = AST_ARRAY;
	else if (is_word && strcmp(value->text, "null") == 0)
		value->kind = AST_NULL;
	else if (value->kind > AST_REAL || (is_word && strcmp(value->text, "true") != 0 &&
					    strcmp(value->text, "false") != 0))
		metadata_wrong(value, "want a JSON value");
	metadata_next(in);
	if (value->kind == AST_OBJECT)
		read_list(in, value, '}');
	else if (value->kind == AST_ARRAY)
		read_list(in, value, ']');
	in->depth--;
	return value;
}

/* What it holds is forgotten with it, unless a type was defined. */
static void read_fragment(struct metadata *in)
{
	struct metadata_mark mark = metadata_mark(in);
	const struct ast *fragment = read_value(in, NULL);

	in->fragments++;
	if (in->token.kind != AST_END && !metadata_is_sign(in, SEPARATOR))
		metadata_wrong(&in->token, "want a record separator");
	if (!metadata_failed(in))
		schema_add(fragment);
	if (metadata_failed(in))
		error_prefix(in->error, "fragment %zu", in->fragments);
	if (in->types == mark.types)
		metadata_forget(in, mark);
}

struct schema *json_metadata_parse(const char *text, size_t size, struct error *error)
{
	struct metadata in;

	metadata_init(&in, text, size, true, error);
	in.schema->order = ORDER_LITTLE;
	in.schema->is_ctf2 = true;
	while (in.token.kind != AST_END && !metadata_failed(&in))
		if (!metadata_accept(&in, SEPARATOR))
			read_fragment(&in);
	if (!in.fragments)
		metadata_wrong(&in.token, "want a preamble");
	return metadata_finish(&in);
}
