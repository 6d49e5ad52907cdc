# SPDX-License-Identifier: GPL-3.0-or-later
"""The traces of a cluster as pandas DataFrames, by the programs of clustertrace.

    import clustertrace as ct
    ct.clocks("run")                                # how the clocks relate
    ct.events("run", ["sched_switch"])              # events with their fields
    ct.messages("run.db")                           # what nodes sent to each other
    ct.query("run.db", "SELECT * FROM thread_state")
    ct.analysis("run.db", "cpu", group="process", begin="+1")

A run is a directory, a trace or a capture, which is merged first, or a timeline that ctmerge made
(`run.db`), which is only read. Columns have Arrow's types, so that integers, nanoseconds since the
epoch among them, stay integers where some are missing. The programs are those of $PATH; what they
print on standard error goes to that of Python. What fails is an Error with the program's own text.
"""

import contextlib
import fnmatch
import json
import mmap
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import pandas
import pyarrow
import pyarrow.parquet

__all__ = ["Error", "analysis", "clocks", "events", "messages", "query"]


class Error(Exception):
    """A program of clustertrace failed, or is not installed."""


def _call(program, *arguments, progress=True):
    """What the program prints. Its messages, and a line of progress on a terminal, are shown."""
    if not shutil.which(program):
        raise Error(f"{program}: not found in $PATH, install clustertrace")
    # Programs draw progress where standard error is a terminal, and only there.
    shown = progress and sys.stderr is not None and sys.stderr.isatty()
    with tempfile.TemporaryFile() as messages:
        done = subprocess.run([program, *map(os.fspath, arguments)], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, stderr=None if shown else messages)
        messages.seek(0)
        text = messages.read().decode(errors="replace").strip()
    if done.returncode not in (0, 3):  # 3: all was done, but a clock is not tied
        raise Error(text or f"{program} ended with status {done.returncode}")
    if text:
        print(text, file=sys.stderr)
    return done.stdout


def _is_timeline(path):
    try:
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except IsADirectoryError:
        return False
    except OSError as error:
        raise Error(f"{error.filename}: {error.strerror}") from None


@contextlib.contextmanager
def _timeline(run, progress):
    """The path of a timeline of the run; merged for this call if it is none yet."""
    if _is_timeline(run):
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="clustertrace-") as directory:
        made = os.path.join(directory, "run.db")
        _call("ctmerge", "-o", made, "--", run, progress=progress)
        yield made


def _window(begin, end, nodes):
    options = [f"{name}={value}" for name, value in (("--begin", begin), ("--end", end))
               if value is not None]
    nodes = [nodes] if isinstance(nodes, str) else nodes or []
    return options + [f"--node={node}" for node in nodes]


def _read(*path, columns=None, without=None):
    with pyarrow.parquet.ParquetFile(os.path.join(*path), memory_map=True) as file:
        return file.read(columns or [name for name in file.schema_arrow.names if name != without])


def _frame(table):
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def _file_name(name):
    """As docs/export.md has it."""
    return "".join(f"%{ord(c):02X}" if c in "\"#%'*/:=?\\{[]^" or ord(c) < 32 or ord(c) == 127 or
                   (c == "." and at == 0) else c for at, c in enumerate(name)) + ".parquet"


def _matches(name, globs):
    return globs is None or any(fnmatch.fnmatchcase(name, glob) for glob in globs)


def _class_tables(timeline, globs):
    found = query(timeline, "SELECT DISTINCT name, table_name FROM event_class "
                  "WHERE table_name IS NOT NULL", progress=False)
    return sorted({table for name, table in found.itertuples(index=False) if _matches(name, globs)})


def _zeros(total, kind):
    """As numpy.zeros, which asks for huge pages: to have some, Linux may first move all else."""
    kind, flags = numpy.dtype(kind), mmap.MAP_PRIVATE | getattr(mmap, "MAP_POPULATE", 0)
    pages = mmap.mmap(-1, max(total, 1) * kind.itemsize, flags | mmap.MAP_ANONYMOUS)
    return numpy.frombuffer(pages, kind, total)


def _bitmap(rows, total):
    known = numpy.zeros(total, bool)
    known[rows] = True
    return numpy.packbits(known, bitorder="little")


def _spread(column, rows, total, bitmap):
    """A column of so many rows that has these values at these rows, which grow; else null.
    Bytes are copied once for each value, not once for each row: most fields are of one class."""
    kind, at = column.type, 0
    if column.null_count:
        bitmap = _bitmap(rows[column.is_valid().to_numpy()], total)
    validity, nulls = (None, 0) if bitmap is None else (pyarrow.py_buffer(bitmap), -1)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
        values = _zeros(total, kind.to_pandas_dtype())
        for chunk in column.chunks:
            at, begin = at + len(chunk), at
            values[rows[begin:at]] = chunk.fill_null(0).to_numpy()
        return pyarrow.Array.from_buffers(kind, total, [validity, pyarrow.py_buffer(values)], nulls)
    column = column.combine_chunks().fill_null("" if pyarrow.types.is_string(kind) else b"")
    ends = numpy.frombuffer(column.buffers()[1], numpy.int32)[column.offset:][:len(column) + 1]
    offsets = _zeros(total + 1, numpy.int32)
    offsets[rows + 1] = numpy.diff(ends)
    numpy.cumsum(offsets, out=offsets)
    offsets += ends[0]
    buffers = [validity, pyarrow.py_buffer(offsets), column.buffers()[2]]
    return pyarrow.Array.from_buffers(kind, total, buffers, nulls)


def _field(parts, total, bitmaps):
    """A column of the values that classes have at their rows. What is a number in one class
    and a text in another is a text in all."""
    types = {column.type for _, _, column in parts}
    kind = types.pop() if len(types) == 1 else pyarrow.string()
    key = tuple(table for table, _, _ in parts)
    if key not in bitmaps:
        rows = numpy.concatenate([rows for _, rows, _ in parts])
        way = numpy.argsort(rows, kind="stable") if len(parts) > 1 else None
        rows = rows if way is None else rows[way]
        bitmaps[key] = rows, way, None if len(rows) == total else _bitmap(rows, total)
    rows, way, bitmap = bitmaps[key]
    column = pyarrow.chunked_array(
        [chunk for _, _, column in parts for chunk in column.cast(kind).chunks], kind)
    column = column if way is None else column.take(pyarrow.array(way))
    return _spread(column, rows, total, bitmap)


def _shown(fields):
    """Names of columns for fields; as in the views of a timeline, other ones than the event's."""
    taken = {"id", "ts_ns", "node", "cpu", "tid", "class"}
    for field in fields:
        shown, number = field, 1
        while shown.lower() in taken:
            number += 1
            shown = f"{field}_{number}"
        taken.add(shown.lower())
        yield shown


def _places(values, ids):
    order = numpy.argsort(ids)
    kind = numpy.int16 if len(ids) < 1 << 15 else numpy.int32  # 16 bits are sorted much faster
    return order.astype(kind)[numpy.searchsorted(ids, values, sorter=order)]


def _join(directory, globs):
    """The events in a directory's tables, with their fields if there are globs."""
    event = _read(directory, "event.parquet", columns=["ts_ns", "node", "cpu", "tid", "class"])
    node, known = (_read(directory, name + ".parquet") for name in ("node", "event_class"))
    names, tables = known["name"].to_pylist(), known["table_name"].to_pylist()
    wanted = numpy.array([_matches(name, globs) for name in names], bool)
    place = _places(event["class"].to_numpy(), known["id"].to_numpy())
    if not wanted.all():
        event, place = event.filter(wanted[place]), place[wanted[place]]
    columns = {name: event[name] for name in ("ts_ns", "node", "cpu", "tid")}
    at = _places(event["node"].to_numpy(), node["id"].to_numpy())
    columns["node"] = node["name"].take(pyarrow.array(at))
    if globs is None:
        columns["class"] = known["name"].take(pyarrow.array(place))
        return pyarrow.table(columns), names
    columns["class"] = known["name"].dictionary_encode().take(pyarrow.array(place))
    order = numpy.argsort(place, kind="stable")
    ends = numpy.cumsum(numpy.bincount(place, minlength=len(names)))
    parts, bitmaps = {}, {}
    for at in (at for at in numpy.flatnonzero(wanted) if tables[at]):
        rows = order[ends[at - 1] if at else 0:ends[at]]
        fields = _read(directory, _file_name(tables[at]), without="id")
        for name, column in zip(_shown(fields.column_names), fields.columns):
            parts.setdefault(name, []).append((at, rows, column))
    for name, found in parts.items():
        columns[name] = _field(found, len(event), bitmaps)
    return pyarrow.table(columns), names


def events(run, classes=None, *, begin=None, end=None, nodes=None, progress=True):
    """Events in the order of time, on one clock.

    With classes, names or globs, a row has the fields of its event; a field that its class
    does not have is missing. Without, it has ts_ns, node, cpu, tid and class only.
    """
    globs = [classes] if isinstance(classes, str) else classes if classes is None else list(classes)
    run, window = os.fspath(run), _window(begin, end, nodes)
    is_timeline = _is_timeline(run)
    with tempfile.TemporaryDirectory(prefix="clustertrace-") as directory, \
            contextlib.ExitStack() as after:
        made = os.path.join(directory, "events")
        if is_timeline:
            tables = () if globs is None else _class_tables(run, globs)
            _call("ctexport", "parquet", "--codec=none", *window, *[
                f"--table={name}" for name in ("event", "node", "event_class", *tables)],
                "-o", made, "--", run, progress=progress)
        else:
            of = ["--no-payload"] if globs is None else [f"--events={glob}" for glob in globs]
            _call("ctmerge", *window, *of, f"--parquet={made}", "--", run, progress=progress)
        after.callback(pyarrow.set_memory_pool, pyarrow.default_memory_pool())
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # without huge pages
        table, names = _join(made, globs)
    for glob in globs or ():
        # Only the classes of a trace in the selected time and nodes are known.
        if not fnmatch.filter(names, glob) and (is_timeline or not window):
            raise Error(f"{run}: no event class '{glob}'")
    return _frame(table)


def messages(run, *, begin=None, end=None, nodes=None, progress=True):
    """Messages from a node to another: a row each, times of both ends and what bounds them."""
    with _timeline(run, progress) as timeline, \
            tempfile.TemporaryDirectory(prefix="clustertrace-") as directory:
        made = os.path.join(directory, "message.parquet")
        _call("ctexport", "parquet", "--codec=none", "--table=message",
              *_window(begin, end, nodes), "-o", made, "--", timeline, progress=progress)
        frame = _frame(_read(made))
        names = query(timeline, "SELECT id, name FROM node", progress=False).set_index("id")["name"]
    for end_node in ("src_node", "dst_node"):
        frame[end_node] = frame[end_node].map(names).astype(names.dtype)
    return frame


def clocks(run, *arguments, progress=True):
    """How each trace's clock relates to the reference: a row per segment of each.

    ref = ref_ns + (local - local_ns) * (1 + rate_ppb * 1e-9) from local_ns on. Bounds are
    in attrs["map"], which is the clock map as ctsync prints it. More arguments are ctsync's.
    """
    clock_map = json.loads(_call("ctsync", "--json", *arguments, "--", run, progress=progress))
    rows = [{"trace": clock["trace"], "reference": clock["reference"],
             "quality": clock["quality"], **segment}
            for clock in clock_map["clocks"] for segment in clock["segments"]]
    frame = _frame(pyarrow.Table.from_pylist(rows))
    frame.attrs["map"] = clock_map
    return frame


def query(run_db, sql, *, progress=True):
    """The rows of a SELECT over a timeline's tables (docs/schema.md)."""
    with tempfile.TemporaryDirectory(prefix="clustertrace-") as directory:
        made = os.path.join(directory, "rows.parquet")
        _call("ctexport", "parquet", "--codec=none", f"--query={sql}", "-o", made, "--",
              run_db, progress=progress)
        return _frame(_read(made))


def analysis(run_db, name, table=None, *, begin=None, end=None, nodes=None, progress=True,
             **options):
    """A table of an analysis (`ctanalyze --list`), its first one unless table names another.

    Options are those of `ctanalyze NAME --help`: group="process" is --group=process, and
    True stands for an option without a value. attrs["notes"] has the analysis's notes.
    """
    words = _window(begin, end, nodes) + ["--limit=0"] * ("limit" not in options)
    words += [f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}")
              for key, value in options.items()]
    words += [f"--table={table}"] * bool(table)
    result = json.loads(_call("ctanalyze", name, "--format=json", *words, "--", run_db,
                              progress=progress))
    made = result["tables"][0]
    columns = [column["name"] for column in made["columns"]]
    frame = _frame(pyarrow.Table.from_pydict(
        {column: [row.get(column) for row in made["rows"]] for column in columns}))
    frame.attrs["units"] = {column["name"]: column["unit"] for column in made["columns"]}
    frame.attrs["notes"] = result["notes"]
    return frame
