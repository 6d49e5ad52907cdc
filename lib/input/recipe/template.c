/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/template.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define KEY     LETTERS "0123456789_.-"

void recipe_template_begin(struct recipe_template *scan, const char *command)
{
	*scan = (struct recipe_template){.at = command, .begin = command};
}

/* Whether a word, and so a comment, may begin here. */
static bool begins_word(const struct recipe_template *scan)
{
	return scan->at == scan->begin || strchr(" \t\n;&|()<>", scan->at[-1]);
}

static bool has(const struct recipe_template *scan, const char *text)
{
	return strncmp(scan->at, text, strlen(text)) == 0;
}

static void step_bare(struct recipe_template *scan)
{
	switch (*scan->at) {
	case '\'':
		/* $'...' is one thing to bash and another to dash. */
		scan->murky = scan->at > scan->begin && scan->at[-1] == '$';
		scan->state = TEMPLATE_SINGLE;
		break;
	case '"':
		scan->state = TEMPLATE_DOUBLE;
		break;
	case '`':
		scan->murky = true;
		break;
	case '<':
		scan->murky = scan->at[1] == '<';
		break;
	case '#':
		if (!begins_word(scan))
			break;
		scan->state = TEMPLATE_COMMENT;
		/* After a blank that was quoted it begins no comment. */
		scan->murky = scan->at >= scan->begin + 2 && scan->at[-2] == '\\';
		break;
	case '$':
		if (!has(scan, "$(("))
			break;
		scan->state = TEMPLATE_ARITHMETIC;
		scan->depth = 0;
		break;
	}
}

static void step_arithmetic(struct recipe_template *scan)
{
	scan->depth += *scan->at == '(';
	if (*scan->at == ')' && --scan->depth == 0)
		scan->state = TEMPLATE_BARE;
	if (strchr("'\"`", *scan->at))
		scan->murky = true;
}

/* Go over one character. What is murky stays so to the end. */
static void step(struct recipe_template *scan)
{
	bool escapes = *scan->at == '\\' && !scan->escaped;

	if (!scan->murky && !scan->escaped && !escapes) {
		switch (scan->state) {
		case TEMPLATE_BARE:
			step_bare(scan);
			break;
		case TEMPLATE_SINGLE:
			if (*scan->at == '\'')
				scan->state = TEMPLATE_BARE;
			break;
		case TEMPLATE_DOUBLE:
			if (*scan->at == '"')
				scan->state = TEMPLATE_BARE;
			scan->murky =
			    *scan->at == '`' || has(scan, "$(") || has(scan, "${");
			break;
		case TEMPLATE_COMMENT:
			if (*scan->at == '\n')
				scan->state = TEMPLATE_BARE;
			break;
		case TEMPLATE_ARITHMETIC:
			step_arithmetic(scan);
			break;
		}
	}
	scan->escaped =
	    escapes && scan->state != TEMPLATE_SINGLE && scan->state != TEMPLATE_COMMENT;
	if (scan->state == TEMPLATE_COMMENT && *scan->at == '\n')
		scan->state = TEMPLATE_BARE;
	scan->at++;
}

/* `%(key)` and its letter at the place at hand. */
static bool is_placeholder(const struct recipe_template *scan,
			   struct recipe_placeholder *placeholder)
{
	size_t length;
	const char *end;

	if (!has(scan, "%("))
		return false;
	length = strspn(scan->at + 2, KEY);
	end = scan->at + 2 + length;
	if (length == 0 || !strchr(LETTERS "_", scan->at[2]) || *end != ')')
		return false;
	placeholder->begin = scan->at;
	placeholder->end = end[1] ? end + 2 : end + 1;
	placeholder->key = mem_strndup(scan->at + 2, length);
	placeholder->conversion = end[1];
	placeholder->bare = !scan->murky && scan->state == TEMPLATE_BARE;
	placeholder->spoilt =
	    scan->escaped || (scan->at > scan->begin && scan->at[-1] == '$');
	return true;
}

bool recipe_template_next(struct recipe_template *scan,
			  struct recipe_placeholder *placeholder)
{
	memset(placeholder, 0, sizeof(*placeholder));
	for (; *scan->at; step(scan)) {
		if (has(scan, "%%(")) {
			placeholder->begin = scan->at;
			placeholder->end = scan->at += 3;
			scan->escaped = false;
			return true;
		}
		if (is_placeholder(scan, placeholder)) {
			scan->at = placeholder->end;
			scan->escaped = false;
			return true;
		}
	}
	return false;
}

bool recipe_value_is_plain(const char *value)
{
	return *value && !value[strspn(value, LETTERS "0123456789_./:,+@%=-")];
}

static void put_quoted(FILE *file, const char *value)
{
	putc('\'', file);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", file);
		else
			putc(*value, file);
	putc('\'', file);
}

char *recipe_template_fill(const char *command,
			   const char *(*value)(void *context, const char *key),
			   void *context)
{
	struct recipe_placeholder placeholder;
	struct recipe_template scan;
	const char *rest = command;
	char *filled = NULL;
	size_t size;
	FILE *file = open_memstream(&filled, &size);

	if (!file)
		return mem_strdup(command); /* no memory; mem_strdup ends the program */
	recipe_template_begin(&scan, command);
	while (recipe_template_next(&scan, &placeholder)) {
		fwrite(rest, 1, (size_t)(placeholder.begin - rest), file);
		rest = placeholder.end;
		if (!placeholder.key) {
			fputs("%(", file);
		} else {
			const char *text = value(context, placeholder.key);

			assert(text && !placeholder.spoilt);
			if (placeholder.bare)
				put_quoted(file, text);
			else
				fputs(text, file);
		}
		free(placeholder.key);
	}
	fputs(rest, file);
	if (fclose(file) || !filled)
		abort();
	return filled;
}
