/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_METADATA_AST_H
#define CT_TRACE_CTF_METADATA_AST_H

#include <obstack.h>

#include "trace/schema.h"

/*
 * What both languages of metadata are read into, before it becomes a schema: values as
 * JSON has them. TSDL's blocks and types are objects, with members of the same meaning as
 * those of CTF 2. Values live as long as the block or fragment that holds them; those of
 * types with a name until the end. Tokens are values, too.
 */
enum ast_kind {
	AST_NULL,
	AST_NUMBER,
	AST_TEXT,
	AST_OBJECT,
	AST_ARRAY,
	AST_WORD, /* a keyword is a word as any other */
	AST_REAL, /* or an integer of more than 64 bits: of no use here */
	AST_SIGN, /* `number` tells which */
	AST_END,
	AST_WRONG,
};

enum { SIGN_ALIAS = 'A', SIGN_RANGE = 'R' }; /* := and ... */

struct ast {
	struct metadata *in;
	enum ast_kind kind;
	unsigned line;
	bool is_negative;
	bool is_known;     /* somebody asked for the member */
	uint64_t number;   /* in two's complement if negative */
	const char *name;  /* as member of an object, else NULL */
	const char *text;  /* of text and word; the "type" of an object, or NULL */
	struct ast *first; /* of an object or array; */
	struct ast *next;  /* the one after it there */
};

/* Metadata that is being read. After an error no token follows. */
struct metadata {
	struct schema *schema;
	struct error *error;
	const char *at, *end;
	unsigned line;
	struct ast token; /* the one at hand */
	unsigned place;   /* the line of what is wrong */
	struct obstack memory;
	struct metadata_type {
		const char *name; /* "uint8_t", "unsigned long", "struct pair" */
		const struct ast *ast;
	} * type; /* later ones hide earlier ones */
	size_t types, type_capacity;
	size_t outer_types; /* types that are defined outside the current block */
	bool is_json;
	size_t nodes; /* field classes and labels, so that no text makes too many */
	unsigned depth;
	size_t fragments; /* of CTF 2 */
	bool has_trace;
	enum field_scope scope; /* that the field class at hand is of, or SCOPES, */
	const char *clock;      /* and the clock of stamps there, or NULL */
	const struct ast *environment; /* the last `env` block of TSDL, or NULL */
};

/* Begin with the first token. The text is borrowed, and a NUL stands behind it. */
void metadata_init(struct metadata *in, const char *text, size_t size, bool is_json,
		   struct error *error);

/* The schema, or NULL where an error came. */
struct schema *metadata_finish(struct metadata *in);

/*
 * What is wrong with a value, its name before it. The first error is the one that stays;
 * of NULL it has been told that it is missing.
 */
void metadata_wrong(const struct ast *value, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool metadata_failed(const struct metadata *in)
{
	return in->error->text != NULL;
}

/* Go on to the next token. */
void metadata_next(struct metadata *in);

/* Go past the sign if it is there; that it is there. */
bool metadata_is_sign(const struct metadata *in, char sign);
bool metadata_accept(struct metadata *in, char sign);
void metadata_expect(struct metadata *in, char sign);

/* Memory, and values, that stay until a mark is set back. */
struct metadata_mark {
	char *memory;
	size_t types;
};

char *metadata_memory(struct metadata *in, size_t size);
struct ast *ast_new(struct metadata *in, enum ast_kind kind, const char *name);
struct ast *ast_copy(const struct ast *value, const char *name); /* shares the members */
struct metadata_mark metadata_mark(struct metadata *in);
void metadata_forget(struct metadata *in, struct metadata_mark mark);

/* Check the field class, which is known by the name from here on. */
void metadata_define(struct metadata *in, const char *name, const struct ast *ast);

/* With error, anything. */
const struct ast *metadata_find_type(struct metadata *in, const char *name);

/* A member of an object by its name in the language, or NULL; it is known now. */
const struct ast *ast_get(const struct ast *object, const char *json, const char *tsdl);

/* The same, which must be there; in CTF 2. */
const struct ast *ast_need(const struct ast *object, const char *json, const char *tsdl);
const struct ast *ast_need_json(const struct ast *object, const char *json,
				const char *tsdl);

/* That there are no more members, except those that say nothing of how to read. */
void ast_expect_no_more(const struct ast *object);

/* What a value says, which may be NULL: the first one in it, a number, a text. */
const struct ast *ast_first(const struct ast *value, enum ast_kind kind);
uint64_t ast_natural(const struct ast *value, uint64_t otherwise);
const char *ast_text(const struct ast *value, const char *otherwise);

/* Return the truth value that a value of TSDL states; false for NULL. */
bool ast_truth(const struct ast *value);

/* What words stand for, up to one without a name. */
struct ast_word {
	const char *name;
	int is;
};

int ast_word(const struct ast *value, const struct ast_word *known, int otherwise);

/* Add to the schema what a fragment of CTF 2 or a block of TSDL says. */
void schema_add(const struct ast *fragment);

/* The field class that a value describes, or its name. NULL with error, and of NULL. */
struct field_class *schema_field(const struct ast *value);

/* These scopes of an object. Stamps in them are of the clock if that is not NULL. */
void schema_scopes(const struct ast *object, struct field_class **of,
		   enum field_scope first, enum field_scope last, const char *clock);

enum byte_order schema_order(const struct ast *value);

#endif
