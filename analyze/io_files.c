/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/io_files.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/errno_name.h"
#include "analyze/who.h"
#include "base/mem.h"

/* What a call does with its descriptor. */
enum kind { NOTHING, READS, WRITES, SYNCS, OPENS, MAKES, CLOSES };

static const struct {
	const char *name;
	enum kind kind;
	const char *path; /* MAKES: what it makes */
} calls[] = {
    {"read", READS, NULL},
    {"readv", READS, NULL},
    {"pread64", READS, NULL},
    {"preadv", READS, NULL},
    {"preadv2", READS, NULL},
    {"recvfrom", READS, NULL},
    {"recvmsg", READS, NULL},
    {"getdents64", READS, NULL},
    {"write", WRITES, NULL},
    {"writev", WRITES, NULL},
    {"pwrite64", WRITES, NULL},
    {"pwritev", WRITES, NULL},
    {"pwritev2", WRITES, NULL},
    {"sendto", WRITES, NULL},
    {"sendmsg", WRITES, NULL},
    {"fsync", SYNCS, NULL},
    {"fdatasync", SYNCS, NULL},
    {"sync_file_range", SYNCS, NULL},
    {"syncfs", SYNCS, NULL},
    {"open", OPENS, NULL},
    {"openat", OPENS, NULL},
    {"openat2", OPENS, NULL},
    {"creat", OPENS, NULL},
    {"socket", MAKES, "(socket)"},
    {"accept", MAKES, "(socket)"},
    {"accept4", MAKES, "(socket)"},
    {"eventfd2", MAKES, "(event)"},
    {"timerfd_create", MAKES, "(timer)"},
    {"epoll_create1", MAKES, "(epoll)"},
    {"close", CLOSES, NULL},
};

static const struct result_column columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"pid", "PID", UNIT_ID},
    {"process", "PROCESS", UNIT_TEXT},
    {"fd", "FD", UNIT_ID},
    {"path", "FILE", UNIT_TEXT},
    {"read_bytes", "READ", UNIT_BYTES},
    {"written_bytes", "WRITTEN", UNIT_BYTES},
    {"reads", "READS", UNIT_COUNT},
    {"writes", "WRITES", UNIT_COUNT},
    {"syncs", "SYNCS", UNIT_COUNT},
    {"errors", "ERRORS", UNIT_COUNT},
    {"sum_ns", "TIME", UNIT_SPAN},
    {"max_ns", "LONGEST", UNIT_SPAN},
    {NULL, NULL, 0},
};

enum { READ_BYTES, WRITTEN_BYTES, READ_CALLS, WRITE_CALLS, SYNC_CALLS, ERRORS };

void io_files_init(struct io_files *files, struct question *question)
{
	*files = (struct io_files){.question = question, .files = {.heads = 5}};
}

/* The place of a process's descriptor; where the process is not known, of the thread's.
 */
static char **place_of(struct io_files *files, const struct syscall_span *span,
		       int64_t pid, int64_t fd)
{
	size_t at;

	keys_begin(&files->keys);
	keys_integer(&files->keys, span->node);
	keys_integer(&files->keys, pid >= 0 ? pid : span->tid);
	keys_integer(&files->keys, fd);
	at = keys_find(&files->keys);
	while (files->paths <= at) {
		files->path = mem_grow(files->path, files->paths, &files->room,
				       sizeof(*files->path));
		files->path[files->paths++] = NULL;
	}
	return &files->path[at];
}

static void set_path(char **place, const char *path)
{
	free(*place);
	*place = path ? mem_strdup(path) : NULL;
}

static void count(struct io_files *files, const struct syscall_span *span,
		  const struct who *who, enum kind kind)
{
	struct question *question = files->question;
	int64_t pid = who_pid(question, who);
	const char *path = *place_of(files, span, pid, span->fd);
	/* An error is negative, too: it moved nothing. */
	int64_t moved = kind != SYNCS && span->ret > 0 ? span->ret : 0;
	struct tally_group *group;

	if (span->fd < 0 || !question_has_size(question, moved) ||
	    !question_has_thread(question, span->node, span->tid, span->comm,
				 span->begin_ns))
		return;
	group = tally_group(&files->files,
			    (struct cell[]){
				cell_of_text(question_node(question, span->node)),
				cell_of_known(pid, -1),
				cell_of_text(who_process(question, who)),
				cell_of_integer(span->fd),
				cell_of_text(path),
			    });
	if (!span->cut_begin && !span->cut_end)
		distribution_add(&group->spans, nsec_sub(span->end_ns, span->begin_ns));
	group->sum[kind == READS    ? READ_CALLS
		   : kind == WRITES ? WRITE_CALLS
				    : SYNC_CALLS]++;
	if (span->ret != INT64_MIN && errno_is(span->ret))
		group->sum[ERRORS]++;
	else
		group->sum[kind == READS ? READ_BYTES : WRITTEN_BYTES] = nsec_add(
		    group->sum[kind == READS ? READ_BYTES : WRITTEN_BYTES], moved);
}

void io_files_add(struct io_files *files, const struct syscall_span *span)
{
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};
	enum kind kind = NOTHING;
	const char *made = NULL;
	int64_t pid;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !kind; i++)
		if (!strcmp(calls[i].name, span->name)) {
			kind = calls[i].kind;
			made = calls[i].path;
		}
	if (kind == NOTHING)
		return;
	if (kind == READS || kind == WRITES || kind == SYNCS) {
		count(files, span, &who, kind);
		return;
	}
	pid = who_pid(files->question, &who);
	if (kind == CLOSES && span->fd >= 0)
		set_path(place_of(files, span, pid, span->fd), NULL);
	else if (kind != CLOSES && span->ret >= 0)
		set_path(place_of(files, span, pid, span->ret),
			 kind == OPENS ? span->path : made);
}

void io_files_print(struct io_files *files, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "files", "Files, from system calls", columns);

	result_table_sort(table, "-sum_ns,node,pid,fd,path");
	result_table_limit(table, 20);
	for (size_t i = 0; i < files->files.count; i++) {
		struct tally_group *group = &files->files.group[i];
		struct cell cells[13], of[TALLY_CELLS];

		memcpy(cells, group->head, 5 * sizeof(*cells));
		tally_cells(&group->spans, of);
		for (size_t k = READ_BYTES; k <= ERRORS; k++)
			cells[5 + k] = cell_of_integer(group->sum[k]);
		cells[11] = of[7];
		cells[12] = of[6];
		result_add(table, cells);
	}
}

void io_files_clear(struct io_files *files)
{
	tally_clear(&files->files);
	keys_clear(&files->keys);
	for (size_t i = 0; i < files->paths; i++)
		free(files->path[i]);
	free(files->path);
	files->path = NULL;
	files->paths = 0;
}
