/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_TSDL_LEXER_H
#define CT_CTF_TSDL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The words of TSDL, the language of CTF 1.8 metadata. Comments and white
 * space are left out; a keyword is a word as any other.
 */
enum tsdl_kind {
	TSDL_END,
	TSDL_WORD,
	TSDL_STRING, /* without its quotes, escapes undone */
	TSDL_NUMBER,
	TSDL_SIGN, /* one of { } [ ] ( ) < > ; : , = . or := ... */
	TSDL_WRONG,
};

struct tsdl_token {
	enum tsdl_kind kind;
	char sign; /* ':' also of := (then is_alias), '.' also of ... (is_range) */
	bool is_alias, is_range;
	bool is_negative; /* of a number */
	uint64_t number;  /* in two's complement if negative */
	const char *text; /* of word and string, up to text + size */
	size_t size;
	unsigned line;
};

struct tsdl_lexer {
	const char *at, *end;
	unsigned line;
	char *scratch;           /* of a string with escapes; clear frees it */
	struct tsdl_token token; /* the one at hand */
};

/* Borrows the text; the first token is at hand. */
void tsdl_lexer_init(struct tsdl_lexer *lexer, const char *text, size_t size);

/* Go on to the next token. At the end it stays TSDL_END. */
void tsdl_next(struct tsdl_lexer *lexer);

void tsdl_lexer_clear(struct tsdl_lexer *lexer);

#endif
