/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/rotation.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/output.h"
#include "input/capture/frames.h"
#include "input/run_files.h"

enum { LEAST_DIGITS = 4 }; /* fewest digits of a number that is not at the name's end */

/* The most by which packets of several CPUs can be out of order. */
#define MOST_DISORDER (10 * NSEC_PER_MSEC)

/* Return a path without the parts that rotation varies. The caller frees the result. */
static char *common_part(const char *path)
{
	static const char *const packed[] = {".gz", ".zst", NULL};
	size_t length = strlen(path), directory = length - strlen(file_name(path));
	struct bytes common = {0};

	for (int i = 0; packed[i]; i++)
		if (path_has_suffix(path, packed[i]))
			length -= strlen(packed[i]);
	bytes_add(&common, path, directory);
	for (size_t i = directory; i < length;) {
		size_t digits = strspn(path + i, "0123456789");

		if (digits > length - i)
			digits = length - i;
		if (digits >= LEAST_DIGITS && i + digits < length)
			bytes_add_byte(&common, '#');
		else if (i + digits < length || digits == 0)
			bytes_add(&common, path + i, digits ? digits : 1);
		i += digits ? digits : 1;
	}
	bytes_add_byte(&common, 0);
	return (char *)common.data;
}

static bool have_common_part(const char *one, const char *other)
{
	AUTOFREE char *a = common_part(one), *b = common_part(other);

	return strcmp(a, b) == 0;
}

static void pass_over(void *context, struct captured *captured)
{
	(void)context;
	(void)captured;
}

/* Find a capture's first and last timestamp. Return 0, or -1 if it cannot be read. */
static int find_span(const char *path, struct capture_part *part)
{
	const struct capture_input input = {.path = path};
	struct problem_list ignored = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	struct trace_facts facts = {0};
	struct capture_frames *frames = capture_frames_open(&input, &facts, &error);

	error_clear(&error);
	if (!frames)
		return -1;
	while (capture_frames_step(frames, UINT64_MAX, pass_over, NULL, &ignored))
		;
	capture_frames_free(frames);
	problem_clear(&ignored);
	part->begin_ns = facts.events ? facts.begin_ns : NSEC_MAX;
	part->end_ns = facts.events ? facts.end_ns : NSEC_MAX;
	return 0;
}

bool capture_is_empty(const char *path)
{
	struct capture_part part;

	return find_span(path, &part) || part.begin_ns == NSEC_MAX;
}

/* Return true if `later` starts after `part` and does not overlap it in time. */
static bool is_later_part(const struct capture_part *later,
			  const struct capture_part *part)
{
	return nsec_add(later->begin_ns, MOST_DISORDER) >= part->end_ns &&
	       (later->begin_ns > part->begin_ns || later->begin_ns == NSEC_MAX);
}

static void insert_part(struct source *capture, size_t at, struct capture_part part)
{
	capture->part =
	    mem_realloc(capture->part, capture->parts + 1, sizeof(*capture->part));
	memmove(capture->part + at + 1, capture->part + at,
		(capture->parts - at) * sizeof(*capture->part));
	part.path = mem_strdup(part.path);
	capture->part[at] = part;
	capture->parts++;
}

bool rotation_join(struct source *capture, const char *path)
{
	struct capture_part first = {.path = capture->path},
			    part = {.path = (char *)path};
	size_t at = 0;

	if (capture->kind != SOURCE_CAPTURE || capture->extract ||
	    strcmp(capture->path, path) == 0 || !have_common_part(capture->path, path) ||
	    (!capture->parts && find_span(capture->path, &first)) ||
	    find_span(path, &part))
		return false;
	if (!capture->parts)
		insert_part(capture, 0, first);
	while (at < capture->parts && capture->part[at].begin_ns <= part.begin_ns)
		at++;
	if ((at && !is_later_part(&part, &capture->part[at - 1])) ||
	    (at < capture->parts && !is_later_part(&capture->part[at], &part)))
		return false;
	insert_part(capture, at, part);
	return true;
}
