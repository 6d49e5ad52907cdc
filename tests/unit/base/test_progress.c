/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../test.h"

/* A terminal of our own in the place of stderr. */
static int terminal, back;

static int set_up(void **state)
{
	int other;

	(void)state;
	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
		return -1;
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	back = dup(STDERR_FILENO);
	fcntl(terminal, F_SETFL, O_NONBLOCK);
	return dup2(other, STDERR_FILENO) < 0 || close(other) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	dup2(back, STDERR_FILENO);
	return close(back) | close(terminal);
}

/* Return the terminal's new output, which arrives bit by bit. */
static const char *shown(void)
{
	static char text[4096];
	struct pollfd ready = {.fd = terminal, .events = POLLIN};
	size_t length = 0;
	ssize_t count;

	fflush(stderr);
	while (poll(&ready, 1, 100) > 0 &&
	       (count = read(terminal, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)count;
	text[length] = '\0';
	return text;
}

static void update(struct progress *progress)
{
	progress_update(progress, "reading", 2500000, 3000000, 110000000);
}

FIXTURE_TEST(a_line_is_drawn_and_taken_away, set_up, tear_down)
{
	struct progress progress;
	const char *text;

	progress_init(&progress, false);
	update(&progress);
	assert_string_equal(shown(), ""); /* short work shows nothing */
	progress.next_ns = 0;
	update(&progress);
	text = shown();
	assert_non_null(strstr(text, "reading: 2.5 million events"));
	assert_non_null(strstr(text, ", 3 of 110 MB, "));
	assert_non_null(strstr(text, " s left"));
	update(&progress);
	assert_string_equal(shown(), ""); /* not more often than one can read */
	progress_end(&progress);
	assert_string_equal(shown(), "\r\033[K");
	progress_end(&progress);
	assert_string_equal(shown(), "");
}

FIXTURE_TEST(quiet_is_quiet, set_up, tear_down)
{
	struct progress progress;

	progress_init(&progress, true);
	progress.next_ns = 0;
	update(&progress);
	progress_end(&progress);
	assert_string_equal(shown(), "");
}

FIXTURE_TEST(only_a_terminal_is_drawn_on, set_up, tear_down)
{
	struct progress progress;
	int null = open("/dev/null", O_WRONLY);

	dup2(null, STDERR_FILENO);
	close(null);
	progress_init(&progress, false);
	assert_false(progress.shown);
}
