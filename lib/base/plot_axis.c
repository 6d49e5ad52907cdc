/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/plot_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void plot_axis_open(struct plot_axis *axis, double low, double high)
{
	const double least = fmax(fmax(fabs(low), fabs(high)) * 1e-9, 1e-9);

	if (!(high - low >= least)) {
		const double pad = fmax(least, 0.5);

		low -= pad;
		high += pad;
	}
	memset(axis, 0, sizeof(*axis));
	axis->low = low;
	axis->high = high;
}

static double bend(const struct plot_axis *axis, double value)
{
	const double ratio = fabs(value) / axis->threshold;

	return copysign(ratio <= 1 ? ratio : 1 + log10(ratio), value);
}

double plot_axis_at(const struct plot_axis *axis, double value)
{
	double low = axis->low, high = axis->high;

	if (axis->threshold > 0) {
		low = bend(axis, low);
		high = bend(axis, high);
		value = bend(axis, value);
	}
	return axis->from + (value - low) / (high - low) * (axis->to - axis->from);
}

/* The round number, 1, 2 or 5 times a power of ten, that is `least` or next above. */
static double round_step(double least)
{
	const double power = pow(10, floor(log10(least)));
	const double digit = least / power;

	return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static size_t linear_ticks(const struct plot_axis *axis, size_t wanted,
			   double tick[PLOT_TICKS])
{
	const double step = round_step((axis->high - axis->low) / (double)wanted);
	const double slack = 1e-6 * step;
	size_t count = 0;

	for (double k = ceil((axis->low - slack) / step); count < PLOT_TICKS; k++) {
		if (k * step > axis->high + slack)
			break;
		tick[count++] = k * step + 0.0; /* no -0 */
	}
	return count;
}

static size_t decade_ticks(const struct plot_axis *axis, double tick[PLOT_TICKS])
{
	size_t count = 0;

	tick[count++] = 0;
	for (double value = axis->threshold; count + 2 <= PLOT_TICKS; value *= 10) {
		const double reach = value * (1 - 1e-6);

		if (reach > axis->high && -reach < axis->low)
			break;
		if (reach <= axis->high)
			tick[count++] = value;
		if (-reach >= axis->low)
			tick[count++] = -value;
	}
	return count;
}

size_t plot_axis_ticks(const struct plot_axis *axis, size_t wanted,
		       double tick[PLOT_TICKS])
{
	return axis->threshold > 0 ? decade_ticks(axis, tick)
				   : linear_ticks(axis, wanted, tick);
}

char *plot_label_number(char text[PLOT_LABEL], double value, double step)
{
	const double places = step > 0 ? -floor(log10(step) + 1e-6) : 0;
	const int decimals = (int)fmin(fmax(places, 0), 9);
	const double unit = pow(10, -decimals);

	if (fabs(value) < unit / 2)
		value = 0; /* no "-0" */
	snprintf(text, PLOT_LABEL, "%.*f", decimals, value);
	return text;
}

static const struct unit {
	const char *name;
	double us;
} units[] = {{"ns", 1e-3}, {"\xc2\xb5s", 1}, {"ms", 1e3}, {"s", 1e6}};

static const struct unit *unit_for(double us)
{
	const struct unit *unit = units;

	for (size_t i = 1; i < sizeof(units) / sizeof(*units); i++)
		if (us >= units[i].us * (1 - 1e-6))
			unit = &units[i];
	return unit;
}

char *plot_label_tick(char text[PLOT_LABEL], double us, double scale, double step)
{
	const struct unit *unit = unit_for(scale);
	char number[PLOT_LABEL];

	plot_label_number(number, us / unit->us, step / unit->us);
	if (strspn(number, "0.") == strlen(number))
		snprintf(text, PLOT_LABEL, "0");
	else
		snprintf(text, PLOT_LABEL, "%.32s %s", number, unit->name);
	return text;
}

char *plot_label_span(char text[PLOT_LABEL], double us)
{
	const double size = fabs(us), unit = unit_for(size * 1.0005)->us;
	const double digits = fmin(fmax(floor(log10(size / unit * 1.0005)), 0), 2);

	if (!(size > 0))
		return strcpy(text, "0 ns");
	return plot_label_tick(text, us, size * 1.0005, unit * pow(10, digits - 2));
}

char *plot_label_bound(char text[PLOT_LABEL], double us)
{
	char span[PLOT_LABEL];

	if (!(us >= 0 && us < 1e18))
		return strcpy(text, "no bound");
	if (us > 0) {
		double scale = pow(10, 2 - floor(log10(us)));

		us = ceil(us * scale * (1 - 1e-12)) / scale;
	}
	snprintf(text, PLOT_LABEL, "\xc2\xb1%.40s", plot_label_span(span, us));
	return text;
}

char *plot_label_count(char text[PLOT_LABEL], size_t count)
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%zu", count);
	char *end = text;

	for (int i = 0; i < length; i++) {
		*end++ = digits[i];
		if (i + 1 < length && (length - i - 1) % 3 == 0)
			*end++ = ',';
	}
	*end = '\0';
	return text;
}
