/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/clock_samples.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/order.h"
#include "base/search.h"
#include "input/csv.h"

/* See the header for the definition of a step. */
#define STEP_LEAST_NS (NSEC_PER_MSEC)
#define STEP_RATE     1000 /* a step exceeds this fraction of the time: 1000 ppm */
#define STEP_USUAL    8

static int by_monotonic(const void *a, const void *b)
{
	const struct clock_sample *x = a, *y = b;

	return COMPARE(x->monotonic_ns, y->monotonic_ns)
		   ?: COMPARE(x->realtime_ns, y->realtime_ns);
}

/* Return the change of the offset from a sample to the next. */
static nsec_t offset_change(const struct clock_sample *sample)
{
	return (sample[1].realtime_ns - sample[0].realtime_ns) -
	       (sample[1].monotonic_ns - sample[0].monotonic_ns);
}

static nsec_t usual_change(const struct clock_samples *samples)
{
	size_t count = samples->samples - 1;
	nsec_t *sizes, usual;

	if (!count)
		return 0;
	sizes = mem_realloc(NULL, count, sizeof(*sizes));
	for (size_t i = 0; i < count; i++)
		sizes[i] = llabs(offset_change(&samples->sample[i]));
	SORT(sizes, count, nsec_compare);
	usual = sizes[(count - 1) / 2];
	free(sizes);
	return usual;
}

static bool is_step(const struct clock_sample *sample, nsec_t usual)
{
	nsec_t jump = llabs(offset_change(sample));
	nsec_t span = sample[1].monotonic_ns - sample[0].monotonic_ns;

	/* Within a section real time must ascend. */
	return sample[1].realtime_ns <= sample[0].realtime_ns ||
	       (jump > STEP_LEAST_NS && jump > span / STEP_RATE &&
		jump / STEP_USUAL > usual);
}

static void find_sections(struct clock_samples *samples, struct problem_log *log)
{
	nsec_t usual = usual_change(samples);
	size_t capacity = 0;

	for (size_t i = 0; i < samples->samples; i++) {
		const struct clock_sample *before = &samples->sample[i ? i - 1 : 0];
		char jump[NSEC_TEXT], when[NSEC_TEXT];

		if (i && !is_step(before, usual)) {
			samples->section[samples->sections - 1].last = i;
			continue;
		}
		*MEM_NEXT(samples->section, samples->sections, capacity) =
		    (struct clock_section){i, i};
		if (i)
			problem_log_add(
			    log, PROBLEM_STEP, 0,
			    "the real-time clock was stepped by %s after %s",
			    nsec_format_span(jump, (double)offset_change(before)),
			    nsec_format_utc(when, before->realtime_ns));
	}
}

/* Sort the samples. Of samples with the same monotonic time, keep the first. */
static void sort_samples(struct clock_samples *samples, struct problem_log *log)
{
	size_t kept = 0;

	SORT(samples->sample, samples->samples, by_monotonic);
	for (size_t i = 0; i < samples->samples; i++) {
		const struct clock_sample *last = &samples->sample[kept ? kept - 1 : 0];

		if (!kept || last->monotonic_ns != samples->sample[i].monotonic_ns)
			samples->sample[kept++] = samples->sample[i];
		else if (last->realtime_ns != samples->sample[i].realtime_ns)
			problem_log_add(
			    log, PROBLEM_TWICE, 0,
			    "monotonic_ns %lld with two times; the later one skipped",
			    (long long)last->monotonic_ns);
	}
	samples->samples = kept;
}

/*
 * Return the value of a reading's last nonzero digit place, which is its resolution.
 * Return 0 for up to a microsecond, which is too small to matter.
 */
static nsec_t last_digit(nsec_t reading)
{
	nsec_t digit = 1;

	while (digit < NSEC_PER_SEC && reading % (10 * digit) == 0)
		digit *= 10;
	return digit > NSEC_PER_USEC ? digit : 0;
}

/* Compare CLOCK_BOOTTIME with CLOCK_MONOTONIC, which it is ahead of by the time for which
 * the machine was suspended. */
static void note_boot(struct clock_samples *samples, const char *boot,
		      nsec_t monotonic_ns)
{
	nsec_t boot_ns;

	if (!boot || number_integer(boot, &boot_ns))
		return;
	if (!samples->has_boot)
		samples->is_boot_monotonic = true;
	samples->has_boot = true;
	samples->is_boot_monotonic &=
	    llabs(nsec_sub(boot_ns, monotonic_ns)) <=
	    CLOCK_SAMPLE_NS + last_digit(boot_ns) + last_digit(monotonic_ns);
}

static void read_rows(struct clock_samples *samples, struct csv *csv,
		      struct problem_log *log)
{
	struct csv_row row;
	size_t capacity = 0;

	while (csv_next(csv, &row)) {
		const struct clock_sample now = {row.cell[0].integer,
						 row.cell[1].integer};
		const struct clock_sample *last = NULL;

		if (samples->samples)
			last = &samples->sample[samples->samples - 1];
		if (last && now.monotonic_ns < last->monotonic_ns &&
		    now.realtime_ns > last->realtime_ns) {
			problem_log_add(
			    log, PROBLEM_RESTART, row.line,
			    "the monotonic clock restarted; the rest skipped");
			break;
		}
		*MEM_NEXT(samples->sample, samples->samples, capacity) = now;
		note_boot(samples, row.cell[2].text, now.monotonic_ns);
	}
}

int clock_samples_read(struct clock_samples *samples, const char *path,
		       struct problem_list *problems)
{
	static const struct csv_column column[] = {{"realtime_ns", CSV_STAMP},
						   {"monotonic_ns", CSV_STAMP},
						   {"boottime_ns", CSV_TEXT}};
	static const struct csv_columns columns = {column, 3, 2, true, false};
	struct csv *csv;
	struct problem_log log;

	memset(samples, 0, sizeof(*samples));
	problem_log_init(&log, path, problems);
	csv = csv_open(path, &columns, &log);
	if (!csv)
		return -1;
	read_rows(samples, csv, &log);
	csv_close(csv);
	if (!samples->samples) {
		problem_log_add(&log, PROBLEM_EMPTY, 0, "no clock sample in it");
		return -1;
	}
	sort_samples(samples, &log);
	find_sections(samples, &log);
	return 0;
}

void clock_samples_clear(struct clock_samples *samples)
{
	free(samples->sample);
	free(samples->section);
	memset(samples, 0, sizeof(*samples));
}

/*
 * Evaluate the line through two samples at a real-time instant, rounded down. Uses 128
 * bits, so that no product overflows and no timestamp loses precision in a double.
 */
static nsec_t interpolate_monotonic(const struct clock_sample *a,
				    const struct clock_sample *b, nsec_t realtime_ns)
{
	__int128 ahead = (__int128)realtime_ns - a->realtime_ns;
	__int128 run = (__int128)b->realtime_ns - a->realtime_ns;
	__int128 rise = (__int128)b->monotonic_ns - a->monotonic_ns;
	__int128 sum;

	if (!run)
		run = rise = 1;
	ahead *= rise;
	sum = ahead / run - (ahead % run != 0 && (ahead < 0) != (run < 0));
	sum += a->monotonic_ns;
	if (sum > NSEC_MAX)
		return NSEC_MAX;
	return sum < NSEC_MIN ? NSEC_MIN : (nsec_t)sum;
}

/*
 * Convert a real-time instant by a section: between two of its samples or, outside of
 * them, with the clock running on from its last sample or up to its first.
 */
static nsec_t place_in_section(const struct clock_samples *samples,
			       const struct clock_section *section, nsec_t realtime_ns)
{
	const struct clock_sample *first = &samples->sample[section->first];
	const struct clock_sample *last = &samples->sample[section->last];
	size_t count = section->last - section->first, behind;

	if (realtime_ns < first->realtime_ns)
		return first->monotonic_ns - (first->realtime_ns - realtime_ns);
	if (realtime_ns > last->realtime_ns)
		return last->monotonic_ns + (realtime_ns - last->realtime_ns);
	behind = PARTITION_POINT(count, i, first[i].realtime_ns <= realtime_ns);
	first += behind ? behind - 1 : 0;
	return interpolate_monotonic(first, first + (count > 0), realtime_ns);
}

/*
 * Return true if the real-time clock could show an instant in this section. A step can be
 * anywhere between the two samples around it.
 */
static bool may_show(const struct clock_samples *samples,
		     const struct clock_section *section, nsec_t realtime_ns)
{
	const struct clock_sample *first = &samples->sample[section->first];
	const struct clock_sample *last = &samples->sample[section->last];
	nsec_t before = 0, after = 0;

	if (section->first)
		before = first[0].monotonic_ns - first[-1].monotonic_ns;
	if (section->last + 1 < samples->samples)
		after = last[1].monotonic_ns - last[0].monotonic_ns;
	return realtime_ns >= nsec_sub(first->realtime_ns, before) &&
	       realtime_ns <= nsec_add(last->realtime_ns, after);
}

/*
 * Convert a real-time instant that no section can show: within a forward step, or before
 * or after all samples.
 */
static struct clock_place place_outside_sections(const struct clock_samples *samples,
						 nsec_t realtime_ns)
{
	const struct clock_section *section = samples->section;
	const struct clock_section *last = section + samples->sections - 1;

	for (const struct clock_section *step = section; step < last; step++) {
		const struct clock_sample *at = &samples->sample[step->last];

		if (realtime_ns > at[0].realtime_ns && realtime_ns < at[1].realtime_ns)
			return (struct clock_place){
			    interpolate_monotonic(&at[0], &at[1], realtime_ns),
			    at[1].monotonic_ns - at[0].monotonic_ns};
	}
	if (realtime_ns >= samples->sample[0].realtime_ns)
		section = last;
	/* Use the section's mean rate. */
	return (struct clock_place){
	    interpolate_monotonic(&samples->sample[section->first],
				  &samples->sample[section->last], realtime_ns),
	    0};
}

struct clock_place clock_samples_monotonic(const struct clock_samples *samples,
					   nsec_t realtime_ns)
{
	struct clock_place place = {NSEC_MAX, 0};
	nsec_t latest = NSEC_MIN;

	for (size_t i = 0; i < samples->sections; i++) {
		const struct clock_section *section = &samples->section[i];
		nsec_t ns;

		if (!may_show(samples, section, realtime_ns))
			continue;
		ns = place_in_section(samples, section, realtime_ns);
		place.ns = ns < place.ns ? ns : place.ns;
		latest = ns > latest ? ns : latest;
	}
	if (latest < place.ns)
		return place_outside_sections(samples, realtime_ns);
	place.doubt_ns = latest - place.ns;
	return place;
}

struct realtime_offset clock_samples_offset(const struct clock_samples *samples,
					    size_t section)
{
	const struct clock_section *of = &samples->section[section];
	struct realtime_offset all = {.low_ns = NSEC_MAX, .high_ns = NSEC_MIN};
	struct realtime_offset both = {.from_ns = samples->sample[of->first].monotonic_ns,
				       .to_ns = samples->sample[of->last].monotonic_ns,
				       .low_ns = NSEC_MIN,
				       .high_ns = NSEC_MAX,
				       .samples = of->last + 1 - of->first};

	for (size_t i = of->first; i <= of->last; i++) {
		const struct clock_sample *sample = &samples->sample[i];
		nsec_t offset = sample->realtime_ns - sample->monotonic_ns;
		nsec_t width = CLOCK_SAMPLE_NS + last_digit(sample->realtime_ns) +
			       last_digit(sample->monotonic_ns);

		if (offset - CLOCK_SAMPLE_NS < all.low_ns)
			all.low_ns = offset - CLOCK_SAMPLE_NS;
		if (offset + CLOCK_SAMPLE_NS > all.high_ns)
			all.high_ns = offset + CLOCK_SAMPLE_NS;
		if (offset - width > both.low_ns)
			both.low_ns = offset - width;
		if (offset + width < both.high_ns)
			both.high_ns = offset + width;
	}
	if (both.low_ns > both.high_ns) {
		both.low_ns = all.low_ns;
		both.high_ns = all.high_ns;
	}
	return both;
}
