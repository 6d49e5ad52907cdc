/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/tsdl/private.h"

int tsdl_wrong(struct tsdl_parser *parser, const char *wanted)
{
	if (parser->error->text)
		return -1;
	return error_set(parser->error, "line %u: want %s", parser->lexer.token.line,
			 wanted);
}

bool tsdl_is_sign(const struct tsdl_parser *parser, char sign)
{
	const struct tsdl_token *token = &parser->lexer.token;

	return token->kind == TSDL_SIGN && token->sign == sign && !token->is_alias &&
	       !token->is_range;
}

bool tsdl_is_word(const struct tsdl_parser *parser, const char *word)
{
	const struct tsdl_token *token = &parser->lexer.token;

	return token->kind == TSDL_WORD && token->size == strlen(word) &&
	       memcmp(token->text, word, token->size) == 0;
}

bool tsdl_take(struct tsdl_parser *parser, char sign)
{
	bool found = tsdl_is_sign(parser, sign);

	if (found)
		tsdl_next(&parser->lexer);
	return found;
}

bool tsdl_take_word(struct tsdl_parser *parser, const char *word)
{
	bool found = tsdl_is_word(parser, word);

	if (found)
		tsdl_next(&parser->lexer);
	return found;
}

int tsdl_expect(struct tsdl_parser *parser, char sign)
{
	char wanted[] = "'?'";

	wanted[1] = sign;
	return tsdl_take(parser, sign) ? 0 : tsdl_wrong(parser, wanted);
}

char *tsdl_add_word(char *words, size_t *size, char between, const char *word,
		    size_t length)
{
	words = mem_realloc(words, *size + length + 2, 1);
	if (*size)
		words[(*size)++] = between;
	memcpy(words + *size, word, length);
	*size += length;
	words[*size] = '\0';
	return words;
}

char *tsdl_path(struct tsdl_parser *parser)
{
	char *path = NULL;
	size_t size = 0;

	do {
		const struct tsdl_token *token = &parser->lexer.token;

		if (token->kind != TSDL_WORD) {
			free(path);
			tsdl_wrong(parser, "a name");
			return NULL;
		}
		path = tsdl_add_word(path, &size, '.', token->text, token->size);
		tsdl_next(&parser->lexer);
	} while (tsdl_take(parser, '.'));
	return path;
}

int tsdl_value(struct tsdl_parser *parser, struct tsdl_value *value)
{
	const struct tsdl_token *token = &parser->lexer.token;

	memset(value, 0, sizeof(*value));
	value->kind = token->kind;
	switch (token->kind) {
	case TSDL_NUMBER:
		value->number = token->number;
		value->is_negative = token->is_negative;
		tsdl_next(&parser->lexer);
		break;
	case TSDL_STRING:
		value->text = mem_strndup(token->text, token->size);
		tsdl_next(&parser->lexer);
		break;
	default:
		value->text = tsdl_path(parser);
		if (!value->text)
			return -1;
		break;
	}
	return tsdl_expect(parser, ';');
}

void tsdl_value_clear(struct tsdl_value *value)
{
	free(value->text);
	value->text = NULL;
}

int tsdl_attribute(struct tsdl_parser *parser, const char *key,
		   const struct tsdl_key *table, void *target)
{
	struct tsdl_value value = {.kind = TSDL_WRONG};
	int status;

	while (table->key && strcmp(table->key, key) != 0)
		table++;
	if (!table->key)
		return tsdl_wrong(parser, "an attribute that is known here");
	status = tsdl_expect(parser, '=');
	if (!status)
		status = tsdl_value(parser, &value);
	if (!status)
		status = table->set(parser, target, &value);
	tsdl_value_clear(&value);
	return status;
}

int tsdl_attributes(struct tsdl_parser *parser, const struct tsdl_key *table,
		    void *target)
{
	int status = tsdl_expect(parser, '{');

	while (!status && !tsdl_take(parser, '}')) {
		char *key = tsdl_path(parser);

		status = key ? tsdl_attribute(parser, key, table, target) : -1;
		free(key);
	}
	return status;
}

int tsdl_set_order(struct tsdl_parser *parser, enum byte_order *order,
		   const struct tsdl_value *value)
{
	const char *text = value->text ? value->text : "";

	if (strcmp(text, "le") == 0)
		*order = ORDER_LITTLE;
	else if (strcmp(text, "be") == 0 || strcmp(text, "network") == 0)
		*order = ORDER_BIG;
	else if (strcmp(text, "native") == 0)
		*order = ORDER_NATIVE;
	else
		return tsdl_wrong(parser, "byte order le, be, network or native");
	return 0;
}
