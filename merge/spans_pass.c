/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/spans_pass.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "base/mem.h"
#include "timeline/sql.h"

struct pass {
	sqlite3 *db;
	sqlite3_stmt *thread, *interrupt, *syscall, *disk, *sent, *received;
	bool assumed;
	int code;
};

static const char begin_sql[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_spill=OFF;"
    "PRAGMA temp_store=MEMORY;"
    "CREATE TEMP TABLE ts AS SELECT * FROM thread_state WHERE 0;"
    "CREATE TEMP TABLE sc AS SELECT * FROM syscall WHERE 0;"
    "CREATE TEMP TABLE iq AS SELECT * FROM irq WHERE 0;"
    "CREATE TEMP TABLE br AS SELECT * FROM block_request WHERE 0;"
    "CREATE TEMP TABLE st (event INTEGER PRIMARY KEY, by, tid, first, last, assumed);"
    "CREATE TEMP TABLE rv (event INTEGER PRIMARY KEY, batch);";

#define THREAD                                                                           \
	"coalesce((SELECT id FROM thread AS t WHERE t.node = s.node AND t.tid = s.tid "  \
	"AND t.begin_ns <= s.begin_ns ORDER BY t.begin_ns DESC, id DESC LIMIT 1), "      \
	"(SELECT id FROM thread AS t WHERE t.node = s.node AND t.tid = s.tid "           \
	"ORDER BY t.begin_ns, id LIMIT 1))"
#define COMM "nullif(s.comm, (SELECT comm FROM thread AS t WHERE t.id = s.thread))"

static const char end_sql[] =
    "UPDATE ts AS s SET thread = " THREAD "; UPDATE sc AS s SET thread = " THREAD ";"
    "UPDATE br AS s SET thread = " THREAD ";"
    "UPDATE ts AS s SET comm = " COMM "; UPDATE sc AS s SET comm = " COMM ";"
    "UPDATE br AS s SET comm = " COMM ";"
    "INSERT INTO thread_state SELECT NULL, node, tid, thread, comm, state, begin_ns, "
    "end_ns, cpu, priority, preempted, wait, wait_assumed, waker_tid, wake_event, "
    "wake_first_recv, wake_last_recv, next_tid, prev_tid, syscall, switch_state, cut "
    "FROM ts ORDER BY node, tid, begin_ns, end_ns, rowid;"
    "INSERT INTO syscall SELECT NULL, node, tid, thread, comm, cpu, name, begin_ns, "
    "end_ns, ret, entry_event, exit_event, fd, count, path, cut FROM sc "
    "ORDER BY node, tid, begin_ns, end_ns, rowid;"
    "INSERT INTO irq SELECT NULL, node, cpu, kind, number, name, begin_ns, end_ns, "
    "raised_ns, inner_ns, tid, cut FROM iq ORDER BY node, cpu, begin_ns, end_ns, rowid;"
    "INSERT INTO block_request SELECT NULL, node, dev, coalesce((SELECT disk FROM "
    "temp.names AS n WHERE n.node = s.node AND n.dev = s.dev), (dev >> 20) || ':' || "
    "(dev & 1048575)), operation, sector, bytes, tid, thread, comm, begin_ns, issue_ns, "
    "end_ns, error, merged, cut FROM br AS s ORDER BY node, dev, begin_ns, end_ns, rowid;"
    "UPDATE message SET (send_by, send_tid, send_first_recv, send_last_recv, "
    "send_assumed) = (SELECT by, tid, first, last, assumed FROM st WHERE st.event = "
    "send_event), recv_batch = (SELECT batch FROM rv WHERE rv.event = recv_event);"
    "INSERT INTO recorded WITH s AS (SELECT node, begin_ns, end_ns FROM source AS s "
    "WHERE begin_ns IS NOT NULL AND end_ns >= begin_ns AND kind <> 'capture' AND (kind = "
    "'kernel' OR NOT EXISTS (SELECT 1 FROM source AS k WHERE k.node = s.node AND k.kind "
    "= 'kernel'))), m AS (SELECT *, max(end_ns) OVER (PARTITION BY node ORDER BY "
    "begin_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM "
    "s), g AS (SELECT *, sum(before IS NULL OR begin_ns > before) OVER (PARTITION BY "
    "node ORDER BY begin_ns, end_ns ROWS UNBOUNDED PRECEDING) AS part FROM m) SELECT "
    "node, NULL, 'kernel', min(begin_ns), max(end_ns) FROM g GROUP BY node, part "
    "ORDER BY 1, 4;"
    "INSERT INTO recorded SELECT node, cpu, 'cpu', min(ts_ns), max(ts_ns) FROM event "
    "WHERE cpu IS NOT NULL AND source IN (SELECT id FROM source WHERE kind = 'kernel') "
    "GROUP BY node, cpu;"
    "ANALYZE thread_state; ANALYZE syscall; ANALYZE irq; ANALYZE block_request;";

static void integer(sqlite3_stmt *statement, int at, int64_t value, int64_t none)
{
	if (value == none)
		sqlite3_bind_null(statement, at);
	else
		sqlite3_bind_int64(statement, at, value);
}

static void text(sqlite3_stmt *statement, int at, const char *value)
{
	if (!value || !*value)
		sqlite3_bind_null(statement, at);
	else
		sqlite3_bind_text(statement, at, value, -1, SQLITE_TRANSIENT);
}

static int step(struct pass *pass, sqlite3_stmt *statement)
{
	pass->code = sqlite3_step(statement);
	sqlite3_reset(statement);
	return pass->code == SQLITE_DONE ? 0 : 1;
}

static const char *const waits[] = {NULL, "thread", "disk", "network", "timer",
				    "interrupt"};

static const char *state_of(const struct thread_span *span)
{
	switch (span->state) {
	case ACTIVITY_RUNNING:
		return "running";
	case ACTIVITY_RUNNABLE:
		return "runnable";
	case ACTIVITY_DEAD:
		return "dead";
	default:
		return span->switch_state & 2   ? "uninterruptible"
		       : span->switch_state & 1 ? "interruptible"
						: "blocked";
	}
}

static int on_thread(void *context, const struct thread_span *span)
{
	struct pass *pass = context;
	sqlite3_stmt *to = pass->thread;
	bool running = span->state == ACTIVITY_RUNNING;
	bool runnable = span->state == ACTIVITY_RUNNABLE;
	bool sleeps = span->state == ACTIVITY_BLOCKED;

	integer(to, 1, span->node, -1);
	integer(to, 2, span->tid, -1);
	text(to, 3, span->comm);
	text(to, 4, state_of(span));
	integer(to, 5, span->begin_ns, -1);
	integer(to, 6, span->end_ns, -1);
	integer(to, 7, span->cpu, -1);
	integer(to, 8, span->priority, INT64_MIN);
	integer(to, 9, runnable || (running && !span->cut_end) ? span->preempted : -1,
		-1);
	text(to, 10, waits[span->wait]);
	integer(to, 11, pass->assumed && span->wait, -1);
	integer(to, 12, span->waker_tid, -1);
	integer(to, 13, span->wake_event, 0);
	integer(to, 14, span->wake_batch, 0);
	integer(to, 15, span->wake_recv, 0);
	integer(to, 16, span->next_tid, -1);
	integer(to, 17, span->prev_tid, -1);
	text(to, 18, span->syscall);
	integer(to, 19, sleeps && span->switch_state ? span->switch_state : -1, -1);
	integer(to, 20, span->cut_begin + 2 * span->cut_end, -1);
	return step(pass, to);
}

static int on_interrupt(void *context, const struct interrupt_span *span)
{
	struct pass *pass = context;
	sqlite3_stmt *to = pass->interrupt;

	integer(to, 1, span->node, -1);
	integer(to, 2, span->cpu, -1);
	text(to, 3, span->kind == INTERRUPT_HARD ? "irq" : "softirq");
	integer(to, 4, span->number, INT64_MIN);
	text(to, 5, span->name);
	integer(to, 6, span->begin_ns, -1);
	integer(to, 7, span->end_ns, -1);
	integer(to, 8, span->raised_ns, NSEC_MIN);
	integer(to, 9, span->inner_ns, -1);
	integer(to, 10, span->tid, -1);
	integer(to, 11, span->cut_begin + 2 * span->cut_end, -1);
	return step(pass, to);
}

static int on_syscall(void *context, const struct syscall_span *span)
{
	struct pass *pass = context;
	sqlite3_stmt *to = pass->syscall;

	integer(to, 1, span->node, -1);
	integer(to, 2, span->tid, -1);
	text(to, 3, span->comm);
	integer(to, 4, span->cpu, -1);
	sqlite3_bind_text(to, 5, span->name, -1, SQLITE_TRANSIENT);
	integer(to, 6, span->begin_ns, -1);
	integer(to, 7, span->end_ns, -1);
	integer(to, 8, span->ret, INT64_MIN);
	integer(to, 9, span->entry_event, 0);
	integer(to, 10, span->exit_event, 0);
	integer(to, 11, span->fd, -1);
	integer(to, 12, span->count, -1);
	text(to, 13, span->path);
	integer(to, 14, span->cut_begin + 2 * span->cut_end, -1);
	return step(pass, to);
}

static int on_disk(void *context, const struct disk_span *span)
{
	struct pass *pass = context;
	sqlite3_stmt *to = pass->disk;

	integer(to, 1, span->node, -1);
	integer(to, 2, span->dev, INT64_MIN);
	text(to, 3,
	     span->discard                   ? "discard"
	     : span->flush && !span->sectors ? "flush"
	     : span->write                   ? "write"
					     : "read");
	integer(to, 4, span->sector, INT64_MIN);
	integer(to, 5, span->sectors * 512, INT64_MIN);
	integer(to, 6, span->tid, -1);
	text(to, 7, span->comm);
	integer(to, 8, span->begin_ns, -1);
	integer(to, 9, span->issue_ns, NSEC_MIN);
	integer(to, 10, span->end_ns, -1);
	integer(to, 11, span->error, INT64_MIN);
	integer(to, 12, span->merged, -1);
	integer(to, 13, span->cut_begin + 2 * span->cut_end, -1);
	return step(pass, to);
}

static int on_sent(void *context, const struct packet_sent *packet)
{
	struct pass *pass = context;
	sqlite3_stmt *to = pass->sent;

	integer(to, 1, packet->event, 0);
	text(to, 2, waits[packet->by]);
	integer(to, 3, packet->tid, -1);
	integer(to, 4, packet->batch, 0);
	integer(to, 5, packet->recv, 0);
	integer(to, 6, pass->assumed && packet->by, -1);
	return step(pass, to);
}

static int on_received(void *context, const struct packet_received *packet)
{
	struct pass *pass = context;

	integer(pass->received, 1, packet->event, 0);
	integer(pass->received, 2, packet->batch, 0);
	return step(pass, pass->received);
}

static int prepare(struct pass *pass)
{
	static const char *const sql[] = {
	    "INSERT INTO ts (node, tid, comm, state, begin_ns, end_ns, cpu, priority, "
	    "preempted, wait, wait_assumed, waker_tid, wake_event, wake_first_recv, "
	    "wake_last_recv, next_tid, prev_tid, syscall, switch_state, cut) VALUES "
	    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	    "INSERT INTO iq (node, cpu, kind, number, name, begin_ns, end_ns, raised_ns, "
	    "inner_ns, tid, cut) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
	    "INSERT INTO sc (node, tid, comm, cpu, name, begin_ns, end_ns, ret, "
	    "entry_event, exit_event, fd, count, path, cut) VALUES "
	    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	    "INSERT INTO br (node, dev, operation, sector, bytes, tid, comm, begin_ns, "
	    "issue_ns, end_ns, error, merged, cut) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
	    "INSERT INTO st VALUES (?,?,?,?,?,?)",
	    "INSERT INTO rv VALUES (?,?)",
	};
	sqlite3_stmt **to[] = {&pass->thread, &pass->interrupt, &pass->syscall,
			       &pass->disk,   &pass->sent,      &pass->received};
	int code = SQLITE_OK;

	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]) && code == SQLITE_OK; i++)
		code = sqlite3_prepare_v2(pass->db, sql[i], -1, to[i], NULL);
	return code;
}

static int walk(struct pass *pass, const char *path, struct error *error)
{
	static const struct activity_ops ops = {.thread = on_thread,
						.interrupt = on_interrupt,
						.syscall = on_syscall,
						.disk = on_disk,
						.sent = on_sent,
						.received = on_received,
						.without = ACTIVITY_ASSUME};
	struct timeline_reader *reader = timeline_reader_open(path, error);
	struct activity_recorded recorded;
	struct scope scope = {0};
	int status = -1;

	if (!reader || scope_init(&scope, reader, NULL, NULL, NULL, error) ||
	    activity_recorded(&recorded, reader, error))
		goto out;
	pass->assumed = !(recorded.interrupts && recorded.softirqs);
	status = activity_walk(reader, &scope, &ops, pass, error);
	if (status > 0)
		status = sql_error(pass->db, path, error);
out:
	scope_clear(&scope);
	timeline_reader_free(reader);
	return status;
}

int spans_add_to_file(const char *path, struct error *error)
{
	struct pass pass = {NULL};
	int status = -1;
	static const char names_some[] =
	    "CREATE TEMP TABLE names AS SELECT e.node, d.dev, max(d.diskname) AS disk FROM "
	    "lttng_statedump_block_device AS d JOIN event AS e ON e.id = d.id GROUP BY 1, 2";
	static const char names_none[] = "CREATE TEMP TABLE names (node, dev, disk)";

	pass.db = sql_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
	if (!pass.db || sql_run(pass.db, path, begin_sql, error))
		goto out;
	if (sqlite3_exec(pass.db, names_some, NULL, NULL, NULL) != SQLITE_OK &&
	    sql_run(pass.db, path, names_none, error))
		goto out;
	if (prepare(&pass) != SQLITE_OK) {
		sql_error(pass.db, path, error);
		goto out;
	}
	if (sql_run(pass.db, path, "BEGIN", error) || walk(&pass, path, error) ||
	    sql_run(pass.db, path, end_sql, error) ||
	    sql_run(pass.db, path, "COMMIT", error))
		goto out;
	status = 0;
out:
	sqlite3_finalize(pass.thread);
	sqlite3_finalize(pass.interrupt);
	sqlite3_finalize(pass.syscall);
	sqlite3_finalize(pass.disk);
	sqlite3_finalize(pass.sent);
	sqlite3_finalize(pass.received);
	sqlite3_close(pass.db);
	return status;
}
