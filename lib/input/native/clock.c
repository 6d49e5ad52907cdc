/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/native/clock.h"

#include <stdlib.h>
#include <string.h>

#define GIGAHERTZ 1000000000u

/* In doubles where it is not nanoseconds already, as libbabeltrace2 has it. */
static bool to_nanoseconds(uint64_t value, uint64_t frequency, int64_t *ns)
{
	double real = 1e9 * (double)value / (double)frequency;

	if (frequency != GIGAHERTZ && real >= 9.2e18)
		return false;
	*ns = (int64_t)(frequency == GIGAHERTZ ? value : (uint64_t)real);
	return *ns >= 0;
}

bool native_instant(const struct native_clock *clock, uint64_t value, nsec_t *instant)
{
	int64_t ns;

	return to_nanoseconds(value, clock->of->frequency, &ns) &&
	       !__builtin_add_overflow(clock->base_ns, ns, instant) &&
	       nsec_is_stamp(*instant);
}

uint64_t native_clock_ns(const struct native_clock *clock, uint64_t value)
{
	double real = 1e9 * (double)value / (double)clock->of->frequency;

	if (clock->of->frequency == GIGAHERTZ)
		return value;
	return real < 1.8e19 ? (uint64_t)real : UINT64_MAX;
}

/* An offset's whole seconds count apart, as its cycles would round otherwise. */
static bool split_offset(const struct tsdl_clock *clock, nsec_t *seconds,
			 uint64_t *cycles)
{
	uint64_t whole = clock->offset / clock->frequency;

	*cycles = clock->offset % clock->frequency;
	return whole <= INT64_MAX &&
	       !__builtin_add_overflow(clock->offset_s, (int64_t)whole, seconds) &&
	       !__builtin_mul_overflow(*seconds, NSEC_PER_SEC, seconds);
}

nsec_t native_offset_ns(const struct tsdl_clock *clock)
{
	uint64_t cycles;
	nsec_t seconds;

	if (!split_offset(clock, &seconds, &cycles))
		seconds = 0;
	return nsec_add(nsec_round((double)cycles * 1e9 / (double)clock->frequency),
			seconds);
}

/* Where native_instant is one addition. */
static void set_range(struct native_clock *clock)
{
	nsec_t least, most;

	clock->least = 1;
	clock->most = 0;
	if (clock->of->frequency != GIGAHERTZ ||
	    __builtin_sub_overflow(NSEC_STAMP_LEAST, clock->base_ns, &least) ||
	    __builtin_sub_overflow(NSEC_STAMP_MOST, clock->base_ns, &most) || most < 0)
		return;
	clock->least = least < 0 ? 0 : (uint64_t)least;
	clock->most = (uint64_t)most;
}

static int set_clock(struct native_clock *clock, const struct tsdl *tsdl,
		     const char *name, struct error *error)
{
	uint64_t cycles;
	nsec_t seconds;
	int64_t rest;

	for (size_t i = 0; i < tsdl->clocks; i++)
		if (strcmp(tsdl->clock[i].name, name) == 0)
			clock->of = &tsdl->clock[i];
	if (!clock->of)
		return error_set(error, "no clock %s", name);
	if (!split_offset(clock->of, &seconds, &cycles) ||
	    !to_nanoseconds(cycles, clock->of->frequency, &rest) ||
	    __builtin_add_overflow(seconds, rest, &clock->base_ns))
		return error_set(error, "clock %s begins too far from the epoch", name);
	set_range(clock);
	return 0;
}

/* Stamps in the tree: of which clock, and whether all of it are of the same one. */
static int check_stamps(const struct field_class *class, const char **name,
			struct error *error)
{
	for (size_t i = 0; i < class->members; i++)
		if (check_stamps(class->member[i].class, name, error))
			return -1;
	if (class->element)
		return check_stamps(class->element, name, error);
	if (!class->clock)
		return 0;
	if (class->is_signed)
		return error_set(error, "a stamp that is signed");
	if (*name && strcmp(*name, class->clock) != 0)
		return error_set(error, "stamps of two clocks");
	*name = class->clock;
	return 0;
}

int native_find_clock(struct native_clock *clock, const struct tsdl *tsdl,
		      const struct tsdl_stream *stream, struct error *error)
{
	const char *name = NULL;

	if (!stream->event_header || check_stamps(stream->event_header, &name, error) ||
	    !name)
		return error_set(error, "no stamp in the headers of events");
	if (stream->packet_context && check_stamps(stream->packet_context, &name, error))
		return -1;
	return set_clock(clock, tsdl, name, error);
}

int native_want_no_stamp(const struct field_class *class, struct error *error)
{
	const char *name = NULL;

	if (class && (check_stamps(class, &name, error) || name))
		return error_set(error, "a stamp outside the headers");
	return 0;
}
