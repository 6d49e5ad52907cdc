/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_ERROR_H
#define CT_BASE_ERROR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * What went wrong, in words, owned by the caller.
 *
 * A function that can fail takes a `struct error *` last, fills it and
 * returns -1. On the way up each caller may put its own place in front:
 * "run/n1/kernel: " then "ch_0: ". Library code never prints.
 */
struct error {
	char *text;  /* NULL while nothing went wrong */
	bool misuse; /* the command line is what is wrong, not its input: exit status 2 */
};

#define ERROR_INIT                                                                       \
	{                                                                                \
		NULL, false                                                              \
	}

/* Replace the text. Returns -1, so that callers can `return error_set(...)`. */
int error_set(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of what the command line says: "--OPTION: text". */
int error_misuse(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Put a place in front of the text: "PLACE: text". Returns -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "PLACE: strerror(errno)". Returns -1. */
int error_errno(struct error *error, const char *place);

/* The text, or "" when there is none; borrowed until the next call. */
const char *error_text(const struct error *error);

/* Print "PROGRAM: text" where there is one, and clear it. */
void error_tell(struct error *error, const char *program, FILE *file);

void error_clear(struct error *error);

#endif
