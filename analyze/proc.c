/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes: who started whom, how long they lived, how they ended. */
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/distribution.h"
#include "analyze/keys.h"
#include "base/mem.h"

static const struct result_column tree_columns[] = {
    {"node", "NODE", UNIT_TEXT},         {"process", "PROCESS", UNIT_TEXT},
    {"depth", "DEPTH", UNIT_ID},         {"pid", "PID", UNIT_ID},
    {"ppid", "PPID", UNIT_ID},           {"threads", "THREADS", UNIT_COUNT},
    {"begin_ns", "BEGIN", UNIT_INSTANT}, {"end_ns", "END", UNIT_INSTANT},
    {"life_ns", "LIFE", UNIT_SPAN},      {"exit_status", "EXIT", UNIT_ID},
    {"exe", "PROGRAM", UNIT_TEXT},       {NULL, NULL, 0},
};

static const struct result_column program_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"process", "PROCESS", UNIT_TEXT},
    {"count", "COUNT", UNIT_COUNT},
    {"ended", "ENDED", UNIT_COUNT},
    {"failed", "FAILED", UNIT_COUNT},
    {"min_ns", "LIFE MIN", UNIT_SPAN},
    {"mean_ns", "MEAN", UNIT_SPAN},
    {"max_ns", "MAX", UNIT_SPAN},
    {NULL, NULL, 0},
};

struct process {
	int64_t node, pid, ppid, threads, exit_status; /* -1: not known */
	char *comm, *exe;
	nsec_t begin_ns, end_ns;    /* NSEC_MIN, NSEC_MAX: beyond the recording */
	size_t parent, child, next; /* NONE: none */
	bool shown;
};

enum { DEEPEST = 100 };
#define NONE SIZE_MAX

struct processes {
	struct question *question;
	struct process *item; /* by node, pid, begin */
	size_t count, room;
};

static const char question_sql[] =
    "SELECT p.node, p.pid, p.ppid, p.comm, p.exe, p.begin_ns, p.end_ns, p.exit_status,"
    " (SELECT count(*) FROM thread AS t WHERE t.process = p.id) "
    "FROM process AS p WHERE p.pid <> 0 "
    "ORDER BY p.node, p.pid, coalesce(p.begin_ns, -9223372036854775807), p.id";

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static char *text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size) : NULL;
}

static int take(void *context, const struct cell *row)
{
	struct processes *all = context;

	all->item = mem_grow(all->item, all->count, &all->room, sizeof(*all->item));
	all->item[all->count++] = (struct process){
	    .node = integer(&row[0], 0),
	    .pid = integer(&row[1], -1),
	    .ppid = integer(&row[2], -1),
	    .comm = text(&row[3]),
	    .exe = text(&row[4]),
	    .begin_ns = integer(&row[5], NSEC_MIN),
	    .end_ns = integer(&row[6], NSEC_MAX),
	    .exit_status = integer(&row[7], -1),
	    .threads = integer(&row[8], 0),
	    .parent = NONE,
	    .child = NONE,
	    .next = NONE,
	};
	return 0;
}

/* The process of that number that was there at the time; NONE. */
static size_t find(const struct processes *all, int64_t node, int64_t pid, nsec_t at)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process *process = &all->item[middle];

		if (process->node < node ||
		    (process->node == node &&
		     (process->pid < pid ||
		      (process->pid == pid && process->begin_ns <= at))))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && all->item[low - 1].node == node && all->item[low - 1].pid == pid)
		return low - 1;
	return NONE;
}

/* Children hang in the order of their begin: later ones are put in front, last first. */
static void hang(struct processes *all)
{
	for (size_t i = all->count; i-- > 0;) {
		struct process *process = &all->item[i];
		size_t parent =
		    find(all, process->node, process->ppid, process->begin_ns);

		if (parent == NONE || parent == i)
			continue;
		process->parent = parent;
		process->next = all->item[parent].child;
		all->item[parent].child = i;
	}
}

static bool is_wanted(const struct processes *all, const struct process *process)
{
	struct question *question = all->question;
	const struct scope *scope = &question->scope;
	bool has_life = process->begin_ns != NSEC_MIN && process->end_ns != NSEC_MAX;

	if (!scope_has_node(scope, process->node) || process->begin_ns > scope->end_ns ||
	    process->end_ns < scope->begin_ns)
		return false;
	if ((question->request->min || question->request->max) &&
	    !(has_life &&
	      question_has_span(question, nsec_sub(process->end_ns, process->begin_ns))))
		return false;
	return question_has_thread(question, process->node, process->pid, process->comm,
				   process->begin_ns);
}

static void print(const struct processes *all, struct result_table *table,
		  struct process *process, size_t depth)
{
	size_t indent = depth < DEEPEST ? depth : DEEPEST;
	char *name = mem_printf("%*s%s", (int)(2 * indent), "",
				process->comm ? process->comm : "?");
	bool has_life = process->begin_ns != NSEC_MIN && process->end_ns != NSEC_MAX;

	process->shown = true;
	if (is_wanted(all, process))
		result_add(table,
			   (struct cell[]){
			       cell_of_text(question_node(all->question, process->node)),
			       cell_of_text(name), cell_of_integer((int64_t)depth),
			       cell_of_integer(process->pid),
			       cell_of_known(process->ppid, -1),
			       cell_of_integer(process->threads),
			       cell_of_known(process->begin_ns, NSEC_MIN),
			       cell_of_known(process->end_ns, NSEC_MAX),
			       has_life ? cell_of_integer(nsec_sub(process->end_ns,
								   process->begin_ns))
					: cell_of_null(),
			       cell_of_known(process->exit_status, -1),
			       cell_of_text(process->exe)});
	free(name);
}

/* Down the tree from a process without a parent, without recursion. */
static void print_tree(const struct processes *all, struct result_table *table,
		       size_t root)
{
	size_t at = root, depth = 0;

	for (;;) {
		struct process *process = &all->item[at];

		if (!process->shown) {
			print(all, table, process, depth);
			if (process->child != NONE && !all->item[process->child].shown) {
				at = process->child;
				depth++;
				continue;
			}
		}
		while (at != root && all->item[at].next == NONE) {
			at = all->item[at].parent;
			depth--;
		}
		if (at == root)
			return;
		at = all->item[at].next;
	}
}

/* What is known of the processes of one name on one node. */
struct program {
	const struct process *first;
	int64_t count, ended, failed;
	struct distribution life;
};

static void add_to_program(struct program *program, const struct process *process)
{
	program->count++;
	program->ended += process->end_ns != NSEC_MAX;
	program->failed += process->exit_status > 0;
	if (process->begin_ns != NSEC_MIN && process->end_ns != NSEC_MAX)
		distribution_add(&program->life,
				 nsec_sub(process->end_ns, process->begin_ns));
}

static void print_program(const struct processes *all, struct result_table *table,
			  const struct program *program)
{
	bool lived = program->life.count > 0;

	result_add(table,
		   (struct cell[]){
		       cell_of_text(question_node(all->question, program->first->node)),
		       cell_of_text(program->first->comm ? program->first->comm : "?"),
		       cell_of_integer(program->count), cell_of_integer(program->ended),
		       cell_of_integer(program->failed),
		       lived ? cell_of_integer(program->life.least) : cell_of_null(),
		       lived ? cell_of_real(program->life.mean) : cell_of_null(),
		       lived ? cell_of_integer(program->life.most) : cell_of_null()});
}

static void print_programs(const struct processes *all, struct result_table *table)
{
	struct program *program = NULL;
	struct keys keys = {0};
	size_t room = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct process *process = &all->item[i];
		const char *comm = process->comm ? process->comm : "?";
		size_t before = keys.count, at;

		if (!is_wanted(all, process))
			continue;
		keys_begin(&keys);
		keys_integer(&keys, process->node);
		keys_text(&keys, comm, strlen(comm));
		at = keys_find(&keys);
		if (at == before) {
			program = mem_grow(program, at, &room, sizeof(*program));
			program[at] = (struct program){.first = process};
		}
		add_to_program(&program[at], process);
	}
	for (size_t i = 0; i < keys.count; i++) {
		print_program(all, table, &program[i]);
		distribution_clear(&program[i].life);
	}
	keys_clear(&keys);
	free(program);
}

static int run_proc(struct question *question, struct result *result, struct error *error)
{
	struct processes all = {.question = question};
	struct result_table *programs =
	    result_table_new(result, "programs", "Processes by name", program_columns);
	struct result_table *tree =
	    result_table_new(result, "tree", "Processes", tree_columns);
	int status = question_ask(question, question_sql, NULL, take, &all, error);

	result_table_sort(programs, "-count,node,process");
	result_table_limit(programs, 20);
	result_table_limit(tree, 100);
	hang(&all);
	for (size_t i = 0; i < all.count && !status; i++)
		if (all.item[i].parent == NONE)
			print_tree(&all, tree, i);
	print_programs(&all, programs);
	if (!all.count)
		result_missing(result, "processes",
			       "sched_switch, sched_process_fork, sched_process_exec, "
			       "sched_process_exit and a statedump");
	for (size_t i = 0; i < all.count; i++) {
		free(all.item[i].comm);
		free(all.item[i].exe);
	}
	free(all.item);
	return status;
}

const struct analysis analysis_proc = {
    .name = "proc",
    .summary = "processes: the tree, how long they lived, how they ended",
    .description =
	"programs: processes of one name, how many ended and how many of these with\n"
	"another exit status than 0. tree: each process below the one that started\n"
	"it; BEGIN and END are empty where they lie outside the recording.\n"
	"--min, --max: of the life. Needs sched_process_fork, sched_process_exec,\n"
	"sched_process_exit, exit_group and a statedump.",
    .heeds = HEEDS_THREAD | HEEDS_SPAN,
    .run = run_proc,
};
