/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PROCESS_H
#define CT_BASE_PROCESS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * How a program that writes files ends by a signal: it catches those that end it,
 * its handler undoes what is half done by calls that are safe there, and then lets
 * the signal do what it would have done. Programs do it by base/output.h.
 */

/*
 * Call `handler` for SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU, and for SIGABRT and
 * SIGBUS, which may come in any thread, but for those that are ignored, as under
 * nohup(1). SIGPIPE and SIGXFSZ are ignored from here on: a reader that went away, and a
 * file that may not grow, are told by write(2).
 */
void signals_catch(void (*handler)(int number));

/*
 * After that, for a program that prints: a reader that has enough, such as head(1), ends
 * it quietly, by SIGPIPE and this handler.
 */
void signals_catch_pipe(void (*handler)(int number));

/*
 * The handler's last step: end by this signal. The default comes back only here; with
 * SA_RESETHAND a second signal, such as timeout(1) sends, could end the program before
 * the handler has undone anything.
 */
void signals_end(int number);

/*
 * Hold the signals of this thread, and of threads that it starts meanwhile, until they
 * are released; `before` may be NULL where they never are. Those that a thread's own
 * doing brings, such as SIGBUS, still come: held, they would end the program without its
 * handler.
 */
void signals_hold(sigset_t *before);
void signals_release(const sigset_t *before);

/*
 * Start a thread to which no signals come: they are for the one that cleans up. False
 * where the system gives none.
 */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/*
 * Run a function once for every index below `count`, by so many threads, this one
 * among them, whoever is free taking the next; back when all are done. Where the
 * system gives fewer threads, those there are do it. Signals come to this thread.
 */
typedef void parallel_fn(void *context, size_t index);

void parallel_run(int threads, size_t count, parallel_fn *run, void *context);

/*
 * Let the process have as many files open as the system allows it: every
 * stream of every trace is one.
 */
void limits_allow_files(void);

/*
 * Remove a file, or a directory with all that is in it. Links are removed, not
 * followed. It asks the kernel and nothing else, so that a signal's handler may call it
 * (signal-safety(7)): no memory is taken, errno is kept. What cannot be removed, or lies
 * deeper than 16 directories, stays.
 */
void removal_of_tree(const char *path);

#endif
