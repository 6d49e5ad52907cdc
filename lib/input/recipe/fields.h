/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_FIELDS_H
#define CT_INPUT_RECIPE_FIELDS_H

#include "base/options.h"
#include "input/recipe/value.h"

/*
 * Typed values of a recipe. All of these add a mistake where the value is not
 * what is wanted, and return false then; `key` is what the mistake calls it.
 */
struct recipe;
struct recipe_aliases;

struct recipe_reader {
	struct recipe *recipe;
	struct recipe_mistakes *mistakes;
	const struct recipe_value *roledefs; /* read once the hosts are known, or NULL */
	const struct recipe_value *sar; /* read once the interval is known, or NULL */
	int64_t interval_s;             /* of the recipe as a whole; 0: not given */
	struct recipe_aliases *aliases; /* those that are being read */
	bool has_hosts;
	struct recipe_place syscalls; /* where system calls are chosen; line 0: nowhere */
	bool all_syscalls;            /* unless something else is said of them */
};

/* What reads the value of a key into the struct that its map is read into. */
typedef void recipe_field_read(struct recipe_reader *reader, const char *key,
			       const struct recipe_value *value, void *target);

struct recipe_field {
	const char *key;
	recipe_field_read *read;
};

/*
 * Hand each member of a map to its field's reader. Members that are null are as
 * if not there. A key that no field has is a mistake. `what` is the map's own name.
 */
bool recipe_map(struct recipe_reader *reader, const char *what,
		const struct recipe_value *value, const struct recipe_field *fields,
		size_t count, void *target);

/* "KEY: it is X, want WANTED" */
void recipe_want(struct recipe_reader *reader, const char *key,
		 const struct recipe_value *value, const char *wanted);

/* A text that is not empty; borrowed. NULL if it is none. */
const char *recipe_text(struct recipe_reader *reader, const char *key,
			const struct recipe_value *value);

/* The same, replacing a copy of the caller's. */
bool recipe_take_text(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, char **text);

/* true, false, yes, no, on, off, in the three spellings of YAML 1.1. */
bool recipe_is_bool(const struct recipe_value *value, bool *is);
bool recipe_take_bool(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, bool *is);

/* A whole number from least to most. */
bool recipe_take_integer(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, const int64_t range[2],
			 int64_t *number);

/* Whole seconds up to a day, as sar takes them. */
bool recipe_take_seconds(struct recipe_reader *reader, const char *key,
			 const struct recipe_value *value, int64_t *seconds);

/*
 * A duration: seconds with or without a fraction, or with a unit: 200ms, 5s, 10m, 2h. In
 * milliseconds, from `least` to 10 years.
 */
bool recipe_take_duration(struct recipe_reader *reader, const char *key,
			  const struct recipe_value *value, int64_t least,
			  int64_t *milliseconds);

/* One of some words, by index. */
bool recipe_take_word(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, const char *const *words,
		      size_t *index);

/*
 * A text or a list of texts, each checked: `check` returns what is wanted, or
 * NULL where it is well. Those that are well are added, each once.
 */
bool recipe_take_list(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value,
		      const char *(*check)(const char *text), struct text_list *list);

/* Whether a list has this text. */
bool recipe_list_has(const struct text_list *list, const char *text);

#endif
