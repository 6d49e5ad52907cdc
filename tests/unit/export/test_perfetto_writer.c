/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/perfetto/perfetto.h"

#include "perfetto.h"

#define WORD(words) (&(struct perfetto_name){.text = (words)})

static const struct perfetto_track node = {.kind = PERFETTO_NODE,
					   .number = 1,
					   .pid = 1,
					   .rank = 1,
					   .name = "n1",
					   .full_name = "n1"};
static const struct perfetto_track row = {.kind = PERFETTO_ROW,
					  .number = 2,
					  .pid = 1,
					  .tid = 2,
					  .parent = 1,
					  .rank = 5,
					  .name = "CPU 0",
					  .full_name = "CPU 0"};
static const struct perfetto_track counter = {.kind = PERFETTO_COUNTER,
					      .number = 3,
					      .pid = 1,
					      .parent = 1,
					      .name = "all %usr",
					      .full_name = "cpu all %usr",
					      .unit = "percent"};

static struct export export;

static struct perfetto *begin(const struct perfetto_form *form, FILE *file,
			      nsec_t origin_ns)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	assert_non_null(perfetto);
	export = (struct export){
	    .file = file, .file_name = "out", .scope = {.origin_ns = origin_ns}};
	*perfetto = (struct perfetto){.form = form, .export = &export};
	perfetto_begin(perfetto);
	return perfetto;
}

static void end(struct perfetto *perfetto)
{
	perfetto_clear(perfetto);
	free(perfetto);
}

/* What a form makes of a slice, an arrow's end and a value. */
static void write_some(struct perfetto *perfetto)
{
	struct perfetto_event slice = {.track = &row,
				       .begin_ns = 1005,
				       .end_ns = 2000123,
				       .category = "cpu",
				       .name = "a \"b\"\\\n\xff"};
	struct perfetto_event end = {.track = &row,
				     .begin_ns = 900,
				     .kind = PERFETTO_INSTANT,
				     .category = "cpu",
				     .name = "tcp",
				     .arrow = -18};
	struct perfetto_event count = {
	    .kind = PERFETTO_COUNT, .track = &counter, .begin_ns = 1000, .count = 0.1};
	struct error error = ERROR_INIT;

	perfetto_add(&slice, WORD("tid"), &(struct cell)INTEGER(-7));
	perfetto_add(&slice, WORD("comm"), &(struct cell)TEXT("x"));
	perfetto_add(&slice, WORD("nothing"), &(struct cell){.type = CELL_NULL});
	perfetto_add(&slice, WORD("empty"), &(struct cell)TEXT(""));
	assert_int_equal(slice.values, 2);
	perfetto->form->track(perfetto, &node);
	perfetto->form->track(perfetto, &row);
	perfetto->form->track(perfetto, &counter);
	assert_int_equal(perfetto_write(perfetto, &slice, &error), 0);
	assert_int_equal(perfetto_write(perfetto, &slice, &error), 0);
	assert_int_equal(perfetto_write(perfetto, &end, &error), 0);
	assert_int_equal(perfetto_write(perfetto, &count, &error), 0);
	assert_int_equal(perfetto_end(perfetto, &error), 0);
	assert_int_equal(perfetto->events, 4);
}

static void json_is_as_it_should_be(void **state)
{
	static const char slice[] =
	    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":0.005,\"dur\":1999.118,"
	    "\"cat\":\"cpu\",\"name\":\"a \\\"b\\\"\\\\\\u000a\xef\xbf\xbd\","
	    "\"args\":{\"tid\":-7,\"comm\":\"x\"}},\n";
	char *text = NULL, *wanted = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct perfetto *perfetto = begin(&perfetto_json, file, 1000);

	(void)state;
	write_some(perfetto);
	end(perfetto);
	fclose(file);
	assert_true(
	    asprintf(&wanted,
		     "{\"displayTimeUnit\":\"ns\",\"otherData\":{"
		     "\"clock\":\"the run's reference\",\"origin_ns\":\"1000\"},"
		     "\"traceEvents\":[\n"
		     "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
		     "\"args\":{\"name\":\"n1\"}},\n"
		     "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_sort_index\","
		     "\"args\":{\"sort_index\":1}},\n"
		     "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\","
		     "\"args\":{\"name\":\"CPU 0\"}},\n"
		     "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_sort_index\","
		     "\"args\":{\"sort_index\":5}},\n"
		     "%s%s"
		     "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":-0.100,\"dur\":0.000,"
		     "\"cat\":\"cpu\",\"name\":\"tcp\",\"bind_id\":\"0x12\","
		     "\"flow_in\":true},\n"
		     "{\"ph\":\"C\",\"pid\":1,\"ts\":0.000,\"name\":\"cpu all %%usr\","
		     "\"args\":{\"percent\":0.1}}\n"
		     "]}\n",
		     slice, slice) > 0);
	assert_string_equal(text, wanted);
	free(text);
	free(wanted);
}

/* A damaged timeline may have any times; what is too far is held at the end. */
static void json_times_do_not_overflow(void **state)
{
	struct perfetto_event event = {.track = &row,
				       .begin_ns = NSEC_MIN,
				       .end_ns = NSEC_MAX,
				       .category = "c",
				       .name = "n"};
	struct perfetto_event count = {.kind = PERFETTO_COUNT,
				       .track = &counter,
				       .begin_ns = NSEC_MIN,
				       .count = 1e300};
	struct error error = ERROR_INIT;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct perfetto *perfetto = begin(&perfetto_json, file, 1000);

	(void)state;
	assert_int_equal(perfetto_write(perfetto, &event, &error), 0);
	assert_int_equal(perfetto_write(perfetto, &count, &error), 0);
	assert_int_equal(perfetto_end(perfetto, &error), 0);
	end(perfetto);
	fclose(file);
	assert_non_null(strstr(text, "\"ts\":-9223372036854775.808,"
				     "\"dur\":9223372036854775.807,"));
	assert_non_null(strstr(text, "{\"percent\":1e+300}"));
	free(text);
}

static size_t count_text(const char *data, size_t size, const char *text)
{
	const char *end = data + size;
	size_t count = 0;

	while ((data = memmem(data, (size_t)(end - data), text, strlen(text)))) {
		data += strlen(text);
		count++;
	}
	return count;
}

/* A trace is nothing but packets, each a field 1 of known length. */
static size_t count_packets(const uint8_t *data, size_t size)
{
	size_t count = 0, at = 0;

	while (at < size) {
		size_t length = 0, shift = 0;

		assert_int_equal(data[at++], 0x0a);
		do {
			assert_true(at < size);
			length |= (size_t)(data[at] & 0x7f) << shift;
			shift += 7;
		} while (data[at++] & 0x80);
		assert_true(length <= size - at);
		at += length;
		count++;
	}
	return count;
}

static void proto_says_texts_once(void **state)
{
	char *data = NULL;
	size_t size;
	FILE *file = open_memstream(&data, &size);
	struct perfetto *perfetto = begin(&perfetto_proto, file, 1000);

	(void)state;
	write_some(perfetto);
	end(perfetto);
	fclose(file);
	/* The clock, three tracks, two slices of two packets, an instant, a value. */
	assert_int_equal(count_packets((const uint8_t *)data, size), 10);
	assert_int_equal(count_text(data, size, "a \"b\"\\\n\xef\xbf\xbd"), 1);
	assert_int_equal(count_text(data, size, "comm"), 1);
	assert_int_equal(count_text(data, size, "tcp"), 1);
	/* Times 1005, twice, and 2000123, twice. */
	assert_int_equal(count_text(data, size, "\x40\xed\x07"), 2);
	assert_int_equal(count_text(data, size, "\x40\xfb\x89\x7a"), 2);
	/* Arrow 18 ends: terminating_flow_ids, a fixed64. */
	assert_int_equal(count_text(data, size, "\x81\x03\x12"), 1);
	free(data);
}

static void a_full_disk_is_told(void **state)
{
	FILE *file = fopen("/dev/full", "w");
	struct perfetto *perfetto = begin(&perfetto_proto, file, 0);
	struct perfetto_event event = {.track = &row, .category = "c", .name = "n"};
	struct error error = ERROR_INIT;
	int status = 0;

	(void)state;
	setbuf(file, NULL);
	for (int i = 0; i < 100000 && !status; i++)
		status = perfetto_write(perfetto, &event, &error);
	assert_int_equal(status, -1);
	assert_string_equal(error_text(&error), "out: No space left on device");
	error_clear(&error);
	end(perfetto);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(json_is_as_it_should_be),
	    cmocka_unit_test(json_times_do_not_overflow),
	    cmocka_unit_test(proto_says_texts_once),
	    cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
