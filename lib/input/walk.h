/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_WALK_H
#define CT_INPUT_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/problem.h"

/*
 * Everything below a path, in the order of names: CTF traces, which are not
 * looked into, files, and other directories before what is in them. Names that begin with
 * a dot are passed over, links are followed, and no directory is entered twice, as links
 * may lead in circles. What a recorder wrote of it is an input from then on, read or not
 * (output_protect).
 */
enum walk_kind { WALK_TRACE, WALK_FILE, WALK_DIRECTORY };

struct walk {
	void (*found)(void *context, enum walk_kind kind, const char *path);
	void *context;
	struct problem_list *problems; /* what cannot be read */
	struct walk_directory *seen;
	size_t seens, room;
};

void walk_init(struct walk *walk, struct problem_list *problems);

/* Whether a directory was not entered yet; from now on it counts as entered. */
bool walk_enter(struct walk *walk, const struct stat *directory);

/* Report what a path is, or everything below it. */
void walk_below(struct walk *walk, const char *path);

void walk_clear(struct walk *walk);

/* What a run directory holds of its own beside nodes is an input, too. */
void walk_protect_run(const char *path);

/* A path without the slashes at its end. For free(). */
char *walk_trimmed(const char *path);

/* Whether a path ends so. */
bool walk_has_suffix(const char *path, const char *suffix);

#endif
