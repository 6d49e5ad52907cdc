/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_METADATA_H
#define CT_TRACE_CTF_METADATA_H

#include "trace/schema.h"

/*
 * Read a metadata file: TSDL, in packets or plain, or JSON fragments, recognized by
 * content. Return NULL with error.
 */
struct schema *schema_read(const char *path, struct error *error);

/*
 * Read the text of a metadata file, and extract it from packets if there are any. Append
 * a NUL that `size` does not count. Return NULL with error. The caller frees the result.
 */
char *metadata_text(const char *path, size_t *size, struct error *error);

/*
 * Parse metadata of CTF 2. A NUL must follow the text. Return NULL with error,
 * which contains the location.
 */
struct schema *json_metadata_parse(const char *text, size_t size, struct error *error);

#endif
