-- SPDX-License-Identifier: GPL-3.0-or-later
--
-- Made when all rows are there: sorting once is faster than keeping sorted,
-- and it leaves full pages. The long ones are in schema.sql.

CREATE INDEX clock_source ON clock (source, local_ns);
CREATE INDEX clock_bound_source ON clock_bound (source, local_ns);
CREATE INDEX process_pid ON process (node, pid);
CREATE INDEX thread_tid ON thread (node, tid);
CREATE INDEX thread_process ON thread (process);
CREATE INDEX invocation_begin_ns ON invocation (begin_ns);
