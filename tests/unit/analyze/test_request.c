/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/request.h"

#include "../scratch.h"

TEST(test_spans)
{
	static const struct {
		const char *text;
		nsec_t span;
	} right[] = {
	    {"20", 20000},      {"0", 0},        {"1.5ms", 1500000},         {"7ns", 7},
	    {"2s", 2000000000}, {"20us", 20000}, {"1h", 3600 * NSEC_PER_SEC}};
	static const char *const wrong[] = {"",   "ms",    "-1ms", "1 ms",
					    "1d", "1e30s", "nan"};
	nsec_t span;

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		assert_int_equal(request_parse_span(right[i].text, &span), 0);
		assert_int_equal(span, right[i].span);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(request_parse_span(wrong[i], &span), -1);
}

TEST(test_ranges)
{
	struct error error = ERROR_INIT;
	struct request request;

	request_init(&request);
	assert_true(range_list_has(&request.cpus, 5));
	text_list_add(&request.cpu_words, "0");
	text_list_add(&request.cpu_words, "4-6");
	text_list_add(&request.cpu_words, "9");
	assert_int_equal(request_check(&request, &error), 0);
	for (int64_t i = 0; i < 12; i++)
		assert_int_equal(range_list_has(&request.cpus, i),
				 i == 0 || (i >= 4 && i <= 6) || i == 9);
	request_clear(&request);
	text_list_add(&request.tid_words, "6-4");
	assert_int_equal(request_check(&request, &error), -1);
	assert_string_equal(
	    error_text(&error),
	    "--tid: invalid number '6-4' (expected a list such as 0,4-7)");
	request_clear(&request);
	error_clear(&error);
}

static void check_timerange(const char *text, const char *begin, const char *end)
{
	struct error error = ERROR_INIT;
	struct request request;

	request_init(&request);
	request.timerange = mem_strdup(text);
	assert_int_equal(request_check(&request, &error), 0);
	assert_string_equal(request.begin ? request.begin : "", begin);
	assert_string_equal(request.end ? request.end : "", end);
	request_clear(&request);
}

TEST(test_sizes)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} good[] = {{"4096", 4096},      {"0", 0},          {"1.5k", 1536},
		    {"2KiB", 2048},      {"2kB", 2000},     {"3M", 3 << 20},
		    {"1GB", 1000000000}, {"1T", 1LL << 40}, {"7B", 7}};
	static const char *const bad[] = {"",    "k",   "-1",       "1 k",
					  "1kb", "1e3", "99999999T"};
	int64_t bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(request_parse_size(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(request_parse_size(bad[i], &bytes), -1);
}

TEST(test_timerange)
{
	check_timerange("+1,+2", "+1", "+2");
	check_timerange("[+1,+2]", "+1", "+2");
	check_timerange("[,+2]", "", "+2");
	check_timerange("+1,", "+1", "");
}

TEST(test_what_is_not_heeded)
{
	struct request request;

	request_init(&request);
	assert_null(request_unheeded(&request, 0));
	text_list_add(&request.cpu_words, "1");
	assert_null(request_unheeded(&request, HEEDS_CPU));
	assert_string_equal(request_unheeded(&request, HEEDS_THREAD), "cpu");
	request.limit_given = 0;
	assert_string_equal(request_unheeded(&request, HEEDS_CPU), "limit");
	request_clear(&request);
}
