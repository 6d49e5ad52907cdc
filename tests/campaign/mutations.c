/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutations COUNT SEED FINDINGS KIND=FILE:COMMAND;COMMAND...: damage a file, run every
 * command on it, and put it back, COUNT times over all kinds in turn. A finding is a
 * program that ends by a signal, with another status than 0 to 3, with a word of a
 * sanitizer, or after more than ten times its usual time; its file is kept in FINDINGS.
 * Commands are words without quotes; they run in the working directory and may read and
 * write there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KINDS = 32, COMMANDS = 16, WORDS = 32, SLOW = 10, PATIENCE_S = 60 };
#define LEAST_S 1.0 /* less is nothing that an unquiet machine does not do by itself */

struct command {
	char *text;
	char *word[WORDS];
	double usual_s;
};

struct kind {
	char *name, *path;
	unsigned char *bytes;
	size_t size;
	struct command command[COMMANDS];
	size_t commands;
	uint64_t mutations;
};

static struct kind kinds[KINDS];
static size_t kind_count;
static uint64_t state, findings, runs;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

static void die(const char *what)
{
	fprintf(stderr, "mutations: %s: %s\n", what, strerror(errno));
	exit(2);
}

static unsigned char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	unsigned char *bytes;

	if (!file || fstat(fileno(file), &status))
		die(path);
	*size = (size_t)status.st_size;
	bytes = malloc(*size + 1);
	if (!bytes || fread(bytes, 1, *size, file) != *size)
		die(path);
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		die(path);
}

/* Numbers that programs trip over, and what texts are made of. */
static void put_odd(unsigned char *at, size_t capacity)
{
	static const uint64_t odd[] = {
	    0,          1,          0x7f,       0x80,      0xff,       0x7fff,    0xffff,
	    0x7fffffff, 0x80000000, UINT32_MAX, INT64_MAX, UINT64_MAX, 1000000000};
	static const char *const texts[] = {"-1",    "9223372036854775807",
					    "1e308", "\"",
					    "{",     "}",
					    "\n",    ",",
					    "\0",    "-9223372036854775808",
					    "null",  "3100000000000000000"};
	uint64_t number = odd[draw(sizeof(odd) / sizeof(*odd))];
	const char *text = texts[draw(sizeof(texts) / sizeof(*texts))];
	size_t size = draw(2) ? (size_t)1 << draw(4) : 0;
	const void *from = size ? (const void *)&number : text;

	if (!size)
		size = *text ? strlen(text) : 1;
	memcpy(at, from, size < capacity ? size : capacity);
}

/* A damaged copy, which may be shorter or a little longer. */
static unsigned char *mutate(const unsigned char *bytes, size_t *size)
{
	size_t capacity = *size + 4096, many = 1 + draw(4), at, length, to;
	unsigned char *new = malloc(capacity);

	if (!new)
		die("memory");
	memcpy(new, bytes, *size);
	for (size_t i = 0; i < many && *size; i++) {
		at = draw(*size);
		length = 1 + draw(*size - at < 256 ? *size - at : 256);
		switch (draw(8)) {
		case 0:
			new[at] ^= (unsigned char)(1u << draw(8));
			break;
		case 1:
			new[at] = (unsigned char)draw(256);
			break;
		case 2:
		case 3:
			put_odd(new + at, *size - at);
			break;
		case 4: /* gone */
			memmove(new + at, new + at + length, *size - at - length);
			*size -= length;
			break;
		case 5: /* once more */
			if (*size + length > capacity)
				break;
			memmove(new + at + length, new + at, *size - at);
			*size += length;
			break;
		case 6: /* from elsewhere */
			to = draw(*size - length + 1);
			memmove(new + to, new + at, length);
			break;
		default: /* cut, now and then */
			if (draw(4) == 0)
				*size = at;
			else
				memset(new + at, (int)draw(2) * 0xff, length);
		}
	}
	return new;
}

/* Its status, and the processor's time, which a busy machine does not change. */
static int run_child(const struct command *command, double *took)
{
	struct rusage use;
	const struct rlimit most = {256u << 20, 256u << 20};
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		int out = open("/dev/null", O_RDWR);
		int err = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0666);

		dup2(out, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		setrlimit(RLIMIT_FSIZE, &most);
		alarm(PATIENCE_S);
		execvp(command->word[0], command->word);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &use) < 0)
		if (errno != EINTR)
			die("wait4");
	*took = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	runs++;
	return status;
}

static bool said_so(void)
{
	size_t size;
	char *text = (char *)read_file("said", &size);
	bool found;

	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] ? text[i] : ' ';
	found = strstr(text, "runtime error") || strstr(text, "Sanitizer");
	free(text);
	return found;
}

/* Return what is wrong with a run, or NULL. */
static const char *judge(const struct command *command)
{
	static char text[200];
	double took;
	int status = run_child(command, &took);

	if (said_so())
		return "a sanitizer's word";
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "ended by signal %d after %.1f s",
			 WTERMSIG(status), took);
		return text;
	}
	if (WEXITSTATUS(status) > 3) {
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
		return text;
	}
	if (took < LEAST_S || took < SLOW * command->usual_s)
		return NULL;
	snprintf(text, sizeof(text), "%.2f s, %.2f s unmutated", took, command->usual_s);
	return text;
}

static void keep(const struct kind *kind, const struct command *command,
		 const char *directory, const char *why, const unsigned char *bytes,
		 size_t size)
{
	char path[4096];
	size_t length;
	unsigned char *said = read_file("said", &length);

	findings++;
	snprintf(path, sizeof(path), "%s/%s-%" PRIu64, directory, kind->name, findings);
	write_file(path, bytes, size);
	printf("%s: %s: %s (%s)\n", kind->name, why, command->text, path);
	strncat(path, ".said", sizeof(path) - strlen(path) - 1);
	write_file(path, said, length);
	free(said);
	fflush(stdout);
}

static void split(char *text, struct command *command)
{
	char *rest;
	size_t n = 0;

	command->text = strdup(text);
	for (char *word = strtok_r(text, " ", &rest); word && n < WORDS - 1;
	     word = strtok_r(NULL, " ", &rest))
		command->word[n++] = word;
}

/* KIND=FILE:COMMAND;COMMAND... */
static void add_kind(char *text)
{
	struct kind *kind = &kinds[kind_count++];
	char *file = strchr(text, '='), *commands = file ? strchr(file, ':') : NULL,
	     *rest;

	if (!commands || kind_count == KINDS) {
		fprintf(stderr, "mutations: '%s': want KIND=FILE:COMMAND;...\n", text);
		exit(2);
	}
	*file++ = *commands++ = '\0';
	kind->name = text;
	kind->path = file;
	kind->bytes = read_file(file, &kind->size);
	for (char *one = strtok_r(commands, ";", &rest); one && kind->commands < COMMANDS;
	     one = strtok_r(NULL, ";", &rest))
		split(one, &kind->command[kind->commands++]);
}

/* The longest of three. */
static void time_commands(struct kind *kind)
{
	for (size_t c = 0; c < kind->commands; c++) {
		struct command *command = &kind->command[c];

		for (int i = 0; i < 3; i++) {
			double took;
			int status = run_child(command, &took);

			if (took > command->usual_s)
				command->usual_s = took;
			if (!WIFEXITED(status) || WEXITSTATUS(status) > 3)
				printf("%s: fails unmutated (%#x): %s\n", kind->name,
				       (unsigned)status, command->text);
		}
	}
}

static void try(struct kind *kind, const char *directory)
{
	size_t size = kind->size;
	unsigned char *bytes = mutate(kind->bytes, &size);

	write_file(kind->path, bytes, size);
	for (size_t c = 0; c < kind->commands; c++) {
		const char *why = judge(&kind->command[c]);

		if (why)
			keep(kind, &kind->command[c], directory, why, bytes, size);
	}
	write_file(kind->path, kind->bytes, kind->size);
	kind->mutations++;
	free(bytes);
}

int main(int argc, char **argv)
{
	uint64_t count;

	if (argc < 5) {
		fprintf(stderr,
			"usage: mutations COUNT SEED FINDINGS KIND=FILE:COMMAND;...\n");
		return 2;
	}
	count = strtoull(argv[1], NULL, 10);
	state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	for (int i = 4; i < argc; i++)
		add_kind(argv[i]);
	for (size_t k = 0; k < kind_count; k++)
		time_commands(&kinds[k]);
	for (uint64_t i = 0; i < count; i++) {
		try(&kinds[i % kind_count], argv[3]);
		if ((i + 1) % 100 == 0)
			fprintf(stderr,
				"mutations: %" PRIu64 " of %" PRIu64 ", %" PRIu64
				" findings\n",
				i + 1, count, findings);
	}
	for (size_t k = 0; k < kind_count; k++) {
		printf("%-12s %5" PRIu64 " mutations; unmutated", kinds[k].name,
		       kinds[k].mutations);
		for (size_t c = 0; c < kinds[k].commands; c++)
			printf(" %.3f", kinds[k].command[c].usual_s);
		printf(" s\n");
	}
	printf("%" PRIu64 " mutations, %" PRIu64 " runs, %" PRIu64 " findings\n", count,
	       runs, findings);
	return findings ? 1 : 0;
}
