/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_FILES_H
#define CT_INPUT_CTF_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/problem.h"

/* The files of a CTF trace, looked at without decoding an event. */
struct ctf_files {
	uint64_t bytes;   /* of all streams */
	uint64_t packets; /* of all streams by their index files; 0: unknown */
	bool indexed;     /* every stream has an index file */
	bool known;       /* its packets are laid out as LTTng does, see ctf/packets.h */
	bool sound;       /* not known, or every stream file and index is sound */
};

/* Whether path is a directory with a file named metadata. */
bool ctf_files_probe(const char *path);

/*
 * Check that metadata is whole, look at the streams and sum them up. A metadata
 * cut in the middle of a packet makes libbabeltrace2 2.0 loop for ever, as does
 * a packet of no size, and an index that points beyond its file makes it abort,
 * so they are found here first. 0, or -1 with error.
 */
int ctf_files_check(const char *path, struct ctf_files *files, struct error *error);

/* The same without a look at the packets of streams: `sound` says nothing. */
int ctf_files_sum(const char *path, struct ctf_files *files, struct error *error);

/*
 * Make a directory that shows the trace at `path` without what is broken in
 * its stream files: links to them, and an index of ours that ends where they
 * do. libbabeltrace2 refuses a trace whole when one packet is cut; through
 * this view it reads up to the cut. What is left out becomes a problem.
 * Returns the directory's name, for ctf_mend_remove, or NULL with error.
 */
char *ctf_mend(const char *path, struct problem_list *problems, struct error *error);

/* Remove the directory and free its name. */
void ctf_mend_remove(char *directory);

#endif
