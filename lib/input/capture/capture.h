/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CAPTURE_CAPTURE_H
#define CT_INPUT_CAPTURE_CAPTURE_H

#include <stdbool.h>

/*
 * Whether a file begins as a capture does, pcap or pcapng. What does and still
 * cannot be opened is a broken capture; what does not is something else.
 */
bool capture_probe(const char *path);

/* The name and version of the library that reads captures. */
const char *capture_library_version(void);

#endif
