/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"

struct name_entry {
	char *text;
	int64_t next; /* with the same hash, -1 at the end */
};

/* As SQLite folds, whatever the locale: ASCII only. */
static unsigned char fold(char byte)
{
	return (unsigned char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
}

static bool is_same(const char *a, const char *b)
{
	while (*a && fold(*a) == fold(*b))
		a++, b++;
	return fold(*a) == fold(*b);
}

static uint64_t hash(const char *name)
{
	uint64_t value = HASH_INIT;

	for (; *name; name++)
		value = hash_bytes(value, &(unsigned char){fold(*name)}, 1);
	return value;
}

bool name_is_taken(const struct name_set *set, const char *name)
{
	int64_t at;

	if (!intmap_get(&set->first, hash(name), &at))
		return false;
	for (; at >= 0; at = set->entry[at].next)
		if (is_same(set->entry[at].text, name))
			return true;
	return false;
}

bool name_take(struct name_set *set, const char *name)
{
	uint64_t key = hash(name);
	int64_t next;

	if (name_is_taken(set, name))
		return false;
	if (!intmap_get(&set->first, key, &next))
		next = -1;
	set->entry = mem_grow(set->entry, set->count, &set->room, sizeof(*set->entry));
	set->entry[set->count] = (struct name_entry){mem_strdup(name), next};
	intmap_put(&set->first, key, (int64_t)set->count++);
	return true;
}

static bool take_both(struct name_set *set, const char *name, const char *companion)
{
	char *other;
	bool free_both;

	if (!companion)
		return name_take(set, name);
	other = mem_printf("%s%s", name, companion);
	free_both = !name_is_taken(set, name) && !name_is_taken(set, other);
	if (free_both) {
		name_take(set, name);
		name_take(set, other);
	}
	free(other);
	return free_both;
}

char *name_pick(struct name_set *set, const char *wanted, const char *companion)
{
	char *clean = utf8_clean(*wanted ? wanted : "unnamed"), *name = mem_strdup(clean);

	for (unsigned number = 2; !take_both(set, name, companion); number++) {
		free(name);
		name = mem_printf("%s_%u", clean, number);
	}
	free(clean);
	return name;
}

bool name_is_reserved(const char *name)
{
	return strncasecmp(name, "sqlite_", strlen("sqlite_")) == 0;
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
	for (size_t i = 0; i < set->count; i++)
		free(set->entry[i].text);
	free(set->entry);
	intmap_clear(&set->first);
	memset(set, 0, sizeof(*set));
}
