/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_PRETTY_H
#define CT_TEST_PRETTY_H

/*
 * An event as babeltrace2's program prints it with --names=all, taken apart
 * into leaves: the fields that a table would have a column for.
 *
 * NAME = 7, NAME = "text", NAME = ( "label" : container = 7 ), structures as
 * NAME = { ... }, variants as NAME = { value }, arrays as [ [0] = 7, ... ].
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind { TOKEN_NUMBER, TOKEN_TEXT, TOKEN_NAME };

struct token {
	enum token_kind kind;
	const char *text;
	const char *other; /* of several labels, in what order is not said: the second */
};

struct leaf {
	char path[192];      /* of a pattern: names joined by _, * for an option's */
	bool is_array;       /* else it has one token */
	size_t first, count; /* of its tokens */
};

enum { MOST_LEAVES = 512, MOST_TOKENS = 1 << 16 };

struct pretty {
	char *at; /* in the line, which is changed */
	bool is_broken;
	struct leaf leaf[MOST_LEAVES];
	size_t leaves;
	struct token token[MOST_TOKENS];
	size_t tokens;
	unsigned in_array;
};

static inline bool pretty_skip(struct pretty *pretty, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(pretty->at, text, length) != 0)
		return false;
	pretty->at += length;
	return true;
}

static inline void pretty_want(struct pretty *pretty, const char *text)
{
	if (!pretty_skip(pretty, text))
		pretty->is_broken = true;
}

static inline void pretty_token(struct pretty *pretty, enum token_kind kind,
				const char *text)
{
	if (pretty->tokens == MOST_TOKENS)
		pretty->is_broken = true;
	else
		pretty->token[pretty->tokens++] = (struct token){kind, text, NULL};
}

/* The text between quotes, without its escapes; also of JSON, but for \u. */
static inline char *unquote(char **at)
{
	char *from = *at + 1, *begin = from, *to = from;

	while (*from && *from != '"') {
		static const char escape[] = "abfnrtve", meant[] = "\a\b\f\n\r\t\v\033";
		const char *found;

		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from++;
		if (*from == 'x' || *from == 'u') {
			unsigned digits = *from == 'x' ? 2 : 4;
			char hex[5] = "";

			strncpy(hex, from + 1, digits);
			*to++ = (char)strtoul(hex, NULL, 16);
			from += 1 + digits;
			continue;
		}
		found = strchr(escape, *from);
		*to++ = found ? meant[found - escape] : *from;
		from++;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return begin;
}

/* Moved by one, so that what follows it is not overwritten by its end. */
static inline void pretty_number(struct pretty *pretty)
{
	char *begin = pretty->at, *copy;
	size_t length = strcspn(begin, ", })]");

	if (!length)
		pretty->is_broken = true;
	copy = begin - 1; /* a space stands there */
	memmove(copy, begin, length);
	copy[length] = '\0';
	pretty->at += length;
	pretty_token(pretty, TOKEN_NUMBER, copy);
}

/* The labels, or without one the number. */
static inline const char *pretty_label(struct pretty *pretty)
{
	const char *label = unquote(&pretty->at);

	/* LTTng puts an underscore before some. */
	return label[0] == '_' && label[1] ? label + 1 : label;
}

static inline void pretty_enumeration(struct pretty *pretty)
{
	pretty_want(pretty, "( ");
	if (pretty_skip(pretty, "<unknown> : container = ")) {
		pretty_number(pretty);
	} else {
		bool several = pretty_skip(pretty, "{ ");
		char *end;

		pretty_token(pretty, TOKEN_TEXT, pretty_label(pretty));
		while (several && pretty_skip(pretty, ", "))
			pretty->token[pretty->tokens - 1].other = pretty_label(pretty);
		end = strstr(pretty->at, " )");
		if (end)
			pretty->at = end;
	}
	pretty_want(pretty, " )");
}

static inline void pretty_value(struct pretty *pretty, const char *path);

/* The name before " = ", or NULL of a variant's value. */
static inline const char *pretty_name(struct pretty *pretty)
{
	size_t length = 0;
	char *name = pretty->at;

	if (!isalpha((unsigned char)*name) && *name != '_' && *name != '$')
		return NULL;
	while (isalnum((unsigned char)name[length]) ||
	       (name[length] && strchr("_.$:", name[length])))
		length++;
	if (strncmp(name + length, " = ", 3) != 0)
		return NULL;
	name[length] = '\0';
	pretty->at += length + 3;
	return name[0] == '_' && name[1] ? name + 1 : name;
}

static inline void pretty_structure(struct pretty *pretty, const char *path)
{
	pretty_want(pretty, "{ ");
	while (!pretty->is_broken && *pretty->at != '}') {
		const char *name = pretty_name(pretty);
		char longer[192];

		if (pretty->in_array && name)
			pretty_token(pretty, TOKEN_NAME, name);
		snprintf(longer, sizeof(longer), "%.120s%s%.60s", path, *path ? "_" : "",
			 name ? name : "*");
		pretty_value(pretty, longer);
		if (!pretty_skip(pretty, ", "))
			pretty_want(pretty, " ");
	}
	pretty_want(pretty, "}");
}

static inline void pretty_array(struct pretty *pretty)
{
	pretty_want(pretty, "[ ");
	pretty->in_array++;
	while (!pretty->is_broken && *pretty->at != ']') {
		pretty->at += strcspn(pretty->at, "=");
		pretty_want(pretty, "= ");
		pretty_value(pretty, "");
		if (!pretty_skip(pretty, ", "))
			pretty_want(pretty, " ");
	}
	pretty->in_array--;
	pretty_want(pretty, "]");
}

static inline void pretty_value(struct pretty *pretty, const char *path)
{
	char begin = *pretty->at;
	struct leaf *leaf = NULL;

	if (begin == '{') {
		pretty_structure(pretty, path);
		return;
	}
	if (!pretty->in_array) {
		if (pretty->leaves == MOST_LEAVES) {
			pretty->is_broken = true;
			return;
		}
		leaf = &pretty->leaf[pretty->leaves++];
		snprintf(leaf->path, sizeof(leaf->path), "%s", path);
		leaf->is_array = begin == '[';
		leaf->first = pretty->tokens;
	}
	if (begin == '[')
		pretty_array(pretty);
	else if (begin == '(')
		pretty_enumeration(pretty);
	else if (begin == '"')
		pretty_token(pretty, TOKEN_TEXT, unquote(&pretty->at));
	else
		pretty_number(pretty);
	if (leaf)
		leaf->count = pretty->tokens - leaf->first;
}

/*
 * Add the leaves of a part of an event, such as ", event.fields = ". The line
 * is changed there. An event without the part has no leaf of it.
 */
static inline void pretty_part(struct pretty *pretty, char *line, const char *part)
{
	char *found = strstr(line, part);

	if (!found)
		return;
	pretty->at = found + strlen(part);
	pretty_structure(pretty, "");
}

#endif
