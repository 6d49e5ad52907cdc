/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/file_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static bool is_plain(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || (byte && strchr("._-+", byte));
}

/* What shows nothing, or turns what follows around: C1, U+200B.., U+2028.., U+2060... */
static bool is_invisible(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;

	if (byte[0] == 0xc2)
		return byte[1] < 0xa0;
	if (byte[0] != 0xe2)
		return false;
	return (byte[1] == 0x80 && ((byte[2] >= 0x8b && byte[2] <= 0x8f) ||
				    (byte[2] >= 0xa8 && byte[2] <= 0xae))) ||
	       (byte[1] == 0x81 && byte[2] >= 0xa0 && byte[2] <= 0xaf);
}

char *file_name_of(const char *text)
{
	char *name = mem_alloc(strlen(text) + 2), *end = name;

	for (const char *at = text; *at;) {
		size_t length = utf8_length(at);
		bool stays = length > 1 ? !is_invisible(at)
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

static bool is_taken(const struct text_list *taken, const char *name)
{
	for (size_t i = 0; i < taken->count; i++)
		if (strcmp(taken->item[i], name) == 0)
			return true;
	return false;
}

char *file_name_take(struct text_list *taken, const char *name)
{
	char *unique = mem_strdup(name);

	for (int i = 2; is_taken(taken, unique); i++) {
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

	for (size_t i = 0; i < count; i++) {
		char *plain = file_name_of(text[i]);

		if (strcmp(plain, text[i]) == 0 && !is_taken(&taken, plain))
			name[i] = file_name_take(&taken, plain);
		free(plain);
	}
	for (size_t i = 0; i < count; i++)
		if (!name[i]) {
			char *plain = file_name_of(text[i]);

			name[i] = file_name_take(&taken, plain);
			free(plain);
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
