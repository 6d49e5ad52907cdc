/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_FTRACE_H
#define CT_TRACE_FTRACE_FTRACE_H

#include "trace/reader.h"

/*
 * The events of a trace.dat, which `trace-cmd record` writes from the kernel's ftrace.
 *
 * Events and fields have the names that LTTng gives them: sched_switch has `prev_tid`,
 * and raw system calls become one class each, syscall_entry_read and so on. What LTTng
 * does not have keeps its own name. Every event has the thread that it interrupted as the
 * context `tid`. Each buffer has one stream for each processor.
 *
 * Events carry the value of the trace's clock, which counts from the machine's start.
 */

/* Open a trace.dat. Return NULL with error. Safe to call from several threads. */
struct trace_reader *ftrace_open(const char *path, struct error *error);

#endif
