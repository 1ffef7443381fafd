#!/usr/bin/python3
"""docs/tutorial.md is true: its commands are run in order, and what it concludes must hold.

    tutorial.py --source . --refrain build/release/refrain --libraries build/release/src/tracer --mpi mpich
                --mpicc mpicc.mpich [--shim yield_shim.so]

Looks at who waits for whom and at what is communicated, never at how long anything takes. Exit status: 0 all
good, 1 something is wrong, 77 no MPI.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "support")
sys.path.insert(0, SUPPORT)
import documents  # noqa: E402
from documents import Failure, expect  # noqa: E402

options = None

def steps(text):
    """(command, lines that the tutorial shows of its output), in order."""
    found = []
    for _, line in documents.blocks(text):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def environment(work):
    """What the tutorial's reader has: mpicc, mpiexec and refrain in the PATH."""
    tools = os.path.join(work, "bin")
    os.makedirs(tools)
    documents.script(os.path.join(tools, "mpicc"), [options.mpicc])
    shim = ["--preload", options.shim] if options.mpi == "mpich" and options.shim else []
    documents.script(os.path.join(tools, "mpiexec"),
                     [sys.executable, os.path.join(SUPPORT, "mpirun.py"), "--mpi", options.mpi, "--timeout", "100",
                      *shim])
    documents.script(os.path.join(tools, "refrain"), [options.refrain])
    os.symlink(os.path.join(options.source, "examples"), os.path.join(work, "examples"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("REFRAIN_")}
    env.update(PATH=tools + ":" + env["PATH"], REFRAIN_LIBRARY_PATH=options.libraries)
    return env


def is_stable(line):
    """Whether a line of the tutorial's output has nothing in it that differs between runs."""
    return re.match(r"(slow: sum|.*\d ranks, \d+ messages|Messages$| +from\\to +0| +\d( +(-|\d+)){4}$"
                    r"|Efficiency|  4 ranks: no difference|Functions, by time|Causes: |  (complete|losses) )", line)


def same_words(line):
    return re.sub(r"[\d.]+ (ns|us|ms|s)\b", "TIME", line).strip()


def run_all(work):
    env = environment(work)
    with open(os.path.join(options.source, "docs", "tutorial.md")) as f:
        told = steps(f.read())
    expect(len(told) > 10, "the tutorial has %d commands", len(told))
    checked = 0
    for command, shown in told:
        done = subprocess.run(["sh", "-c", command], cwd=work, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=150, check=False)
        output = done.stdout.decode()
        expect(done.returncode == 0, "`%s` exits with %d: %s", command, done.returncode, done.stderr.decode()[-500:])
        got = [same_words(line) for line in output.splitlines()]
        for line in shown:
            if is_stable(line):
                checked += 1
                expect(same_words(line) in got, "`%s` does not say: %s\n%s", command, line, output)
    expect(checked > 18, "only %d lines of the tutorial were compared", checked)
    return env


def asked(env, work, *words):
    done = subprocess.run(["refrain", *words, "--format", "json"], cwd=work, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, check=False)
    expect(done.returncode == 0, "refrain %s: %s", " ".join(words), done.stderr.decode())
    return json.loads(done.stdout)


def seconds_of(waits, pattern):
    return sum(p["seconds"] for p in waits["patterns"] if p["pattern"] == pattern)


def check_conclusions(env, work):
    first, second, third = (asked(env, work, "waits", n + ".rfn") for n in ("first", "second", "third"))
    # Late senders in the ordered exchange are what the first run waits for.
    expect(seconds_of(first, "late_sender") > 0.5 * seconds_of(first, "point_to_point") > 0,
           "late senders are not most of the waiting: %s", first["patterns"])
    paths = next(p["call_paths"] for p in first["patterns"] if p["pattern"] == "late_sender")
    worst = max(paths, key=lambda row: row["seconds"])
    expect(worst["call"] == "MPI_Recv" and worst["path"][0]["in_function"] == "exchange_in_order",
           "most waiting is at %s", worst["path"])
    # Their senders were late because of what stands between a receive and the send after it.
    delays = [row for row in first["delays"] if row["pattern"] == "late_sender"]
    causes = sorted(delays, key=lambda row: -row["seconds"])[:3]
    expect(all("exchange_in_order" in json.dumps(row["from"]) for row in causes), "the causes are %s", causes)
    # In the second run rank 3 waits least and computes most, in the third that is over.
    def useful(waits):
        return {row["rank"]: row["useful_seconds"] for row in waits["ranks"]}

    def share_of_3(waits):
        return useful(waits)[3] / sum(useful(waits).values())
    expect(max(useful(second), key=useful(second).get) == 3, "useful time of the second run: %s", useful(second))
    expect(share_of_3(third) < share_of_3(second), "rank 3 has no less to do: %s, %s", useful(second), useful(third))
    # What is communicated is the same in all three.
    pairs = [asked(env, work, "matrix", n + ".rfn")["pairs"] for n in ("first", "second", "third")]

    def of(matrix):
        return sorted((p["source"], p["dest"], p["messages"], p["bytes"]) for p in matrix)
    expect(of(pairs[0]) == of(pairs[1]) == of(pairs[2]) and len(pairs[0]) == 8, "the messages differ: %s", pairs)


def main():
    global options
    options = documents.read_options(__doc__.split("\n")[0], "--refrain", "--libraries")
    if options is None:
        return documents.SKIPPED
    with tempfile.TemporaryDirectory(prefix="refrain-tutorial-") as work:
        try:
            check_conclusions(run_all(work), work)
        except Failure as failure:
            print("FAIL  %s" % failure)
            return 1
    print("good  docs/tutorial.md under " + options.mpi)
    return 0


if __name__ == "__main__":
    sys.exit(main())
