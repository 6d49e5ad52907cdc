/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_H
#define CT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * What a program writes: files, standard output, and directories
 * (base/output_directory.h). All of it appears whole or not at all.
 *
 * An output is made in a temporary directory beside its target, .NAME.unfinished-XXXXXX,
 * and renamed at the commit. A signal, exit(3) or memory that runs out removes the
 * temporary directory. What SIGKILL left of an earlier output to the same target is
 * removed by the next one; a lock (flock(2)) tells whether it is still being written.
 *
 * An output is never an input, however it is named, and never lies in a trace that is
 * read.
 */

/*
 * At the program's start: signals remove what is half written, here and in a file that
 * standard output leads to, and then end the program as ever.
 */
void output_catch_signals(void);

/* After that, for a program that prints: a reader that has enough ends it quietly. */
void output_catch_pipe(void);

/*
 * What stands at a path is read: a file, or a directory with all that is below it. No
 * output replaces it or goes into it from here on; whoever finds an input says so. Any
 * thread may call it. What is neither file nor directory is passed over.
 */
void output_protect(const char *path);

/*
 * A file. A link is followed, and the file that it leads to is replaced. What is there
 * and no file, and what is named below /dev or /proc, is written straight.
 */
struct output {
	FILE *file; /* write here */
	char *path; /* as it was asked for, or "standard output" */
	char *
	    temporary; /* what `file` is until the commit; NULL: it is written straight */
	char *target;  /* the path without links */
	struct output_stage *stage;
	int stream; /* -1, or a descriptor that gets the file at the commit */
};

int output_open(struct output *output, const char *path, struct error *error);

/*
 * A file that is written here and there, for a descriptor such as standard output: the
 * temporary is in $TMPDIR. A terminal is refused. Where the descriptor leads to a file,
 * the first 4096 bytes come last, so that half of it is nothing that a program reads.
 */
int output_open_spooled(struct output *output, int stream, struct error *error);

/* Sync and rename into place; 0, or -1 with error and nothing in place. */
int output_commit(struct output *output, struct error *error);

/* Throw away what was not committed; after a commit it does nothing. */
void output_discard(struct output *output);

/*
 * A temporary directory that a signal, exit(3) and memory that runs out remove, with what
 * is in it.
 */
struct output_stage {
	struct output_stage *next;
	int lock;
	char path[];
};

/*
 * Make one in a directory: .NAME.unfinished-XXXXXX, or without a name
 * .unfinished-XXXXXX. Earlier ones of that name go if nobody holds them. NULL with errno.
 */
struct output_stage *output_stage_new(const char *directory, const char *name);

/* Remove it, with what is in it. */
void output_stage_free(struct output_stage *stage);

/*
 * From here on standard output gets something that is worth nothing by half: what was
 * written of it to a file is cut off unless output_flush_stdout is reached.
 */
void output_whole_stdout(void);
void output_cut_stdout(void);

/* Whether all that was written to standard output is out: 0, or -1 with error. */
int output_flush_stdout(struct error *error);

/*
 * Write all of the bytes, however often that takes: at an offset, or with -1 where the
 * file stands. 0, or -1 with errno.
 */
int output_write_all(int fd, const void *from, size_t size, off_t at);

#endif
