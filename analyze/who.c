/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/who.h"

#include <assert.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"

bool who_is(const struct question *question, const char *word)
{
	const char *groups = question->analysis->groups;

	if (question->group)
		return strcmp(question->group, word) == 0;
	return strncmp(groups, word, strlen(word)) == 0 &&
	       (groups[strlen(word)] == ' ' || !groups[strlen(word)]);
}

static const struct thread_facts *facts_of(struct question *question,
					   const struct who *who)
{
	return question_thread(question, who->node, who->tid, who->at_ns);
}

int64_t who_pid(struct question *question, const struct who *who)
{
	const struct thread_facts *facts = facts_of(question, who);

	return facts ? facts->pid : -1;
}

const char *who_comm(struct question *question, const struct who *who)
{
	const struct thread_facts *facts = facts_of(question, who);

	/* The name as it is in the end: two names of one thread are not two threads. */
	return facts && *facts->comm ? facts->comm : who->comm ? who->comm : "";
}

const char *who_process(struct question *question, const struct who *who)
{
	const struct thread_facts *facts = facts_of(question, who);

	return facts && *facts->process ? facts->process : who_comm(question, who);
}

size_t who_head(struct question *question, const struct who *who,
		struct cell head[WHO_CELLS])
{
	struct cell node = cell_of_text(question_node(question, who->node));

	if (who_is(question, "process")) {
		head[0] = node;
		head[1] = cell_of_known(who_pid(question, who), -1);
		head[2] = cell_of_text(who_process(question, who));
		return 3;
	}
	if (who_is(question, "name")) {
		head[0] = cell_of_text(who_process(question, who));
		return 1;
	}
	if (who_is(question, "node")) {
		head[0] = node;
		return 1;
	}
	if (!who_is(question, "thread"))
		return 0;
	head[0] = node;
	head[1] = cell_of_known(who->tid, -1);
	head[2] = cell_of_known(who_pid(question, who), -1);
	head[3] = cell_of_text(who_comm(question, who));
	return 4;
}

size_t who_span_head(struct question *question, const struct thread_span *span,
		     struct cell head[WHO_SPAN_CELLS])
{
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};
	size_t heads = who_head(question, &who, head);

	if (!heads)
		head[heads++] = cell_of_text(question_node(question, span->node));
	if (who_is(question, "thread") || who_is(question, "priority"))
		head[heads++] = cell_of_known(span->priority, INT64_MIN);
	if (who_is(question, "cpu"))
		head[heads++] = cell_of_known(span->cpu, -1);
	return heads;
}

size_t who_columns(const struct question *question,
		   struct result_column columns[WHO_CELLS])
{
	static const struct result_column thread[] = {WHO_THREAD_COLUMNS};
	static const struct result_column process[] = {
	    {"node", "NODE", UNIT_TEXT},
	    {"pid", "PID", UNIT_ID},
	    {"process", "PROCESS", UNIT_TEXT},
	};
	static const struct result_column name[] = {{"process", "PROCESS", UNIT_TEXT}};
	static const struct {
		const char *word;
		const struct result_column *column;
		size_t count;
	} ways[] = {
	    {"thread", thread, 4},
	    {"process", process, 3},
	    {"name", name, 1},
	    {"node", process, 1},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (who_is(question, ways[i].word)) {
			memcpy(columns, ways[i].column, ways[i].count * sizeof(*columns));
			return ways[i].count;
		}
	return 0;
}

struct result_table *who_table(const struct question *question, struct result *result,
			       const char *key, const char *title,
			       const struct result_column *more)
{
	enum { MOST = 24 };
	struct result_column columns[MOST + 1];
	size_t count = who_columns(question, columns);

	while (more->key) {
		assert(count < MOST);
		columns[count++] = *more++;
	}
	columns[count] = *more;
	return result_table_new(result, key, title, columns);
}
