/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_TSDL_H
#define CT_TRACE_CTF_TSDL_H

#include "trace/schema.h"

/*
 * Parse metadata of CTF 1.8. A NUL must follow the text. Return NULL with error,
 * which contains the location.
 */
struct schema *tsdl_parse(const char *text, size_t size, struct error *error);

#endif
