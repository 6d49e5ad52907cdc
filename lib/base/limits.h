/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_LIMITS_H
#define CT_BASE_LIMITS_H

/*
 * Let the process have as many files open as the system allows it: every
 * stream of every trace is one.
 */
void limits_allow_files(void);

#endif
