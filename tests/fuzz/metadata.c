/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Fuzz target: any bytes as metadata, over the begin of a recorded stream. */
#include "scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct scene_file stream;

	if (!stream.bytes)
		stream = scene_load("tests/fuzz/recorded/stream");
	scene_read(&(struct scene){.metadata = {bytes, size}, .stream = stream});
	return 0;
}
