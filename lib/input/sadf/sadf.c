/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/sadf/sadf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "input/csv.h"

#define COMMENTS_REMEMBERED 65536
#define PROCESSOR_SECONDS   600 /* a broken log must not keep sadf busy for ever */

struct sadf_reader {
	const struct sadf_sink *sink;
	struct faults *faults;
	struct sadf_metrics *metrics;
	const char *activity;   /* of the row before, or NULL */
	struct intmap comments; /* by their hash: handed on already */
	uint64_t rows;          /* and marks */
};

/* What every line begins with. */
struct sadf_head {
	char *host, *interval, *stamp;
};

/* Fill a row's stamps. False, with a fault, where they are none. */
static bool take_stamps(struct sadf_reader *reader, const struct sadf_head *head,
			struct sadf_row *row)
{
	const char *stamp = head->stamp;

	row->host = head->host;
	if (number_seconds(stamp, &row->realtime_ns) ||
	    !nsec_is_stamp(row->realtime_ns)) {
		/* A date is what sadf prints without -U. */
		faults_add(reader->faults, "broken", row->line,
			   strspn(stamp, "0123456789.") == strlen(stamp)
			       ? "'%s' is no time in seconds between 1933 and 2070, left "
				 "out"
			       : "'%s' is no time in seconds, want sadf -U, left out",
			   stamp);
		return false;
	}
	if (number_seconds(head->interval, &row->interval_ns)) {
		faults_add(reader->faults, "broken", row->line,
			   "'%s' is no interval in seconds, left out", head->interval);
		return false;
	}
	return true;
}

/* Whether a text would be a number if it had a point for its comma. */
static bool has_decimal_comma(const char *text)
{
	size_t whole = strspn(text, "-0123456789");

	return whole && text[whole] == ',' && text[whole + 1] &&
	       text[whole + 1 + strspn(text + whole + 1, "0123456789")] == '\0';
}

/* Complete a row by its item, metric and text, and hand it on. */
static int give_value(struct sadf_reader *reader, struct sadf_row *row)
{
	row->about =
	    sadf_metrics_find(reader->metrics, row->item, row->metric, reader->activity);
	reader->activity = row->about.activity;
	row->value = (double)NAN;
	if (row->about.kind != METRIC_TEXT && number_real(row->text, &row->value)) {
		if (has_decimal_comma(row->text))
			faults_add(reader->faults, "locale", row->line,
				   "'%s' has a decimal comma, want LC_ALL=C sadf, left "
				   "out",
				   row->text);
		else
			faults_add(reader->faults, "broken", row->line,
				   "'%s' is no number, left out", row->text);
		return 0;
	}
	reader->rows++;
	return reader->sink->row(reader->sink->context, row);
}

/* Whether a comment was handed on already; from now on it was. */
static bool is_known(struct sadf_reader *reader, const struct sadf_mark *mark)
{
	uint64_t key = hash_text(HASH_INIT ^ (uint64_t)mark->realtime_ns, mark->text);
	int64_t value;

	if (intmap_get(&reader->comments, key, &value))
		return true;
	if (reader->comments.count < COMMENTS_REMEMBERED)
		intmap_put(&reader->comments, key, 1);
	return false;
}

/*
 * Whether a line is a restart or a comment, by the text after its stamp. It is
 * handed on, and `status` is what the sink says.
 */
static bool take_mark(struct sadf_reader *reader, const struct sadf_head *head,
		      const char *text, uint64_t line, int *status)
{
	static const char restart[] = "LINUX-RESTART", comment[] = "COM ";
	struct sadf_mark mark = {.host = head->host, .line = line};
	struct sadf_row stamps = {.line = line};

	if (strcmp(head->interval, "-1") != 0)
		return false;
	if (strncmp(text, comment, strlen(comment)) == 0) {
		mark.kind = SADF_COMMENT;
		mark.text = text + strlen(comment);
	} else if (strncmp(text, restart, strlen(restart)) == 0) {
		mark.kind = SADF_RESTART;
		mark.text = text + strlen(restart);
		mark.text += *mark.text == '\t';
	} else {
		return false;
	}
	reader->rows++;
	if (!take_stamps(reader, head, &stamps))
		return true;
	mark.realtime_ns = stamps.realtime_ns;
	if (reader->sink->mark && !(mark.kind == SADF_COMMENT && is_known(reader, &mark)))
		*status = reader->sink->mark(reader->sink->context, &mark);
	return true;
}

/* Cut a field off the front; NULL where no tab follows it. */
static char *cut(char **text)
{
	char *field = *text, *end = strchr(field, '\t');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return field;
}

/* ITEM METRIC VALUE */
static int take_value(struct sadf_reader *reader, struct sadf_row *row, char *text)
{
	row->item = cut(&text);
	row->metric = row->item ? cut(&text) : NULL;
	row->text = text;
	if (row->metric && !strchr(text, '\t'))
		return give_value(reader, row);
	faults_add(reader->faults, "broken", row->line,
		   "want HOST INTERVAL SECONDS ITEM METRIC VALUE with tabs between, left "
		   "out");
	return 0;
}

static int take_line(struct sadf_reader *reader, const struct line *line)
{
	struct sadf_row row = {.line = line->number};
	struct sadf_head head;
	char *text = line->text;
	int status = 0;

	head.host = cut(&text);
	head.interval = head.host ? cut(&text) : NULL;
	head.stamp = head.interval ? cut(&text) : NULL;
	if (!head.stamp)
		faults_add(reader->faults, "broken", line->number,
			   strchr(line->text, ';')
			       ? "a line of sadf -d, want LC_ALL=C sadf -p -U FILE -- "
				 "-A, left out"
			       : "no line of sadf -p, want HOST INTERVAL SECONDS ITEM "
				 "METRIC VALUE with tabs between, left out");
	else if (!take_mark(reader, &head, text, line->number, &status) &&
		 take_stamps(reader, &head, &row))
		status = take_value(reader, &row, text);
	return status;
}

static int read_lines(struct lines *lines, const struct sadf_sink *sink,
		      struct faults *faults)
{
	struct sadf_reader reader = {.sink = sink, .faults = faults};
	struct line line;
	int status = 0;

	reader.metrics = sadf_metrics_new();
	while (!status && lines_next(lines, &line)) {
		if (!line.ended)
			faults_add(faults, "truncated", line.number,
				   "the file ends within this line, left out");
		else if (line.length)
			status = take_line(&reader, &line);
	}
	if (!status && !reader.rows) {
		faults_add(faults, "empty", 0, "no sample in it");
		status = -1;
	}
	sadf_metrics_free(reader.metrics);
	intmap_clear(&reader.comments);
	return status;
}

int sadf_read(const char *path, const struct sadf_sink *sink,
	      struct problem_list *problems)
{
	struct faults faults;
	struct lines *lines;
	int status;

	faults_init(&faults, path, problems);
	lines = lines_open(path, &faults);
	if (!lines)
		return -1;
	status = read_lines(lines, sink, &faults);
	lines_close(lines);
	return status;
}

struct child {
	pid_t pid;
	int out;  /* to read from */
	int said; /* what it wrote to standard error, in memory */
};

/*
 * The child's environment. sadf reads its options, formats and locale from it,
 * so it gets nothing but the path. For free(), with its first text.
 */
static char **make_environment(void)
{
	const char *path = getenv("PATH");
	char **environment = mem_realloc(NULL, 3, sizeof(*environment));

	environment[0] = mem_printf("PATH=%s", path ? path : "/usr/bin:/bin");
	environment[1] = (char *)(uintptr_t) "LC_ALL=C";
	environment[2] = NULL;
	return environment;
}

/* 0 or an error number. */
static int spawn(const char *path, int out, int said, pid_t *pid)
{
	/* A name that begins with a dash must not become an option. */
	char *file = mem_printf("%s%s", *path == '-' ? "./" : "", path);
	char *arguments[8] = {(char *)(uintptr_t) "sadf",
			      (char *)(uintptr_t) "-p",
			      (char *)(uintptr_t) "-U",
			      file,
			      (char *)(uintptr_t) "--",
			      (char *)(uintptr_t) "-A",
			      NULL};
	char **environment = make_environment();
	posix_spawn_file_actions_t actions;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	status = posix_spawnp(pid, "sadf", &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment[0]);
	free(environment);
	free(file);
	return status;
}

/* 0 or an error number, and then nothing is open. */
static int start(struct child *child, const char *path)
{
	const struct rlimit limit = {PROCESSOR_SECONDS, PROCESSOR_SECONDS};
	int ends[2], status;

	child->said = memfd_create("sadf", MFD_CLOEXEC);
	if (child->said < 0)
		return errno;
	if (pipe2(ends, O_CLOEXEC)) {
		status = errno;
		close(child->said);
		return status;
	}
	status = spawn(path, ends[1], child->said, &child->pid);
	close(ends[1]);
	child->out = ends[0];
	if (status) {
		close(child->out);
		close(child->said);
		return status;
	}
	prlimit(child->pid, RLIMIT_CPU, &limit, NULL);
	return 0;
}

/* How the child ended, in words, if it failed; for free(). */
static char *wait_for(const struct child *child)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(child->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return mem_strdup(strerror(errno));
	if (WIFSIGNALED(status))
		return mem_printf("killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? mem_printf("exit status %d", WEXITSTATUS(status))
				   : NULL;
}

static void report(const struct child *child, const char *how, struct faults *faults)
{
	char said[201];
	ssize_t length = pread(child->said, said, sizeof(said) - 1, 0);

	said[length > 0 ? length : 0] = '\0';
	said[strcspn(said, "\r\n")] = '\0';
	faults_add(faults, "unreadable", 0, "sadf: %s%s%s%s, what it gave is used", said,
		   *said ? " (" : "", how, *said ? ")" : "");
}

/* Read all of its output and wait for its end. */
static int read_child(struct child *child, const struct sadf_sink *sink,
		      struct faults *faults)
{
	FILE *file = fdopen(child->out, "r");
	struct lines *lines;
	char *how;
	int status = -1;

	if (file) {
		lines = lines_from(file, faults);
		status = read_lines(lines, sink, faults);
		lines_close(lines);
		fclose(file);
	} else {
		faults_add(faults, "unreadable", 0, "%s", strerror(errno));
		close(child->out);
	}
	how = wait_for(child);
	/* Whom the sink ended early may well complain about its closed output. */
	if (how && status <= 0)
		report(child, how, faults);
	free(how);
	close(child->said);
	return status;
}

int sadf_read_binary(const char *path, const struct sadf_sink *sink,
		     struct problem_list *problems)
{
	struct faults faults;
	struct child child;
	struct stat file;
	int status;

	faults_init(&faults, path, problems);
	if (stat(path, &file) || !S_ISREG(file.st_mode)) {
		faults_add(&faults, "unreadable", 0, "%s",
			   stat(path, &file) ? strerror(errno) : "no plain file");
		return -1;
	}
	status = start(&child, path);
	if (!status)
		return read_child(&child, sink, &faults);
	if (status == ENOENT)
		faults_add(&faults, "unreadable", 0,
			   "no sadf here to read it with, want sysstat, or text of "
			   "LC_ALL=C sadf -p -U FILE -- -A");
	else
		faults_add(&faults, "unreadable", 0, "sadf: %s", strerror(status));
	return -1;
}
