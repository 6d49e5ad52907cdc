/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_TEMPLATE_H
#define CT_INPUT_RECIPE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Commands with %(key)s in them, each of which becomes one word of the shell,
 * whatever its value holds. `%%(` stands for `%(` itself.
 *
 * Outside of quotes a value is put into single quotes. Within quotes, comments,
 * arithmetic and here-documents, and after what this does not follow (backquotes,
 * substitutions within double quotes), there is no quoting that always holds: there a
 * value must be plain, letters, digits and _./:,+@%=-, and is put in as it is.
 */
struct recipe_placeholder {
	const char *begin, *end; /* all of it, within the command */
	char *key;               /* for free(); NULL: it is a `%%(` */
	char conversion;         /* the letter after it: 's' */
	bool bare;               /* may be quoted, so that any value fits */
	bool spoilt;             /* by a `$` or `\` just before it: no value fits */
};

/* What the shell would be in at some place of a command. */
struct recipe_template {
	const char *at, *begin;
	enum {
		TEMPLATE_BARE,
		TEMPLATE_SINGLE,
		TEMPLATE_DOUBLE,
		TEMPLATE_COMMENT,
		TEMPLATE_ARITHMETIC,
	} state;
	size_t depth; /* of parentheses in arithmetic */
	bool murky;   /* it is not followed any further */
	bool escaped; /* by a backslash just before */
};

void recipe_template_begin(struct recipe_template *scan, const char *command);

/* The next placeholder; false at the end of the command. */
bool recipe_template_next(struct recipe_template *scan,
			  struct recipe_placeholder *placeholder);

/* Whether a value can stand anywhere as it is. */
bool recipe_value_is_plain(const char *value);

/* The command with its values, for free(). All keys have one: that was checked. */
char *recipe_template_fill(const char *command,
			   const char *(*value)(void *context, const char *key),
			   void *context);

#endif
