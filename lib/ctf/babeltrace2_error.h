/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BABELTRACE2_ERROR_H
#define CT_CTF_BABELTRACE2_ERROR_H

#include "base/error.h"

/*
 * Take libbabeltrace2's current error of this thread, if any, and say it in
 * one line: its first cause, which is where it went wrong, and the last one
 * of another text, which is what was being done.
 */
void babeltrace2_error_take(struct error *error);

#endif
