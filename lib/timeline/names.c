/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Convert ASCII to lower case in any locale, as SQLite does. The caller frees the result.
 */
static char *fold_case(const char *name)
{
	char *folded = mem_strdup(name);

	for (char *at = folded; *at; at++)
		if (*at >= 'A' && *at <= 'Z')
			*at += 'a' - 'A';
	return folded;
}

bool name_reserve(struct name_set *set, const char *name)
{
	size_t before = set->texts.count;
	AUTOFREE char *folded = fold_case(name);

	texts_put(&set->texts, folded);
	return set->texts.count > before;
}

char *name_pick(struct name_set *set, const char *wanted, const char *companion)
{
	AUTOFREE char *clean = utf8_clean(*wanted ? wanted : "unnamed");
	AUTOFREE char *folded = fold_case(clean);
	uint64_t key = hash_text(HASH_INIT, folded);
	int64_t number;

	if (!intmap_get(&set->next, key, &number))
		number = 1;
	for (;; number++) {
		char *name = number == 1 ? mem_strdup(clean)
					 : mem_printf("%s_%" PRId64, clean, number);
		AUTOFREE char *other = mem_printf("%s%s", name, companion);

		if (name_reserve(set, name) &&
		    (!*companion || name_reserve(set, other))) {
			intmap_put(&set->next, key, number + 1);
			return name;
		}
		free(name);
	}
}

bool name_is_reserved(const char *table)
{
	return strncasecmp(table, "sqlite_", strlen("sqlite_")) == 0 ||
	       strncasecmp(table, "pragma_", strlen("pragma_")) == 0 ||
	       strcasecmp(table, "json_each") == 0 || strcasecmp(table, "json_tree") == 0;
}

char *name_table(struct name_set *set, const char *class)
{
	AUTOFREE char *wanted =
	    mem_printf("%s%s", name_is_reserved(class) ? "event_" : "", class);

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
	intmap_clear(&set->next);
}
