/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/spill.h"

extern char **environ;

static const struct {
	const char *format, *terminal;
} terminals[] = {
    {"eps", "postscript eps color solid 14 size 18cm,9cm"},
    {"png", "pngcairo size 1200,600"},
    {"pdf", "pdfcairo size 18cm,9cm"},
};

static const char *terminal_of(const char *format)
{
	for (size_t i = 0; i < sizeof(terminals) / sizeof(*terminals); i++)
		if (!strcmp(terminals[i].format, format))
			return terminals[i].terminal;
	return NULL;
}

int gnuplot_knows(const char *format)
{
	return terminal_of(format) != NULL;
}

/* In single quotes nothing has a meaning but themselves, which are doubled. */
static void put_quoted(FILE *script, const char *text)
{
	fputc('\'', script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', script);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, script);
	}
	fputc('\'', script);
}

static void write_script(const struct line_plot *plot, const char *terminal,
			 const char *path, FILE *script)
{
	char begin[NSEC_TEXT];

	fprintf(script, "set terminal %s noenhanced\nset output ", terminal);
	put_quoted(script, path);
	fputs("\nset title ", script);
	put_quoted(script, plot->title);
	fputs("\nset ylabel ", script);
	put_quoted(script, plot->unit);
	fprintf(script, "\nset xlabel 'seconds since %.23s UTC'\nset grid\n",
		nsec_format_utc(begin, plot->begin_ns));
	fputs("set key outside bottom center horizontal\nset yrange [0:", script);
	if (plot->most > 0)
		fprintf(script, "%g", plot->most);
	fprintf(script, "]\nset xrange [0:%.9f]\n",
		(double)nsec_sub(plot->end_ns, plot->begin_ns) / 1e9);
	for (size_t i = 0; i < plot->count; i++) {
		fprintf(script, "$s%zu << END\n", i);
		for (size_t k = 0; k < plot->series[i].points; k++)
			fprintf(script, "%.9f %.15g\n",
				(double)nsec_sub(plot->series[i].point[k].at_ns,
						 plot->begin_ns) /
				    1e9,
				plot->series[i].point[k].value);
		fputs("END\n", script);
	}
	for (size_t i = 0; i < plot->count; i++) {
		fprintf(script, "%s$s%zu using 1:2 with lines lw 1.5 lc rgb '%s' title ",
			i ? ", " : "plot ", i, line_plot_colour(i));
		put_quoted(script, plot->series[i].name);
	}
	fputs("\n", script);
}

/* Start it with the script's file as its input; its talk goes nowhere. */
static int start(int input, pid_t *pid)
{
	char name[] = "gnuplot", plain[] = "-d", input_word[] = "-";
	char *arguments[] = {name, plain, input_word,
			     NULL}; /* -d: no settings of the user */
	posix_spawn_file_actions_t actions;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
					 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
					 0);
	status = posix_spawnp(pid, name, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

static int run(FILE *script, struct error *error)
{
	int status;
	pid_t pid;

	if (fflush(script) || lseek(fileno(script), 0, SEEK_SET) < 0)
		return error_errno(error, "gnuplot's script");
	status = start(fileno(script), &pid);
	if (status == ENOENT)
		return error_set(error, "gnuplot: not installed, want it for other "
					"formats than svg");
	if (status) {
		errno = status;
		return error_errno(error, "gnuplot");
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(error, "gnuplot");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(error, "gnuplot: failed with status %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : status);
}

int gnuplot_draw(const struct line_plot *plot, const char *format, const char *path,
		 struct error *error)
{
	FILE *script = spill_open();
	int status;

	if (!script)
		return error_errno(error, "gnuplot's script");
	write_script(plot, terminal_of(format), path, script);
	status = run(script, error);
	fclose(script);
	return status;
}
