/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SPILL_H
#define CT_BASE_SPILL_H

#include <stdio.h>

/*
 * An unnamed file in $TMPDIR for what does not fit into memory, to be written
 * and read; it is gone once closed. NULL with errno.
 */
FILE *spill_open(void);

#endif
