/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_PRINTED_H
#define CT_TEST_PRINTED_H

/*
 * The events of a trace as babeltrace2's own program prints them, and whether
 * a cell holds what was printed.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cell.h"
#include "base/mem.h"

#include "../test.h"
#include "pretty.h"

extern char **environ;

/* Events of one stamp may come in another order of streams there. */
enum { MOST_PENDING = 4096 };

struct printed {
	FILE *file;
	pid_t child;
	char *pending[MOST_PENDING]; /* lines that were read, and not asked for yet */
	size_t pendings;
	struct pretty pretty; /* of the line taken apart last */
};

static inline void printed_start(struct printed *printed, const char *path)
{
	const char *const arguments[] = {
	    "babeltrace2", "--names=all",   "--clock-seconds",
	    "--no-delta",  "--color=never", path,
	    NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status;

	assert_int_equal(pipe(ends), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	status = posix_spawnp(&printed->child, arguments[0], &actions, NULL,
			      (char **)arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	assert_int_equal(status, 0);
	printed->file = fdopen(ends[0], "r");
	assert_non_null(printed->file);
}

/* The first pending or new line that `is_it` takes; for free(). NULL: none. */
static inline char *printed_find(struct printed *printed,
				 bool (*is_it)(const char *line, const void *wanted),
				 const void *wanted)
{
	for (size_t i = 0;; i++) {
		char *line = NULL;
		size_t capacity = 0;

		if (i == printed->pendings) {
			if (i == MOST_PENDING ||
			    getline(&line, &capacity, printed->file) < 0) {
				free(line);
				return NULL;
			}
			printed->pending[printed->pendings++] = line;
		}
		line = printed->pending[i];
		if (!is_it(line, wanted))
			continue;
		printed->pendings--;
		memmove(&printed->pending[i], &printed->pending[i + 1],
			(printed->pendings - i) * sizeof(char *));
		return line;
	}
}

/* Take the fields of a line apart; it is changed. Whether that could be done. */
static inline bool printed_take_apart(struct printed *printed, char *line)
{
	struct pretty *pretty = &printed->pretty;

	pretty->leaves = pretty->tokens = pretty->in_array = 0;
	pretty->is_broken = false;
	line[strcspn(line, "\n")] = '\0';
	pretty_part(pretty, line, ", event.fields = ");
	pretty_part(pretty, line, ", event.context = ");
	pretty_part(pretty, line, ", stream.event.context = ");
	return !pretty->is_broken;
}

/* All lines were asked for, and the program ended well. */
static inline void printed_end(struct printed *printed)
{
	int status;

	assert_int_equal(printed->pendings, 0);
	assert_int_equal(getc(printed->file), EOF);
	fclose(printed->file);
	assert_int_equal(waitpid(printed->child, &status, 0), printed->child);
	assert_int_equal(status, 0);
}

/* Hexadecimal numbers are printed without what is beyond their size. */
static inline bool number_is(const char *text, int64_t number)
{
	uint64_t mask = UINT64_MAX;
	size_t digits = strlen(text) - 2;

	if (text[0] == '-')
		return strtoll(text, NULL, 10) == number;
	if (text[0] == '0' && text[1] == 'x' && digits < 16)
		mask = ((uint64_t)1 << 4 * digits) - 1;
	return strtoull(text, NULL, 0) == ((uint64_t)number & mask);
}

static inline bool real_is(const char *text, double real)
{
	double printed = strtod(text, NULL);

	return printed == real || (isnan(printed) && isnan(real)) ||
	       fabs(printed - real) <= 1e-5 * fabs(real);
}

static inline bool text_is(const char *text, const struct cell *cell)
{
	return text && strlen(text) == cell->size &&
	       memcmp(text, cell->bytes, cell->size) == 0;
}

static inline bool scalar_is(const struct token *token, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_INTEGER:
		return token->kind == TOKEN_NUMBER &&
		       number_is(token->text, cell->integer);
	case CELL_REAL:
		return token->kind == TOKEN_NUMBER && real_is(token->text, cell->real);
	case CELL_TEXT:
	case CELL_BLOB:
		/* For empty text babeltrace2 2.0.4 prints that of an older event. */
		if (token->kind == TOKEN_TEXT && cell->size == 0)
			return true;
		return token->kind == TOKEN_TEXT &&
		       (text_is(token->text, cell) || text_is(token->other, cell));
	default:
		return false;
	}
}

static inline bool blob_is(const struct token *token, size_t count,
			   const struct cell *cell)
{
	if (cell->type != CELL_BLOB || cell->size != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		long long number = strtoll(token[i].text, NULL, 0);

		if (token[i].kind != TOKEN_NUMBER ||
		    (unsigned char)number != (unsigned char)cell->bytes[i])
			return false;
	}
	return true;
}

/* The next name, text or number of JSON against a token; moves on. */
static inline bool json_token_is(char **at, const struct token *token)
{
	size_t length;
	char *text;

	*at += strspn(*at, "[]{},:");
	if (**at == '"') {
		text = unquote(at);
		return (token->kind == TOKEN_NAME) == (**at == ':') &&
		       token->kind != TOKEN_NUMBER && strcmp(text, token->text) == 0;
	}
	length = strcspn(*at, "[]{},:");
	text = *at;
	*at += length;
	return length && token->kind == TOKEN_NUMBER &&
	       number_is(token->text, text[0] == '-' ? strtoll(text, NULL, 10)
						     : (int64_t)strtoull(text, NULL, 10));
}

static inline bool json_is(const struct token *token, size_t count,
			   const struct cell *cell)
{
	char *json = mem_strndup(cell->bytes, cell->size), *at = json;
	bool same = cell->type == CELL_TEXT;

	for (size_t i = 0; same && i < count; i++)
		same = json_token_is(&at, &token[i]);
	same = same && strspn(at, "[]{},") == strlen(at);
	free(json);
	return same;
}

static inline bool cell_is(const struct pretty *pretty, const struct leaf *leaf,
			   const struct cell *cell)
{
	const struct token *token = &pretty->token[leaf->first];

	if (!leaf->is_array)
		return scalar_is(token, cell);
	if (cell->type == CELL_BLOB)
		return blob_is(token, leaf->count, cell);
	return json_is(token, leaf->count, cell);
}

/* Move past the next leaf of a line. Return true if it is this column. */
static inline bool printed_is(const struct pretty *pretty, size_t *next, const char *name,
			      const struct cell *cell)
{
	const struct leaf *leaf = &pretty->leaf[*next];

	return (*next)++ < pretty->leaves && fnmatch(leaf->path, name, 0) == 0 &&
	       cell_is(pretty, leaf, cell);
}

#endif
