/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input and output: requests to disks, and what system calls moved by file. */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"
#include "analyze/disk_names.h"
#include "analyze/io_files.h"
#include "analyze/tally.h"
#include "analyze/who.h"
#include "base/mem.h"

#define REQUEST_COLUMNS                                                                  \
	TALLY_COLUMNS, {"queue_mean_ns", "QUEUED MEAN", UNIT_SPAN},                      \
	    {"queue_max_ns", "QUEUED MAX", UNIT_SPAN}, {"bytes", "BYTES", UNIT_BYTES},   \
	    {"merged", "MERGED", UNIT_COUNT}, {"errors", "ERRORS", UNIT_COUNT},          \
	{                                                                                \
		NULL, NULL, 0                                                            \
	}

static const struct result_column disk_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"disk", "DISK", UNIT_TEXT},
    {"operation", "OPERATION", UNIT_TEXT},
    REQUEST_COLUMNS,
};

static const struct result_column process_columns[] = {
    {"operation", "OPERATION", UNIT_TEXT},
    REQUEST_COLUMNS,
};

static const struct result_column log_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"latency_ns", "LATENCY", UNIT_SPAN},
    {"queue_ns", "QUEUED", UNIT_SPAN},
    WHO_THREAD_COLUMNS,
    {"disk", "DISK", UNIT_TEXT},
    {"operation", "OPERATION", UNIT_TEXT},
    {"sector", "SECTOR", UNIT_ID},
    {"bytes", "BYTES", UNIT_BYTES},
    {"merged", "MERGED", UNIT_COUNT},
    {"error", "ERROR", UNIT_ID},
    {NULL, NULL, 0},
};

enum { QUEUED, QUEUE_NS, QUEUE_MOST_NS, BYTES, MERGED, ERRORS };
enum { SECTOR_BYTES = 512 }; /* of the kernel, whatever the disk has */

struct io_report {
	struct question *question;
	struct result *result;
	struct activity_recorded recorded;
	struct disk_names names;
	struct tally disks, processes;
	struct io_files files;
	struct tally_lists lists;
};

static const char *operation_of(const struct disk_span *span)
{
	return span->discard                   ? "discard"
	       : span->flush && !span->sectors ? "flush"
	       : span->write                   ? "write"
					       : "read";
}

/* From the issue to the device until its end; one that has no issue counts as a whole. */
static nsec_t latency_of(const struct disk_span *span)
{
	return span->end_ns -
	       (span->issue_ns == NSEC_MIN ? span->begin_ns : span->issue_ns);
}

static void count(struct tally *tally, const struct cell *head,
		  const struct disk_span *span)
{
	struct tally_group *group = tally_group(tally, head);
	nsec_t queued = nsec_sub(span->issue_ns, span->begin_ns);

	distribution_add(&group->spans, latency_of(span));
	group->sum[BYTES] = nsec_add(group->sum[BYTES], span->sectors * SECTOR_BYTES);
	group->sum[MERGED] = nsec_add(group->sum[MERGED], span->merged);
	group->sum[ERRORS] += span->error != 0;
	if (span->issue_ns == NSEC_MIN)
		return;
	group->sum[QUEUED]++;
	group->sum[QUEUE_NS] = nsec_add(group->sum[QUEUE_NS], queued);
	if (queued > group->sum[QUEUE_MOST_NS])
		group->sum[QUEUE_MOST_NS] = queued;
}

static void add_request(struct io_report *report, struct result_table *table,
			const struct disk_span *span)
{
	struct question *question = report->question;
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};

	result_add(
	    table,
	    (struct cell[]){
		cell_of_integer(span->begin_ns),
		cell_of_integer(latency_of(span)),
		span->issue_ns == NSEC_MIN
		    ? cell_of_null()
		    : cell_of_integer(nsec_sub(span->issue_ns, span->begin_ns)),
		cell_of_text(question_node(question, span->node)),
		cell_of_known(span->tid, -1),
		cell_of_known(who_pid(question, &who), -1),
		cell_of_text(who_comm(question, &who)),
		cell_of_text(disk_names_find(&report->names, span->node, span->dev)),
		cell_of_text(operation_of(span)),
		cell_of_integer(span->sector),
		cell_of_integer(span->sectors * SECTOR_BYTES),
		cell_of_integer(span->merged),
		cell_of_integer(span->error),
	    });
}

static int take_disk(void *context, const struct disk_span *span)
{
	struct io_report *report = context;
	struct question *question = report->question;
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};
	struct cell operation = cell_of_text(operation_of(span)), head[TALLY_HEAD];
	size_t heads;

	if (span->cut_begin || span->cut_end ||
	    !question_has_span(question, latency_of(span)) ||
	    !question_has_size(question, span->sectors * SECTOR_BYTES) ||
	    !question_has_thread(question, span->node, span->tid, span->comm,
				 span->begin_ns))
		return 0;
	count(&report->disks,
	      (struct cell[]){
		  cell_of_text(question_node(question, span->node)),
		  cell_of_text(disk_names_find(&report->names, span->node, span->dev)),
		  operation},
	      span);
	heads = who_head(question, &who, head);
	head[heads++] = operation;
	report->processes.heads = heads;
	count(&report->processes, head, span);
	if (report->lists.top)
		add_request(report, report->lists.top, span);
	if (report->lists.log)
		add_request(report, report->lists.log, span);
	return 0;
}

static int take_syscall(void *context, const struct syscall_span *span)
{
	struct io_report *report = context;

	io_files_add(&report->files, span);
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct io_report *)context)->question, share);
}

static void print_requests(struct tally *tally, struct result_table *table)
{
	for (size_t i = 0; i < tally->count; i++) {
		struct tally_group *group = &tally->group[i];
		const int64_t *sum = group->sum;
		struct cell cells[TALLY_HEAD + TALLY_CELLS + 5];
		struct cell *at = cells + tally->heads + TALLY_CELLS;

		memcpy(cells, group->head, tally->heads * sizeof(*cells));
		tally_cells(&group->spans, cells + tally->heads);
		at[0] = sum[QUEUED] ? cell_of_integer(sum[QUEUE_NS] / sum[QUEUED])
				    : cell_of_null();
		at[1] =
		    sum[QUEUED] ? cell_of_integer(sum[QUEUE_MOST_NS]) : cell_of_null();
		at[2] = cell_of_integer(sum[BYTES]);
		at[3] = cell_of_integer(sum[MERGED]);
		at[4] = cell_of_integer(sum[ERRORS]);
		result_add(table, cells);
	}
}

static void print_stats(struct io_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "disks", "Requests by disk", disk_columns);

	result_table_sort(table, "node,disk,operation");
	print_requests(&report->disks, table);
	table = who_table(report->question, result, "requests",
			  "Requests by who made them", process_columns);
	result_table_sort(table, "-bytes,node,pid,tid,process,operation");
	result_table_limit(table, 20);
	print_requests(&report->processes, table);
	io_files_print(&report->files, result);
}

static const struct tally_lists_form lists_form = {log_columns, "The slowest requests",
						   "-latency_ns,begin_ns",
						   "Every request, by its end"};

static void clear(struct io_report *report)
{
	io_files_clear(&report->files);
	disk_names_clear(&report->names);
	tally_clear(&report->disks);
	tally_clear(&report->processes);
	free(report);
}

static int begin_io(struct question *question, struct result *result,
		    struct activity_ops *ops, void **kept, struct error *error)
{
	struct io_report *report = mem_zalloc(sizeof(*report));

	*report = (struct io_report){
	    .question = question, .result = result, .disks = {.heads = 3}};
	io_files_init(&report->files, question);
	tally_lists_begin(&report->lists, question->forms, result, &lists_form);
	*ops = (struct activity_ops){.disk = take_disk, .share = show_share};
	if (question->forms & FORM_STATS)
		ops->syscall = take_syscall;
	if (activity_recorded(&report->recorded, question->reader, error) ||
	    disk_names_read(&report->names, question->reader, error)) {
		clear(report);
		return -1;
	}
	*kept = report;
	return 0;
}

static void print(struct io_report *report, struct result *result)
{
	unsigned forms = report->question->forms;

	if (forms & FORM_STATS)
		print_stats(report, result);
	if (forms & FORM_FREQ)
		tally_print_bins(&report->disks, result, "disk requests");
	tally_lists_last(&report->lists, result);
	if (!report->recorded.disk)
		result_missing(result, "disk requests",
			       "block_rq_insert, block_rq_issue, block_rq_complete");
	if (!report->recorded.syscalls && forms & FORM_STATS)
		result_missing(result, "files",
			       "system calls: syscall_entry_*, syscall_exit_*");
}

static int end_io(void *kept, int status, struct error *error)
{
	struct io_report *report = kept;

	(void)error;
	if (!status)
		print(report, report->result);
	clear(report);
	return status;
}

static const struct analysis_walk io_walk = {begin_io, end_io};

const struct analysis analysis_io = {
    .name = "io",
    .summary = "disk requests by disk and process, bytes by file",
    .description =
	"Tables: disks and requests, of which the duration is from the issue to the\n"
	"device to the end, and QUEUED from being queued to that; files, what system\n"
	"calls read and wrote by file and descriptor; top and log, each request; freq.\n"
	"Who made a request is who queued it: for what is written behind, a thread of\n"
	"the kernel.\n"
	"--min and --max are of the requests' durations, --minsize and --maxsize of "
	"what\n"
	"a request or a call moved. Needs: block_rq_insert, block_rq_issue,\n"
	"block_rq_complete; for files the system calls' entries and exits.",
    .heeds = HEEDS_THREAD | HEEDS_SPAN | HEEDS_SIZE | HEEDS_GROUP,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS,
    .groups = "process thread name node",
    .run = walk_run,
    .walk = &io_walk,
};
