#!/usr/bin/python3
"""`refrain convert` and `diff` on names that want to be markup, shell, SQL, formulas or further lines of a
format, and on runs of one rank and of very many. Needs no MPI.

    hostile.py --refrain build/release/refrain --maker build/release/tests/report/report_trace
"""

import argparse
import csv
import os
import re
import resource
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from formats import ALL, run_tests  # noqa: E402
from readers import check  # noqa: E402

INCOMPLETE = 4
options = None


def make(folder, *words):
    path = os.path.join(folder, "made.rfn")
    subprocess.run([options.maker, *map(str, words), path], check=True, timeout=100)
    return path


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")


def test_names(converter):
    trace = make(converter.folder, "hostile")
    said = converter.check(trace, statuses=(INCOMPLETE,))
    # Nothing of a name has become a line, or a field, of its own.
    for name in lines_of(os.path.join(converter.output("ti"), "rank-0.txt")):
        check(re.fullmatch(r"(0 \w+[ \d.]*)?", name), "ti: the line %r" % name)
    for name in lines_of(converter.output("goal")):
        check(re.fullmatch(r"num_ranks 8|rank [0-7] \{|\}||l\d+( requires l\d+|: (calc|send|recv) [\w ]+)", name),
              "goal: the line %r" % name)
    stem = converter.output("paraver")[:-4]
    row = lines_of(stem + ".row")
    check(len(row) == 2 * (8 + 1) + 1 + 2 + 2, "paraver: %d lines of rows" % len(row))
    check(sum(line.startswith("LEVEL ") for line in row) == 3, "paraver: levels of rows")
    for line in lines_of(stem + ".pcf"):
        check(all(c.isprintable() for c in line.replace("\t", "")), "paraver: the name %r" % line)
        check(re.fullmatch(r"|#.*|[A-Z_]+( +[\w ]+)?|\d+ +\S.*", line), "paraver: the line %r" % line)
    if "sqlite" in said:
        base = sqlite3.connect(converter.output("sqlite"))
        tables = {name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        check("calls" in tables and len(tables) == 8, "sqlite: %s" % tables)
        base.close()
    with open(converter.output("csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    check({len(r) for r in rows} == {len(rows[0])}, "csv: rows of several lengths")


def test_diff(converter):
    other = os.path.join(converter.folder, "$(reboot)<b>&'\".rfn")
    os.rename(make(converter.folder, "halo", 2, 4, 9, "exact"), other)
    trace = make(converter.folder, "hostile")
    for words in ((other, trace), (trace, other)):
        for form in ("text", "junit", "html", "json"):
            done = subprocess.run([converter.refrain, "diff", *words, "--format", form, "--top", "0"], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            check(done.returncode == INCOMPLETE, "diff --format %s: %s" % (form, done.stderr))
            text = done.stdout.decode("utf-8")
            control = [c for c in text if c < " " and c != "\n" or c == "\x7f" and form != "json"]
            check(not control, "diff --format %s: control characters %r" % (form, control))
            if form == "junit":
                xml.fromstring(text)
            if form == "html":
                check(not re.search(r"<(img|script|b>&)", text), "html: markup of a name")


def test_one_rank(converter):
    for words in ((1, 1, 3, "exact"), (1, 1, 0, "none")):
        said = converter.check(make(converter.folder, "halo", *words))
        check(all(one["ranks"] == 1 for one in said.values()), "ranks of %s" % said)


def few_resources():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    if not os.environ.get("REFRAIN_TEST_SANITIZER"):  # those reserve terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def test_many_ranks(converter):
    """Neither open files nor memory follow the number of ranks; nor does the time its square."""
    trace = make(converter.folder, "halo", 20, 100, 1, "exact")
    for target in ALL:
        done = converter.run(trace, target, "--force", preexec_fn=few_resources)
        if done.returncode == 5:
            continue
        check(done.returncode == 0, "%s: status %d: %s" % (target, done.returncode, done.stderr))
    files = os.listdir(converter.output("ti"))
    check(len(files) == 2001, "ti: %d files" % len(files))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--maker", required=True)
    options = parser.parse_args()
    tests = (test_names, test_diff, test_one_rank, test_many_ranks)
    return run_tests(tests, options.refrain)


if __name__ == "__main__":
    sys.exit(main())
