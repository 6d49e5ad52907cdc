/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { LONGEST = 63 };

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Return the number of letters to insert, delete, replace, or swap with their neighbour
 * to turn one word into the other (Damerau 1964, without edits of swapped letters). Bytes
 * after the 63rd count as different.
 */
static size_t word_distance(const char *a, const char *b)
{
	size_t length_a = strlen(a), length_b = strlen(b), rest = 0;
	size_t row[3]
		  [LONGEST + 1]; /* the current row of the matrix and the two before it */

	if (length_a > LONGEST || length_b > LONGEST) {
		rest = (length_a > length_b ? length_a : length_b) - LONGEST;
		length_a = min_size(length_a, LONGEST);
		length_b = min_size(length_b, LONGEST);
	}
	for (size_t j = 0; j <= length_b; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		size_t *now = row[i % 3], *before = row[(i + 2) % 3];
		const size_t *second = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			now[j] = min_size(min_size(before[j], now[j - 1]) + 1,
					  before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				now[j] = min_size(now[j], second[j - 2] + 1);
		}
	}
	return row[length_a % 3][length_b] + rest;
}

const char *find_similar_word(const char *word, const char *const *words, size_t count)
{
	size_t best = (strlen(word) + 2) / 3 + 1;
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t distance = word_distance(word, words[i]);

		if (distance < best) {
			best = distance;
			found = words[i];
		}
	}
	return found;
}

int error_unknown_word(struct error *error, const char *what, const char *word,
		       const char *const *words, size_t count, const char *hint)
{
	enum { MOST_LISTED = 12 };
	const char *similar = find_similar_word(word, words, count);
	struct bytes list = {0};

	if (similar)
		return error_misuse(error, "%s '%s'; did you mean '%s'?", what, word,
				    similar);
	if (hint)
		return error_misuse(error, "%s '%s'; %s", what, word, hint);
	for (size_t i = 0; i < count && i < MOST_LISTED; i++)
		bytes_print(&list, "%s%s", i ? ", " : " (expected one of ", words[i]);
	if (count)
		bytes_add_text(&list, count > MOST_LISTED ? ", ...)" : ")");
	error_misuse(error, "%s '%s'%.*s", what, word, (int)list.size, (char *)list.data);
	bytes_clear(&list);
	return -1;
}

static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || (byte && strchr("._-+", byte));
}

char *file_name_of(const char *text)
{
	char *name = mem_alloc(strlen(text) + 2), *end = name;

	for (const char *at = text; *at;) {
		size_t length = utf8_length(at);
		bool stays = length > 1 ? !utf8_is_control(at)
					: is_plain(*at) && (*at != '.' || at != text);

		if (stays)
			end = mempcpy(end, at, length);
		else
			*end++ = '_';
		at += length ? length : 1;
	}
	if (end == name)
		*end++ = '_';
	*end = '\0';
	return name;
}

char *file_name_unique(struct text_list *taken, const char *name)
{
	char *unique = mem_strdup(name);

	for (int i = 2; text_list_has(taken, unique); i++) {
		free(unique);
		unique = mem_printf("%s-%d", name, i);
	}
	text_list_add(taken, unique);
	return unique;
}

char **file_names_of(const char *const *text, size_t count)
{
	char **name = mem_zalloc(count * sizeof(*name));
	struct text_list taken = {0};

	/* First assign the names that are already valid, so that they stay unchanged. */
	for (size_t i = 0; i < 2 * count; i++) {
		AUTOFREE char *plain = file_name_of(text[i % count]);
		bool stays =
		    strcmp(plain, text[i % count]) == 0 && !text_list_has(&taken, plain);

		if (!name[i % count] && (stays || i >= count))
			name[i % count] = file_name_unique(&taken, plain);
	}
	text_list_clear(&taken);
	return name;
}

void file_names_free(char **name, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(name[i]);
	free(name);
}

char *file_name_escape(const char *bytes, size_t size)
{
	char *text;
	size_t length;
	FILE *out;

	if (size == 0)
		return mem_strdup("__HIVE_DEFAULT_PARTITION__");
	out = mem_stream(&text, &length);
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < ' ' || byte == 0x7f || strchr("\"#%'*/:=?\\{[]^", byte) ||
		    (i == 0 && byte == '.'))
			fprintf(out, "%%%02X", byte);
		else
			putc(byte, out);
	}
	fclose(out);
	return text;
}
