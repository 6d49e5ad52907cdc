/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf/tsdl_lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctf/tsdl.h"

void tsdl_lexer_init(struct tsdl_lexer *lexer, const char *text, size_t size)
{
	memset(lexer, 0, sizeof(*lexer));
	lexer->at = text;
	lexer->end = text + size;
	lexer->line = 1;
	tsdl_next(lexer);
}

static bool starts(const struct tsdl_lexer *lexer, const char *text)
{
	size_t size = strlen(text);

	return (size_t)(lexer->end - lexer->at) >= size &&
	       memcmp(lexer->at, text, size) == 0;
}

/* Up to and with the text, or to the end. False where it does not come. */
static bool skip_past(struct tsdl_lexer *lexer, const char *text)
{
	for (; lexer->at < lexer->end; lexer->at++) {
		lexer->line += *lexer->at == '\n';
		if (starts(lexer, text)) {
			lexer->at += strlen(text);
			return true;
		}
	}
	return false;
}

/* Metadata is blanks and words for the most part, so these take no calls. */
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

/* False where a comment does not end. */
static bool skip_space(struct tsdl_lexer *lexer)
{
	const char *at = lexer->at, *end = lexer->end;

	for (;;) {
		for (; at < end && is_space(*at); at++)
			lexer->line += *at == '\n';
		lexer->at = at;
		if (at == end || *at != '/')
			return true;
		if (starts(lexer, "/*")) {
			lexer->at += 2;
			if (!skip_past(lexer, "*/"))
				return false;
		} else if (starts(lexer, "//")) {
			skip_past(lexer, "\n");
		} else {
			return true;
		}
		at = lexer->at;
	}
}

static enum tsdl_kind read_word(struct tsdl_lexer *lexer)
{
	const char *at = lexer->at;

	while (at < lexer->end && is_word(*at))
		at++;
	lexer->token.text = lexer->at;
	lexer->token.size = (size_t)(at - lexer->at);
	lexer->at = at;
	return TSDL_WORD;
}

static int digit(char c, unsigned base)
{
	int value = is_digit(c)                  ? c - '0'
		    : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
						 : 99;

	return value < (int)base ? value : -1;
}

/* As in C, and with its suffixes, which say nothing here. */
static enum tsdl_kind read_number(struct tsdl_lexer *lexer)
{
	struct tsdl_token *token = &lexer->token;
	unsigned base = 10;
	bool any = false;

	if (*lexer->at == '-' || *lexer->at == '+')
		token->is_negative = *lexer->at++ == '-';
	if (starts(lexer, "0x") || starts(lexer, "0X")) {
		base = 16;
		lexer->at += 2;
	} else if (starts(lexer, "0b") || starts(lexer, "0B")) {
		base = 2;
		lexer->at += 2;
	} else if (starts(lexer, "0")) {
		base = 8;
	}
	for (; lexer->at < lexer->end && digit(*lexer->at, base) >= 0; lexer->at++) {
		any = true;
		if (__builtin_mul_overflow(token->number, (uint64_t)base,
					   &token->number) ||
		    __builtin_add_overflow(
			token->number, (uint64_t)digit(*lexer->at, base), &token->number))
			return TSDL_WRONG;
	}
	while (lexer->at < lexer->end && *lexer->at && strchr("uUlL", *lexer->at))
		lexer->at++;
	if (!any || (lexer->at < lexer->end && is_word(*lexer->at)))
		return TSDL_WRONG;
	if (token->is_negative && token->number > (uint64_t)1 << 63)
		return TSDL_WRONG;
	if (token->is_negative)
		token->number = -token->number;
	return TSDL_NUMBER;
}

/* What a backslash and this stand for; 0: not told here. */
static char escaped(char c)
{
	static const char from[] = "abfnrtv'\"?\\";
	static const char to[] = "\a\b\f\n\r\t\v'\"?\\";
	const char *found = c ? strchr(from, c) : NULL;

	return found ? to[found - from] : 0;
}

static enum tsdl_kind read_string(struct tsdl_lexer *lexer)
{
	const char *end = ++lexer->at;
	size_t size = 0;

	while (end < lexer->end && *end != '"' && *end != '\n')
		end += *end == '\\' ? 2 : 1;
	if (end >= lexer->end || *end != '"')
		return TSDL_WRONG;
	free(lexer->scratch);
	lexer->scratch = mem_alloc((size_t)(end - lexer->at) + 1);
	for (; lexer->at < end; lexer->at++) {
		char c = *lexer->at;

		if (c == '\\' && !(c = escaped(*++lexer->at)))
			return TSDL_WRONG;
		lexer->scratch[size++] = c;
	}
	lexer->at++;
	lexer->token.text = lexer->scratch;
	lexer->token.size = size;
	return memchr(lexer->scratch, '\0', size) ? TSDL_WRONG : TSDL_STRING;
}

static enum tsdl_kind read_sign(struct tsdl_lexer *lexer)
{
	struct tsdl_token *token = &lexer->token;

	token->sign = *lexer->at;
	if (!token->sign || !strchr("{}[]()<>;:,=.", token->sign))
		return TSDL_WRONG;
	token->is_alias = starts(lexer, ":=");
	token->is_range = starts(lexer, "...");
	lexer->at += token->is_range ? 3 : token->is_alias ? 2 : 1;
	return TSDL_SIGN;
}

void tsdl_next(struct tsdl_lexer *lexer)
{
	bool whole = skip_space(lexer);
	char first = lexer->at < lexer->end ? *lexer->at : '\0';

	memset(&lexer->token, 0, sizeof(lexer->token));
	lexer->token.line = lexer->line;
	if (!whole)
		lexer->token.kind = TSDL_WRONG;
	else if (lexer->at >= lexer->end)
		lexer->token.kind = TSDL_END;
	else if (is_digit(first) || first == '-' || first == '+')
		lexer->token.kind = read_number(lexer);
	else if (is_word(first))
		lexer->token.kind = read_word(lexer);
	else if (first == '"')
		lexer->token.kind = read_string(lexer);
	else
		lexer->token.kind = read_sign(lexer);
	/* Nothing is read beyond what is wrong. */
	if (lexer->token.kind == TSDL_WRONG)
		lexer->end = lexer->at = lexer->at < lexer->end ? lexer->at : lexer->end;
}

void tsdl_lexer_clear(struct tsdl_lexer *lexer)
{
	free(lexer->scratch);
	lexer->scratch = NULL;
}

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
