/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_METADATA_H
#define CT_CTF_METADATA_H

#include "base/problem.h"
#include "ctf/schema.h"

/*
 * The schema that a metadata file says, TSDL in packets or without, or JSON texts; what
 * it is, its content says. NULL with error.
 */
struct schema *schema_read(const char *path, struct problem_list *problems,
			   struct error *error);

/*
 * The text of a metadata file, of its packets where it has some, for free(), and how many
 * bytes its last packet lacks, which are none of its text. NULL with error.
 */
char *metadata_text(const char *path, size_t *size, size_t *lacks, struct error *error);

#endif
