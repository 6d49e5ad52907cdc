/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/near.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t near_distance(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b), rest = 0;
	size_t row[3]
		  [LONGEST + 1]; /* the last two rows of the matrix and the one at hand */

	if (length_a > LONGEST || length_b > LONGEST) {
		rest = (length_a > length_b ? length_a : length_b) - LONGEST;
		length_a = least(length_a, LONGEST);
		length_b = least(length_b, LONGEST);
	}
	for (size_t j = 0; j <= length_b; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		size_t *now = row[i % 3], *before = row[(i + 2) % 3];
		const size_t *second = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			now[j] = least(least(before[j], now[j - 1]) + 1,
				       before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = least(now[j], second[j - 2] + 1);
		}
	}
	return row[length_a % 3][length_b] + rest;
}

const char *near_find(const char *word, const char *const *words, size_t count)
{
	size_t best = (strlen(word) + 2) / 3 + 1;
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t distance = near_distance(word, words[i]);

		if (distance < best) {
			best = distance;
			found = words[i];
		}
	}
	return found;
}
