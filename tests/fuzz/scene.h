/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_FUZZ_SCENE_H
#define CT_FUZZ_SCENE_H

/*
 * Declarations that the fuzz targets share. Each target is one function of bytes, which
 * libFuzzer makes up, and replay.c reads from the files of the corpus.
 */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* One file of the trace that is read, whole. */
struct scene_file {
	const void *bytes;
	size_t size;
};

/* A trace; of the rotated files, those without bytes are as if they were not there. */
struct scene {
	struct scene_file metadata, stream;
	struct scene_file rotated[2]; /* more of the stream, each a file of its own */
};

/*
 * Read a trace by our own reader, every field of every event, as records, as records from
 * the middle on, and by classes. Whatever it holds, it has to end.
 */
void scene_read(const struct scene *scene);

/* A file of the source tree, for free(). */
struct scene_file scene_load(const char *name);

#endif
