/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/apply_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/output.h"
#include "base/process.h"
#include "base/version.h"
#include "input/capture/rewrite.h"
#include "sync/apply/apply.h"

/* Return the length of a file name without .gz or .zst, as copies are not compressed. */
static int unpacked_length(const char *name)
{
	static const char *const suffix[] = {".gz", ".zst", ".zstd"};
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(suffix) / sizeof(*suffix); i++) {
		size_t end = strlen(suffix[i]);

		if (length > end && strcasecmp(name + length - end, suffix[i]) == 0)
			return (int)(length - end);
	}
	return (int)length;
}

char *apply_capture_name(const char *trace, const struct source *source)
{
	const char *own = file_name(source->path), *dot;
	AUTOFREE char *name = mem_printf("%.*s", unpacked_length(own), own);
	AUTOFREE char *base = mem_printf("%.*s", unpacked_length(trace), trace);
	size_t length = strlen(base), end;

	dot = strrchr(name, '.');
	end = dot ? strlen(dot) : 0;
	if (source->parts || !dot || (length > end && !strcmp(base + length - end, dot)))
		return mem_strdup(base);
	return mem_printf("%s%s", base, dot);
}

/* Describe whose time a capture has, and its largest error. The caller frees the result.
 */
static char *describe_clock(const struct clock *clock)
{
	double widest = apply_widest_bound(clock);
	char span[NSEC_TEXT];

	if (clock->quality == CLOCK_ABSENT)
		return mem_strdup("times as recorded, because no message ties its clock "
				  "to another one");
	if (isinf(widest))
		return mem_printf("on the clock of %s, off by an unknown time (%s)",
				  clock->reference, clock_quality_name(clock->quality));
	return mem_printf("on the clock of %s, off by at most %s (%s)", clock->reference,
			  nsec_format_span(span, widest),
			  clock_quality_name(clock->quality));
}

static nsec_t correct_timestamp(const void *clock, nsec_t local_ns)
{
	return clock_correct(clock, local_ns);
}

/* Write the files of a rotated capture into a new directory. */
static int rewrite_parts(struct capture_rewrite *rewrite, const struct source *source,
			 const char *target, struct error *error)
{
	int status = 0;

	if (mkdir(target, 0777))
		return error_errno(error, target);
	for (size_t i = 0; !status && i < source->parts; i++) {
		const char *name = file_name(source->part[i].path);
		AUTOFREE char *to =
		    mem_printf("%s/%.*s", target, unpacked_length(name), name);

		status = capture_rewrite_file(rewrite, source->part[i].path, to, error);
	}
	return status;
}

int apply_to_capture(const struct clock *clock, const struct source *source,
		     const struct trace_facts *facts, const char *target,
		     char **exactness, struct error *error)
{
	AUTOFREE char *text = describe_clock(clock);
	AUTOFREE char *comment =
	    mem_printf("clustertrace %s, ctsync --apply: %s", CT_VERSION, text);
	struct capture_rewrite rewrite = {.correct = correct_timestamp,
					  .context = clock,
					  .comment = comment,
					  .set_back = facts->set_back,
					  .set_backs = facts->set_backs,
					  .begin_ns = facts->begin_ns,
					  .end_ns = facts->end_ns};
	const struct capture_input input = source_capture(source);
	int status;

	if (facts->has_second_clock) {
		rewrite.times = packet_times_open(&input, error);
		if (!rewrite.times)
			return 1;
	}
	if (source->parts)
		status = rewrite_parts(&rewrite, source, target, error);
	else
		status = capture_rewrite_file(&rewrite, source->path, target, error);
	packet_times_free(rewrite.times);
	if (status) {
		remove_tree(target);
		return status;
	}
	*exactness = mem_printf(
	    "%s%s", text, rewrite.is_cut ? "; packets after its break are omitted" : "");
	if (rewrite.kept) {
		AUTOFREE char *before = *exactness;

		*exactness = mem_printf("%s; %" PRIu64
					" packets keep their time, which is invalid",
					before, rewrite.kept);
	}
	return 0;
}
