/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_MAPPED_H
#define CT_INPUT_MAPPED_H

#include <stdint.h>

/*
 * libbabeltrace2 maps some MiB of every stream, and what was read of them counts
 * as this process's memory until it maps the next ones: with many streams that is
 * most of it. The pages are the system's copy of the files, so they can be let go
 * at any time, and come back when they are read again.
 */

/*
 * So many events are read between two times, a MiB each 30,000 or so. Bytes would
 * say more, but not of every trace it is known how many were read.
 */
#define MAPPED_EVENTS 500000

/*
 * Let go the pages of all files that are open and mapped for nothing but reading.
 * No other thread may map or unmap files meanwhile. Where the system does not tell
 * what is mapped, nothing happens.
 */
void mapped_release(void);

#endif
