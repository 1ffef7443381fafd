#!/usr/bin/python3
"""What a trace says of the recorder's own work, and of the cores that the ranks had.

    recorder.py --refrain build/refrain --programs build/tests/recorder [--mpi mpich] [--case useful]

useful: ranks measure what they do outside of MPI. The trace must say the same of each: what the recorder does behind
  MPI_Init, with many ranks longer than all that the program computes, must be in the recorder's own time. Other
  programs on the machine may stop a rank between its own look at the clock and the recorder's: a rank is wrong that
  is so in each of several runs.
cores: more ranks than cores are called so, first of all, and others are not.

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

SKIPPED = 77
TRIES = 5
MANY = 16             # ranks
ITERATIONS, US = 20, 2000
MOST_OFF = 0.1        # of what a rank measured
CROWDED = "More ranks than cores"
options = None


class Failure(Exception):
    """One line that says what is wrong."""


def ask(verb, trace):
    done = subprocess.run([options.refrain, verb, "--format", "json", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        raise Failure("`refrain %s` exits with %d: %s" % (verb, done.returncode, done.stderr.decode().strip()[:300]))
    return json.loads(done.stdout)


def record(mpi, ranks, timing):
    """The trace, and what each rank measured, in ns."""
    trace, log = (os.path.join(options.work, "run" + ending) for ending in (".rfn", ".log"))
    words = [os.path.join(options.programs, "known_work_" + mpi), str(ITERATIONS), str(US), log]
    recorder = [options.refrain, "record", "--timing", timing, "-o", trace, "--"]
    if mpi == "smpi":
        line = smpi.command_line(ranks, words, ["/usr/bin/env", "REFRAIN_LIBRARY_PATH=" + options.libraries] + recorder)
        outcome = mpirun.run_command(line, 120, dict(os.environ), cwd=options.work)
    else:
        outcome = mpirun.run_job(mpi, ranks, words, timeout=120, cwd=options.work, wrapper=recorder,
                                 env={"REFRAIN_LIBRARY_PATH": options.libraries})
    if outcome.status != 0:
        raise Failure("exit status %d: %s" % (outcome.status, outcome.stderr.decode()[-300:]))
    measured = []
    for rank in range(ranks):
        with open("%s.%d" % (log, rank), encoding="utf-8") as file:
            measured.append(int(file.read()))
    return trace, measured


def far_ranks(what, found_ns, measured_ns):
    """{rank: what is wrong with it}"""
    return {rank: "%s: rank %d: %.2f ms, and the program measured %.2f ms" % (what, rank, ns / 1e6,
                                                                              measured_ns[rank] / 1e6)
            for rank, ns in found_ns.items() if abs(ns - measured_ns[rank]) > MOST_OFF * measured_ns[rank]}


def useful_once(mpi, timing):
    """{rank: what is wrong with it} of one run."""
    trace, measured = record(mpi, MANY, timing)
    subprocess.run([options.refrain, "check", trace], check=True, stdout=subprocess.DEVNULL, timeout=120)
    profile, info = ask("profile", trace), ask("info", trace)
    far = far_ranks(timing + ", outside of MPI", {row["rank"]: row["outside_ns"] for row in profile["ranks"]}, measured)
    own_ns = sum(row["recorder_in_run_ns"] for row in profile["ranks"])
    if len(profile["ranks"]) != MANY or info["recorder_in_run_ns"] != own_ns or own_ns <= 0:
        raise Failure("%s: info has %d ns of the recorder, profile %d" % (timing, info["recorder_in_run_ns"], own_ns))
    if timing != "exact":
        return far
    waits = ask("waits", trace)
    useful = {row["rank"]: 1e9 * row["useful_seconds"] for row in waits["ranks"]}
    mean_ns = 1e9 * waits["efficiency"]["useful_mean_seconds"]
    if len(useful) != MANY or abs(mean_ns - sum(useful.values()) / MANY) > 1000:
        raise Failure("waits has a mean of %.0f ns for %s" % (mean_ns, useful))
    if abs(1e9 * waits["recorder"]["work_seconds"] - own_ns) > 1000:
        raise Failure("waits has another time of the recorder than info")
    return {**far, **far_ranks("useful", useful, measured)}


def check_useful(mpi):
    for timing in ("exact", "stats"):
        wrong = useful_once(mpi, timing)
        for _ in range(TRIES - 1):
            if not wrong:
                break
            again = useful_once(mpi, timing)
            wrong = {rank: text for rank, text in again.items() if rank in wrong}
        if wrong:
            raise Failure("in each of %d runs: %s" % (TRIES, "; ".join(wrong.values())))


def check_cores(mpi):
    usable = len(os.sched_getaffinity(0))
    for ranks in (usable + 2, min(usable, 2)):
        trace, _ = record(mpi, ranks, "exact")
        cores, waits = ask("info", trace).get("cores"), ask("waits", trace)
        says_so = waits["verdict_text"].startswith(CROWDED)
        if mpi == "smpi":
            if cores is not None or says_so:
                raise Failure("ranks of a simulation share no cores: %s" % cores)
            continue
        crowded = ranks if ranks > usable else 0
        if cores["crowded_ranks"] != crowded or says_so != (crowded > 0):
            raise Failure("%d ranks on %d cores: %s; %s" % (ranks, usable, cores, waits["verdict_text"]))
        (host,) = cores["by_host"]
        if host["ranks"] != ranks or host["cores"] < usable or host["usable_cores"] > usable:
            raise Failure("%d ranks on %d cores: %s" % (ranks, usable, host))
        share = 1 - usable / ranks if crowded else 0
        if abs(cores["most_waiting_share"] - share) > 1e-9:
            raise Failure("waiting for a core may be %s of the time, not %s" % (share, cores["most_waiting_share"]))


def problem_of(case, mpi):
    """None, or what is wrong."""
    try:
        case(mpi)
        return None
    except Failure as failure:
        return str(failure)


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--refrain", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--libraries")
    parser.add_argument("--mpi", action="append")
    parser.add_argument("--case", choices=("useful", "cores"))
    options = parser.parse_args()
    options.refrain, options.programs = os.path.abspath(options.refrain), os.path.abspath(options.programs)
    options.libraries = os.path.abspath(options.libraries or os.path.dirname(options.refrain))
    mpis = [m for m in options.mpi or ("mpich", "openmpi", "smpi")
            if mpirun.launcher(m) and os.path.exists(os.path.join(options.programs, "known_work_" + m))]
    if not mpis:
        print("recorder: no MPI here to run it")
        return SKIPPED
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="refrain-recorder-") as options.work:
        for mpi in mpis:
            for name, case in (("useful", check_useful), ("cores", check_cores)):
                # A simulation's clock stands still while a program measures on the wall.
                if options.case not in (None, name) or (mpi == "smpi" and name == "useful"):
                    continue
                problem = problem_of(case, mpi)
                wrong += problem is not None
                print("%s  %s, %s%s" % ("FAIL" if problem else "pass", mpi, name, ": " + problem if problem else ""))
                if problem:
                    print("  again: %s --refrain %s --programs %s --mpi %s --case %s" % (
                        os.path.relpath(sys.argv[0]), options.refrain, options.programs, mpi, name))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
