/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_JSON_H
#define CT_BASE_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/nsec.h"

/* JSON files; everything else of the project reaches jansson through here. */

/* Read a whole file that must hold one value. Return NULL with error. */
json_t *json_read(const char *path, struct error *error);

/* Read a whole file that must hold one object. NULL with error on failure. */
json_t *json_read_object(const char *path, struct error *error);

/* A text that must be one object, without a place in front of the error. */
json_t *json_parse_object(const char *text, size_t length, struct error *error);

/* A value on one line, with members in their order. For free(). */
char *json_one_line(const json_t *value);

/* A member as text, or NULL where it is missing or no string. Borrowed. */
const char *json_text(const json_t *object, const char *name);

/* Set a member to a text, as UTF-8, which JSON holds only, or NULL to null. */
void json_set_text(json_t *object, const char *name, const char *text);

/* A member as integer; -1 where it is missing, no integer or out of range. */
int json_nsec(const json_t *object, const char *name, nsec_t *value);

/* Writing as it comes: a text in quotes, where bytes that are no UTF-8 become U+FFFD...
 */
void json_add_text(struct bytes *out, const char *text, size_t size);
void json_add_word(struct bytes *out, const char *text);

/* ... and the shortest text that is this finite number again. */
void json_add_real(struct bytes *out, double number);

/* "2.14" */
const char *json_library_version(void);

#endif
