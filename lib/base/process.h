/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PROCESS_H
#define CT_BASE_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Signals in a program that writes files: it catches those that would end it, its handler
 * removes incomplete output using async-signal-safe calls, and then lets the signal take
 * its default action. Programs use this through base/output.h.
 */

/*
 * Call `handler` for SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU, and for SIGABRT and
 * SIGBUS, which any thread can receive, except for signals that are ignored, as under
 * nohup(1). Ignore SIGPIPE and SIGXFSZ: write(2) reports a closed pipe and a file that
 * may not grow.
 */
void signals_catch(void (*handler)(int number));

/*
 * Call after signals_catch(), in a program that prints: if its reader stops early, as
 * head(1) does, the program ends silently by SIGPIPE, after `handler`.
 */
void signals_catch_pipe(void (*handler)(int number));

/*
 * End the process by this signal. Call last in a handler. The default action is restored
 * only here: with SA_RESETHAND a second signal, such as timeout(1) sends, could end the
 * program before the handler has finished.
 */
void signals_end(int number);

/*
 * Block signals in this thread, and in threads that it starts meanwhile, until
 * signals_release(). `before` may be NULL if they are never released. Signals that a
 * thread's own actions cause, such as SIGBUS, are not blocked: they would then end the
 * program without its handler.
 */
void signals_hold(sigset_t *before);
void signals_release(const sigset_t *before);

/*
 * Start a thread with signals blocked, so that the thread that cleans up receives them.
 * Return false if it cannot be created.
 */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/*
 * Call `run` once for each index below `count`, in up to `threads` threads including the
 * caller's, which receives all signals. Return when all calls are done.
 */
typedef void parallel_fn(void *context, size_t index);

void parallel_run(int threads, size_t count, parallel_fn *run, void *context);

/*
 * Run a program, found through PATH, without a shell. Return its status as wait(2) does,
 * or -1 with errno. `actions` may be NULL; if `environment` is NULL, the program gets
 * ours.
 */
int run_program(char *const *words, const posix_spawn_file_actions_t *actions,
		char *const *environment);

/* Raise the limit of open files as far as the system permits: every stream of every trace
 * is a file. */
void raise_open_file_limit(void);

/*
 * Remove a file or a directory tree. Symbolic links are removed, not followed. Entries
 * that cannot be removed, or are more than 16 directories deep, stay. Async-signal-safe
 * (signal-safety(7)): allocates no memory and keeps errno.
 */
void remove_tree(const char *path);

#endif
