/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_TSDL_H
#define CT_CTF_TSDL_H

#include "ctf/schema.h"
#include "ctf/tsdl_lexer.h"

/* What the parts of the parser share. Types and what contains them. */
struct tsdl_alias {
	char *name; /* "uint8_t", "unsigned long", "struct packet_context" */
	struct field_class *class;
};

struct tsdl_parser {
	struct tsdl_lexer lexer;
	struct schema *schema;
	struct error *error;
	struct tsdl_alias *alias; /* later ones hide earlier ones */
	size_t aliases, room;
	size_t nodes; /* of all field classes, so that no text makes too many */
	unsigned depth;
};

/* The value of `key = value;`. */
struct tsdl_value {
	enum tsdl_kind kind; /* TSDL_WORD, also with dots; TSDL_STRING; TSDL_NUMBER */
	uint64_t number;
	bool is_negative;
	char *text; /* NULL of a number */
};

/* Always -1. Keeps the first error. */
int tsdl_wrong(struct tsdl_parser *parser, const char *wanted);

bool tsdl_is_sign(const struct tsdl_parser *parser, char sign);
bool tsdl_is_word(const struct tsdl_parser *parser, const char *word);

/* Take the sign or word if it is there. */
bool tsdl_take(struct tsdl_parser *parser, char sign);
bool tsdl_take_word(struct tsdl_parser *parser, const char *word);

/* 0, or -1 where the sign does not come. */
int tsdl_expect(struct tsdl_parser *parser, char sign);

/*
 * Words that are *size long (NULL: none yet) with one more behind a sign. For free();
 * takes the words.
 */
char *tsdl_add_word(char *words, size_t *size, char between, const char *word,
		    size_t length);

/* A word, or words joined by dots, for free(); NULL where none comes. */
char *tsdl_path(struct tsdl_parser *parser);

/* What follows the = of an attribute, and the semicolon. */
int tsdl_value(struct tsdl_parser *parser, struct tsdl_value *value);
void tsdl_value_clear(struct tsdl_value *value);

/* Rows of what may stand in a block: its key, and what it sets. */
struct tsdl_key {
	const char *key;
	int (*set)(struct tsdl_parser *parser, void *target,
		   const struct tsdl_value *value);
};

/* `= value;` of this key, by the table. */
int tsdl_attribute(struct tsdl_parser *parser, const char *key,
		   const struct tsdl_key *table, void *target);

/* `{ key = value; ... }`; keys that are not in the table are wrong. */
int tsdl_attributes(struct tsdl_parser *parser, const struct tsdl_key *table,
		    void *target);

/* A type, up to what follows its name or its braces. NULL where it is wrong. */
struct field_class *tsdl_type(struct tsdl_parser *parser);

/* typealias, typedef, or a named structure, variant or enumeration. */
int tsdl_definition(struct tsdl_parser *parser);
bool tsdl_is_definition(const struct tsdl_parser *parser);

/* Types of the block that ends are forgotten. */
void tsdl_forget(struct tsdl_parser *parser, size_t aliases);

/* Takes an attribute that is of no use here. */
int tsdl_ignore(struct tsdl_parser *parser, void *target, const struct tsdl_value *value);

int tsdl_set_order(struct tsdl_parser *parser, enum byte_order *order,
		   const struct tsdl_value *value);

/* Types without members, from what follows their keyword; NULL where it is wrong. */
struct field_class *tsdl_integer(struct tsdl_parser *parser);
struct field_class *tsdl_real(struct tsdl_parser *parser);
struct field_class *tsdl_string(struct tsdl_parser *parser);

/* `{ label = value, ... }` of an enumeration over this integer. */
int tsdl_labels(struct tsdl_parser *parser, struct field_class *class);

int tsdl_set_align(struct tsdl_parser *parser, struct field_class *class,
		   const struct tsdl_value *value);

#endif
