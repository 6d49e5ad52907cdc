/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/tables/table_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/signals.h"

struct run {
	struct table_pool *pool;
	size_t *order; /* indexes of jobs, the longest first */

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	size_t next, running;
	size_t failed_job; /* SIZE_MAX: none */
	struct error error;
};

void table_pool_plan(struct table_pool *pool, int wanted)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	pool->threads = wanted ? wanted : processors > 0 ? (int)processors : 1;
	/* Most rows are events': two threads for each of a few tables end sooner. */
	pool->work.pipe = pool->threads > (pool->jobs == 1 ? 1 : 3);
	if (pool->work.pipe)
		pool->threads /= 2;
	if ((size_t)pool->threads > pool->jobs)
		pool->threads = pool->jobs ? (int)pool->jobs : 1;
}

static int longest_first(const void *a, const void *b, void *context)
{
	const struct table_job *job = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int64_t left_rows = job[left].question->rows;
	int64_t right_rows = job[right].question->rows;

	if (left_rows != right_rows)
		return left_rows < right_rows ? 1 : -1;
	return left < right ? -1 : 1;
}

static void note_failure(struct run *run, size_t job, struct error *error)
{
	/* Those that were only stopped are not the cause. */
	if (!run->pool->work.stopped || job < run->failed_job) {
		if (run->failed_job == SIZE_MAX ||
		    strcmp(error_text(error), "stopped") != 0) {
			error_clear(&run->error);
			run->error = *error;
			*error = (struct error)ERROR_INIT;
			run->failed_job = job;
		}
	}
	run->pool->work.stopped = true;
	error_clear(error);
}

/* Take jobs until there is none left, or one failed. The lock is held. */
static void do_jobs(struct run *run, struct timeline_reader *timeline)
{
	struct table_pool *pool = run->pool;

	while (run->next < pool->jobs && !pool->work.stopped) {
		size_t job = run->order[run->next++];
		struct error error = ERROR_INIT;
		int status;

		pthread_mutex_unlock(&run->lock);
		status = table_write(&pool->work, &pool->job[job], timeline, &error);
		pthread_mutex_lock(&run->lock);
		if (status)
			note_failure(run, job, &error);
	}
}

static void *work(void *argument)
{
	struct run *run = argument;
	struct error error = ERROR_INIT;
	struct timeline_reader *timeline =
	    timeline_reader_open(run->pool->work.export->path, &error);

	pthread_mutex_lock(&run->lock);
	if (timeline)
		do_jobs(run, timeline);
	else
		note_failure(run, 0, &error);
	run->running--;
	pthread_cond_signal(&run->changed);
	pthread_mutex_unlock(&run->lock);
	timeline_reader_free(timeline);
	return NULL;
}

static uint64_t all_rows(const struct table_pool *pool)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < pool->jobs; i++)
		rows += (uint64_t)pool->job[i].question->rows;
	return rows;
}

/* Show how far they are until all have ended. */
static void wait_for(struct run *run, struct progress *progress)
{
	uint64_t all = all_rows(run->pool);

	pthread_mutex_lock(&run->lock);
	while (run->running) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 100000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&run->changed, &run->lock, &until);
		progress_update(progress, "rows", run->pool->work.rows, 0, all);
	}
	pthread_mutex_unlock(&run->lock);
}

static void run_threads(struct run *run, struct progress *progress)
{
	size_t threads = (size_t)run->pool->threads;
	pthread_t *thread = mem_alloc(threads * sizeof(*thread));
	size_t started = 0;
	sigset_t before;

	signals_hold(&before);
	run->running = threads;
	while (started < threads &&
	       pthread_create(&thread[started], NULL, work, run) == 0)
		started++;
	signals_release(&before);
	pthread_mutex_lock(&run->lock);
	run->running -= threads - started;
	if (!started)
		do_jobs(run, run->pool->work.export->timeline);
	pthread_mutex_unlock(&run->lock);
	wait_for(run, progress);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}

int table_pool_run(struct table_pool *pool, struct progress *progress,
		   struct error *error)
{
	struct run run = {.pool = pool, .failed_job = SIZE_MAX};
	int status;

	run.order = mem_alloc((pool->jobs + 1) * sizeof(*run.order));
	for (size_t i = 0; i < pool->jobs; i++)
		run.order[i] = i;
	qsort_r(run.order, pool->jobs, sizeof(*run.order), longest_first, pool->job);
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.changed, NULL);
	run_threads(&run, progress);
	pthread_cond_destroy(&run.changed);
	pthread_mutex_destroy(&run.lock);
	free(run.order);
	status = run.failed_job == SIZE_MAX ? 0 : -1;
	if (status) {
		error_clear(error);
		*error = run.error;
	}
	return status;
}
