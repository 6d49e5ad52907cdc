/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OPTIONS_H
#define CT_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Command line options from one table: parsing and --help both come from it.
 * The only user of popt.
 */
enum option_kind {
	OPTION_FLAG,   /* bool: set to true */
	OPTION_STRING, /* char *: the last one given, owned by the options */
	OPTION_LIST,   /* struct text_list: every one given */
	OPTION_WORDS,  /* the same; one may be several words with commas between them */
	OPTION_WORD,   /* int: which of the argument's words it is, from 0 on */
	OPTION_INT,    /* int, checked against least and most */
	OPTION_DOUBLE, /* double, checked against least and most */
};

struct text_list {
	char **item;
	size_t count, capacity;
};

struct option_row {
	char letter; /* 0: none */
	const char *name;
	enum option_kind kind;
	void *target;
	/* What --help calls it; NULL for a flag. Of a word also those to choose from:
	 * "proto|json", or "KIND=process|comm" where the help tells them. */
	const char *argument;
	const char *help;
	double least, most; /* of a number */
};

struct command {
	const char *name;    /* "ctsync" */
	const char *usage;   /* "[OPTION...] RUN | -t TRACE..." */
	const char *summary; /* a line for --help */
	/* What --version adds, a line; or NULL. */
	void (*versions)(FILE *file);
	const char *more; /* what --help adds after the options, or NULL */
	/* The options, and behind them such as others have, too, or NULL. Each ends with
	 * a row whose name is NULL. */
	const struct option_row *rows, *more_rows;
};

enum exit_status {
	EXIT_DONE,
	EXIT_FAILED,
	EXIT_MISUSE,
	EXIT_NOT_TIED, /* of what is about clocks: not all are tied to one another */
};

enum { OPTIONS_GO = -1 };

/*
 * Parse argv into the rows' targets and the remaining words into `rest`. OPTIONS_GO, or
 * the exit status: EXIT_DONE after --help and --version, which it adds, as `help`, which
 * is --help; EXIT_MISUSE with error. Words are copied.
 */
int options_parse(const struct command *command, int argc, const char **argv,
		  struct text_list *rest, struct error *error);

/*
 * `PROGRAM help` becomes `PROGRAM --help`, and `PROGRAM help WORD` `PROGRAM WORD --help`:
 * for programs that look at argv before options_parse().
 */
void options_take_help(int argc, const char **argv);

/*
 * The last step of main(), which returns this: what is left for standard output is
 * written, and the error told. The status is an exit status, or negative: it failed, or
 * was misuse, as the error says.
 */
int program_end(const char *program, int status, struct error *error);

void text_list_add(struct text_list *list, const char *text); /* copies */
void text_list_clear(struct text_list *list);
bool text_list_has(const struct text_list *list, const char *text);

/* Whether a name passes one of the list's globs. */
bool text_list_matches(const struct text_list *globs, const char *name);

/* How a program was called, as a shell would take it. For free(). */
char *options_command_line(const char *name, int argc, const char **argv);

#endif
