/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OPTIONS_H
#define CT_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/*
 * Command line options. Parsing and --help use the same table. Only options.c includes
 * popt.
 */
enum option_kind {
	OPTION_FLAG,          /* bool: set to true */
	OPTION_STRING,        /* char *: a copy of the last argument */
	OPTION_LIST,          /* struct text_list: all arguments */
	OPTION_WORDS,         /* struct text_list: all arguments, split at commas */
	OPTION_WORD,          /* int: the index of the argument in the list of words */
	OPTION_OPTIONAL_WORD, /* OPTION_WORD; the first word without an argument */
	OPTION_INT,           /* int from `least` to `most` */
	OPTION_DOUBLE,        /* double from `least` to `most` */
};

struct text_list {
	char **item;
	size_t count, capacity;
};

/* A value that is written as text. */
struct value_form {
	const char *name;   /* for errors */
	const char *words;  /* "zstd|snappy|none": the value is a word's index; or NULL */
	bool is_whole;      /* a whole number */
	double least, most; /* limits of a number */
};

/* Parse a value. Return 0, or -1 with error: "NAME: invalid value 'x' (expected ...)". */
int value_parse(const struct value_form *form, const char *text, double *value,
		struct error *error);

struct option_row {
	char letter; /* the short option, or 0 */
	const char *name;
	enum option_kind kind;
	void *target;
	/* The argument's name in --help; NULL for a flag. For an OPTION_WORD also the
	 * words: "proto|json", or "KIND=process|comm" if `help` names them. */
	const char *argument;
	const char *help;
	double least, most; /* limits of a number */
};

struct command {
	const char *name;             /* "ctsync" */
	const char *usage;            /* "[OPTION...] RUN | -t TRACE..." */
	const char *summary;          /* one line for --help */
	void (*versions)(FILE *file); /* print a line for --version; or NULL */
	const char *more;             /* the end of --help, after the options; or NULL */
	bool *help; /* set by --help, which then prints nothing; or NULL */
	/* The options, and options shared with other programs or NULL. The name of the
	 * last row of each is NULL. */
	const struct option_row *rows, *more_rows;
};

enum exit_status {
	EXIT_DONE,
	EXIT_FAILED,
	EXIT_MISUSE,
	EXIT_NOT_TIED, /* not all clocks are related to one another */
};

enum { OPTIONS_GO = -1 };

/*
 * Parse argv into the rows' targets, and copy the other words to `rest`. Also handle
 * --help, --version, and `help` as the first word. Return OPTIONS_GO, or the exit status:
 * EXIT_DONE after printing help or versions, EXIT_MISUSE with error.
 */
int options_parse(const struct command *command, int argc, const char **argv,
		  struct text_list *rest, struct error *error);

/* Print what --help prints: for a command with `help`. Return EXIT_DONE. */
int options_show_help(const struct command *command, const char *program);

/*
 * Change `PROGRAM help` to `PROGRAM --help` and `PROGRAM help WORD` to `PROGRAM WORD
 * --help`, for programs that examine argv before options_parse().
 */
void options_expand_help(int argc, const char **argv);

/*
 * Flush standard output unless an error is set, print the error if there is one, and
 * return the exit status for main(). `status` is an exit status, or negative for failure;
 * a misuse error makes the result EXIT_MISUSE. Call last.
 */
int program_end(const char *program, int status, struct error *error);

void text_list_add(struct text_list *list, const char *text); /* copies */
void text_list_clear(struct text_list *list);
bool text_list_has(const struct text_list *list, const char *text);

/* Return true if `name` matches one of the globs. */
bool text_list_matches(const struct text_list *globs, const char *name);

/* Format a program's command line, quoted for a shell. The caller frees the result. */
char *options_command_line(const char *name, int argc, const char **argv);

#endif
