/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RECIPE_RECIPE_H
#define CT_INPUT_RECIPE_RECIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "input/recipe/value.h"

/*
 * A recipe: which nodes to watch, what to record there, and what to run
 * meanwhile. docs/recipe.md tells each key. Everything is checked once it is
 * read: names are fit for files and for the command line of ssh, roles name
 * nodes that are there, and every %(key)s in a command has a value.
 */
struct recipe_node {
	char *name;    /* fit for a file name, unlike any other node's */
	char *address; /* a host name or an address, without brackets */
	char *user;    /* NULL: ssh's choice */
	int port;      /* 0: ssh's choice */
	struct recipe_place place;
};

struct recipe_role {
	char *name;
	size_t *node; /* indices, each once, at least one */
	size_t nodes, room;
};

enum recipe_domain { RECIPE_KERNEL, RECIPE_USERSPACE, RECIPE_DOMAINS };

struct recipe_event {
	char *name;    /* may have * in it */
	bool required; /* else of a preset: left out where the tracer has none such */
};

struct recipe_events {
	struct recipe_event *item;
	size_t count, room;
};

struct recipe_channel {
	int64_t subbuf_size; /* bytes, a power of two */
	int64_t num_subbuf;  /* a power of two */
	enum recipe_mode { RECIPE_DISCARD, RECIPE_OVERWRITE } mode;
	int64_t switch_us, read_us; /* timers; -1: the tracer's default, 0: none */
};

struct recipe_alias {
	char *name, *alias; /* the same where there is no alias */
};

struct recipe_aliases {
	struct recipe_alias *item;
	size_t count, room;
};

struct recipe_sar {
	bool on;
	int64_t interval_s;
	char *keywords; /* of sadc -S, with commas; "": the basic activities */
};

struct recipe_capture {
	bool on;
	struct text_list interfaces;
	char *filter; /* of tcpdump, or "" */
	int64_t snaplen;
};

struct recipe_process {
	bool on, whitelist;
	int64_t interval_ms;
	struct text_list match; /* shell patterns of names; none: all processes */
	char *directory;        /* of the whitelist; NULL: the collector's own */
};

/* A shell command with its %(key)s still in it. */
struct recipe_command {
	char *text;
	struct recipe_place place;
};

struct recipe_sensor {
	char *name;
	struct recipe_command command;
	int64_t interval_ms;
	struct text_list roles; /* none: all nodes */
	bool preset;            /* its command is ours */
	struct recipe_place place;
};

enum recipe_method { RECIPE_FOREGROUND, RECIPE_BACKGROUND, RECIPE_LOCAL };

struct recipe_execute {
	struct recipe_command command;
	struct text_list roles; /* none: all nodes; of RECIPE_LOCAL none */
	enum recipe_method method;
	int64_t timeout_ms; /* 0: none */
	bool sudo;
};

enum recipe_policy { RECIPE_ROUND_ROBIN, RECIPE_LEAST_BUSY };

struct recipe_tasks {
	char *name;
	struct recipe_command command;
	char *pattern; /* of files on this machine, or NULL: */
	struct text_list inputs;
	struct text_list roles;
	enum recipe_policy policy;
	int64_t parallel, interval_ms, pending, timeout_ms;
	struct recipe_place place; /* of the inputs */
};

struct recipe_parameter {
	char *key;
	struct text_list values; /* at least one, each once */
	bool *plain;             /* of each: it was written without quotes */
	struct recipe_place place;
};

struct recipe {
	struct recipe_value tree; /* as read, with all imports */
	char *name;               /* fit for a file name */
	char *username, *gateway; /* or NULL */
	char *tracedir, *tmpdir;  /* tmpdir may be NULL */
	enum recipe_fetch { RECIPE_FETCH_ALL, RECIPE_FETCH_NONE } fetch;
	struct text_list ssh_options;
	struct recipe_node *node;
	size_t nodes, node_room;
	struct recipe_role *role; /* the last one is "all" */
	size_t roles, role_room;
	struct recipe_events event[RECIPE_DOMAINS];
	struct recipe_events syscall; /* "*": all */
	struct text_list context[RECIPE_DOMAINS];
	struct recipe_channel channel[RECIPE_DOMAINS];
	struct recipe_aliases filesystems, interfaces;
	struct recipe_sar sar;
	struct recipe_capture capture;
	struct recipe_process process;
	struct recipe_sensor *sensor;
	size_t sensors, sensor_room;
	struct recipe_execute *execute;
	size_t executes, execute_room;
	struct recipe_parameter *parameter;
	size_t parameters, parameter_room;
	struct recipe_tasks *tasks;
	size_t task_queues, task_room;
};

/*
 * Read and check a recipe. 0; or -1 with at least one mistake, sorted, and
 * nothing in `recipe`, whose memory is the caller's.
 */
int recipe_read(struct recipe *recipe, const char *path,
		struct recipe_mistakes *mistakes);

void recipe_clear(struct recipe *recipe);

/* By name; NULL if there is none. */
const struct recipe_role *recipe_find_role(const struct recipe *recipe, const char *name);

/* Whether a node is in a role. */
bool recipe_role_has(const struct recipe_role *role, size_t node);

const char *recipe_library_version(void); /* "0.2.5" */

#endif
