/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_FTRACE_SYSCALLS_H
#define CT_TRACE_FTRACE_SYSCALLS_H

/* The numbers that a machine's system calls can have are below this. */
enum { SYSCALLS_MOST = 512, SYSCALL_ARGUMENTS = 6 };

/*
 * Return the name of a system call by its number on a machine, as in `uname -m`, or NULL
 * if it is not known. Names are those of the kernel's functions, as LTTng has them:
 * newfstat, not fstat. The caller frees the result.
 */
char *syscall_name(const char *machine, unsigned number);

/* Return the name of a call's argument, `arg0` and so on if unknown. The caller frees it.
 */
char *syscall_argument(const char *name, unsigned index);

#endif
