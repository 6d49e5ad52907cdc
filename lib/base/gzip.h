/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_GZIP_H
#define CT_BASE_GZIP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write the data in the format of gzip, in base64 without line feeds: binary data for a
 * text file. `base64 -d | gzip -dc` reads it, and so does a browser by itself.
 */
void gzip_write_base64(FILE *file, const void *data, size_t size);

#endif
