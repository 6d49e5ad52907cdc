# SPDX-License-Identifier: GPL-3.0-or-later
#
# python3 spark.py RUN.db TABLES QUERIES [NAME...]: every analysis that is a file of
# QUERIES, or these, with each group and form that it has: does Spark find in the tables of
# TABLES what ctanalyze finds in the timeline that they are of?
import decimal
import glob
import json
import os
import re
import subprocess
import sys
import time

from pyspark.sql import SparkSession

timeline, tables, queries, *wanted = sys.argv[1:]
PERIODS = ["--from", "net_dev_queue", "--to", "net_if_receive_skb[cpu >= 0]"]
FORMS = ["stats", "top", "freq", "log"]


def run(args):
    return subprocess.run(["ctanalyze", "-q", *args, timeline], check=True,
                          stdout=subprocess.PIPE).stdout.decode()


def variants(text):
    """What to ask of a file: everything it has a word for in its header."""
    groups = re.search(r"^-- groups: (.*)$", text, re.M)
    more = [*PERIODS, "--group", "node"] if ":from_class" in text else []
    more += ["--" + form for form in FORMS if re.search(f"^-- form: .*{form}", text, re.M)]
    if ":interval_ns" in text:
        more += ["--interval", "500ms"]
    return [more] + [more + ["--group", group]
                     for group in (groups.group(1).split() if groups else [])]


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return None if value == "" else value


def is_same(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return a == b


def order(row):
    return [f"{value:.6g}" if isinstance(value, float) and value != int(value)
            else str(int(value)) if isinstance(value, float) else str(value) for value in row]


def difference(ours, theirs):
    """Between two sets of rows, or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, Spark has {len(theirs)}"
    for a, b in zip(sorted(ours, key=order), sorted(theirs, key=order)):
        if not all(map(is_same, a, b)):
            return f"{a}, Spark has {b}"
    return None


def ask(spark, sql):
    """The rows. What is to be kept is computed, so that plans do not grow with each view."""
    found = spark.sql(sql)
    kept = re.match(r"CACHE LAZY TABLE (\w+)", sql)
    if kept:
        spark.table(kept.group(1)).localCheckpoint().createOrReplaceTempView(kept.group(1))
    return [row.asDict() for row in found.collect()]


def check(spark, args):
    """The tables and rows compared, and what was wrong."""
    where = " ".join(args)
    result = json.loads(run([*args, "--format", "json"]))
    ours = {table["name"]: table for table in result["tables"]}
    asked, rows, wrong = set(), 0, []
    for statement in run([*args, "--print-sql=spark"]).split(";\n\n"):
        name = re.search("^-- table (.*)$", statement, re.M)
        if not statement.strip():
            continue
        try:
            found = ask(spark, statement)
        except Exception as error:
            wrong.append(f"{where}: {str(error)[:1500]}\n{statement}")
            continue
        if not name:
            continue
        table = ours[name.group(1)]
        columns = [column["name"] for column in table["columns"]]
        told = difference([[plain(row[key]) for key in columns] for row in table["rows"]],
                          [[plain(row[key]) for key in columns] for row in found])
        if told:
            wrong.append(f"{where}: {name.group(1)}: {told}")
        asked.add(name.group(1))
        rows += len(found)
    wrong += [f"{where}: prints no statement for {name}" for name in set(ours) - asked
              if not wrong]
    return len(asked), rows, wrong


def open_tables(spark):
    """A table is one file, or a folder of parts."""
    names = {os.path.basename(path).removesuffix(".parquet")
             for path in glob.glob(os.path.join(glob.escape(tables), "[!.]*"))}
    for name in names:
        path = os.path.join(tables, name)
        if not os.path.isdir(path):
            path += ".parquet"
        spark.read.parquet(path).createOrReplaceTempView(name)


def main():
    spark = (SparkSession.builder.master("local[2]")
             .config("spark.driver.memory", "2g")
             .config("spark.ui.enabled", "false")
             .config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.shuffle.partitions", "1")
             .config("spark.sql.codegen.wholeStage", "false")
             .config("spark.sql.adaptive.enabled", "false")
             .config("spark.sql.cteRecursionLevelLimit", "100000")
             .config("spark.sql.warehouse.dir", os.path.join(os.getcwd(), "warehouse"))
             .getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    open_tables(spark)
    compared, rows, wrong = 0, 0, 0
    for path in sorted(glob.glob(os.path.join(queries, "*.sql"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        name = os.path.basename(path).removesuffix(".sql")
        called = re.search("^-- name: (.*)$", text, re.M)
        if name == "relations" or (wanted and name not in wanted):
            continue
        for options in variants(text):
            began = time.monotonic()
            more, found, bad = check(spark, [called.group(1) if called else name, *options,
                                             "--limit", "0"])
            compared += more
            rows += found
            wrong += len(bad)
            print(" ".join([name, *options]) + ":", more, "tables,", found, "rows,",
                  f"{time.monotonic() - began:.1f} s")
            print(*bad, sep="\n", end="\n" if bad else "", flush=True)
            spark.catalog.clearCache()
    print(f"{compared} tables, {rows} rows, {wrong} wrong")
    spark.stop()
    sys.exit(wrong > 0 or compared == 0)


main()
