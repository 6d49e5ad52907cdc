/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/apply/clock_class.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "trace/ctf/metadata.h"
#include "trace/ctf/metadata_ast.h"
#include "trace/ctf/tsdl.h"

#define METADATA_SIGNATURE "/* CTF 1.8" /* the usual start of plain TSDL */
#define METADATA_SEPARATOR "\x1e"       /* how CTF 2 begins */

char *metadata_read(const char *path, struct error *error)
{
	size_t size;
	char *bytes = metadata_text(path, &size, error), *text = NULL;

	if (bytes && memchr(bytes, '\0', size))
		error_set(error, "%s: contains a NUL byte (expected metadata)", path);
	else if (bytes)
		text = mem_strndup(bytes, size);
	free(bytes);
	return text;
}

/* Find the clock class in CTF 2 metadata. Set `begin` and `end` to its JSON text, which
 * follows a record separator. The text has been parsed before. Return NULL if there is no
 * clock class. */
static json_t *find_fragment(const char *text, const char **begin, const char **end)
{
	for (; *text; text = *end) {
		const char *type;
		json_t *object;

		*begin = text + 1;
		*end = *begin + strcspn(*begin, METADATA_SEPARATOR);
		object = json_loadb(*begin, (size_t)(*end - *begin), 0, NULL);
		type = json_text(object, "type");
		if (type && strcmp(type, "clock-class") == 0)
			return object;
		json_decref(object);
	}
	return NULL;
}

/* Cycles are fewer than a second's (CTF2-SPEC-2.0, 5.6.1). */
static void change_class(json_t *clock, const struct clock_class *class)
{
	int64_t whole = (int64_t)(class->offset / class->frequency);

	json_object_set_new(clock, "frequency",
			    json_integer((json_int_t) class->frequency));
	json_object_set_new(clock, "offset-from-origin",
			    json_pack("{s:I, s:I}", "seconds",
				      (json_int_t)(class->offset_s + whole), "cycles",
				      (json_int_t)(class->offset % class->frequency)));
	json_object_set_new(clock, "precision", json_integer(class->precision));
	if (class->accuracy < 0)
		json_object_del(clock, "accuracy");
	else
		json_object_set_new(clock, "accuracy", json_integer(class->accuracy));
}

static void write_json(FILE *file, const char *text, const struct clock_class *class)
{
	const char *begin, *end;
	json_t *clock = find_fragment(text, &begin, &end);
	AUTOFREE char *line = NULL;

	change_class(clock, class);
	line = json_one_line(clock);
	fprintf(file, "%.*s%s\n%s", (int)(begin - text), text, line, end);
	json_decref(clock);
}

static bool at_word(const struct metadata *in, const char *word)
{
	return in->token.kind == AST_WORD && strcmp(in->token.text, word) == 0;
}

/* Past the last token, or the last before an error. */
static bool at_end(const struct metadata *in)
{
	return in->token.kind == AST_END || in->token.kind == AST_WRONG;
}

/* Read TSDL until after `clock {`. Return false if there is none. */
static bool find_block(struct metadata *in, const char *text, struct error *error)
{
	size_t depth = 0;

	metadata_init(in, text, strlen(text), false, error);
	for (bool is_clock = false; !at_end(in); metadata_next(in)) {
		if (metadata_is_sign(in, '{') && !depth++ && is_clock)
			break;
		depth -= depth && metadata_is_sign(in, '}');
		is_clock = at_word(in, "clock");
	}
	metadata_next(in);
	return !at_end(in);
}

/* Return true if TSDL has a clock class. */
static bool has_block(const char *text, struct error *error)
{
	struct metadata in;
	bool found = find_block(&in, text, error);

	schema_free(metadata_finish(&in));
	return found;
}

int metadata_clock(const char *text, struct clock_class *class, struct error *error)
{
	bool is_json = *text == *METADATA_SEPARATOR;
	struct schema *schema =
	    (is_json ? json_metadata_parse : tsdl_parse)(text, strlen(text), error);
	const struct schema_clock *clock = schema ? schema->clock : NULL;
	const char *begin, *end;
	int status = schema ? 0 : -1;

	if (schema && schema->clocks != 1)
		status = error_set(error, "%zu clocks (expected one)", schema->clocks);
	else if (schema && (clock->frequency > CLOCK_CLASS_FASTEST ||
			    clock->offset_s < -CLOCK_CLASS_FARTHEST ||
			    clock->offset_s > CLOCK_CLASS_FARTHEST))
		status = error_set(error, "a clock whose frequency or offset is out of "
					  "range");
	if (!status)
		*class = (struct clock_class){.frequency = clock->frequency,
					      .offset_s = clock->offset_s,
					      .offset = clock->offset};
	if (!status && is_json) {
		json_t *object = find_fragment(text, &begin, &end);

		json_nsec(object, "precision", &class->precision);
		class->precision = class->precision < 0 ? 0 : class->precision;
		json_decref(object);
	} else if (!status && !has_block(text, error)) {
		status = error_set(error, "no clock in braces");
	}
	schema_free(schema);
	return status;
}

/* Write the text with the numbers of its clock class replaced in place. */
static void write_tsdl(FILE *file, const char *text, const struct clock_class *class)
{
	enum { NUMBERS = 3 };
	static const char *const name[NUMBERS] = {"freq", "offset", "offset_s"};
	bool is_needed[NUMBERS] = {true, true, class->offset_s != 0};
	char value[NUMBERS][24];
	struct error error = ERROR_INIT;
	struct metadata in;

	snprintf(value[0], sizeof(value[0]), "%" PRIu64, class->frequency);
	snprintf(value[1], sizeof(value[1]), "%" PRIu64, class->offset);
	snprintf(value[2], sizeof(value[2]), "%" PRId64, class->offset_s);
	if (strncmp(text, METADATA_SIGNATURE, strlen(METADATA_SIGNATURE)) != 0)
		fputs(METADATA_SIGNATURE " */\n", file);
	find_block(&in, text, &error);
	while (!metadata_is_sign(&in, '}') && !at_end(&in)) {
		const char *from;
		size_t k = 0;

		while (k < NUMBERS && !at_word(&in, name[k]))
			k++;
		metadata_next(&in); /* the equals sign */
		from = in.at;
		while (!metadata_is_sign(&in, ';') && !at_end(&in))
			metadata_next(&in);
		if (k < NUMBERS) {
			fprintf(file, "%.*s %s", (int)(from - text), text, value[k]);
			text = in.at - 1;
			is_needed[k] = false;
		}
		metadata_next(&in);
	}
	fwrite(text, 1, (size_t)(in.at - 1 - text), file);
	for (size_t k = 0; k < NUMBERS; k++)
		if (is_needed[k])
			fprintf(file, "\t%s = %s;\n", name[k], value[k]);
	fputs(in.at - 1, file);
	schema_free(metadata_finish(&in));
	error_clear(&error);
}

char *metadata_with_clock(const char *text, const struct clock_class *class)
{
	char *changed = NULL;
	size_t size;
	FILE *file = mem_stream(&changed, &size);

	if (*text == *METADATA_SEPARATOR)
		write_json(file, text, class);
	else
		write_tsdl(file, text, class);
	fclose(file);
	return changed;
}

#define RATE_LIMIT 5e8 /* ppb */

/*
 * Sums of clock values at the epoch need more than 64 bits: values and offsets
 * reach 2^64, and they are multiplied by a frequency of up to 2^60.
 */
typedef __int128 wide_t;

static const wide_t billion = 1000000000;

/* Times are long doubles: their 64 bits resolve 1/8 ns at today's epoch time. */

static wide_t divide_down(wide_t a, wide_t b)
{
	return a / b - (a % b < 0);
}

/* Convert cycles to nanoseconds. */
static long double span_of(wide_t cycles, uint64_t frequency)
{
	wide_t scaled = cycles * billion;

	return (long double)(scaled / frequency) +
	       (long double)(scaled % frequency) / (long double)frequency;
}

static long double time_of(const struct clock_class *class, wide_t value)
{
	wide_t seconds = class->offset_s * (wide_t) class->frequency;

	return span_of(seconds + class->offset + value, class->frequency);
}

/* The last clock value that a class shows no later than t. */
static wide_t value_at(const struct clock_class *class, nsec_t t)
{
	wide_t passed = t - class->offset_s * billion;

	return divide_down(passed * class->frequency, billion) - class->offset;
}

/* clock_correct() without the rounding. */
static long double correct_time(const struct clock_segment *segment, long double t)
{
	long double passed = t - (long double)segment->local_ns;

	return (long double)segment->ref_ns + passed + passed * segment->rate_ppb / 1e9L;
}

/* Set the offset so that `value` means the time t. It is a number of cycles, as LTTng
 * writes it, since some viewers ignore offset_s; seconds are used only if the offset is
 * negative or exceeds 63 bits. */
static void set_offset(struct clock_class *class, wide_t value, long double t)
{
	long double base = t - span_of(value, class->frequency), whole = floorl(base);
	wide_t cycles = (wide_t)whole * class->frequency +
			(wide_t)roundl((base - whole) * (long double)class->frequency);

	cycles = divide_down(cycles + billion / 2, billion);
	class->offset_s = 0;
	if (cycles < 0 || cycles > INT64_MAX) {
		class->offset_s = (int64_t)divide_down(cycles, class->frequency);
		cycles -= class->offset_s * (wide_t) class->frequency;
	}
	class->offset = (uint64_t)cycles;
}

/* Return the largest error (ns) of a viewer that rounds the offset and the value down to
 * whole nanoseconds, each after a multiplication and a division of doubles, as
 * babeltrace2 does unless the frequency is 10^9. */
static long double viewer_truncation(const struct clock_class *class,
				     long double value_span)
{
	const long double rounding = 0x1p-51L; /* three times half a step, and more */
	long double part = fmodl(span_of(class->offset, class->frequency), 1);

	if (part < 1e9L * rounding)
		part++; /* the double can be less than the whole number */
	return part + 1 + fabsl(value_span) * rounding;
}

/* Return the largest deviation from the fit of a timestamp that a viewer shows for
 * `value`. */
static long double viewer_deviation(const struct clock *clock,
				    const struct clock_class *recorded,
				    const struct clock_class *fitted, wide_t value)
{
	long double meant = correct_time(clock->segment, time_of(recorded, value));
	long double high = time_of(fitted, value) - meant, low = high;

	if (fitted->frequency != (uint64_t)billion)
		low -= viewer_truncation(fitted, span_of(value, fitted->frequency));
	return fmaxl(fabsl(high), fabsl(low));
}

int clock_class_fit(const struct clock *clock, const struct clock_class *recorded,
		    struct clock_class *fitted, double *residual_ns, struct error *error)
{
	wide_t begin = value_at(recorded, clock->begin_ns);
	wide_t end = value_at(recorded, clock->end_ns),
	       middle = divide_down(begin + end, 2);
	double rate_ppb = clock->segment->rate_ppb;
	long double frequency, aim;

	if (!(fabs(rate_ppb) < RATE_LIMIT))
		return error_set(error, "a rate of %g ppb fits no clock class", rate_ppb);
	frequency = roundl((long double)recorded->frequency / (1 + rate_ppb / 1e9L));
	if (frequency < 1 || frequency > CLOCK_CLASS_FASTEST)
		return error_set(error, "a frequency of %.0Lf Hz fits no clock class",
				 frequency);
	*fitted = *recorded;
	fitted->frequency = (uint64_t)frequency;
	aim = correct_time(clock->segment, time_of(recorded, middle));
	/* Rounding down twice loses up to two nanoseconds; aim at the middle. */
	if (fitted->frequency != (uint64_t)billion)
		aim++;
	set_offset(fitted, middle, aim);
	if (fitted->offset_s < -CLOCK_CLASS_FARTHEST ||
	    fitted->offset_s > CLOCK_CLASS_FARTHEST)
		return error_set(error, "times exceed the range of nanoseconds");
	*residual_ns = (double)fmaxl(viewer_deviation(clock, recorded, fitted, begin),
				     viewer_deviation(clock, recorded, fitted, end));
	return 0;
}
