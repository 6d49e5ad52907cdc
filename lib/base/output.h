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
 * Call at the program's start. From then on signals remove what is half written, here and
 * in a file that standard output leads to, before they end the program, and a failed
 * write to standard output is remembered with its cause.
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

struct sink;

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
	struct sink *sink;
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
 * Before something is written to standard output: -1 with error where that is closed, as
 * the next file that is opened would stand in its place, or, for what is binary, a
 * terminal.
 */
int output_check_stdout(bool is_binary, struct error *error);

/*
 * From here on standard output gets something that is worth nothing by half: what was
 * written of it to a file is cut off unless output_flush_stdout is reached.
 */
void output_whole_stdout(void);
void output_cut_stdout(void);

/*
 * Flush standard output. Return 0, or -1 with error if any of its writes failed; a file
 * that it leads to is then truncated to where the output began.
 */
int output_flush_stdout(struct error *error);

/*
 * Write all of the bytes, however often that takes: at an offset, or with -1 where the
 * file stands. 0, or -1 with errno.
 */
int output_write_all(int fd, const void *from, size_t size, off_t at);

/* What becomes of a directory that is there, and is not empty. */
enum output_rule {
	OUTPUT_EMPTY,   /* it is refused */
	OUTPUT_ADD,     /* new entries come to it, none of which may be there */
	OUTPUT_REPLACE, /* what the list in it names goes, files of new names are replaced
			 */
	OUTPUT_OURS,    /* the same where it has such a list, else it is refused */
};

struct output_kind {
	enum output_rule rule;
	const char *list; /* name of a list of what was written, or NULL: none is kept */
	const char *instead; /* of a directory that is not empty; NULL: the default */
	bool parents;        /* directories above it are made, too */
	const char *mark; /* name of the file that is there only while all others are */
};

/*
 * A directory that gets its files when all of them are whole. They are made in a
 * temporary directory: beside the target, which it becomes, or, where the target is
 * there, in it, from where they are moved.
 *
 * Whatever else is in the directory stays. The list tells what is ours: a line a file, by
 * its path below the directory. It comes first, so that one that was moved by half is
 * known to whoever replaces it.
 */
struct output_directory {
	char *path;      /* the target, without slashes at its end */
	char *temporary; /* make entries in it; NULL after commit and discard */
	const struct output_kind *kind;
	char *made; /* the uppermost directory above the target that was missing */
	struct output_stage *stage;
	bool is_new; /* the target is not there yet */
};

/* The kind is borrowed until commit or discard. 0, or -1 with error. */
int output_directory_open(struct output_directory *directory, const char *path,
			  const struct output_kind *kind, struct error *error);

/* Whether an entry of this name is in the target already. */
bool output_directory_has(const struct output_directory *directory, const char *name);

/* Where an error's text has the temporary directory, put the target. */
void output_directory_explain(const struct output_directory *directory,
			      struct error *error);

/*
 * Sync all files and move them to the target. Return 0, or -1 with error; then the target
 * is as it was, unless files could not be moved back, which the error says. Frees all.
 */
int output_directory_commit(struct output_directory *directory, struct error *error);

/* Remove what was not committed; after a commit it does nothing. */
void output_directory_discard(struct output_directory *directory);

/*
 * Make what is missing of the directories above `path` that its first bytes are not
 * about, and tell the first, for free(). 0, or -1 with errno.
 */
int output_make_above(const char *path, size_t first, char **made);

/* What output.c and output_directory.c share. */

/* What a killed program left of that name goes, but for what is still being written. */
void output_stage_sweep(const char *directory, const char *name);

/* The directory of a path, for free(), and the name in it, borrowed. */
char *output_parent(const char *path);
const char *file_name(const char *path);

/* A path without the slashes at its end. For free(). */
char *path_trimmed(const char *path);

/* Whether a path may be written: 0, or -1 with error where it is an input, or in one. */
int output_check(const char *path, struct error *error);

#endif
