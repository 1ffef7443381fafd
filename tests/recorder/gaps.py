#!/usr/bin/python3
"""The time between calls, of `record --gaps`, against a program that knows it.

    gaps.py --refrain build/refrain --programs build/tests/recorder [--mpi mpich] [--case exact]

Ranks work for so long at least before each call of a place, and count how often. What must hold on any machine,
however busy: no gap is shorter than that, there are as many as calls, and all together are the time outside of MPI.

stats: the above; calls inside of a callback have no gaps; without --gaps there are none.
exact: with times of single calls in the same run the gaps of each place are what lies between these times, less what
  the recorder worked itself.
irregular: no two calls alike, and little memory, so that parts of it go to the spool.
abort: the job dies, and `refrain recover` finds them.

Exit status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

SKIPPED, INCOMPLETE = 77, 4
RANKS, ITERATIONS, US = 2, 20, 2000
WORK_US = {"MPI_Barrier": US, "MPI_Allreduce": 2 * US, "MPI_Sendrecv": US}
# Of clocks that are a little apart, and of how exactly the file has a time.
OFF = 0.01
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def expect(good, text, *values):
    if not good:
        raise Failure(text % values)


def ask(verb, trace, *words, status=(0,)):
    done = subprocess.run([options.refrain, verb, *words, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)
    expect(done.returncode in status, "`refrain %s` exits with %d: %s", verb, done.returncode,
           done.stderr.decode().strip()[:300])
    return done.stdout.decode()


def answer(verb, trace, status=(0,)):
    return json.loads(ask(verb, trace, "--format", "json", status=status))


def record(mpi, how, *words):
    """The trace, and of each rank and place what it measured in ns, and how often."""
    trace, log = (os.path.join(options.work, how + ending) for ending in (".rfn", ".log"))
    program = [os.path.join(options.programs, "known_gaps_" + mpi), str(ITERATIONS), str(US), log, how]
    recorder = [options.refrain, "record", "-o", trace, *words, "--"]
    if mpi == "smpi":
        line = smpi.command_line(RANKS, program,
                                 ["/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries] + recorder)
        outcome = mpirun.run_command(line, 120, dict(os.environ), cwd=options.work)
    else:
        outcome = mpirun.run_job(mpi, RANKS, program, timeout=120, cwd=options.work, wrapper=recorder,
                                 env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect((outcome.status == 0) == (how != "abort") and not outcome.timed_out, "exit status %d: %s", outcome.status,
           outcome.stderr.decode()[-300:])
    measured = []
    for rank in range(RANKS):
        with open("%s.%d" % (log, rank), encoding="utf-8") as file:
            measured.append({name: (int(ns), int(count)) for name, ns, count in (line.split() for line in file)})
    return trace, measured


def places(trace, status=(0,)):
    """The gaps of each function: calls, sum, least, most."""
    found, counted = {}, {}
    for row in answer("stats", trace, status)["gaps"]:
        calls, total, least, most = found.get(row["call"], (0, 0, 1 << 62, 0))
        found[row["call"]] = (calls + row["calls"], total + row["sum_ns"], min(least, row["min_ns"]),
                              max(most, row["max_ns"]))
        # Signatures that share a histogram have parts of it.
        counted[row["call"]] = counted.get(row["call"], 0) + sum(count for _, count in row["histogram"])
    for name, row in found.items():
        expect(counted[name] == row[0], "histograms of %s: %d of %d calls", name, counted[name], row[0])
    return found


def check_bounds(trace, measured, work_us, status=(0,)):
    found = places(trace, status)
    for name, us in work_us.items():
        calls, total, least, most = found[name]
        told = sum(rank[name][1] for rank in measured)
        expect(calls >= told, "%d gaps before %s, which was called %d times", calls, name, told)
        least_ns = 1000 * us * (1 - OFF)
        expect(total >= told * least_ns, "%s: %.0f ns in all, less than %d times %d us", name, total, told, us)
        # MPI_Barrier is called once more in the end.
        expect(name == "MPI_Barrier" or least >= least_ns, "%s: a gap of %d ns, less than %d us", name, least, us)
        expect(most >= least_ns, "%s: at most %d ns", name, most)
    nested = found["MPI_Initialized"]
    expect(nested[0] > 0 and nested[1] == 0 and nested[3] == 0, "calls inside of a call have gaps: %s", nested)
    return found


def check_sum(mpi, trace, found, status=(0,)):
    """All gaps together are the time outside of MPI."""
    total = sum(place[1] for place in found.values())
    ranks = answer("profile", trace, status)["ranks"]
    outside, own = (sum(rank[key] for rank in ranks) for key in ("outside_ns", "recorder_in_run_ns"))
    expect(total >= outside * (1 - OFF) - 1000, "%s: %.0f ns of gaps, and %d outside of MPI", mpi, total, outside)
    expect(total <= (outside + own) * (1 + OFF) + 1000, "%s: %.0f ns of gaps, and %d + %d outside of MPI", mpi, total,
           outside, own)


def check_stats(mpi):
    # Of a simulation's time the program takes what it sleeps.
    trace, measured = record(mpi, "stats", "--gaps")
    ask("check", trace)
    expect("gaps " in ask("info", trace), "`refrain info` says nothing of gaps")
    expect("time before the call" in ask("stats", trace), "`refrain stats` shows no gaps")
    expect("\ngaps\n" in ask("dump", trace, "--bytes"), "`dump --bytes` has no gaps")
    check_sum(mpi, trace, check_bounds(trace, measured, WORK_US))
    trace, _ = record(mpi, "stats")
    expect("gaps" not in answer("stats", trace), "gaps without --gaps")


def check_exact(mpi):
    trace, measured = record(mpi, "exact", "--gaps", "--timing", "exact")
    ask("check", trace)
    found = check_bounds(trace, measured, WORK_US)
    check_sum(mpi, trace, found)
    between = {}
    for rank in range(RANKS):
        end = None
        for line in ask("dump", trace, "--format", "jsonl", "--rank", str(rank)).splitlines():
            call = json.loads(line)
            if call["call"] == "MPI_Initialized":
                continue  # inside of another one, and ends before it
            if end is not None:
                between[call["call"]] = between.get(call["call"], 0) + call["begin_ns"] - end
            end = call["end_ns"]
    own = sum(rank["recorder_in_run_ns"] for rank in answer("profile", trace)["ranks"])
    for name, ns in between.items():
        total = found[name][1]
        expect(total <= ns * (1 + OFF) + 1000, "%s: %.0f ns of gaps, and %d between exact times", name, total, ns)
        expect(total >= (ns - own) * (1 - OFF) - 1000,
               "%s: %.0f ns of gaps, and %d between exact times, %d of them own", name, total, ns, own)


def check_irregular(mpi):
    work_us = dict(WORK_US, MPI_Sendrecv=US // 100)
    for words in ([], ["--memory", "1M"]):
        trace, measured = record(mpi, "irregular", "--gaps", *words)
        ask("check", trace)
        check_sum(mpi, trace, check_bounds(trace, measured, work_us))


def check_abort(mpi):
    trace, measured = record(mpi, "abort", "--gaps")
    ask("recover", trace + ".spool", "-o", trace)
    ask("check", trace, status=(INCOMPLETE,))
    check_bounds(trace, measured, WORK_US, status=(0, INCOMPLETE))


CASES = {"stats": check_stats, "exact": check_exact, "irregular": check_irregular, "abort": check_abort}


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--case", choices=sorted(CASES))
    options = parser.parse_args()
    options.refrain, options.programs = os.path.abspath(options.refrain), os.path.abspath(options.programs)
    options.libraries = os.path.abspath(options.libraries or os.path.dirname(options.refrain))
    mpis = [m for m in options.mpi or ("mpich", "openmpi", "smpi")
            if mpirun.launcher(m) and os.path.exists(os.path.join(options.programs, "known_gaps_" + m))]
    if not mpis:
        print("gaps: no MPI here to run it")
        return SKIPPED
    wrong = 0
    for mpi in mpis:
        for name, case in CASES.items():
            # There is no spool there, and one memory.
            if options.case not in (None, name) or (mpi == "smpi" and name in ("abort", "irregular")):
                continue
            with tempfile.TemporaryDirectory(prefix="refrain-gaps-") as options.work:
                try:
                    case(mpi)
                    problem = None
                except Failure as failure:
                    problem = str(failure)
            wrong += problem is not None
            print("%s  %s, %s%s" % ("FAIL" if problem else "pass", mpi, name, ": " + problem if problem else ""))
            if problem:
                print("  again: %s --refrain %s --programs %s --mpi %s --case %s" % (
                    os.path.relpath(sys.argv[0]), options.refrain, options.programs, mpi, name))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
