/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Fuzz target: any bytes as a stream, of one of some metadata: the first byte says which.
 */
#include "scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const name[] = {
	    "tests/fuzz/recorded/metadata",
	    "tests/fuzz/recorded/user.metadata",
	    "tests/fuzz/recorded/odd.metadata",
	};
	enum { NAMES = sizeof(name) / sizeof(*name) };
	static struct scene_file metadata[NAMES];
	size_t which;

	if (!size)
		return 0;
	which = bytes[0] % NAMES;
	if (!metadata[which].bytes)
		metadata[which] = scene_load(name[which]);
	scene_read(metadata[which], (struct scene_file){bytes + 1, size - 1});
	return 0;
}
