/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/tsdl/lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
