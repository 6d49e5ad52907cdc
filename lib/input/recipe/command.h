/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_COMMAND_H
#define CT_INPUT_RECIPE_COMMAND_H

#include <stdint.h>

#include "input/recipe/recipe.h"

/*
 * Commands with %(key)s in them, each of which stays in one word of the shell, whatever
 * its value holds. `%%(` stands for `%(` itself.
 *
 * Outside of quotes a value is put into single quotes, in double quotes the marks in it
 * get backslashes. In single quotes, and after anything by which it is no longer plain
 * where quotes begin (a backslash, a backquote, a comment, `<<`, `$((`, `$'`, `$(` or
 * `${` within double quotes), a value must be plain: letters, digits and _./:,+@%=-.
 */
enum recipe_quoting { QUOTE_SINGLE, QUOTE_DOUBLE, QUOTE_NONE, QUOTE_IMPOSSIBLE };

struct recipe_placeholder {
	const char *begin, *end; /* all of it, within the command */
	char *key;               /* for free(); NULL: it is a `%%(` */
	char conversion;         /* the letter after it: 's' */
	enum recipe_quoting quoting;
};

/* How far a command was looked at. */
struct recipe_template {
	const char *at, *begin;
	char quote;   /* that is open; NUL: none */
	bool unclear; /* where quotes begin and end is no longer followed */
};

/* The next placeholder; false at the end of the command. Begins with {.at = COMMAND}. */
bool recipe_template_next(struct recipe_template *scan,
			  struct recipe_placeholder *placeholder);

/* Whether a value can stand anywhere as it is. */
bool recipe_value_is_plain(const char *value);

/* The command with its values, for free(). All keys have one: that was checked. */
char *recipe_template_fill(const char *command,
			   const char *(*value)(void *context, const char *key),
			   void *context);

/* Points of the product of the parameters, and what %(key)s stands for at one. */
enum { RECIPE_MOST_POINTS = 10000 };

/* How many points there are, at least 1; more than RECIPE_MOST_POINTS if too many. */
size_t recipe_points(const struct recipe *recipe);

/*
 * Which value a parameter has at a point, counted from 0. The last parameter changes
 * first.
 */
const struct recipe_value *recipe_choice(const struct recipe *recipe, size_t point,
					 size_t parameter);

/*
 * "delay=1-size=64", for a directory's name: up to 160 bytes, and another text for
 * every point. Bytes that file names should not have are written %XX; what is too
 * long is cut, and a hash of the whole put behind. For free().
 */
char *recipe_point_suffix(const struct recipe *recipe, size_t point);

/* For whom a command is. */
enum recipe_scope_kind { SCOPE_NODE, SCOPE_LOCAL, SCOPE_TASK };

struct recipe_scope {
	const struct recipe *recipe;
	enum recipe_scope_kind kind;
	size_t point;      /* from 0 */
	const char *run;   /* name of the run's directory */
	const char *node;  /* of SCOPE_NODE */
	const char *role;  /* by which it was chosen */
	const char *input; /* of SCOPE_TASK */
	int64_t task;
	char number[24]; /* numbers as text */
};

/* What a key stands for, or NULL. Valid until the next call. */
const char *recipe_scope_value(void *scope, const char *key);

/* Keys that are no parameters. */
bool recipe_is_builtin(const char *key);

/* A command as it is run in a scope, for free(). */
char *recipe_scope_fill(struct recipe_scope *scope, const char *command);

#endif
