/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/clock_class.h"

#include <math.h>

#define RATE_LIMIT 5e8 /* ppb */

/*
 * Sums of clock values at the epoch need more than 64 bits: values and offsets
 * reach 2^64, and they are multiplied by a frequency of up to 2^60.
 */
typedef __int128 wide_t;

static const wide_t billion = 1000000000;

/* An exact instant: nanoseconds since the epoch, and a part in [0, 1). */
struct instant {
	wide_t ns;
	long double part;
};

static struct instant make_instant(wide_t ns, long double part)
{
	long double whole = floorl(part);

	return (struct instant){ns + (wide_t)whole, part - whole};
}

/* How much later a is than b, in nanoseconds. */
static long double later_by(struct instant a, struct instant b)
{
	return (long double)(a.ns - b.ns) + (a.part - b.part);
}

static wide_t divide_down(wide_t a, wide_t b)
{
	return a / b - (a % b < 0);
}

/* So many cycles in nanoseconds. */
static struct instant span_of(wide_t cycles, uint64_t frequency)
{
	wide_t scaled = cycles * billion, whole = divide_down(scaled, frequency);

	return (struct instant){whole, (long double)(scaled - whole * frequency) /
					   (long double)frequency};
}

/* The time that a class gives to a clock value. */
static struct instant time_of(const struct clock_class *class, wide_t value)
{
	struct instant span = span_of(value + class->offset, class->frequency);

	span.ns += class->offset_s * billion;
	return span;
}

/* The last clock value that a class shows no later than t. */
static wide_t value_at(const struct clock_class *class, nsec_t t)
{
	wide_t passed = t - class->offset_s * billion;

	return divide_down(passed * class->frequency, billion) - class->offset;
}

/* clock_correct() without the rounding. */
static struct instant corrected(const struct clock_segment *segment, struct instant t)
{
	wide_t passed = t.ns - segment->local_ns;
	long double drift = ((long double)passed + t.part) * segment->rate_ppb / 1e9L;

	return make_instant(segment->ref_ns + passed, t.part + drift);
}

/*
 * The offset that makes `value` mean the time t, as one number of cycles. That
 * is how LTTng writes it, and some viewers know no offset_s; seconds are split
 * off only where the offset lies before the epoch or leaves 63 bits.
 */
static void set_offset(struct clock_class *class, wide_t value, struct instant t)
{
	struct instant span = span_of(value, class->frequency);
	struct instant base = make_instant(t.ns - span.ns, t.part - span.part);
	wide_t cycles = base.ns * class->frequency +
			(wide_t)roundl(base.part * (long double)class->frequency);

	cycles = divide_down(cycles + billion / 2, billion);
	class->offset_s = 0;
	if (cycles < 0 || cycles > INT64_MAX) {
		class->offset_s = (int64_t)divide_down(cycles, class->frequency);
		cycles -= class->offset_s * (wide_t) class->frequency;
	}
	class->offset = (uint64_t)cycles;
}

/*
 * How far before time_of() a viewer may show a value. It cuts the offset and
 * the value to whole nanoseconds, each after a product and a quotient of
 * doubles; babeltrace2 computes so wherever the frequency is not 10^9.
 */
static long double cut(const struct clock_class *class, struct instant value_span)
{
	const long double rounding = 0x1p-51L; /* three times half a step, and more */
	long double part = span_of(class->offset, class->frequency).part;

	if (part < 1e9L * rounding)
		part++; /* the double may lie below the whole number */
	return part + 1 + fabsl((long double)value_span.ns) * rounding;
}

/* How far a stamp that a viewer shows at `value` may lie from the fit. */
static long double stray(const struct clock *clock, const struct clock_class *recorded,
			 const struct clock_class *fitted, wide_t value)
{
	struct instant shown = time_of(fitted, value);
	struct instant meant = corrected(clock->segment, time_of(recorded, value));
	long double high = later_by(shown, meant), low = high;

	if (fitted->frequency != (uint64_t)billion)
		low -= cut(fitted, span_of(value, fitted->frequency));
	return fmaxl(fabsl(high), fabsl(low));
}

int clock_class_fit(const struct clock *clock, const struct clock_class *recorded,
		    struct clock_class *fitted, double *residual_ns, struct error *error)
{
	wide_t begin = value_at(recorded, clock->begin_ns);
	wide_t end = value_at(recorded, clock->end_ns),
	       middle = divide_down(begin + end, 2);
	double rate_ppb = clock->segment->rate_ppb;
	long double frequency;
	struct instant aim;

	if (!(fabs(rate_ppb) < RATE_LIMIT))
		return error_set(error, "a rate of %g ppb fits no clock class", rate_ppb);
	frequency = roundl((long double)recorded->frequency / (1 + rate_ppb / 1e9L));
	if (frequency < 1 || frequency > CLOCK_CLASS_FASTEST)
		return error_set(error, "a frequency of %.0Lf Hz fits no clock class",
				 frequency);
	*fitted = *recorded;
	fitted->frequency = (uint64_t)frequency;
	aim = corrected(clock->segment, time_of(recorded, middle));
	/* What is cut twice comes out up to two early; aim between. */
	if (fitted->frequency != (uint64_t)billion)
		aim.ns++;
	set_offset(fitted, middle, aim);
	if (fitted->offset_s < -CLOCK_CLASS_FARTHEST ||
	    fitted->offset_s > CLOCK_CLASS_FARTHEST)
		return error_set(error, "its times leave what nanoseconds can count");
	*residual_ns = (double)fmaxl(stray(clock, recorded, fitted, begin),
				     stray(clock, recorded, fitted, end));
	return 0;
}
