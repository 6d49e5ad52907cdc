/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PARALLEL_H
#define CT_BASE_PARALLEL_H

#include <stddef.h>

/*
 * Run a function once for every index below `count`, by so many threads, this one
 * among them, whoever is free taking the next; back when all are done. Where the
 * system gives fewer threads, those there are do it. Signals come to this thread.
 */
typedef void parallel_fn(void *context, size_t index);

void parallel_run(int threads, size_t count, parallel_fn *run, void *context);

#endif
