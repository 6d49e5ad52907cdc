/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_SCENARIO_KEYS_H
#define CT_SIMULATE_SCENARIO_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "simulate/scenario.h"

enum scenario_kind { KEY_INT, KEY_REAL, KEY_SWITCH, KEY_WORD };

/* A key with one value. */
struct scenario_key {
	const char *name;
	enum scenario_kind kind;
	bool of_clock; /* may be a single node's: "node 2 drift_ppm -60" */
	size_t offset; /* in struct scenario, or in struct scenario_clock */
	double least, most, preset;
	const char *const *words; /* of KEY_WORD: NULL behind the last */
	const char *help;
};

/* All keys; name is NULL behind the last. */
extern const struct scenario_key scenario_keys[];

/* A key with more than one value, for messages and --keys. */
struct scenario_form {
	const char *name, *arguments, *help;
};
extern const struct scenario_form scenario_forms[];

/* The key of that name, or NULL. */
const struct scenario_key *scenario_key_find(const char *name, size_t length);

/* Read a word as the key's value. 0, or -1 with error. */
int scenario_key_parse(const struct scenario_key *key, const char *word, double *value,
		       struct error *error);

/* Where the key's value lies; `base` is the scenario, or a clock for its keys. */
void scenario_key_store(const struct scenario_key *key, void *base, double value);
double scenario_key_load(const struct scenario_key *key, const void *base);

#endif
