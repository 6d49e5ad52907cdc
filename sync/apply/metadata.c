/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/metadata.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "ctf/schema.h"

char *metadata_read(const char *path, struct error *error)
{
	size_t size, lacks;
	char *bytes = metadata_text(path, &size, &lacks, error), *text = NULL;

	if (bytes && memchr(bytes, '\0', size))
		error_set(error, "%s: a NUL byte in the text, want metadata", path);
	else if (bytes)
		text = mem_strndup(bytes, size);
	free(bytes);
	return text;
}

/* A fragment of CTF 2 metadata: a JSON text behind a record separator. */
struct fragment {
	const char *begin, *end; /* of the text, without the separator */
	unsigned number;         /* from 1 on */
};

/* The fragment that begins at a record separator. */
static struct fragment fragment_at(const char *at, unsigned number)
{
	const char *begin = at + 1;

	return (struct fragment){begin, begin + strcspn(begin, METADATA_SEPARATOR),
				 number};
}

static json_t *parse(const struct fragment *fragment, struct error *error)
{
	json_t *object = json_parse_object(
	    fragment->begin, (size_t)(fragment->end - fragment->begin), error);

	if (!object)
		error_prefix(error, "fragment %u", fragment->number);
	return object;
}

/* Find the one clock class; its object is the caller's. NULL with error. */
static json_t *find_clock(const char *text, struct fragment *found, struct error *error)
{
	json_t *clock = NULL;
	struct fragment fragment;
	unsigned number = 0;

	for (const char *at = text; *at; at = fragment.end) {
		const char *type;
		json_t *object;

		fragment = fragment_at(at, ++number);
		object = parse(&fragment, error);
		type = object ? json_text(object, "type") : NULL;
		if (type && strcmp(type, "clock-class") == 0) {
			if (clock) {
				error_set(error,
					  "fragment %u: a second clock, want one "
					  "clock",
					  number);
				json_decref(object);
				object = NULL;
			} else {
				clock = json_incref(object);
				*found = fragment;
			}
		}
		if (!object) {
			json_decref(clock);
			return NULL;
		}
		json_decref(object);
	}
	if (!clock)
		error_set(error, "no clock, want one clock");
	return clock;
}

/* A member that is an integer within limits, or missing: then as it was. */
static int read_integer(const json_t *object, const char *name, int64_t low, int64_t high,
			int64_t *value)
{
	const json_t *member = json_object_get(object, name);

	if (!member)
		return 0;
	if (!json_is_integer(member) || json_integer_value(member) < low ||
	    json_integer_value(member) > high)
		return -1;
	*value = json_integer_value(member);
	return 0;
}

static int read_class(const json_t *clock, struct clock_class *class)
{
	const json_t *offset = json_object_get(clock, "offset-from-origin");
	int64_t frequency = 0, cycles = 0, seconds = 0, precision = 0;

	if (read_integer(clock, "frequency", 1, (int64_t)CLOCK_CLASS_FASTEST,
			 &frequency) ||
	    !frequency || (offset && !json_is_object(offset)) ||
	    read_integer(offset, "cycles", 0, frequency - 1, &cycles) ||
	    read_integer(offset, "seconds", -CLOCK_CLASS_FARTHEST, CLOCK_CLASS_FARTHEST,
			 &seconds) ||
	    read_integer(clock, "precision", 0, INT64_MAX, &precision))
		return -1;
	*class = (struct clock_class){
	    .frequency = (uint64_t)frequency,
	    .offset_s = seconds,
	    .offset = (uint64_t)cycles,
	    .precision = precision,
	};
	return 0;
}

/* Both of a text in JSON; the former call these where it is. */
static int metadata_json_clock(const char *text, struct clock_class *class,
			       struct error *error)
{
	struct fragment fragment;
	json_t *clock = find_clock(text, &fragment, error);
	int status;

	if (!clock)
		return -1;
	status = read_class(clock, class);
	if (status)
		error_set(error,
			  "fragment %u: a clock whose frequency, offset or precision is "
			  "missing or out of range",
			  fragment.number);
	json_decref(clock);
	return status;
}

/* Cycles are fewer than a second's (CTF2-SPEC-2.0, 5.6.1). */
static void change_class(json_t *clock, const struct clock_class *class)
{
	int64_t whole = (int64_t)(class->offset / class->frequency);

	json_object_set_new(clock, "frequency",
			    json_integer((json_int_t) class->frequency));
	json_object_set_new(clock, "offset-from-origin",
			    json_pack("{s:I, s:I}", "seconds",
				      (json_int_t)(class->offset_s + whole), "cycles",
				      (json_int_t)(class->offset % class->frequency)));
	json_object_set_new(clock, "precision", json_integer(class->precision));
	if (class->accuracy < 0)
		json_object_del(clock, "accuracy");
	else
		json_object_set_new(clock, "accuracy", json_integer(class->accuracy));
}

static char *metadata_json_with_clock(const char *text, const struct clock_class *class,
				      struct error *error)
{
	struct fragment fragment;
	json_t *clock = find_clock(text, &fragment, error);
	char *line, *changed;

	if (!clock)
		return NULL;
	change_class(clock, class);
	line = json_one_line(clock);
	changed = mem_printf("%.*s%s\n%s", (int)(fragment.begin - text), text, line,
			     fragment.end);
	free(line);
	json_decref(clock);
	return changed;
}

/*
 * The lexical elements of TSDL (CTF 1.8.3, appendix C.1), so that braces or a
 * "clock" inside of a string or a comment fool nobody.
 */
enum token_kind {
	TOKEN_END,
	TOKEN_WORD,   /* identifier or keyword */
	TOKEN_NUMBER, /* integer with its suffix */
	TOKEN_QUOTED, /* string or character */
	TOKEN_MARK,   /* any other character */
	TOKEN_OPEN,   /* a comment or a quotation that never ends */
};

struct token {
	enum token_kind kind;
	const char *begin, *end;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Where blanks and comments end; at the comment's own begin if it has no end. */
static const char *skip_blanks(const char *at)
{
	const char *end;

	for (;;) {
		at += strspn(at, " \t\r\n\f\v");
		if (at[0] == '/' && at[1] == '/') {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			end = strstr(at + 2, "*/");
			if (!end)
				return at;
			at = end + 2;
		} else {
			return at;
		}
	}
}

/* Where a quotation ends that begins at `at`; NULL if it does not. */
static const char *skip_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : NULL;
}

static struct token next_token(const char *at)
{
	const char *begin = skip_blanks(at), *end = begin;

	if (!*begin)
		return (struct token){TOKEN_END, begin, begin};
	if (begin[0] == '/' && begin[1] == '*')
		return (struct token){TOKEN_OPEN, begin, begin + 2};
	if (*begin == '"' || *begin == '\'') {
		end = skip_quoted(begin);
		if (!end)
			return (struct token){TOKEN_OPEN, begin, begin + 1};
		return (struct token){TOKEN_QUOTED, begin, end};
	}
	if (!is_word(*begin))
		return (struct token){TOKEN_MARK, begin, begin + 1};
	while (is_word(*end))
		end++;
	return (struct token){isdigit((unsigned char)*begin) ? TOKEN_NUMBER : TOKEN_WORD,
			      begin, end};
}

static bool is_text(const struct token *token, const char *text)
{
	size_t length = (size_t)(token->end - token->begin);

	return strlen(text) == length && memcmp(token->begin, text, length) == 0;
}

static bool is_mark(const struct token *token, char mark)
{
	return token->kind == TOKEN_MARK && *token->begin == mark;
}

/* The attributes of a clock class that are numbers, and where they stand. */
enum attribute { FREQ, OFFSET, OFFSET_S, ATTRIBUTES };

static const char *const attribute_name[ATTRIBUTES] = {"freq", "offset", "offset_s"};

struct value {
	enum attribute what;
	const char *begin, *end;
};

struct block {
	struct clock_class class;
	struct value value[ATTRIBUTES]; /* as they come in the text */
	size_t values;
	const char *close; /* the brace */
};

struct scan {
	const char *text;
	struct error *error;
};

/* "line 7: ..." Returns -1. */
static int fault(const struct scan *scan, const char *at, const char *what)
{
	size_t line = 1;

	for (const char *c = scan->text; c < at; c++)
		line += *c == '\n';
	return error_set(scan->error, "line %zu: %s", line, what);
}

/* An unsigned integer in C's notation, with C's suffixes. */
static int parse_number(const struct token *token, uint64_t *number)
{
	char *end;

	if (token->kind != TOKEN_NUMBER)
		return -1;
	errno = 0;
	*number = strtoull(token->begin, &end, 0);
	end += strspn(end, "uUlL");
	return errno || end != token->end ? -1 : 0;
}

/* Put a value into the class; -1 where it lies outside of what it may be. */
static int set_value(struct clock_class *class, enum attribute what, bool negative,
		     uint64_t number)
{
	switch (what) {
	case FREQ:
		class->frequency = number;
		return negative || number < 1 || number > CLOCK_CLASS_FASTEST ? -1 : 0;
	case OFFSET:
		class->offset = number;
		return negative && number ? -1 : 0;
	case OFFSET_S:
		if (number > (uint64_t)CLOCK_CLASS_FARTHEST)
			return -1;
		class->offset_s = negative ? -(int64_t)number : (int64_t)number;
		return 0;
	case ATTRIBUTES:
		break;
	}
	return -1;
}

static int read_value(const struct scan *scan, enum attribute what, const char *at,
		      struct block *block)
{
	struct token token = next_token(at);
	bool negative = is_mark(&token, '-');
	const char *begin = token.begin;
	struct token after;
	char message[64];
	uint64_t number;

	for (size_t k = 0; k < block->values; k++)
		if (block->value[k].what == what)
			return fault(scan, at, "a clock attribute for the second time");
	if (negative)
		token = next_token(token.end);
	after = next_token(token.end);
	if (!is_mark(&after, ';') || parse_number(&token, &number) ||
	    set_value(&block->class, what, negative, number)) {
		snprintf(message, sizeof(message), "clock %s: not a number it can have",
			 attribute_name[what]);
		return fault(scan, begin, message);
	}
	block->value[block->values++] = (struct value){what, begin, token.end};
	return 0;
}

/* NAME = VALUE; the token is NAME. Returns what follows, or NULL. */
static const char *read_attribute(const struct scan *scan, struct token token,
				  struct block *block)
{
	struct token equal = next_token(token.end);

	if (token.kind != TOKEN_WORD || !is_mark(&equal, '=')) {
		fault(scan, token.begin, "want NAME = VALUE in a clock");
		return NULL;
	}
	for (enum attribute what = FREQ; what < ATTRIBUTES; what++)
		if (is_text(&token, attribute_name[what]) &&
		    read_value(scan, what, equal.end, block))
			return NULL;
	for (token = next_token(equal.end); !is_mark(&token, ';');
	     token = next_token(token.end))
		if (token.kind == TOKEN_END || token.kind == TOKEN_OPEN ||
		    is_mark(&token, '{') || is_mark(&token, '}')) {
			fault(scan, token.begin, "want ; after a clock's attribute");
			return NULL;
		}
	return token.end;
}

/* The inside of `clock {`. Returns what follows the closing brace, or NULL. */
static const char *read_block(const struct scan *scan, const char *at,
			      struct block *block)
{
	struct token token;

	/* The values that CTF gives to what is not there. */
	*block = (struct block){.class = {.frequency = 1000000000}};
	while (token = next_token(at), !is_mark(&token, '}')) {
		at = read_attribute(scan, token, block);
		if (!at)
			return NULL;
	}
	block->close = token.begin;
	return token.end;
}

/* Find the one clock class. 0, or -1 with error. */
static int find_block(const struct scan *scan, struct block *block)
{
	struct token token = {TOKEN_MARK, scan->text, scan->text}, before;
	bool found = false;
	size_t depth = 0;

	for (;;) {
		before = token;
		token = next_token(token.end);
		if (token.kind == TOKEN_END)
			break;
		if (token.kind == TOKEN_OPEN)
			return fault(scan, token.begin,
				     "a comment or string that does not end");
		if (is_mark(&token, '{') && depth == 0 && is_text(&before, "clock")) {
			if (found)
				return fault(scan, before.begin,
					     "a second clock, want one clock");
			token.end = read_block(scan, token.end, block);
			if (!token.end)
				return -1;
			found = true;
			token.begin = block->close;
		} else if (is_mark(&token, '{')) {
			depth++;
		} else if (is_mark(&token, '}') && depth-- == 0) {
			return fault(scan, token.begin, "a } that closes nothing");
		}
	}
	if (depth)
		return fault(scan, token.begin, "the end inside of braces");
	return found ? 0 : error_set(scan->error, "no clock, want one clock");
}

int metadata_clock(const char *text, struct clock_class *class, struct error *error)
{
	struct scan scan = {text, error};
	struct block block;

	if (*text == *METADATA_SEPARATOR)
		return metadata_json_clock(text, class, error);
	if (find_block(&scan, &block))
		return -1;
	*class = block.class;
	return 0;
}

static void write_value(FILE *file, enum attribute what, const struct clock_class *class)
{
	if (what == OFFSET_S)
		fprintf(file, "%" PRId64, class->offset_s);
	else
		fprintf(file, "%" PRIu64,
			what == FREQ ? class->frequency : class->offset);
}

/* Whether an attribute that the text does not have must be added. */
static bool is_missing(const struct block *block, enum attribute what,
		       const struct clock_class *class)
{
	for (size_t k = 0; k < block->values; k++)
		if (block->value[k].what == what)
			return false;
	return what != OFFSET_S || class->offset_s;
}

static void write_text(FILE *file, const char *text, const struct block *block,
		       const struct clock_class *class)
{
	if (strncmp(text, METADATA_SIGNATURE, strlen(METADATA_SIGNATURE)) != 0)
		fputs(METADATA_SIGNATURE " */\n", file);
	for (size_t k = 0; k < block->values; k++) {
		fwrite(text, 1, (size_t)(block->value[k].begin - text), file);
		write_value(file, block->value[k].what, class);
		text = block->value[k].end;
	}
	fwrite(text, 1, (size_t)(block->close - text), file);
	for (enum attribute what = FREQ; what < ATTRIBUTES; what++)
		if (is_missing(block, what, class)) {
			fprintf(file, "\t%s = ", attribute_name[what]);
			write_value(file, what, class);
			fputs(";\n", file);
		}
	fputs(block->close, file);
}

char *metadata_with_clock(const char *text, const struct clock_class *class,
			  struct error *error)
{
	struct scan scan = {text, error};
	struct block block;
	char *changed = NULL;
	size_t size;
	FILE *file;

	if (*text == *METADATA_SEPARATOR)
		return metadata_json_with_clock(text, class, error);
	if (find_block(&scan, &block))
		return NULL;
	file = open_memstream(&changed, &size);
	if (!file) {
		error_errno(error, "metadata");
		return NULL;
	}
	write_text(file, text, &block, class);
	if (fclose(file)) {
		error_errno(error, "metadata");
		free(changed);
		return NULL;
	}
	return changed;
}
