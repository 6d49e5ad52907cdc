/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples, and figures of processors and messages, for Graphite: the rows of graphite.sql
 * in carbon's format. They are written to a file, or sent to a server without loss.
 *
 * carbon acknowledges nothing, and data that TCP accepted can be lost with the
 * connection. So each batch has its own connection: after sending, our side is closed,
 * and carbon, which reads up to that end, closes its side. Only then is the batch
 * delivered. If the connection fails before, the batch is sent again, after growing
 * pauses, for as long as
 * --retry says. A point that arrives twice is harmless: its time and value are the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv_text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/nsec.h"
#include "base/output.h"
#include "base/utf8.h"
#include "export/format.h"
#include "timeline/reader.h"

static struct {
	char *to, *prefix, *state, *dashboard;
	struct text_list activities;
	int interval, batch, retry;
	char *host, *port; /* parts of `to` */
} options = {.interval = 1, .batch = 20000, .retry = 60};

static const struct option_row option_rows[] = {
    {0, "to", OPTION_STRING, &options.to, "HOST[:PORT]",
     "send to a carbon server (default port: 2003)", 0, 0},
    {0, "prefix", OPTION_STRING, &options.prefix, "NAME",
     "first part of names (default: the name of the run, or cluster)", 0, 0},
    {0, "activity", OPTION_LIST, &options.activities, "GLOB",
     "only such activities (default: all but process); may be repeated", 0, 0},
    {0, "interval", OPTION_INT, &options.interval, "SECONDS",
     "step of metrics that are computed from events (default: 1)", 1, 86400},
    {0, "batch", OPTION_INT, &options.batch, "POINTS",
     "points per connection, which arrive or are sent again (default: 20000)", 1, 1e6},
    {0, "retry", OPTION_INT, &options.retry, "SECONDS",
     "how long to keep trying to send a batch (default: 60)", 0, 1e6},
    {0, "state", OPTION_STRING, &options.state, "FILE",
     "record in FILE how much was sent, and continue from there", 0, 0},
    {0, "dashboard", OPTION_STRING, &options.dashboard, "FILE",
     "also write a dashboard for Grafana", 0, 0},
    {0},
};

/* Parts with dots between them. */
static bool is_prefix(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t length = strlen(text);

	return length && *text != '.' && text[length - 1] != '.' && !strstr(text, "..") &&
	       strspn(text, letters) == length;
}

/* HOST, HOST:PORT, [IPV6]:PORT or an IPv6 address alone, into host and port. */
static int split_address(const char *address, struct error *error)
{
	const bool is_bracketed = *address == '[';
	const char *host = address + is_bracketed;
	size_t length = strcspn(host, is_bracketed ? "]" : ":");
	const char *rest = host + length;

	if (is_bracketed && (!*rest || (rest[1] && rest[1] != ':')))
		return error_set(error, "invalid address '%s' (expected HOST:PORT)",
				 address);
	rest += is_bracketed;
	if (!is_bracketed && *rest && strchr(rest + 1, ':')) {
		length = strlen(host);
		rest = "";
	}
	if (*rest && !rest[1])
		return error_set(error, "missing port after the colon in '%s'", address);
	if (!length)
		return error_set(error,
				 "missing host in the address (expected HOST:PORT)");
	options.host = mem_strndup(host, length);
	options.port = mem_strdup(*rest ? rest + 1 : "2003");
	return 0;
}

static int make_plan(const char *output, struct export_plan *plan, struct error *error)
{
	if (options.prefix && !is_prefix(options.prefix))
		return error_misuse(error,
				    "--prefix: invalid value '%s' (expected letters, "
				    "digits, - and _, with dots between parts)",
				    options.prefix);
	if (options.to && output)
		return error_misuse(error, "--to and --output cannot be used together");
	if (options.state && !options.to)
		return error_misuse(error, "--state requires --to");
	plan->target = options.to ? EXPORT_TO_ITSELF : EXPORT_TO_FILE;
	return options.to && split_address(options.to, error)
		   ? error_prefix(error, "--to")
		   : 0;
}

struct graphite {
	struct export *export;
	struct cell value[5]; /* parameters of graphite.sql */
	uint64_t points, same_second;
	char *path; /* path of the previous point */
	int64_t seconds;
	struct bytes batch;
	unsigned waiting; /* points in the batch */
	/* The state file holds the number of delivered points, from which an export
	 * continues after it was killed or gave up. */
	char *key;     /* what is exported; a state of another is refused */
	uint64_t skip; /* the first points, which were delivered before */
	uint64_t delivered;
};

/* Add a point, the line "PATH VALUE SECONDS". */
static void add_line(struct bytes *bytes, const struct cell *path, int64_t seconds,
		     double point)
{
	const struct cell value = {.type = CELL_REAL, .real = point};
	char number[NUMBER_TEXT];
	int size = (int)csv_number(number, &value);

	bytes_print(bytes, "%s %.*s %" PRId64 "\n", path->bytes, size, number, seconds);
}

/* The time a server may be silent before a connection counts as broken. */
static const struct timeval silence = {.tv_sec = 60};

/* Set the error of a call that failed. A timeout ends a call with EAGAIN, and connect()
 * with EINPROGRESS. */
static int told_errno(struct error *error)
{
	if (errno == EAGAIN || errno == EINPROGRESS)
		errno = ETIMEDOUT;
	return error_set(error, "%s", strerror(errno));
}

/* To the first of the host's addresses that answers. */
static int open_connection(struct error *error)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all = NULL;
	int fd = -1, status = getaddrinfo(options.host, options.port, &hints, &all);

	if (status)
		return error_set(error, "%s",
				 status == EAI_SYSTEM ? strerror(errno)
						      : gai_strerror(status));
	for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC,
			    at->ai_protocol);
		if (fd < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence)) ||
		    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence)) ||
		    connect(fd, at->ai_addr, at->ai_addrlen)) {
			told_errno(error);
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(all);
	return fd;
}

/* Return 1 if the server closed its side, 0 if not, or -1 with errno. Skip what it sends;
 * with MSG_DONTWAIT do not wait. */
static int has_closed(int fd, int flags)
{
	char bytes[4096];
	ssize_t got;

	do
		got = recv(fd, bytes, sizeof(bytes), flags);
	while (got > 0 || (got < 0 && errno == EINTR));
	return got == 0 ? 1 : flags && errno == EAGAIN ? 0 : -1;
}

static int send_all(int fd, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return -1;
		data += sent < 0 ? 0 : sent;
		size -= sent < 0 ? 0 : (size_t)sent;
	}
	return 0;
}

/* Send the batch on a connection of its own. With an error nothing is known of what was
 * read: a server that closed before we did has not read our end, nor all before, maybe.
 */
static int deliver_once(const struct bytes *batch, struct error *error)
{
	int fd = open_connection(error), closed, status = 0;

	if (fd < 0)
		return -1;
	error_clear(error); /* errors of earlier addresses */
	closed =
	    send_all(fd, batch->data, batch->size) ? -1 : has_closed(fd, MSG_DONTWAIT);
	if (closed > 0)
		status = error_set(error, "closed before all was sent");
	else if (closed < 0 || shutdown(fd, SHUT_WR) || has_closed(fd, 0) < 0)
		status = told_errno(error);
	close(fd);
	return status;
}

#define FORMAT "clustertrace-graphite"

/* The state is one object of JSON. Without a file nothing was delivered. */
static int read_state(struct graphite *graphite, struct error *error)
{
	const char *path = options.state, *format, *wanted;
	json_t *state;
	nsec_t count = 0;
	int status = 0;

	if (!path || access(path, F_OK) != 0)
		return 0;
	state = json_read_object(path, error);
	if (!state)
		return -1;
	format = json_text(state, "format");
	wanted = json_text(state, "export");
	if (!format || strcmp(format, FORMAT) != 0 || !wanted ||
	    json_nsec(state, "points", &count) || count < 0)
		status = error_set(
		    error, "%s: not the state of an export to graphite; use another name",
		    path);
	else if (strcmp(wanted, graphite->key) != 0)
		status = error_set(error,
				   "%s: the state of another export (%s); repeat that "
				   "one, or use another file",
				   path, wanted);
	graphite->skip = graphite->delivered = (uint64_t)count;
	json_decref(state);
	return status;
}

/* Replaces the file at once. */
static int write_state(const struct graphite *graphite, struct error *error)
{
	struct output output;
	json_t *state;

	if (output_open(&output, options.state, error))
		return -1;
	state = json_object();
	json_set_text(state, "format", FORMAT);
	json_set_text(state, "export", graphite->key);
	json_object_set_new(state, "points", json_integer((int64_t)graphite->delivered));
	json_dumpf(state, output.file, 0);
	json_decref(state);
	return output_commit(&output, error);
}

/* The pauses before a batch is sent again: twice as long each time. */
enum { SHORTEST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 5000 };

/* Again and again, until the batch is there or patience ends. */
static int deliver_batch(struct graphite *graphite, struct error *error)
{
	double until_ns = (double)nsec_monotonic() + options.retry * 1e9;
	unsigned pause_ms = SHORTEST_PAUSE_MS;

	while (deliver_once(&graphite->batch, error)) {
		if ((double)nsec_monotonic() + pause_ms * 1e6 > until_ns) {
			error_prefix(error, "%s", options.to);
			return error_set(error,
					 "%s; %" PRIu64 " points were delivered, %sthe "
					 "same command go%s on from there",
					 error_text(error), graphite->delivered,
					 options.state ? "" : "--state FILE would let ",
					 options.state ? "es" : "");
		}
		if (pause_ms == SHORTEST_PAUSE_MS)
			problem_add(&graphite->export->notes, options.to, PROBLEM_NOTE, 1,
				    "%s, tried again", error_text(error));
		error_clear(error);
		usleep(pause_ms * 1000);
		pause_ms =
		    pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
	}
	return 0;
}

static int end_batch(struct graphite *graphite, struct error *error)
{
	if (!graphite->waiting)
		return 0;
	if (options.to ? deliver_batch(graphite, error)
		       : export_write(graphite->export, &graphite->batch, 0, error))
		return -1;
	graphite->delivered += graphite->waiting;
	graphite->waiting = 0;
	graphite->batch.size = 0;
	return options.state ? write_state(graphite, error) : 0;
}

/* Count points of a path in one second: Graphite keeps only the last. */
static void count_second(struct graphite *graphite, const char *path, int64_t seconds)
{
	if (!graphite->path || strcmp(path, graphite->path) != 0) {
		free(graphite->path);
		graphite->path = mem_strdup(path);
	} else {
		graphite->same_second += seconds == graphite->seconds;
	}
	graphite->seconds = seconds;
}

/* Add a point: path, second, value. Skip strings and infinite values. */
static int add_point(void *context, const struct cell *row, struct error *error)
{
	struct graphite *graphite = context;
	int64_t seconds = row[1].integer;
	double value = cell_number(&row[2]);

	if (!isfinite(value))
		return 0;
	count_second(graphite, row->bytes, seconds);
	if (++graphite->points % 1000 == 0)
		progress_update(&graphite->export->progress, "points", graphite->points,
				0, 0);
	if (graphite->points <= graphite->skip)
		return 0;
	add_line(&graphite->batch, row, seconds, value);
	return ++graphite->waiting < (unsigned)options.batch ? 0
							     : end_batch(graphite, error);
}

static int write_dashboard(void *context, const struct cell *row, struct error *error)
{
	struct output output;

	(void)context;
	if (output_open(&output, options.dashboard, error))
		return -1;
	if (statement_json(output.file, row, error) == 0)
		return output_commit(&output, error);
	output_discard(&output);
	return -1;
}

/* Send the remaining points, and print notes. */
static int end_points(struct graphite *graphite, struct error *error)
{
	struct export *export = graphite->export;

	if (graphite->same_second)
		problem_add(&export->notes, export->path, PROBLEM_NOTE,
			    graphite->same_second,
			    "%" PRIu64 " samples fall into the second of the one before, "
			    "Graphite keeps the last of a second",
			    graphite->same_second);
	if (!graphite->points)
		problem_add(&export->notes, export->path, PROBLEM_EMPTY, 1,
			    "no sample, and no event about processors or "
			    "messages");
	if (end_batch(graphite, error))
		return -1;
	if (options.state)
		unlink(options.state); /* all is there */
	return 0;
}

/* Run a statement. The dashboard is the last one, after all points. */
static int run_statement(void *context, const struct statement *statement,
			 struct error *error)
{
	struct graphite *graphite = context;
	struct export *export = graphite->export;
	bool is_dashboard = strcmp(statement->name, "dashboard") == 0;

	if (strcmp(statement->name, "notes") == 0)
		return statement_notes(export, statement, graphite->value, error);
	if (is_dashboard && end_points(graphite, error))
		return -1;
	if (is_dashboard && !options.dashboard)
		return 0;
	return query_rows(export->timeline, statement->sql, graphite->value,
			  is_dashboard ? write_dashboard : add_point, graphite, error);
}

/* Return a string that identifies the export: the timeline's contents and the selection.
 * It is valid in a JSON string. */
static char *export_key(const struct export *export, const char *globs)
{
	struct stat status = {0};
	char *path = realpath(export->path, NULL), *clean;
	struct bytes key = {0};

	stat(export->path, &status);
	bytes_print(&key,
		    "%s of %lld bytes at %lld.%09ld to %s: %s %" PRId64 " %" PRId64
		    " %d %s",
		    path ? path : export->path, (long long)status.st_size,
		    (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, options.to,
		    options.prefix ? options.prefix : "", export->scope.begin_ns,
		    export->scope.end_ns, options.interval, globs);
	for (size_t i = 0; i < export->scope.nodes; i++)
		bytes_print(&key, " %d", export->scope.node[i].chosen);
	bytes_add_byte(&key, 0);
	free(path);
	clean = utf8_clean((char *)key.data);
	bytes_clear(&key);
	return clean;
}

/* Return a list such as ["net","cpu*"]. The caller frees it. */
static char *make_list(const struct text_list *words)
{
	struct bytes list = {0};

	for (size_t i = 0; i < words->count; i++) {
		bytes_add_byte(&list, i ? ',' : '[');
		json_add_word(&list, words->item[i]);
	}
	bytes_add(&list, "]", sizeof("]"));
	return (char *)list.data;
}

static int run_graphite_export(struct export *export, struct error *error)
{
	const struct scope *scope = &export->scope;
	AUTOFREE char *globs = make_list(&options.activities);
	struct graphite graphite = {
	    .export = export,
	    .key = export_key(export, globs),
	    .value = {cell_of_integer(scope->begin_ns),
		      cell_of_integer(scope->end_ns),
		      {.type = CELL_NULL},
		      cell_of_integer(options.interval * NSEC_PER_SEC)}};
	int status;

	if (options.prefix)
		cell_set_text(&graphite.value[2], options.prefix, strlen(options.prefix));
	if (options.activities.count)
		cell_set_text(&graphite.value[4], globs, strlen(globs));
	status = read_state(&graphite, error) || statement_chosen(export, error) ||
			 statement_each(export->timeline, graphite_sql, graphite.value,
					run_statement, &graphite, error)
		     ? -1
		     : 0;
	bytes_clear(&graphite.batch);
	free(graphite.path);
	free(graphite.key);
	return status;
}

const struct export_format export_graphite = {
    .name = "graphite",
    .summary = "samples as points for Graphite, and a dashboard for Grafana",
    .usage = "[OPTION...] RUN.db [--to HOST:PORT | -o FILE]",
    .rows = option_rows,
    .plan = make_plan,
    .run = run_graphite_export,
};
