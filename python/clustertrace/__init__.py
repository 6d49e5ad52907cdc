# SPDX-License-Identifier: GPL-3.0-or-later
"""The traces of a cluster as pandas DataFrames, by the programs of clustertrace.

    import clustertrace as ct
    ct.clocks("run")                                # how the clocks relate
    ct.events("run", ["sched_switch"])              # events with their fields
    ct.messages("run.db")                           # what nodes sent to each other
    ct.query("run.db", "SELECT * FROM thread_state")
    ct.analysis("run.db", "cpu", group="process", begin="+1")

A run is a directory, a trace or a capture, which is merged first, or a timeline that
ctmerge made (`run.db`), which is only read. Columns have Arrow's types, so that integers,
nanoseconds since the epoch among them, stay integers where some are missing. The programs
are those of $PATH; what they print on standard error goes to that of Python. What fails is
an Error with the program's own text.
"""

import contextlib
import fnmatch
import json
import os
import pathlib
import shutil
import sqlite3
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
    if done.returncode:
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
def _timeline(run, progress, *options):
    """The path of a timeline of the run; merged for this call if it is none yet."""
    run = os.fspath(run)
    if _is_timeline(run):
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="clustertrace-") as directory:
        made = os.path.join(directory, "run.db")
        _call("ctmerge", *options, "-o", made, "--", run, progress=progress)
        yield made


def _window(begin, end, nodes):
    options = []
    for name, value in (("--begin", begin), ("--end", end)):
        if value is not None:
            options.append(f"{name}={value}")
    nodes = [nodes] if isinstance(nodes, str) else nodes or []
    return options + [f"--node={node}" for node in nodes]


def _read(path):
    return pyarrow.parquet.read_table(path, partitioning=None)


def _frame(table):
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def _tables(timeline, names, options, progress):
    """Tables or views of a timeline, in the order of their names."""
    with tempfile.TemporaryDirectory(prefix="clustertrace-") as directory:
        files = [os.path.join(directory, _file_name(name)) for name in names]
        # Of a single table ctexport makes a file, of several a directory.
        _call("ctexport", "parquet", "--codec=none", *options,
              *[f"--table={name}" for name in names],
              "-o", files[0] if len(names) == 1 else directory, timeline, progress=progress)
        return [_read(file) for file in files]


def _file_name(name):
    """As docs/export.md has it: control characters and these become %XX, as does a first dot."""
    escaped = "".join(f"%{ord(c):02X}" if c in "\"#%'*/:=?\\{[]^" or ord(c) < 32 or ord(c) == 127
                      or (c == "." and at == 0) else c for at, c in enumerate(name))
    return escaped + ".parquet"


def _classes(timeline, globs):
    """Names of the timeline's event classes that match, with their views."""
    uri = pathlib.Path(timeline).resolve().as_uri() + "?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
        named = dict(connection.execute("SELECT name, table_name FROM event_class ORDER BY id"))
    globs = [globs] if isinstance(globs, str) else globs
    for glob in globs:
        if not fnmatch.filter(named, glob):
            raise Error(f"{timeline}: no event class '{glob}'")
    return {name: f"{table}_v" for name, table in named.items() if table
            and any(fnmatch.fnmatchcase(name, glob) for glob in globs)}


def _spread(column, row, rows, bitmap):
    """A column of so many rows that has these values at these rows, which grow; else null.
    Bytes are copied once for each value, not once for each row: most fields are of one class."""
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if not len(column):
        return pyarrow.nulls(rows, column.type)
    if column.null_count:
        bitmap = _bitmap(row[column.is_valid().to_numpy(zero_copy_only=False)], rows)
    kind = column.type
    validity, nulls = (None, 0) if bitmap is None else (pyarrow.py_buffer(bitmap), -1)
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
        values = numpy.zeros(rows, kind.to_pandas_dtype())
        values[row] = column.fill_null(0).to_numpy()
        return pyarrow.Array.from_buffers(kind, rows, [validity, pyarrow.py_buffer(values)], nulls)
    is_text = pyarrow.types.is_string(kind)
    if (is_text or pyarrow.types.is_binary(kind)) and isinstance(column, pyarrow.Array):
        column = column.fill_null("" if is_text else b"")
        ends = numpy.frombuffer(column.buffers()[1], numpy.int32)[column.offset:][:len(column) + 1]
        offsets = numpy.zeros(rows + 1, numpy.int32)
        offsets[row + 1] = numpy.diff(ends)
        numpy.cumsum(offsets, out=offsets)
        offsets += ends[0]
        return pyarrow.Array.from_buffers(
            kind, rows, [validity, pyarrow.py_buffer(offsets), column.buffers()[2]], nulls)
    source = numpy.full(rows, -1)
    source[row] = numpy.arange(len(row))
    return column.take(pyarrow.array(source, mask=source < 0))


def _bitmap(row, rows):
    known = numpy.zeros(rows, bool)
    known[row] = True
    return numpy.packbits(known, bitorder="little")


def _united(tables):
    """One table of all rows, in the order of their ids. A field that is a number in one class
    and a text in another is a text in all."""
    order = numpy.argsort(numpy.concatenate([table["id"].to_numpy() for table in tables]),
                          kind="stable")
    place = numpy.empty_like(order)
    place[order] = numpy.arange(len(order))
    begin = numpy.cumsum([0] + [len(table) for table in tables])
    parts, rows = {}, {}
    for at, table in enumerate(tables):
        for name in table.column_names:
            parts.setdefault(name, []).append(at)
    columns = {}
    for name, classes in parts.items():
        found = [tables[at][name] for at in classes]
        types = {column.type for column in found}
        kind = types.pop() if len(types) == 1 else pyarrow.string()
        if (key := tuple(classes)) not in rows:
            row = numpy.concatenate([place[begin[at]:begin[at + 1]] for at in classes])
            way = numpy.argsort(row, kind="stable") if len(classes) > 1 else None
            row = row if way is None else row[way]
            rows[key] = (row, way, None if len(row) == len(order) else _bitmap(row, len(order)))
        row, way, bitmap = rows[key]
        column = pyarrow.chunked_array(
            [chunk for column in found for chunk in column.cast(kind).chunks], kind)
        column = column if way is None else column.combine_chunks().take(pyarrow.array(way))
        columns[name] = _spread(column, row, len(order), bitmap)
    return pyarrow.table(columns)


def events(run, classes=None, *, begin=None, end=None, nodes=None, progress=True):
    """Events in the order of time, on one clock.

    With classes, names or globs, a row has the fields of its event; a field that its class
    does not have is missing. Without, it has ts_ns, node, cpu, tid and class only.
    """
    options = ["--no-spans"]
    if classes is not None:
        globs = [classes] if isinstance(classes, str) else list(classes)
        options += [f"--events={glob}" for glob in globs]
    window = _window(begin, end, nodes)
    with _timeline(run, progress, *options) as timeline:
        if classes is None:
            table, = _tables(timeline, ["timeline"], window, progress)
            return _frame(table.drop_columns(["id"]))
        found = _classes(timeline, globs)
        tables = _tables(timeline, list(found.values()), window, progress)
    for at, name in enumerate(found):
        column = pyarrow.DictionaryArray.from_arrays(
            pyarrow.repeat(pyarrow.scalar(at, pyarrow.int32()), len(tables[at])), list(found))
        tables[at] = tables[at].add_column(5, "class", column)
    return _frame(_united(tables).drop_columns(["id"]))


def messages(run, *, begin=None, end=None, nodes=None, progress=True):
    """Messages from a node to another: a row each, times of both ends and what bounds them."""
    with _timeline(run, progress, "--no-spans") as timeline:
        table, = _tables(timeline, ["message"], _window(begin, end, nodes), progress)
        names = query(timeline, "SELECT id, name FROM node", progress=False)
    frame, names = _frame(table), names.set_index("id")["name"]
    for end_node in ("src_node", "dst_node"):
        frame[end_node] = frame[end_node].map(names).astype(names.dtype)
    return frame


def clocks(run, *arguments, progress=True):
    """How each trace's clock relates to the reference: a row per segment of each.

    ref = ref_ns + (local - local_ns) * (1 + rate_ppb * 1e-9) from local_ns on. Bounds are
    in attrs["map"], which is the clock map as ctsync prints it. More arguments are ctsync's.
    """
    text = _call("ctsync", "--json", *arguments, "--", run, progress=progress)
    clock_map = json.loads(text)
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
        _call("ctexport", "parquet", "--codec=none", f"--query={sql}", "-o", made, run_db,
              progress=progress)
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
    if table:
        words.append(f"--table={table}")
    text = _call("ctanalyze", name, "--format=json", *words, run_db, progress=progress)
    result = json.loads(text)
    made = result["tables"][0]
    columns = [column["name"] for column in made["columns"]]
    frame = _frame(pyarrow.Table.from_pydict(
        {column: [row.get(column) for row in made["rows"]] for column in columns}))
    frame.attrs["units"] = {column["name"]: column["unit"] for column in made["columns"]}
    frame.attrs["notes"] = result["notes"]
    return frame
