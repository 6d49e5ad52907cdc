/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_KEYS_H
#define CT_INPUT_RECIPE_KEYS_H

#include <stdint.h>

#include "input/recipe/recipe.h"

/*
 * A recipe is checked in place, against tables of keys, and becomes what programs want
 * of it: each value has one form, and what is not given has its default.
 */
struct recipe_reader {
	struct recipe *recipe;
	struct recipe_errors *errors;
	struct recipe_value known; /* recipe_known */
	size_t syscalls_line;      /* where system calls are chosen; 0: nowhere */
	bool all_syscalls;         /* unless something else is said of them */
};

/* What a name is made of; NULL where a text is well, else what is wanted. */
struct recipe_form {
	const char *first, *rest; /* characters; all others after a '^' */
	size_t most;
	const char *wanted;
};

const char *recipe_form_check(const struct recipe_form *form, const char *text);

#define RECIPE_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define RECIPE_ALNUM   RECIPE_LETTERS "0123456789"

/* None lets a leading `-` pass, which ssh and others would take for an option. */
extern const struct recipe_form recipe_form_file, recipe_form_key, recipe_form_user;

enum recipe_type {
	RECIPE_OWN,      /* by `read` */
	RECIPE_WORDS,    /* a text that is not empty */
	RECIPE_TEXTS,    /* one text or a list; becomes a list, each once */
	RECIPE_COMMAND,  /* not blank */
	RECIPE_BOOL,     /* becomes true or false */
	RECIPE_INTEGER,  /* from least to most */
	RECIPE_DURATION, /* becomes milliseconds, at least `least` */
	RECIPE_CHOICE,   /* one of `words` */
	RECIPE_KEYS,     /* a map with `keys` */
	RECIPE_SWITCH, /* the same, or true or false: then it has all defaults, or goes */
	RECIPE_EACH,   /* a list of maps with `keys`, or one; becomes a list */
};

struct recipe_key {
	const char *name; /* NULL ends a table */
	enum recipe_type type;
	const char *unset;              /* what it is without; NULL: not there */
	const struct recipe_form *form; /* of a text */
	int64_t least, most;
	const char *const *words;
	const struct recipe_key *keys;
	const char *needed; /* it must be there, and this is wanted */
	/* Instead of, or after, what the type says. */
	void (*read)(struct recipe_reader *reader, const char *key,
		     struct recipe_value *value);
};

#define KEY(key, kind, ...)                                                              \
	{                                                                                \
		.name = (key), .type = RECIPE_##kind, __VA_ARGS__                        \
	}

/*
 * Check a value against its key. False with an error added. `what` is how messages call
 * it. A value that is switched off is null afterwards.
 */
bool recipe_check(struct recipe_reader *reader, const struct recipe_key *key,
		  const char *what, struct recipe_value *value);

/* "KEY: it is X, want WANTED"; returns false. */
bool recipe_want(struct recipe_reader *reader, const char *key,
		 const struct recipe_value *value, const char *wanted);

/* The one of a map's keys or a list's texts that a misspelt word may mean, or NULL. */
const char *recipe_near(const char *word, const struct recipe_value *names);

/* ", is it meant to be NEAR" or nothing, for free(). */
char *recipe_meant(const char *word, const struct recipe_value *names);

/* true, false, yes, no, on, off, in the three spellings of YAML 1.1, or `none`. */
bool recipe_is_switch(const struct recipe_value *value, bool *on);

/* A destination of ssh, taken apart; texts for free(). */
struct recipe_destination {
	char *user;    /* or NULL */
	char *address; /* a host name, or an address without brackets */
	int port;      /* or 0 */
};

/*
 * [USER@]HOST[:PORT], with an IPv6 address in brackets where there is a port. NULL, or
 * what is wanted; cleared by the caller in either case.
 */
const char *recipe_parse_destination(const char *text,
				     struct recipe_destination *destination);
void recipe_destination_clear(struct recipe_destination *destination);

/* The sections that recipe.c leaves to nodes.c and tracing.c. */
void recipe_read_hosts(struct recipe_reader *reader, const char *key,
		       struct recipe_value *value);
void recipe_read_gateway(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value);
void recipe_read_ssh_options(struct recipe_reader *reader, const char *key,
			     struct recipe_value *value);
void recipe_read_roles(struct recipe_reader *reader);
void recipe_read_events(struct recipe_reader *reader, const char *key,
			struct recipe_value *value);
void recipe_read_contexts(struct recipe_reader *reader, const char *key,
			  struct recipe_value *value);
void recipe_read_channel(struct recipe_reader *reader, const char *key,
			 struct recipe_value *value);

/* Roles that something is for: those that there are. */
void recipe_check_roles(struct recipe_reader *reader, const char *what,
			const struct recipe_value *user);

/* %(key)s in all commands. */
void recipe_check_commands(struct recipe_reader *reader);

#endif
