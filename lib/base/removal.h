/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_REMOVAL_H
#define CT_BASE_REMOVAL_H

/*
 * Remove a file, or a directory with all that is in it. Links are removed, not
 * followed. It asks the kernel and nothing else, so that a signal's handler may call it
 * (signal-safety(7)): no memory is taken, errno is kept. What cannot be removed, or lies
 * deeper than 16 directories, stays.
 */
void removal_of_tree(const char *path);

#endif
