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
 * Make a file name of a string. ASCII letters, digits and .-_+ stay, as do printable
 * characters beyond ASCII. Everything else becomes '_', as does a leading dot. The caller
 * frees the result.
 */
char *file_name_of(const char *text);

/*
 * Make distinct file names of `count` strings. Valid names stay unchanged; others that
 * would be equal get the suffixes -2, -3 and so on. Free with file_names_free().
 */
char **file_names_of(const char *const *text, size_t count);
void file_names_free(char **name, size_t count);

/* Make `name` distinct from the names in `taken`, and add it there. The caller frees the
 * result. */
char *file_name_unique(struct text_list *taken, const char *name);

/*
 * Encode bytes as a component of a path, as Hive does: control characters, any of
 * " # % ' * / : = ? \ { [ ] ^ and a leading dot become %XX; no bytes at all become
 * __HIVE_DEFAULT_PARTITION__. The caller frees the result.
 */
char *file_name_escape(const char *bytes, size_t size);

#endif
