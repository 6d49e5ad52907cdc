/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ctf_write.h"
#include "record_read.h"

static struct trace_reader *open_trace(void)
{
	struct error error = ERROR_INIT;
	struct trace_reader *source = open_columns("t", &error);

	assert_string_equal(error_text(&error), "");
	return source;
}

SCRATCH_TEST(numbers_keep_their_bits)
{
	struct ctf_stream stream;
	float half = 0.5f;
	double third = -3.25;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
			 0, 0, "n",
			 "uint8_t _small; int8_t _minus; uint64_t _big; int64_t least; "
			 "real32_t f; real64_t d;"));
	begin_stream(&stream, 0, 5);
	begin_event(&stream, 0, 1000);
	put_int(&stream, 1, 200);
	put_int(&stream, 1, (uint64_t)-2);
	put_int(&stream, 8, UINT64_MAX - 9);
	put_int(&stream, 8, (uint64_t)INT64_MIN);
	put_bytes(&stream, &half, 4);
	put_bytes(&stream, &third, 8);
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(), "1000 stream 0.0 cpu 5 n small=200 minus=-2 big=-10 "
				     "least=-9223372036854775808 f=0.5 d=-3.25\n");
}

SCRATCH_TEST(text_is_text_where_it_is_utf8)
{
	struct ctf_stream stream;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
			 0, 0, "s", "string a; text_t comm[8]; string b; string c;"));
	begin_stream(&stream, 0, 0);
	begin_event(&stream, 0, 1);
	put_string(&stream, "K\xc3\xb6ln, more than eight");
	put_bytes(&stream, "bash\0xyz", 8);
	put_string(&stream, "");
	put_string(&stream, "K\xf6ln"); /* Latin 1 */
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(), "1 stream 0.0 cpu 0 s a='K\xc3\xb6ln, more than "
				     "eight' comm='bash' b='' c=x4bf66c6e\n");
}

/* The library uses its strings again, and may show in them what was there. */
SCRATCH_TEST(empty_text_is_empty)
{
	struct trace_reader *source;
	struct record_lines lines;
	struct ctf_stream stream;

	scratch_text("t/metadata", METADATA_TYPES METADATA_STREAM(0, "")
				       METADATA_EVENT(0, 0, "s", "string a;"));
	begin_stream(&stream, 0, 0);
	for (unsigned i = 0; i < 60; i++) {
		begin_event(&stream, 0, i);
		put_string(&stream, i % 2 ? "" : "text");
	}
	end_stream(&stream, "t/ch_0");
	source = open_trace();
	lines = read_records(source);
	for (const char *at = lines.text; *at; at = strchr(at, '\n') + 1) {
		const char *wanted =
		    strtol(at, NULL, 10) % 2 ? "s a=''\n" : "s a='text'\n";

		assert_int_equal(strncmp(strstr(at, "s a="), wanted, strlen(wanted)), 0);
	}
	free(lines.text);
	trace_reader_free(source);
}

SCRATCH_TEST(structures_and_variants_become_columns)
{
	struct ctf_stream stream;

	scratch_text(
	    "t/metadata",
	    METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
		0, 0, "v",
		"struct { struct { uint8_t _x; } _in; struct { } _padding; } _out; "
		"enum : uint8_t { _none = 0, _ipv4 = 1, _port = 2 } _kind; "
		"variant <_kind> { struct { } _none; struct { uint8_t _ttl; "
		"string _name; } _ipv4; uint16_t _port; } _header; uint8_t last;"));
	begin_stream(&stream, 0, 0);
	for (unsigned kind = 0; kind < 3; kind++) {
		begin_event(&stream, 0, kind);
		put_int(&stream, 1, 7);
		put_int(&stream, 1, kind);
		if (kind == 1) {
			put_int(&stream, 1, 64);
			put_string(&stream, "eth0");
		} else if (kind == 2) {
			put_int(&stream, 2, 7001);
		}
		put_int(&stream, 1, 9);
	}
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(),
		       "0 stream 0.0 cpu 0 v out_in_x=7 kind='none' header_ipv4_ttl=null "
		       "header_ipv4_name=null header_port=null last=9\n"
		       "1 stream 0.1 cpu 0 v out_in_x=7 kind='ipv4' header_ipv4_ttl=64 "
		       "header_ipv4_name='eth0' header_port=null last=9\n"
		       "2 stream 0.2 cpu 0 v out_in_x=7 kind='port' header_ipv4_ttl=null "
		       "header_ipv4_name=null header_port=7001 last=9\n");
}

SCRATCH_TEST(enumerations_are_labels_where_there_is_one)
{
	static const int value[] = {-1, 0, 3, 4, 9, 3};
	struct ctf_stream stream;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
			 0, 0, "e",
			 "enum : int32_t { \"minus one\" = -1, few = 1 ... 3, "
			 "several = 3 ... 4 } e;"));
	begin_stream(&stream, 0, 0);
	for (unsigned i = 0; i < 6; i++) {
		begin_event(&stream, 0, i);
		put_int(&stream, 4, (uint64_t)value[i]);
	}
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(), "0 stream 0.0 cpu 0 e e='minus one'\n"
				     "1 stream 0.1 cpu 0 e e=0\n"
				     "2 stream 0.2 cpu 0 e e='few'\n"
				     "3 stream 0.3 cpu 0 e e='several'\n"
				     "4 stream 0.4 cpu 0 e e=9\n"
				     "5 stream 0.5 cpu 0 e e='few'\n");
}

SCRATCH_TEST(arrays_are_blobs_or_json)
{
	struct ctf_stream stream;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
			 0, 0, "a",
			 "uint8_t ip[4]; uint8_t _n; int8_t raw[_n]; uint16_t w[_n]; "
			 "struct { int32_t fd; enum : uint8_t { in = 1 } _e; string s; } "
			 "fds[_n]; uint8_t grid[2][2]; string names[_n];"));
	begin_stream(&stream, 0, 0);
	for (unsigned n = 0; n < 3; n += 2) {
		begin_event(&stream, 0, n);
		put_bytes(&stream, "\x0a\x07\0\x01", 4);
		put_int(&stream, 1, n);
		for (unsigned i = 0; i < n; i++)
			put_int(&stream, 1, (uint64_t)-1 - i);
		for (unsigned i = 0; i < n; i++)
			put_int(&stream, 2, 65534 + i);
		for (unsigned i = 0; i < n; i++) {
			put_int(&stream, 4, (uint64_t)-5);
			put_int(&stream, 1, i);
			put_string(&stream, i ? "\"\\\n\xff" : "");
		}
		put_bytes(&stream, "\1\2\3\4", 4);
		for (unsigned i = 0; i < n; i++)
			put_string(&stream, "x");
	}
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(),
		       "0 stream 0.0 cpu 0 a ip=x0a070001 n=0 raw= w='[]' fds='[]' "
		       "grid='[[1,2],[3,4]]' names='[]'\n"
		       "2 stream 0.1 cpu 0 a ip=x0a070001 n=2 raw=xfffe "
		       "w='[65534,65535]' fds='[{\"fd\":-5,\"e\":0,\"s\":\"\"},"
		       "{\"fd\":-5,\"e\":\"in\",\"s\":\"\\\"\\\\\\u000a\xef\xbf\xbd\"}]' "
		       "grid='[[1,2],[3,4]]' names='[\"x\",\"x\"]'\n");
}

SCRATCH_TEST(contexts_follow_the_payload)
{
	struct ctf_stream stream;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(
			 0, "event.context := struct { int32_t _tid; text_t "
			    "_procname[4]; };\n") "event { stream_id = 0; id = 0; "
						  "name = \"c\"; context := struct { "
						  "uint64_t _cycles; }; fields := "
						  "struct { int32_t _tid; }; };\n"
						  "event { stream_id = 0; id = 1; "
						  "name = \"d\"; };\n");
	begin_stream(&stream, 0, 0);
	begin_event(&stream, 0, 1);
	put_int(&stream, 4, 11);
	put_bytes(&stream, "cat", 4);
	put_int(&stream, 8, 99);
	put_int(&stream, 4, 12);
	begin_event(&stream, 1, 2);
	put_int(&stream, 4, 13);
	put_bytes(&stream, "dog", 4);
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(), "1 stream 0.0 cpu 0 c tid=12 @cycles=99 @tid=11 "
				     "@procname='cat'\n"
				     "2 stream 0.1 cpu 0 d @tid=13 @procname='dog'\n");
}

SCRATCH_TEST(columns_have_the_names_of_the_source)
{
	struct ctf_stream stream;

	scratch_text("t/metadata", METADATA_TYPES METADATA_STREAM(0, "") METADATA_EVENT(
				       0, 0, "u",
				       "uint8_t a_b; struct { uint8_t b; uint8_t B; } a; "
				       "uint8_t A_B_2; uint8_t __x; uint8_t _;"));
	begin_stream(&stream, 0, 0);
	begin_event(&stream, 0, 1);
	put_bytes(&stream, "\1\2\3\4\5\6", 6);
	end_stream(&stream, "t/ch_0");
	assert_records(open_trace(),
		       "1 stream 0.0 cpu 0 u a_b=1 a_b=2 a_B=3 A_B_2=4 x=5 field=6\n");
}

/* Each channel has classes of its own, alike or not. */
SCRATCH_TEST(classes_are_told_by_their_columns)
{
	struct trace_reader *source;
	struct record_lines lines;
	struct ctf_stream stream;

	scratch_text("t/metadata",
		     METADATA_TYPES METADATA_STREAM(0, "") METADATA_STREAM(1, "")
			 METADATA_EVENT(0, 0, "same", "uint8_t a;")
			     METADATA_EVENT(1, 0, "same", "uint8_t a;")
				 METADATA_EVENT(0, 1, "other", "uint8_t a;")
				     METADATA_EVENT(1, 1, "other", "string a;"));
	for (unsigned k = 0; k < 2; k++) {
		begin_stream(&stream, k, k + 1);
		begin_event(&stream, 0, 10 + k);
		put_int(&stream, 1, 1);
		begin_event(&stream, 1, 20 + k);
		put_bytes(&stream, "\0", 1);
		end_stream(&stream, k ? "t/b" : "t/a");
	}
	source = open_trace();
	lines = read_records(source);
	assert_string_equal(lines.text, "10 stream 0.0 cpu 1 same a=1\n"
					"11 stream 1.0 cpu 2 same a=1\n"
					"20 stream 0.1 cpu 1 other a=0\n"
					"21 stream 1.1 cpu 2 other a=''\n");
	assert_string_equal(trace_reader_class(source, 0)->name, "same");
	assert_string_equal(trace_reader_class(source, 1)->name, "same");
	assert_string_equal(trace_reader_class(source, 2)->name, "other");
	assert_string_equal(trace_reader_class(source, 3)->name, "other");
	assert_int_equal(trace_reader_class(source, 3)->column[0].type, CELL_TEXT);
	free(lines.text);
	trace_reader_free(source);
}

/* Whatever came before, so that a reader that leaves out what came has the same order. */
SCRATCH_TEST(events_at_one_time_come_by_stream)
{
	static const uint64_t stamp[2][2] = {{100, 110}, {90, 100}};
	struct ctf_stream stream;

	scratch_text("t/metadata", METADATA_TYPES METADATA_STREAM(0, "")
				       METADATA_EVENT(0, 0, "x", "uint8_t a;"));
	for (unsigned k = 0; k < 2; k++) {
		begin_stream(&stream, 0, k);
		for (unsigned i = 0; i < 2; i++) {
			begin_event(&stream, 0, stamp[k][i]);
			put_int(&stream, 1, i);
		}
		end_stream(&stream, k ? "t/b" : "t/a");
	}
	assert_records(open_trace(), "90 stream 1.0 cpu 1 x a=0\n"
				     "100 stream 0.0 cpu 0 x a=0\n"
				     "100 stream 1.1 cpu 1 x a=1\n"
				     "110 stream 0.1 cpu 0 x a=1\n");
}

SCRATCH_TEST(a_stream_that_goes_backwards_keeps_its_order)
{
	static const uint64_t stamp[2][3] = {{10, 30, 20}, {15, 25, 40}};
	struct trace_reader *source;
	struct record_lines lines;
	struct ctf_stream stream;

	scratch_text("t/metadata", METADATA_TYPES METADATA_STREAM(0, "")
				       METADATA_EVENT(0, 0, "x", "uint8_t a;"));
	for (unsigned k = 0; k < 2; k++) {
		begin_stream(&stream, 0, k);
		for (unsigned i = 0; i < 3; i++) {
			begin_event(&stream, 0, stamp[k][i]);
			put_int(&stream, 1, i);
		}
		end_stream(&stream, k ? "t/b" : "t/a");
	}
	source = open_trace();
	lines = read_records(source);
	assert_string_equal(lines.text, "10 stream 0.0 cpu 0 x a=0\n"
					"15 stream 1.0 cpu 1 x a=0\n"
					"25 stream 1.1 cpu 1 x a=1\n"
					"30 stream 0.1 cpu 0 x a=1\n"
					"20 stream 0.2 cpu 0 x a=2\n"
					"40 stream 1.2 cpu 1 x a=2\n");
	assert_int_equal(trace_reader_problems(source)->count, 1);
	assert_int_equal(trace_reader_problems(source)->item[0].kind, PROBLEM_BACKWARD);
	assert_int_equal(trace_reader_facts(source)->events, 6);
	assert_int_equal(trace_reader_facts(source)->begin_ns, 10);
	assert_int_equal(trace_reader_facts(source)->end_ns, 40);
	assert_string_equal(trace_reader_facts(source)->hostname, "web");
	free(lines.text);
	trace_reader_free(source);
}

SCRATCH_TEST(classes_that_are_not_chosen_have_no_cells)
{
	struct trace_reader *source;
	struct ctf_stream stream;

	scratch_text("t/metadata", METADATA_TYPES METADATA_STREAM(0, "")
				       METADATA_EVENT(0, 0, "x", "uint8_t a;")
					   METADATA_EVENT(0, 1, "y", "uint8_t b;"));
	begin_stream(&stream, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		begin_event(&stream, i % 2, i);
		put_int(&stream, 1, i);
	}
	end_stream(&stream, "t/ch_0");
	source = open_trace();
	trace_reader_select(source, 0, &(struct trace_selection){.what = SELECT_EVENTS});
	assert_records(source, "0 stream 0.0 cpu 0 x\n"
			       "1 stream 0.1 cpu 0 y b=1\n"
			       "2 stream 0.2 cpu 0 x\n"
			       "3 stream 0.3 cpu 0 y b=3\n");
}

SCRATCH_TEST(what_cannot_be_opened_is_an_error)
{
	struct error error = ERROR_INIT;

	assert_null(open_columns("none", &error));
	assert_string_equal(error_text(&error),
			    "none/metadata: No such file or directory");
	error_clear(&error);
	trace_reader_free(NULL);
}
