#!/usr/bin/python3
"""Whether `refrain waits` finds the causes of waiting that were put into a program.

    delays.py --refrain build/refrain --programs build/tests/delays [--mpi smpi] [--pattern halo] [--cause one]

delays.c repeats a pattern of communication with some work in each iteration, makes that work longer on some ranks,
and logs between which two calls: that is the truth. Of the cost of all causes at least 95 % must go there, at most
2 % to any other stretch of a rank, and the verdict must begin with such a place. What happened before the first
iteration is left out, and so is MPI_Init: nothing was put in there.

--table runs every pattern with every cause and prints what share was found; without it a few of them are run under
MPICH and Open MPI, where each is tried three times, as other programs on the machine put in delays of their own.
Under SMPI, where time is simulated, each pattern is run with two causes, with --every with all of them. Exit
status: 0 all good, 1 something is wrong, 77 nothing could run.
"""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402
import smpi  # noqa: E402

SKIPPED = 77
RANKS = 4
LEAST_RIGHT, MOST_OTHER = 0.95, 0.02
TRIES = 3
FILES = {
    "messages.c": ("halo", "sendrecv", "persistent", "chain", "blocking_chain", "wavefront", "master", "waitany",
                   "testsome", "iprobe"),
    "collectives.c": ("barrier", "bcast", "scatter", "reduce", "gather", "allreduce", "allgather", "alltoall",
                      "reduce_scatter", "scan", "bcast_barrier", "iallreduce", "ibarrier_test", "neighbours"),
    "others.c": ("fence", "pscw", "lock", "file", "threads")}
PATTERNS = {pattern: file for file, patterns in FILES.items() for pattern in patterns}
CAUSES = ("one", "several", "tenth", "growing", "root", "call", "turns", "passed_on", "noise")
# Nobody waits for the root of these, or for ranks other than the root; in a pipeline each rank is late at another
# time, so that hardly anybody waits, and a rank cannot wait for one that is behind it. Threads that receive keep others
# of their rank out of the library for as long as they like.
WITHOUT = {"root": ("reduce", "gather", "lock"), "several": ("lock",),
           "passed_on": ("lock", "threads", "chain", "blocking_chain", "wavefront"),
           "turns": ("bcast", "scatter", "lock", "threads", "chain", "wavefront", "scan", "blocking_chain")}
# Iterations, microseconds of work, and of delay.
# A delay is long where other programs of the machine make ranks late as well.
SIZES = {"smpi": (20, 100, 20_000)}
SIZES_OF_OTHERS = (8, 1000, 200_000)
# A network that takes hardly any time, and tests that take less than by default, or a loop of them is late by that.
NETWORK = ("100GBps", "50ns")
TESTS = ("smpi/test:1e-5", "smpi/iprobe:1e-5", "smpi/grow-injected-times:no")
# What SimGrid 3.32 has not, or cannot do here.
NOT_UNDER = {"smpi": ("threads", "lock", "pscw", "neighbours", "file")}
IN_SHORT = {"mpich": (("halo", "one"), ("allreduce", "tenth"))}
IN_SHORT_ON_OTHERS = (("sendrecv", "one"),)
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def is_in_short(mpi, pattern, cause):
    """Under SMPI each pattern has two causes in the normal run, the next pattern the next two, and so on."""
    if mpi != "smpi":
        return (pattern, cause) in IN_SHORT.get(mpi, IN_SHORT_ON_OTHERS)
    possible = [c for c in CAUSES if pattern not in WITHOUT.get(c, ())]
    first = 2 * list(PATTERNS).index(pattern)
    return cause in (possible[first % len(possible)], possible[(first + 1) % len(possible)])


def cases(mpi):
    for pattern in PATTERNS:
        for cause in CAUSES:
            wanted = (options.pattern in (None, pattern) and options.cause in (None, cause) and
                      pattern not in WITHOUT.get(cause, ()) and pattern not in NOT_UNDER.get(mpi, ()))
            if wanted and (options.table or options.every or options.pattern or is_in_short(mpi, pattern, cause)):
                yield pattern, cause


def record(mpi, pattern, cause):
    """The trace, and the name of the program's log."""
    trace, log = (os.path.join(options.work, "run" + ending) for ending in (".rfn", ".log"))
    program = os.path.join(options.programs, "delays_" + mpi)
    words = [program, pattern, cause] + [str(size) for size in SIZES.get(mpi, SIZES_OF_OTHERS)] + [log]
    recorder = [options.refrain, "record", "--timing", "exact", "-o", trace, "--"]
    if mpi == "smpi":
        line = smpi.command_line(RANKS, words, ["/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries] + recorder,
                                 settings=TESTS, network=NETWORK)
        outcome = mpirun.run_command(line, 120, dict(os.environ), cwd=options.work)
    else:
        outcome = mpirun.run_job(mpi, RANKS, words, timeout=120, cwd=options.work, wrapper=recorder,
                                 env={"REFRAIN_LIBRARY_PATH": options.libraries})
    if outcome.status != 0:
        raise Failure("exit status %d: %s" % (outcome.status, outcome.stderr.decode()[-300:]))
    return trace, log


def truth_of(log, file):
    """Places (rank, kind, from, to) with the seconds put in there; by file, between which lines setting up is."""
    places, setup = {}, {}
    for rank in range(RANKS):
        with open("%s.%d" % (log, rank), encoding="utf-8") as lines:
            for words in map(str.split, lines):
                if words[0] == "setup":
                    setup["delays.c"] = (int(words[1]), int(words[2]))
                    setup[file] = (0, min(setup[file][1] if file in setup else 1 << 30, int(words[3])))
                    continue
                kind = "between_calls" if words[0] == "between" else "call"
                sites = tuple("%s:%s" % ("delays.c" if words[i] == "1" else file, words[i + 1]) for i in (1, 3))
                places[(rank, kind) + sites] = float(words[5]) / 1e6
    return places, setup


def site(place):
    """Innermost call site of a place of the JSON."""
    if place is None or not place.get("path"):
        return ""
    return place["path"][-1]["site"] or ""


def is_setup(cause, setup):
    """Whether it ends where the first work begins or before that, and does not come from behind it."""
    def line_of(place):
        name, _, number = site(place).partition(":")
        return name, int(number or 0)
    (from_file, from_line), (to_file, to_line) = line_of(cause["from"]), line_of(cause["to"])
    first, last = setup.get(to_file, (0, 0))
    if not first <= to_line <= last:
        return False
    return cause["kind"] == "call" or from_file != to_file or from_line < to_line


def score(waits, places, setup):
    """Seconds in all, the share that goes to the places, the largest share of any other, and which that is."""
    costs = {}
    for cause in waits["delays"]:
        if cause["pattern"] == "init_imbalance" or is_setup(cause, setup):
            continue
        if cause["rank"] is None:
            key = (None, "", "", "")
        else:
            key = (cause["rank"], cause["kind"], site(cause["from"]), site(cause["to"]))
        costs[key] = costs.get(key, 0) + cause["seconds"]
    total = sum(costs.values())
    right = sum(seconds for key, seconds in costs.items() if key in places)
    others = sorted(((seconds, key) for key, seconds in costs.items() if key not in places), key=lambda c: -c[0])
    worst = others[0] if others else (0, None)
    return total, right / total if total else 0, worst[0] / total if total else 0, worst[1]


def verdict_is_right(waits, places):
    if not waits["verdict"]:
        return False
    first = waits["verdict"][0]
    return (first["rank"], first["kind"], first["from"]["site"], first["to"]["site"]) in places


def run_once(mpi, pattern, cause):
    file = PATTERNS[pattern]
    trace, log = record(mpi, pattern, cause)
    done = subprocess.run([options.refrain, "waits", "--format", "json", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        raise Failure("`refrain waits` exits with %d: %s" % (done.returncode, done.stderr.decode().strip()[:300]))
    waits = json.loads(done.stdout)
    places, setup = truth_of(log, file)
    total, right, other, which = score(waits, places, setup)
    if options.keep:
        shutil.copy(trace, os.path.join(options.keep, "%s-%s-%s.rfn" % (mpi, pattern, cause)))
    problem = None
    put_in = sum(places.values())
    if total < 0.2 * put_in:
        problem = "%.4f s of waiting for %.4f s put in" % (total, put_in)
    elif right < LEAST_RIGHT or other > MOST_OTHER:
        problem = "%.1f %% goes to where the delay is, %.1f %% to %s" % (100 * right, 100 * other, which)
    elif not verdict_is_right(waits, places):
        problem = "the verdict is: %s" % waits["verdict_text"]
    return total, right, other, problem


def run_case(mpi, pattern, cause):
    """(seconds, right, other, problem) of the best of some tries."""
    best = None
    for _ in range(1 if mpi == "smpi" else TRIES):
        found = run_once(mpi, pattern, cause)
        if best is None or found[1] > best[1]:
            best = found
        if best[3] is None:
            break
    return best


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--pattern")
    parser.add_argument("--cause")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--csv")
    parser.add_argument("--keep", help="a folder for the traces")
    found = parser.parse_args()
    found.refrain, found.programs = os.path.abspath(found.refrain), os.path.abspath(found.programs)
    found.libraries = os.path.abspath(found.libraries or os.path.dirname(found.refrain))
    found.keep = os.path.abspath(found.keep) if found.keep else None
    return found


def main():
    global options
    options = parse()
    mpis = [m for m in options.mpi or ("smpi", "mpich", "openmpi")
            if mpirun.launcher(m) and os.path.exists(os.path.join(options.programs, "delays_" + m))]
    if not mpis:
        print("delays: no MPI here to run them")
        return SKIPPED
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory(prefix="refrain-delays-") as options.work:
        for mpi in mpis:
            for pattern, cause in cases(mpi):
                try:
                    total, right, other, problem = run_case(mpi, pattern, cause)
                except Failure as failure:
                    total, right, other, problem = 0, 0, 0, str(failure)
                rows.append([mpi, pattern, cause, "%.4f" % total, "%.1f" % (100 * right), "%.1f" % (100 * other)])
                wrong += problem is not None
                if options.table or problem:
                    print("%-8s %-15s %-8s %9s s %6s %% right %6s %% other  %s" % (*rows[-1], problem or ""),
                          flush=True)
                if problem and not options.table:
                    print("  again: %s --mpi %s --pattern %s --cause %s" % (
                        " ".join([os.path.relpath(sys.argv[0]), "--refrain", options.refrain, "--programs",
                                  options.programs]), mpi, pattern, cause))
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            header = ["mpi", "pattern", "cause", "seconds", "right_percent", "other_percent"]
            csv.writer(file).writerows([header, *rows])
    print("delays: %d of %d found" % (len(rows) - wrong, len(rows)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
