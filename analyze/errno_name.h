/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_ERRNO_NAME_H
#define CT_ANALYZE_ERRNO_NAME_H

#include <stdint.h>

/* "ENOENT" of what a Linux system call returned, -2; NULL for one that is no error, and
 * for one without a name. */
const char *errno_name(int64_t ret);

/* Whether it is an error: -4095 to -1. */
static inline int errno_is(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

#endif
