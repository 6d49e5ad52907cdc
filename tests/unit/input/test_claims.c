/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/claims.h"

#include "rows.h"

/* Read the files of node/ and compare what they claim, a line a source, and the problems.
 */
static void assert_claims(const char *expected, const char *problems)
{
	struct problem_list list = {NULL, 0, 0};
	struct node_claims claims;
	struct rows rows = {.length = 0};

	node_claims_read(&claims, "node", &list);
	for (size_t i = 0; i < claims.sources; i++) {
		const struct clock_claims *of = &claims.source[i];

		rows_add(&rows, "%s %llu %llu:", of->source,
			 (unsigned long long)of->unbounded,
			 (unsigned long long)of->unsynchronized);
		for (size_t k = 0; k < of->count; k++)
			rows_add(&rows, " %lld+%lld %lld+-%lld",
				 (long long)of->claim[k].realtime_ns,
				 (long long)of->claim[k].took_ns,
				 (long long)of->claim[k].offset_ns,
				 (long long)of->claim[k].bound_ns);
		rows_add(&rows, "\n");
	}
	assert_string_equal(rows.text, expected);
	assert_problems(&list, problems);
	node_claims_clear(&claims);
}

#define HEADER                                                                           \
	"realtime_ns,took_ns,source,offset_ns,bound_ns,frequency_ppb,estimate_ns,"       \
	"status\n"

SCRATCH_TEST(the_collectors_file_is_read)
{
	scratch_text("node/clock_claims.csv", HEADER
		     "1795923160000000000,3000000,chrony,-9998909,3302,27,196,"
		     "synchronized\n"
		     "1795923150000000000,3100000,chrony,12,3400,27,196,synchronized\n"
		     "1795923150004000000,2000000,adjtimex,,4250000,-10000,130000,"
		     "synchronized\n"
		     "1795923150006000000,1000000,ptp4l,-57,,,,synchronized\n"
		     "1795923150007000000,1000000,ntpd,0,1,0,0,unsynchronized\n"
		     "1795923150008000000,1000000,ntpd,0,1,0,0,local\n");
	assert_claims("chrony 0 0: 1795923150000000000+3100000 12+-3400 "
		      "1795923160000000000+3000000 -9998909+-3302\n"
		      "adjtimex 0 0: 1795923150004000000+2000000 0+-4250000\n"
		      "ptp4l 1 0:\n"
		      "ntpd 0 2:\n",
		      "");
}

SCRATCH_TEST(broken_lines_are_reported)
{
	scratch_text("node/clock_claims.csv",
		     HEADER "x,1,chrony,1,1,,,synchronized\n"
			    "1795923150000000000,1,,1,1,,,synchronized\n"
			    "1795923150000000000,1,chrony,1,-5,,,synchronized\n"
			    "1795923150000000000,1,chrony\n"
			    "1795923150000000000,1,chrony,1,9223372036854775807,,,"
			    "synchronized\n"
			    "1795923150000000000,1,chrony,-1e18,5,,,synchronized\n");
	assert_claims(
	    "chrony 1 0:\n",
	    "node/clock_claims.csv:2: invalid realtime_ns 'x' (expected a time "
	    "in nanoseconds); skipped (broken, 1)\n"
	    "node/clock_claims.csv:3: source is empty; skipped (broken, 1)\n"
	    "node/clock_claims.csv:4: invalid bound_ns '-5' (expected a count); skipped "
	    "(malformed, 1)\n"
	    "node/clock_claims.csv:5: line with 3 fields skipped (expected 8) "
	    "(broken, 1)\n"
	    "node/clock_claims.csv:6: line skipped (expected took_ns, offset_ns and "
	    "bound_ns within two years) (broken, 2)\n");
}

/* As chrony 4.3 wrote it. */
SCRATCH_TEST(chronys_log_is_read)
{
	scratch_text(
	    "node/tracking.log",
	    "=========================================================================\n"
	    "   Date (UTC) Time     IP Address   St   Freq ppm   Skew ppm     Offset L "
	    "Co  "
	    "Offset sd Rem. corr. Root delay Root disp. Max. error\n"
	    "=========================================================================\n"
	    "2026-11-29 03:32:17 0.0.0.0          0      0.000 1000000.000  0.000e+00 ?  "
	    "0  0.000e+00 -0.000e+00  1.000e+00  1.000e+00  1.500e+00\n"
	    "2026-11-29 03:32:28 127.0.0.1        2      0.030      0.029 -1.533e-08 N  "
	    "1 "
	    " 5.537e-08  9.999e-03  5.441e-06  7.238e-07  1.000e-02\n"
	    "2026-11-29 03:32:29 127.0.0.1        2      0.030\n"
	    "2026-11-29 03:32:30 127.0.0.1        2      0.030      0.029 -1.533e-08 N  "
	    "1 "
	    " 5.537e-08  9.999e-03  5.441e-06  7.238e-07  1.000e-0");
	assert_claims("tracking.log 0 1: 1795923148000000000+1000000000 0+-10000000\n",
		      "node/tracking.log:6: line skipped (expected the 14 columns of "
		      "chrony's tracking.log) (broken, 1)\n"
		      "node/tracking.log:7: incomplete last line skipped (truncated, "
		      "1)\n");
}

/* The forms of linuxptp 3.1 and 4, and of its summaries. */
SCRATCH_TEST(offsets_of_ptp4l_are_counted)
{
	scratch_text(
	    "node/ptp4l.log",
	    "ptp4l[48231.400]: port 1: INITIALIZING to LISTENING on "
	    "INIT_COMPLETE\n"
	    "ptp4l[48232.400]: master offset       -570 s0 freq  -1200 path "
	    "delay       450\n"
	    "ptp4l[48233.400]: master offset        -57 s2 freq  -1234 path "
	    "delay       450\n"
	    "ptp4l[48234.400]: rms   57 max   96 freq  -1234 +/-  12 delay   450 "
	    "+/-   1\n"
	    "phc2sys[48234.500]: CLOCK_REALTIME phc offset        12 s2 freq   "
	    "+100 delay    500\n");
	scratch_text("node/phc2sys.log",
		     "Nov 29 12:00:00 node phc2sys: [48233.500] CLOCK_REALTIME phc "
		     "offset -37000000412 s0 freq     +0 delay   1450\n"
		     "Nov 29 12:00:01 node phc2sys: [48234.500] CLOCK_REALTIME phc "
		     "offset        12 s3 freq   +100 delay    500\n"
		     "Nov 29 12:00:02 node phc2sys: [48235.500] CLOCK_REALTIME rms   "
		     "12 max   20 freq   +100 +/-  10 delay   500 +/-   5\n");
	assert_claims("ptp4l.log 2 1:\nphc2sys.log 3 1:\n", "");
}

SCRATCH_TEST(nothing_is_claimed_without_files)
{
	scratch_text("node/clock.csv", "");
	assert_claims("", "");
}
