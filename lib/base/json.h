/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_JSON_H
#define CT_BASE_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/nsec.h"

/* Reading JSON files and writing JSON text. Other modules include jansson through this
 * header. In programs that call a function declared here, jansson exits when memory runs
 * out, as mem_alloc() does. */

/* Read a whole file that must hold one value. Return NULL with error. */
json_t *json_read(const char *path, struct error *error);

/* Read a whole file that must hold one object. Return NULL with error. */
json_t *json_read_object(const char *path, struct error *error);

/* Parse a string that must be one object. Return NULL with error, without a location. */
json_t *json_parse_object(const char *text, size_t length, struct error *error);

/* Format a value on one line, members in their order. The caller frees the result. */
char *json_one_line(const json_t *value);

/* Write a value, each member on a line of its own, indented by `indent` per level, reals
 * with 15 digits, and a line feed. Errors remain in ferror(). */
void json_write_lines(FILE *file, const json_t *value, size_t indent);

/* Return a string member, or NULL if it is missing or not a string. Valid as long as the
 * object. */
const char *json_text(const json_t *object, const char *name);

/* Set a member to a string, or to null if `text` is NULL. Invalid UTF-8, which JSON
 * cannot hold, is replaced. */
void json_set_text(json_t *object, const char *name, const char *text);

/* Read an integer member. Return 0, or -1 if it is missing or not an integer. */
int json_nsec(const json_t *object, const char *name, nsec_t *value);

/* Append a quoted string. Bytes that are not UTF-8 become U+FFFD. */
void json_add_text(struct bytes *out, const char *text, size_t size);
void json_add_word(struct bytes *out, const char *text);

/* Append a finite number, with as few digits as read back as the same double. */
void json_add_real(struct bytes *out, double number);

/* Return the version of jansson, such as "2.14". */
const char *json_library_version(void);

#endif
