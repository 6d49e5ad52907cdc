/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Fuzz target: any bytes as a stream, of one of some metadata: the first byte says which,
 * and of how many files: one, two or three. Where they are cut apart say two bytes before
 * each file but the last, from 0 to 65535: all of the rest.
 */
#include "scene.h"

static struct scene_file cut_off(const uint8_t **bytes, size_t *size)
{
	struct scene_file file = {*bytes, 0};

	if (*size < 2)
		return file;
	file.size = (*size - 2) * ((*bytes)[0] * 256u + (*bytes)[1]) / 65535;
	file.bytes = *bytes + 2;
	*bytes += 2 + file.size;
	*size -= 2 + file.size;
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const char *const name[] = {
	    "tests/fuzz/recorded/metadata",
	    "tests/fuzz/recorded/user.metadata",
	    "tests/fuzz/recorded/odd.metadata",
	    "tests/fuzz/recorded/ctf2.metadata",
	};
	enum { NAMES = sizeof(name) / sizeof(*name) };
	static struct scene_file metadata[NAMES];
	struct scene scene = {.rotated = {{NULL, 0}}};
	size_t which, files;

	if (!size)
		return 0;
	which = bytes[0] % NAMES;
	files = bytes[0] / NAMES % 3;
	if (!metadata[which].bytes)
		metadata[which] = scene_load(name[which]);
	bytes++;
	size--;
	while (files > 0)
		scene.rotated[--files] = cut_off(&bytes, &size);
	scene.metadata = metadata[which];
	scene.stream = (struct scene_file){bytes, size};
	scene_read(&scene);
	return 0;
}
