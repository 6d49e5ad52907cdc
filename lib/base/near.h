/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_NEAR_H
#define CT_BASE_NEAR_H

#include <stddef.h>

/*
 * How many letters must be put in, taken out, replaced, or swapped with their neighbour
 * to make one word of the other (Damerau 1964, without edits of what was swapped). Of
 * words longer than 63 bytes the rest counts as different.
 */
size_t near_distance(const char *a, const char *b);

/*
 * Of some words the nearest to a misspelt one, if it is near enough to be meant: a third
 * of its letters differ at most. NULL if there is none.
 */
const char *near_find(const char *word, const char *const *words, size_t count);

#endif
