/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <locale.h>
#include <sys/ioctl.h>

#include "../scratch.h"

static struct table *sample(const char *long_text)
{
	static const struct table_column columns[] = {
	    {.title = "trace"}, {.title = "drift", .right = true}, {.title = "quality"}};
	struct table *table = table_new(columns, 3);
	char text[] = "n0";

	table_add(table, (const char *[]){text, "0", "exact"});
	text[0] = 'x'; /* it was copied */
	table_add(table, (const char *[]){"node-1", "-58.600", long_text});
	return table;
}

static char *print(struct table *table)
{
	FILE *file = fopen("table", "w");

	assert_non_null(file);
	table_print(table, file);
	fclose(file);
	table_free(table);
	return scratch_read("table", NULL);
}

SCRATCH_TEST(numbers_stand_right)
{
	char *text = print(sample("accurate"));

	assert_string_equal(text, "trace    drift quality\n"
				  "n0           0 exact\n"
				  "node-1 -58.600 accurate\n");
	free(text);
}

SCRATCH_TEST(no_width_cuts_a_text)
{
	char *wide = mem_printf("%0500d", 7), *text = print(sample(wide));

	assert_non_null(strstr(text, wide));
	free(text);
	free(wide);
}

SCRATCH_TEST(what_moves_a_cursor_is_shown)
{
	static const char *const locales[] = {"C", "C.UTF-8"};

	for (size_t i = 0; i < 2; i++) {
		char *text;

		assert_non_null(setlocale(LC_ALL, locales[i]));
		text = print(sample("a\033[2J\nb\xc2\x9b"
				    "1m\x7f"));
		assert_null(strpbrk(text, "\033\x7f"));
		assert_null(strstr(text, "\xc2\x9b"));
		assert_non_null(
		    strstr(text, "-58.600 a\\x1b[2J\\x0ab\\xc2\\x9b1m\\x7f\n"));
		free(text);
	}
}

/* Return a table as a terminal of this width shows it. The caller frees it. */
static char *show(struct table *table, unsigned short columns)
{
	struct winsize size = {.ws_row = 50, .ws_col = columns};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	char *text = mem_zalloc(10000), *to = text;
	ssize_t got;
	FILE *file;

	assert_true(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal));
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	file = fopen(ptsname(terminal), "w");
	assert_non_null(file);
	assert_true(table_on_terminal(file));
	table_print(table, file);
	table_free(table);
	fclose(file);
	/* The output can still be read, and is followed by an error. */
	while ((got = read(terminal, to, (size_t)(text + 9999 - to))) > 0)
		to += got;
	to = text;
	close(terminal);
	for (const char *from = text; *from; from++)
		if (*from != '\r')
			*to++ = *from;
	*to = '\0';
	return text;
}

static struct table *spans_and_bounds(void)
{
	static const struct table_column columns[] = {
	    {.title = "NODE"},
	    {.title = "TOTAL", .right = true, .units = table_spans},
	    {.title = "WIDE", .right = true, .units = table_spans},
	    {.title = "BOUND", .right = true, .units = table_spans, .is_bound = true},
	    {.title = "SIDES", .right = true, .units = table_spans, .is_bound = true},
	    {.title = "OFFSET", .right = true, .units = table_spans, .resolution = 1000},
	    {.title = "CPUS", .right = true},
	    {.title = "MEMORY", .right = true, .units = table_sizes},
	};
	struct table *table = table_new(columns, 8);

	table_add(table,
		  (const char *[]){"a", "5406123", "35", "+-1049001", "-811001/+466000",
				   "-6781413499", "2", "1073741824"});
	table_add(table, (const char *[]){"b", "702673", "1234567890", "+-977001",
					  "none/+466123", "0", "2", "1073741824"});
	table_add(table, (const char *[]){"c", "-", "-99999", "+-0", "+-12345",
					  "14146817000", "2", "1073741824"});
	return table;
}

/* A value that is not known has no unit, where all rows lack it too. */
SCRATCH_TEST(an_unknown_value_has_no_unit)
{
	static const struct table_column columns[] = {
	    {.title = "NODE"},
	    {.title = "CLOCK", .right = true, .unit = "Hz"},
	    {.title = "SPAN", .right = true, .units = table_spans},
	    {.title = "COUNT", .right = true},
	};
	struct table *table = table_new(columns, 4);
	char *text;

	assert_int_equal(setenv("LC_ALL", "C", 1), 0);
	table_add(table, (const char *[]){"a", "-", "-", "1"});
	table_add(table, (const char *[]){"b", "-", "-", "2"});
	text = show(table, 100);
	assert_string_equal(text, "in these rows: CLOCK -, SPAN -\n"
				  "NODE COUNT\n"
				  "a        1\n"
				  "b        2\n");
	free(text);
}

/* Units are chosen by hand here, digits counted by hand. */
SCRATCH_TEST(a_column_has_one_unit)
{
	char *text;

	assert_int_equal(setenv("LC_ALL", "C", 1), 0);
	text = show(spans_and_bounds(), 100);
	assert_string_equal(text, "in these rows: CPUS 2, MEMORY 1.000 GiB\n"
				  "NODE TOTAL        WIDE   BOUND     SIDES    OFFSET\n"
				  "        ms          us      ms        us         s\n"
				  "a    5.406       0.035 +-1.05  -812/+466 -6.781413\n"
				  "b    0.703 1234568     +-0.978 none/+467  0       \n"
				  "c    -        -100.0   +-0        +-12.4 14.146817\n");
	free(text);
}

SCRATCH_TEST(what_is_in_a_file_is_as_it_was_given)
{
	char *text = print(spans_and_bounds());

	assert_non_null(strstr(text, " 5406123 "));
	assert_non_null(strstr(text, " none/+466123 "));
	assert_non_null(strstr(text, " CPUS "));
	free(text);
}

SCRATCH_TEST(a_large_integer_keeps_its_digits)
{
	static const struct table_unit plain[] = {{1, ""}, {0, NULL}};
	static const struct table_column columns[] = {
	    {.title = "NAME"}, {.title = "COUNT", .right = true, .units = plain}};
	struct table *table = table_new(columns, 2);
	char *text;

	table_add(table, (const char *[]){"a", "9007199254740993"});
	table_add(table, (const char *[]){"b", "0.00123456"});
	text = show(table, 80);
	assert_non_null(strstr(text, "9007199254740993 "));
	assert_non_null(strstr(text, "0.00123\n"));
	free(text);
}

TEST(freeing_nothing_is_fine)
{
	table_free(NULL);
}

/* A last column of text is broken at blanks, and a word that is too long anywhere. */
SCRATCH_TEST(a_wide_text_is_wrapped)
{
	static const struct table_column columns[] = {
	    {.title = "NODE"}, {.title = "N", .right = true}, {.title = "WHAT"}};
	struct table *table = table_new(columns, 3);
	char *text;

	assert_int_equal(setenv("LC_ALL", "C", 1), 0);
	table_add(table,
		  (const char *[]){"a", "1",
				   "the disk was busy for all of the time, and its "
				   "requests took long"});
	table_add(table, (const char *[]){"b", "20", "short"});
	table_add(table,
		  (const char *[]){"c", "3", "0123456789012345678901234567890123456789"});
	text = show(table, 40);
	assert_string_equal(text, "NODE  N WHAT\n"
				  "a     1 the disk was busy for all of the\n"
				  "        time, and its requests took long\n"
				  "b    20 short\n"
				  "c     3 01234567890123456789012345678901\n"
				  "        23456789\n");
	free(text);
}
