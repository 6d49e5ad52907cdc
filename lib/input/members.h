/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_MEMBERS_H
#define CT_INPUT_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "input/faults.h"

/*
 * The members of a JSON object, taken one by one, all of which may be missing;
 * null is as good as missing. A member of a wrong type is a fault and stays with
 * the rest, as do members that nobody takes: nothing is lost.
 */
struct members {
	const json_t *object; /* borrowed */
	json_t *rest;
	struct faults *faults;
	uint64_t line;
};

void members_init(struct members *members, const json_t *object, struct faults *faults,
		  uint64_t line);

/* Each leaves the value alone unless the member is there and right. */
void members_text(struct members *members, const char *name, char **copy);
void members_integer(struct members *members, const char *name, int64_t *value);
void members_stamp(struct members *members, const char *name, nsec_t *value);
void members_real(struct members *members, const char *name, double *value);

/* A member that is an array or an object, borrowed; NULL where it is not. */
const json_t *members_array(struct members *members, const char *name);
const json_t *members_object(struct members *members, const char *name);

/* A string as it is, anything else as JSON on one line. For free(), or NULL. */
char *members_any(struct members *members, const char *name);
char *json_plain(const json_t *value);

/* The values of an array, each as json_plain has it, in one text. For free(). */
char *json_join(const json_t *array, const char *separator);

/* What is left, as a JSON object on one line; NULL where nothing is. For free(). */
char *members_end(struct members *members);

#endif
