/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NAMES_H
#define CT_BASE_NAMES_H

#include <stddef.h>

#include "base/options.h"

/*
 * Return the entry of `words` closest to `word`, or NULL if even that differs in more
 * than a third of the letters.
 */
const char *find_similar_word(const char *word, const char *const *words, size_t count);

/*
 * Set a misuse error: "WHAT 'WORD'; did you mean 'SIMILAR'?" `what` is such as "unknown
 * format". If no entry of `words` is similar, the message ends with "; HINT", or if
 * `hint` is NULL with a list of the first words. Return -1.
 */
int error_unknown_word(struct error *error, const char *what, const char *word,
		       const char *const *words, size_t count, const char *hint);

/*
 * A text as the name of a file: UTF-8 stays, but what is no letter, digit, or one of .-_+
 * of ASCII, and what is not UTF-8 or cannot be printed, becomes '_'; so does a dot in
 * front. For free().
 */
char *file_name_of(const char *text);

/*
 * File names of `count` texts, all different: those that are file names keep theirs, and
 * of others that come to the same name, later ones get -2, -3 and so on.
 */
char **file_names_of(const char *const *text, size_t count);
void file_names_free(char **name, size_t count);

/* Of a name that comes later; it is added to those that are taken. For free(). */
char *file_name_take(struct text_list *taken, const char *name);

/*
 * A text as part of a path: control characters, and "#%'*.../ become %XX, as Hive does,
 * a dot at the begin, too. An empty one is __HIVE_DEFAULT_PARTITION__. For free().
 */
char *file_name_escape(const char *bytes, size_t size);

#endif
