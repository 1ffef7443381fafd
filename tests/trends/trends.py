#!/usr/bin/python3
"""Waits that are known by construction: `refrain waits` finds them, within 5 %, on the right ranks.

    trends.py --refrain build/refrain --programs build/tests/programs/trends [--sample | --rest | --only late_sender]

The programs run under SMPI, where work takes simulated time, and log how long each rank worked in
each iteration; cases.py says what follows from that. Exit status: 0 all good, 1 something is wrong,
77 nothing could run.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import cases  # noqa: E402
import mpirun  # noqa: E402
import smpi  # noqa: E402

SKIPPED = 77
TOLERANCE = 0.05
# A network that takes hardly any time, which is no work; what is left of it for each iteration.
NETWORK = ("100GBps", "50ns")
LATENCY_NS = 2_000
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def expect(condition, message, *values):
    if not condition:
        raise Failure(message % values)


def refrain(*arguments):
    done = subprocess.run([options.refrain] + list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    expect(done.returncode == 0, "`refrain %s` exits with %d: %s", " ".join(arguments), done.returncode,
           done.stderr.decode().strip()[:300])
    return done.stdout.decode()


def record(case, timing="exact"):
    """The trace, and ns of work [iteration][rank]."""
    trace, log = (os.path.join(options.work, case.name + ending) for ending in (".rfn", ".log"))
    line = smpi.command_line(case.ranks, [os.path.join(options.programs, case.program), case.name], [
        "/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries, "REFRAIN_TRENDS_LOG=" + log,
        options.refrain, "record", "--timing", timing, "-o", trace, "--"], network=NETWORK)
    outcome = mpirun.run_command(line, 120, dict(os.environ))
    expect(outcome.status == 0, "exit status %d: %s", outcome.status, outcome.stderr.decode()[-300:])
    columns = []
    for rank in range(case.ranks):
        with open("%s.%d" % (log, rank)) as f:
            columns.append([int(line) for line in f])
    return trace, list(zip(*columns))


def seconds_by_rank(waits, pattern, call):
    """Of a pattern in calls of a function."""
    by_rank = {}
    for found in waits["patterns"]:
        if found["pattern"] != pattern:
            continue
        for path in found["call_paths"]:
            for row in path["ranks"] if path["call"] == call else ():
                by_rank[row["rank"]] = by_rank.get(row["rank"], 0) + row["seconds"]
    return by_rank


def check_severity(case, waits, expected, iterations):
    found = seconds_by_rank(waits, case.pattern, case.call)
    wanted, sum_found = sum(expected.values()) / 1e9, sum(found.values())
    slack = LATENCY_NS * 1e-9 * iterations
    expect(abs(sum_found - wanted) <= TOLERANCE * wanted + slack, "%s takes %.6f s, by construction %.6f",
           case.pattern, sum_found, wanted)
    for rank, ns in expected.items():
        expect(abs(found.get(rank, 0) - ns / 1e9) <= TOLERANCE * ns / 1e9 + slack,
               "rank %d waits %.6f s, by construction %.6f", rank, found.get(rank, 0), ns / 1e9)
    return "%s %.4f s, by construction %.4f" % (case.pattern, sum_found, wanted)


def dominant(waits):
    """The pattern, and its function, that take most."""
    groups = {found["pattern"] for found in waits["patterns"] if found["parent"] in (None, "all")}
    rows = [(path["seconds"], found["pattern"], path["call"]) for found in waits["patterns"]
            for path in found["call_paths"] if found["pattern"] not in groups]
    return max(rows, key=lambda row: row[0]) if rows else (0, None, None)


def check(case):
    trace, work = record(case)
    waits = json.loads(refrain("waits", "--format", "json", trace))
    most = dominant(waits)
    said = check_severity(case, waits, case.expected(work), len(work))
    if sum(case.expected(work).values()) / 1e9 > 0.6 * waits["patterns"][0]["seconds"]:
        expect(most[1:] == (case.pattern, case.call), "most is %s in %s", most[1], most[2])
    return said


def check_swapped():
    """The first iteration stands for all: waits are as they were, and the computation of two ranks is swapped."""
    trace, work = record(cases.SWAPPED)
    iterations = len(work)
    said = json.loads(refrain("evaluate", "--format", "json", "--by-rank", "--scope", "intra", "--method", "iter_k:1",
                              "--method", "iter_k:%d" % iterations, "--method", "auto", trace))
    first, whole, auto = said["methods"]
    expect(all(t["kept"] for t in first["trends"] if t["measure"] == "wait"), "iter_k:1 loses a wait: %s",
           first["lost"])
    trends = {t["name"]: t for t in first["trends"]}
    found = trends["computation before MPI_Comm_size"]
    early, late = 3e-3 * iterations, 1e-3 * iterations  # by construction, in the first iteration
    by_rank = {0: (early / 4 + late * 3 / 4, early), 1: (early * 3 / 4 + late / 4, late)}
    for row in found["ranks"]:
        for said_seconds, wanted in zip((row["seconds"], row["rebuilt_seconds"]), by_rank[row["rank"]]):
            expect(abs(said_seconds - wanted) <= TOLERANCE * wanted, "rank %d computes %.4f s, by construction %.4f",
                   row["rank"], said_seconds, wanted)
    expect(not found["kept"] and not first["retained"], "iter_k:1 retains the trends")
    expect(first["lost"].startswith("computation before"), "lost is: %s", first["lost"])
    for row in (whole, auto):
        expect(row["retained"], "%s loses: %s", row["method"], row["lost"])
    return "computation of rank 0 is %.3f s, with the first iteration for all %.3f: lost" % (
        found["ranks"][0]["seconds"], found["ranks"][0]["rebuilt_seconds"])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("refrain", "programs", "libraries"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--only", choices=[case.name for case in [*cases.CASES, cases.SWAPPED]])
    parser.add_argument("--sample", action="store_true", help="each kind of wait once")
    parser.add_argument("--rest", action="store_true", help="what --sample leaves out")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not mpirun.launcher("smpi"):
        print("skip  no smpi")
        return SKIPPED
    options.work = tempfile.mkdtemp(prefix="refrain-trends-")
    failed = 0
    checks = [(case, lambda case=case: check(case)) for case in cases.CASES] + [(cases.SWAPPED, check_swapped)]
    for case, check_it in checks:
        if options.only not in (None, case.name) or (options.rest if case.name not in cases.REST else options.sample):
            continue
        try:
            print("pass  %s: %s" % (case.name, check_it()), flush=True)
        except Exception as e:  # noqa: B902 - anything that goes wrong is a failure
            failed += 1
            print("FAIL  %s: %s %s" % (case.name, type(e).__name__, e), flush=True)
    if not options.keep:
        shutil.rmtree(options.work, ignore_errors=True)
    print("%d failed" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
