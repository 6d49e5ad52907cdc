/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_OUTPUT_H
#define CT_BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Atomic output to files, standard output and directories: an output appears complete or
 * not at all.
 *
 * An output is written in a temporary directory next to its target,
 * .NAME.unfinished-XXXXXX, and renamed by the commit. A signal, exit(3) or lack of memory
 * removes the temporary directory. If SIGKILL left one behind, the next output to the
 * same target removes it; a lock (flock(2)) protects those still in use.
 *
 * An output never replaces an input, under whatever name, and is never created inside a
 * trace that is read.
 */

/*
 * Call at the program's start. From then on signals remove incomplete output, also from a
 * file that standard output leads to, before they end the program. The cause of a failed
 * write to standard output is remembered.
 */
void output_catch_signals(void);

/* Call after output_catch_signals(), in a program that prints: if its reader stops early,
 * the program ends silently. */
void output_catch_pipe(void);

/*
 * Declare a file, or a directory with everything below it, an input: outputs that would
 * replace it or be created in it are refused from here on. Other kinds of files are
 * ignored. Any thread may call this.
 */
void output_protect(const char *path);

struct sink;

/*
 * An output file. Symbolic links are followed, and the file that they lead to is
 * replaced. What exists and is not a regular file, and paths below /dev and /proc, are
 * written directly.
 */
struct output {
	FILE *file;      /* write here */
	char *path;      /* as given by the user, or "standard output" */
	char *temporary; /* path of `file` until the commit; NULL if written directly */
	char *target;    /* the path with links resolved */
	struct output_stage *stage;
	struct sink *sink;
	int stream; /* descriptor to which the commit copies the file; -1: it is renamed
		     */
};

/* Return 0, or -1 with error. */
int output_open(struct output *output, const char *path, struct error *error);

/*
 * Open a seekable output that the commit copies to descriptor `stream`. The temporary
 * file is in $TMPDIR; a terminal is refused. If `stream` leads to a file, its first 4096
 * bytes are written last, so that no program accepts a partial copy. Return 0, or -1 with
 * error.
 */
int output_open_spooled(struct output *output, int stream, struct error *error);

/* Sync the file and move it to its target. Return 0, or -1 with error; then the target is
 * unchanged. */
int output_commit(struct output *output, struct error *error);

/* Commit two outputs. Return 0, or -1 with error; then both targets are unchanged. */
int output_commit_both(struct output *first, struct output *second, struct error *error);

/* Remove an output that was not committed. After a commit this does nothing. */
void output_discard(struct output *output);

/* A temporary directory that is removed with its content by a signal, exit(3), or lack of
 * memory. */
struct output_stage {
	struct output_stage *next;
	int lock;
	char path[];
};

/*
 * Create a stage in a directory: .NAME.unfinished-XXXXXX, or .unfinished-XXXXXX if `name`
 * is NULL. Remove stages of that name that killed programs left behind. Return NULL with
 * errno.
 */
struct output_stage *output_stage_new(const char *directory, const char *name);

/* Remove the directory with its content. */
void output_stage_free(struct output_stage *stage);

/*
 * Check that standard output can be written. Return 0, or -1 with error if it is closed,
 * so that the next opened file would take its place, or if it is a terminal and the
 * output is binary.
 */
int output_check_stdout(bool is_binary, struct error *error);

/*
 * Call before printing output that is useless unless complete. If output_flush_stdout()
 * is never reached, a file that standard output leads to is truncated to where it began.
 */
void output_atomic_stdout(void);

/* Truncate such output now. */
void output_truncate_stdout(void);

/*
 * Flush standard output. Return 0, or -1 with error if any of its writes failed; a file
 * that it leads to is then truncated to where the output began.
 */
int output_flush_stdout(struct error *error);

/*
 * Write all bytes, with as many calls of write(2) as needed, at offset `at`, or at the
 * current position if it is -1. Return 0, or -1 with errno.
 */
int output_write_all(int fd, const void *from, size_t size, off_t at);

/* Remove the stages of that name that killed programs left behind. A stage that is still
 * locked stays. */
void output_stage_sweep(const char *directory, const char *name);

/* Return the directory of a path, which the caller frees, and the name in it, which is a
 * part of `path`. */
char *output_parent(const char *path);
const char *file_name(const char *path);

/* Copy a path without trailing slashes. The caller frees the result. */
char *path_trim(const char *path);

/* Check that a path is neither an input nor in one. Return 0, or -1 with error. */
int output_check(const char *path, struct error *error);

#endif
