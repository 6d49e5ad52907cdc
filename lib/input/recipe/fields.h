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

/* Reads the value of a key into the struct that its map is read into. */
typedef void recipe_field_read(struct recipe_reader *reader, const char *key,
			       const struct recipe_value *value, void *target);

/* NULL where a text is well, else what is wanted. */
typedef const char *recipe_check(const char *text);

enum recipe_field_type {
	FIELD_OWN,      /* read by `read`, which gets the whole struct */
	FIELD_TEXT,     /* char *; one line unless it has a check */
	FIELD_LIST,     /* struct text_list: a text or a list of texts, each once */
	FIELD_BOOL,     /* bool */
	FIELD_INTEGER,  /* int64_t, from least to most */
	FIELD_DURATION, /* int64_t, ms, at least `least` */
	FIELD_COMMAND,  /* struct recipe_command */
	FIELD_WORD,     /* an enum: the index in `words`, which end with NULL */
};

/* A key of a map: the one place that tells what it takes. */
struct recipe_field {
	const char *key;
	enum recipe_field_type type;
	size_t offset; /* of its value, in the struct that the map is read into */
	recipe_check *check;
	int64_t least, most;
	const char *const *words;
	recipe_field_read *read;
};

/* A row for a member of `struct`; what follows are its check, range or words. */
#define FIELD(name, kind, structure, member, ...)                                        \
	{                                                                                \
		.key = (name), .type = FIELD_##kind,                                     \
		.offset = offsetof(structure, member), __VA_ARGS__                       \
	}

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

/* true, false, yes, no, on, off, in the three spellings of YAML 1.1. */
bool recipe_is_bool(const struct recipe_value *value, bool *is);

/* A bool, or "none", which is false. */
bool recipe_is_switch(const struct recipe_value *value, bool *on);

/* A single value as a field of a table is read; `target` is where it goes itself. */
bool recipe_field_take(struct recipe_reader *reader, const struct recipe_field *field,
		       const char *key, const struct recipe_value *value, void *target);

/*
 * A text or a list of texts, each checked unless `check` is NULL. Those that are well are
 * added, each once.
 */
bool recipe_take_list(struct recipe_reader *reader, const char *key,
		      const struct recipe_value *value, recipe_check *check,
		      struct text_list *list);

/* Whether a list has this text. */
bool recipe_list_has(const struct text_list *list, const char *text);

#endif
