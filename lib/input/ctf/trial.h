/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_TRIAL_H
#define CT_INPUT_CTF_TRIAL_H

#include <stdbool.h>

/*
 * Whether an attempt comes to an end, well or not, tried in a process of its own.
 * libbabeltrace2 asserts what metadata should be, and a broken trace would end the
 * program with all that is half done. Where no process can be made, or it waits for
 * something for long, the attempt is taken to.
 */
bool trial_passes(void (*attempt)(const char *path), const char *path);

#endif
