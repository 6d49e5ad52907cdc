/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/process.h"

struct parallel {
	atomic_size_t next;
	size_t count;
	parallel_fn *run;
	void *context;
};

static void *work(void *context)
{
	struct parallel *parallel = context;
	size_t index;

	while ((index = atomic_fetch_add(&parallel->next, 1)) < parallel->count)
		parallel->run(parallel->context, index);
	return NULL;
}

void parallel_run(int threads, size_t count, parallel_fn *run, void *context)
{
	struct parallel parallel = {.count = count, .run = run, .context = context};
	size_t most = threads > 1 ? (size_t)threads - 1 : 0, started = 0;
	AUTOFREE pthread_t *thread = NULL;

	if (most >= count)
		most = count ? count - 1 : 0;
	thread = mem_zalloc(most * sizeof(*thread));
	while (started < most && thread_start(&thread[started], work, &parallel))
		started++;
	work(&parallel);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}
