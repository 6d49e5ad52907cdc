/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Fuzz target: any bytes as metadata of CTF 2, over the begin of a recorded stream. The
 * separator of JSON texts, which a fuzzer seldom finds, stands before the bytes.
 */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct scene_file stream;
	char *text = mem_alloc(size + 1);

	if (!stream.bytes)
		stream = scene_load("tests/fuzz/recorded/stream");
	text[0] = 0x1e;
	memcpy(text + 1, bytes, size);
	scene_read(&(struct scene){.metadata = {text, size + 1}, .stream = stream});
	free(text);
	return 0;
}
