/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_IO_FILES_H
#define CT_ANALYZE_IO_FILES_H

#include "activity/activity.h"
#include "analyze/question.h"
#include "analyze/result.h"
#include "analyze/tally.h"

/*
 * What system calls read and wrote, by process, file and descriptor. A descriptor's file
 * is known from the call that opened it, if that was recorded; it is the process's, not
 * the thread's. Memory: some 60 bytes a descriptor that is open, 300 a file.
 */
struct io_files {
	struct question *question;
	struct tally files; /* node, pid, process, path, fd */
	struct keys keys;   /* node, process, fd */
	char **path;        /* of each key; NULL: not known */
	size_t paths, room;
};

void io_files_init(struct io_files *files, struct question *question);

void io_files_add(struct io_files *files, const struct syscall_span *span);

void io_files_print(struct io_files *files, struct result *result);

void io_files_clear(struct io_files *files);

#endif
