# SPDX-License-Identifier: GPL-3.0-or-later
#
# frames.py RUN: the package clustertrace against SQL and babeltrace2's bindings.
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import clustertrace as ct
import pandas

run = os.path.abspath(sys.argv[1])
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2)
directory = tempfile.TemporaryDirectory()
timeline = os.path.join(directory.name, "run.db")
subprocess.run(["ctmerge", "-q", run, "-o", timeline], check=True, stderr=subprocess.DEVNULL)
database = sqlite3.connect(timeline)


def ask(sql):
    return database.execute(sql).fetchone()


def same(what, found, wanted):
    found, wanted = tuple(map(int, found)), tuple(map(int, wanted))
    if found != wanted:
        sys.exit(f"{what}: {found}, want {wanted}")
    print(f"{what}: {found[0]} rows")


def refused(text, call, *arguments):
    try:
        call(*arguments)
    except ct.Error as error:
        if text not in str(error):
            sys.exit(f"{call.__name__}: '{error}', want '{text}'")
    else:
        sys.exit(f"{call.__name__}{arguments}: no error, want '{text}'")


frame = ct.events(timeline)
same("events", (len(frame), frame["ts_ns"].sum() % 2**62),
     ask("SELECT count(*) FROM event") + (
         sum(t for t, in database.execute("SELECT ts_ns FROM event")) % 2**62,))
if not frame["ts_ns"].is_monotonic_increasing:
    sys.exit("events are out of order")
frame = ct.events(timeline, ["sched_switch", "sched_wak*"])
switches = frame[frame["class"] == "sched_switch"]
same("sched_switch", (len(switches), switches["next_tid"].sum(), switches["prev_prio"].count()),
     ask("SELECT count(*), sum(next_tid), count(prev_prio) FROM sched_switch"))
same("with sched_wak*", (len(frame), frame["prev_comm"].count()),
     ask("SELECT (SELECT sum(events) FROM event_class WHERE name GLOB 'sched_wak*' "
         "OR name = 'sched_switch'), (SELECT count(prev_comm) FROM sched_switch)"))
same("of the run itself", (len(ct.events(run, "sched_switch")),), (len(switches),))
frame = ct.messages(timeline)
same("messages", (len(frame), frame["latency_ns"].sum(), (frame["src_node"] == "node1").sum()),
     ask("SELECT count(*), sum(latency_ns), sum(src_node = (SELECT id FROM node WHERE "
         "name = 'node1')) FROM message"))
frame = ct.messages(run)
same("messages of the run itself", (len(frame), frame["send_by"].count(), frame["latency_ns"].sum()),
     ask("SELECT count(*), count(send_by), sum(latency_ns) FROM message"))
# More than a double holds, beside a row without.
frame = ct.query(timeline, "SELECT 9007199254740993 AS x UNION ALL SELECT NULL")
same("integers", (len(frame), frame["x"].sum()), (2, 9007199254740993))
frame = ct.query(timeline, "SELECT begin_ns, CAST(comm AS INTEGER) AS x FROM thread_state WHERE 0")
if [str(kind) for kind in frame.dtypes] != ["int64[pyarrow]"] * 2:
    sys.exit(f"a query without rows: {frame.dtypes}")
frame = ct.analysis(timeline, "cpu", group="process", table="nodes")
same("analysis cpu", (len(frame), frame["busy_ns"].sum()),
     ask("SELECT (SELECT count(DISTINCT node) FROM thread_state), sum(duration_ns) FROM thread_state "
         "WHERE state = 'running' AND tid <> 0"))
frame = ct.clocks(run)
same("clocks", (frame["trace"].nunique(),), (len(frame.attrs["map"]["clocks"]),))
refused("No such file or directory", ct.events, "missing")
refused("no event class 'nope'", ct.events, timeline, ["nope"])
refused("syntax error", ct.query, timeline, "SELEC 1")
refused("did you mean 'cpu'?", ct.analysis, timeline, "cpux")
shutil.copy(timeline, os.path.join(directory.name, "-foreign.db"))
os.chdir(directory.name)
same("of a name like an option", (len(ct.messages("-foreign.db")),), ask("SELECT count(*) FROM message"))
with sqlite3.connect("-foreign.db") as foreign:
    foreign.executescript("ALTER TABLE event_class RENAME TO was; CREATE VIEW event_class AS WITH "
                          "RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r) "
                          "SELECT id, id AS name, id AS table_name FROM r")
refused("not as this version of ctmerge makes it", ct.events, "-foreign.db", ["sched_switch"])
# No message between these: all is there, but their clocks are not tied.
mpi = os.path.join(source, "tests", "fixtures", "mpi")
for node in "rank0", "rank1":
    shutil.copytree(os.path.join(mpi, node), os.path.join("apart", node))
same("clocks that are not tied", (len(set(ct.clocks("apart")["reference"])),), (2,))
if not isinstance(frame, pandas.DataFrame):
    sys.exit("no DataFrame")


def seconds(call):
    """Of the processors, with those of the programs that it ran; and by the clock."""
    def used():
        return sum(part.ru_utime + part.ru_stime for part in map(
            resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    before, began = used(), time.monotonic()
    return call(), used() - before, time.monotonic() - began


def by_bindings(trace, names):
    """A list of dicts, as one does with these bindings."""
    import bt2
    rows = []
    for message in bt2.TraceCollectionMessageIterator(trace):
        if type(message) is bt2._EventMessageConst and message.event.name in names:
            event = message.event
            row = {"ts_ns": message.default_clock_snapshot.ns_from_origin,
                   "class": event.name}
            row.update((name, value._value if hasattr(value, "_value") else value)
                       for name, value in (event.payload_field or {}).items())
            rows.append(row)
    return pandas.DataFrame(rows)


try:
    import bt2  # noqa: F401
except ImportError:
    print("left out: babeltrace2's bindings are not installed (python3-bt2)")
    sys.exit()
traces = [path for path, in database.execute("SELECT path FROM source WHERE kind = 'kernel'")]
trace = max(traces, key=lambda path: sum(
    os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names))
# The most frequent classes of it, up to a million events.
names = [name for name, in database.execute(
    "SELECT name FROM (SELECT name, sum(n) OVER (ORDER BY n DESC, name) - n AS before "
    "FROM (SELECT k.name, count(*) AS n FROM event AS e JOIN event_class AS k ON k.id = e.class "
    "JOIN source AS s ON s.id = e.source WHERE s.path = ? GROUP BY k.id)) "
    "WHERE before < 1000000", (trace,))]
calls = [seconds(lambda: ct.events(trace, names)) for _ in range(5)]
ours, first_cpu, first_wall = calls[0]
our_cpu, our_wall = (sorted(call[of] for call in calls)[2] for of in (1, 2))
theirs, their_cpu, their_wall = seconds(lambda: by_bindings(trace, set(names)))
same("as by the bindings", (len(ours), ours["ts_ns"].sum() % 2**62),
     (len(theirs), sum(map(int, theirs["ts_ns"])) % 2**62))
print(f"{len(ours)} events of {len(names)} classes with their fields, {len(ours.columns)} columns, by "
      f"babeltrace2's bindings: {their_cpu:.2f} s of the processors, {their_wall:.2f} by the clock")
for what, cpu, wall in ("first call", first_cpu, first_wall), ("median of 5", our_cpu, our_wall):
    print(f"{what}: {cpu:.2f} and {wall:.2f} s, {their_cpu / cpu:.0f} and {their_wall / wall:.0f} times as fast")
