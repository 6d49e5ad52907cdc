/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_METADATA_AST_H
#define CT_TRACE_CTF_METADATA_AST_H

#include <obstack.h>

#include "trace/schema.h"

/*
 * A value of metadata, common to both languages.
 *
 * Metadata is first parsed into values as JSON has them, and these are then added to the
 * schema. TSDL's blocks and types are objects with members that mean the same as those of
 * CTF 2. A value lives until its outermost block or fragment ends; the values of named
 * types live until the metadata ends. Tokens are values, too.
 */
enum ast_kind {
	AST_NULL,
	AST_NUMBER,
	AST_TEXT,
	AST_OBJECT,
	AST_ARRAY,
	AST_WORD, /* a word or keyword */
	AST_REAL, /* a real, or an integer of more than 64 bits; the schema needs neither
		   */
	AST_SIGN, /* the sign is in `number` */
	AST_END,
	AST_WRONG,
};

enum { SIGN_ALIAS = 'A', SIGN_RANGE = 'R' }; /* the tokens := and ... */

struct ast {
	struct metadata *in;
	enum ast_kind kind;
	unsigned line;
	bool is_negative;
	bool is_known;    /* the schema has used this member */
	uint64_t number;  /* two's complement if negative */
	const char *name; /* name of a member of an object, otherwise NULL */
	const char
	    *text; /* content of a text or word; for an object, its "type" or NULL */
	struct ast *first; /* first child of an object or array */
	struct ast *next;  /* next sibling */
};

/* Metadata that is being parsed. After an error there are no more tokens. */
struct metadata {
	struct schema *schema;
	struct error *error;
	const char *at, *end;
	unsigned line;
	struct ast token; /* the current token */
	unsigned place;   /* line of the error */
	struct obstack memory;
	struct metadata_type {
		const char *name; /* "uint8_t", "unsigned long", "struct pair" */
		const struct ast *ast;
	} * type; /* later ones hide earlier ones */
	size_t types, type_capacity;
	size_t outer_types; /* types that are defined outside the current block */
	bool is_json;
	size_t nodes; /* number of field classes and labels, which is limited */
	unsigned depth;
	size_t fragments; /* number of fragments in CTF 2 */
	bool has_trace;
	enum field_scope
	    scope;         /* scope of the current field class; SCOPES outside of any */
	const char *clock; /* clock of timestamps in the current scope, or NULL */
	const struct ast *environment; /* last `env` block of TSDL, or NULL */
};

/* Start with the first token. Borrows the text, which a NUL must follow. */
void metadata_init(struct metadata *in, const char *text, size_t size, bool is_json,
		   struct error *error);

/* Return the schema, or NULL after an error. */
struct schema *metadata_finish(struct metadata *in);

/*
 * Report an error in a value, prefixed with its name. Only the first error is kept. If
 * `value` is NULL, it has already been reported as missing.
 */
void metadata_wrong(const struct ast *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool metadata_failed(const struct metadata *in)
{
	return in->error->text != NULL;
}

void metadata_next(struct metadata *in);

/* Return true if the current token is this sign; accept also moves past it. */
bool metadata_is_sign(const struct metadata *in, char sign);
bool metadata_accept(struct metadata *in, char sign);
void metadata_expect(struct metadata *in, char sign);

/* A mark of the memory and types in use, to which metadata_forget() returns. */
struct metadata_mark {
	char *memory;
	size_t types;
};

char *metadata_memory(struct metadata *in, size_t size);
struct ast *ast_new(struct metadata *in, enum ast_kind kind, const char *name);
struct ast *ast_copy(const struct ast *value, const char *name); /* shares the members */
struct metadata_mark metadata_mark(struct metadata *in);
void metadata_forget(struct metadata *in, struct metadata_mark mark);

/* Check a field class and define its name from here on. */
void metadata_define(struct metadata *in, const char *name, const struct ast *ast);

/* Return a type by name. After an error the result is arbitrary. */
const struct ast *metadata_find_type(struct metadata *in, const char *name);

/* Return a member of an object by its name in the language, or NULL; mark it as used. */
const struct ast *ast_get(const struct ast *object, const char *json, const char *tsdl);

/* Like ast_get(), but a missing member is an error; for ast_need_json only in CTF 2. */
const struct ast *ast_need(const struct ast *object, const char *json, const char *tsdl);
const struct ast *ast_need_json(const struct ast *object, const char *json,
				const char *tsdl);

/* Report members that were not used, except those that do not affect reading. */
void ast_expect_no_more(const struct ast *object);

/* Return the content of a value, which may be NULL: its first child, number or text. */
const struct ast *ast_first(const struct ast *value, enum ast_kind kind);
uint64_t ast_natural(const struct ast *value, uint64_t otherwise);
const char *ast_text(const struct ast *value, const char *otherwise);

/* Return the truth value that a value of TSDL states; false for NULL. */
bool ast_truth(const struct ast *value);

/* A keyword and its meaning; a table ends with a NULL name. */
struct ast_word {
	const char *name;
	int is;
};

int ast_word(const struct ast *value, const struct ast_word *known, int otherwise);

#endif
