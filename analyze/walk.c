/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/walk.h"

#include <assert.h>
#include <limits.h>

#include "analyze/analysis.h"

int walk_run(struct question *question, struct result *result, struct error *error)
{
	const struct analysis_walk *walk = question->analysis->walk;
	struct activity_ops ops = {.without = 0};
	void *kept = NULL;
	int status;

	if (walk->begin(question, result, &ops, &kept, error))
		return -1;
	status = activity_walk(question->reader, &question->scope, &ops, kept, error);
	if (!status)
		question_note_unrecorded(question, result);
	return walk->end(kept, status, error);
}

void shared_walk_add(struct shared_walk *walk, const struct activity_ops *ops,
		     void *context)
{
	assert(walk->parts < sizeof(walk->part) / sizeof(walk->part[0]));
	walk->part[walk->parts++] = (struct walk_part){*ops, context};
}

/* Hand a span to each part that wants such. */
#define TELL(span_kind, wanted)                                                          \
	struct shared_walk *walk = context;                                              \
	int status = 0;                                                                  \
                                                                                         \
	for (size_t i = 0; i < walk->parts && !status; i++) {                            \
		const struct walk_part *part = &walk->part[i];                           \
                                                                                         \
		if (part->ops.span_kind && (wanted))                                     \
			status = part->ops.span_kind(part->context, span);               \
	}                                                                                \
	return status

static int tell_thread(void *context, const struct thread_span *span)
{
	TELL(thread, span->state == ACTIVITY_RUNNING ||
			 !(part->ops.without & ACTIVITY_ONLY_RUNNING));
}

static int tell_interrupt(void *context, const struct interrupt_span *span)
{
	TELL(interrupt, true);
}

static int tell_syscall(void *context, const struct syscall_span *span)
{
	TELL(syscall, true);
}

static int tell_disk(void *context, const struct disk_span *span)
{
	TELL(disk, true);
}

/* The first one that shows it does so for all. */
static void tell_share(void *context, double share)
{
	struct shared_walk *walk = context;

	for (size_t i = 0; i < walk->parts; i++)
		if (walk->part[i].ops.share) {
			walk->part[i].ops.share(walk->part[i].context, share);
			return;
		}
}

int shared_walk_run(struct shared_walk *walk, struct question *question,
		    struct error *error)
{
	struct activity_ops ops = {.share = tell_share, .without = UINT_MAX};

	for (size_t i = 0; i < walk->parts; i++) {
		const struct activity_ops *part = &walk->part[i].ops;

		ops.thread = part->thread ? tell_thread : ops.thread;
		ops.interrupt = part->interrupt ? tell_interrupt : ops.interrupt;
		ops.syscall = part->syscall ? tell_syscall : ops.syscall;
		ops.disk = part->disk ? tell_disk : ops.disk;
		assert(!part->frequency);
		if (part->thread)
			ops.without &= part->without;
	}
	if (!ops.thread && !ops.interrupt && !ops.syscall && !ops.disk)
		return 0;
	return activity_walk(question->reader, &question->scope, &ops, walk, error);
}
