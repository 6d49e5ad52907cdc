/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	MOST_OF_STREAM = 4, /* packets of a stream that wait for the walk */
	MOST_OF_TRACE = 8,
};

/* A packet that somebody goes through or has gone through. */
struct task {
	struct native_piece piece;
	struct native_digest *digest;
	bool is_done;
	struct task *next;
};

/* Of one stream: what waits, in the order of the file, and where to go on. */
struct line {
	struct task *first, **last;
	size_t tasks;
	struct native_piece scout;
	bool can_go_on; /* the scout stands where a packet may begin */
};

struct native_ahead {
	const struct native_trace *trace;
	const struct native_streams *streams;
	struct line *line; /* one a stream */
	size_t tasks;
	struct native_digest *spare[MOST_OF_TRACE + 1];
	size_t spares;
	pthread_mutex_t lock; /* of all above */
	pthread_cond_t done;  /* a task is */
};

struct native_ahead *native_ahead_new(const struct native_trace *trace,
				      const struct native_streams *streams)
{
	struct native_ahead *ahead = mem_zalloc(sizeof(*ahead));

	ahead->trace = trace;
	ahead->streams = streams;
	ahead->line = mem_zalloc(streams->count * sizeof(*ahead->line) + 1);
	for (size_t i = 0; i < streams->count; i++)
		ahead->line[i].last = &ahead->line[i].first;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->done, NULL);
	return ahead;
}

/* The stream with the fewest packets done, or NULL. */
static struct line *find_line(struct native_ahead *ahead)
{
	struct line *best = NULL;

	for (size_t i = 0; i < ahead->streams->count; i++) {
		struct line *line = &ahead->line[i];

		if (line->can_go_on && line->tasks < MOST_OF_STREAM &&
		    (!best || line->tasks < best->tasks))
			best = line;
	}
	return ahead->tasks < MOST_OF_TRACE ? best : NULL;
}

static void keep(struct native_ahead *ahead, struct native_digest *digest)
{
	if (ahead->spares < sizeof(ahead->spare) / sizeof(*ahead->spare))
		ahead->spare[ahead->spares++] = digest;
	else
		native_digest_free(digest);
}

static struct task *add_task(struct native_ahead *ahead, struct line *line)
{
	struct task *task = mem_zalloc(sizeof(*task));

	task->piece = line->scout;
	task->digest = ahead->spares ? ahead->spare[--ahead->spares]
				     : native_digest_new(ahead->trace);
	*line->last = task;
	line->last = &task->next;
	line->tasks++;
	ahead->tasks++;
	return task;
}

static void drop_first(struct native_ahead *ahead, struct line *line)
{
	struct task *task = line->first;

	line->first = task->next;
	if (!line->first)
		line->last = &line->first;
	line->tasks--;
	ahead->tasks--;
	if (task->digest)
		keep(ahead, task->digest);
	free(task);
}

/* With the lock held, but for the reading. */
static bool help(struct native_ahead *ahead)
{
	struct line *line = find_line(ahead);
	struct task *task;
	bool begun;

	if (!line)
		return false;
	task = add_task(ahead, line);
	line->can_go_on = false; /* until the packet's size is known */
	pthread_mutex_unlock(&ahead->lock);
	begun = native_digest_begin(task->digest, ahead->trace, &task->piece);
	pthread_mutex_lock(&ahead->lock);
	if (begun) {
		line->scout = task->piece;
		line->scout.at += task->digest->packet.size / 8;
		line->can_go_on = line->scout.at < line->scout.size;
	}
	pthread_mutex_unlock(&ahead->lock);
	if (begun)
		native_digest_finish(task->digest, &task->piece);
	pthread_mutex_lock(&ahead->lock);
	task->is_done = true;
	pthread_cond_broadcast(&ahead->done);
	return true;
}

bool native_ahead_help(struct native_ahead *ahead)
{
	bool helped;

	pthread_mutex_lock(&ahead->lock);
	helped = help(ahead);
	pthread_mutex_unlock(&ahead->lock);
	return helped;
}

/* Where somebody is at this packet, do others meanwhile, then wait. */
static void wait_for(struct native_ahead *ahead, const struct task *task)
{
	while (!task->is_done && help(ahead))
		;
	while (!task->is_done)
		pthread_cond_wait(&ahead->done, &ahead->lock);
}

struct native_digest *native_ahead_take(struct native_ahead *ahead, size_t stream)
{
	const struct native_stream *at = &ahead->streams->stream[stream];
	struct line *line = &ahead->line[stream];
	struct native_digest *digest = NULL;
	struct task *task;

	pthread_mutex_lock(&ahead->lock);
	while ((task = line->first) &&
	       (task->piece.path != at->path || task->piece.at < at->next)) {
		wait_for(ahead, task);
		drop_first(ahead, line);
	}
	if (task && task->piece.at == at->next) {
		wait_for(ahead, task);
		digest = task->digest;
		task->digest = NULL;
		drop_first(ahead, line);
	}
	pthread_mutex_unlock(&ahead->lock);
	return digest;
}

void native_ahead_follow(struct native_ahead *ahead, size_t stream)
{
	const struct native_stream *at = &ahead->streams->stream[stream];
	struct line *line = &ahead->line[stream];

	pthread_mutex_lock(&ahead->lock);
	if (!line->first && (line->scout.path != at->path || line->scout.at < at->next)) {
		line->scout =
		    (struct native_piece){at->path, &at->of->first, at->next, at->until};
		line->can_go_on = at->next < at->until;
	}
	pthread_mutex_unlock(&ahead->lock);
}

void native_ahead_give_back(struct native_ahead *ahead, struct native_digest *digest)
{
	if (!digest)
		return;
	pthread_mutex_lock(&ahead->lock);
	keep(ahead, digest);
	pthread_mutex_unlock(&ahead->lock);
}

void native_ahead_free(struct native_ahead *ahead)
{
	if (!ahead)
		return;
	for (size_t i = 0; i < ahead->streams->count; i++)
		while (ahead->line[i].first)
			drop_first(ahead, &ahead->line[i]);
	while (ahead->spares)
		native_digest_free(ahead->spare[--ahead->spares]);
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->done);
	free(ahead->line);
	free(ahead);
}
