/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_ERROR_H
#define CT_BASE_ERROR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * An error message, owned by the caller.
 *
 * A function that can fail has a `struct error *` as its last parameter, fills it and
 * returns -1. Each caller on the way up may put its own location in front, first "ch_0:
 * ", then "run/n1/kernel: ". Library code never prints.
 */
struct error {
	char *text;  /* NULL if there is no error */
	bool misuse; /* the command line is wrong, not the input: exit status 2 */
};

#define ERROR_INIT                                                                       \
	{                                                                                \
		NULL, false                                                              \
	}

/* Replace the message. Return -1, so that callers can `return error_set(...)`. */
int error_set(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Do the same for an error in the command line: "--OPTION: text". */
int error_misuse(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Put a location in front of the message: "LOCATION: text". Return -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Set the message to "PLACE: strerror(errno)". Return -1. */
int error_errno(struct error *error, const char *place);

/* Return the message, "" if there is no error. It is valid until the next call. */
const char *error_text(const struct error *error);

/* If there is an error, print "PROGRAM: text" and clear it. */
void error_print(struct error *error, const char *program, FILE *file);

void error_clear(struct error *error);

#endif
