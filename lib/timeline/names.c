/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

/* As SQLite folds, whatever the locale: ASCII only. For free(). */
static char *fold(const char *name)
{
	char *folded = mem_strdup(name);

	for (char *at = folded; *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at += 'a' - 'A';
	return folded;
}

bool name_take(struct name_set *set, const char *name)
{
	size_t before = set->texts.count;
	AUTOFREE char *folded = fold(name);

	texts_put(&set->texts, folded);
	return set->texts.count > before;
}

char *name_pick(struct name_set *set, const char *wanted, const char *companion)
{
	AUTOFREE char *clean = utf8_clean(*wanted ? wanted : "unnamed");
	char *name = mem_strdup(clean);

	for (unsigned number = 2;; number++) {
		if (name_take(set, name)) {
			AUTOFREE char *other = mem_printf("%s%s", name, companion);

			if (!*companion || name_take(set, other))
				return name;
		}
		free(name);
		name = mem_printf("%s_%u", clean, number);
	}
}

char *name_table(struct name_set *set, const char *class)
{
	bool is_reserved = strncasecmp(class, "sqlite_", strlen("sqlite_")) == 0;
	AUTOFREE char *wanted = mem_printf("%s%s", is_reserved ? "event_" : "", class);

	return name_pick(set, wanted, "_v");
}

char *name_quote(const char *name)
{
	char *quoted = mem_alloc(2 * strlen(name) + 3), *end = quoted;

	*end++ = '"';
	for (; *name; name++) {
		if (*name == '"')
			*end++ = '"';
		*end++ = *name;
	}
	strcpy(end, "\"");
	return quoted;
}

void name_clear(struct name_set *set)
{
	texts_clear(&set->texts);
}
