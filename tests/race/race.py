#!/usr/bin/python3
"""Data races in the recorder and in replays: programs with threads, librefrain-mpich.so and refrain-replay-mpich,
under ThreadSanitizer.

    race.py --refrain build/tsan/refrain --libraries build/tsan/src/tracer/tsan
            --replay build/tsan/src/tracer --programs FOLDER --shim yield_shim.so [--only NAME]

Exit status 1 when a report has a frame in Refrain, a run fails or its trace is not whole.
Reports without such a frame are the MPI's, which is not instrumented, and are only counted.
"""
import argparse
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

PROGRAMS = (["threads"], ["threads_comms"], ["threads_come_and_go"], ["threads_hand_over"],
            ["threads_steady"], ["parts", "60", "threads"])
# Little enough that tables begin anew many times; and segments that are matched while the threads run.
MARKS = ["--timing", "segments:relDiff", "--segments", "marks"]
WAYS = ([], ["--memory", "256K"], MARKS, MARKS + ["--memory", "2M"])


def is_instrumented(library):
    symbols = subprocess.run(["nm", "-D", "--undefined-only", library], check=True,
                             stdout=subprocess.PIPE).stdout
    return b"__tsan_write8" in symbols


def reports(folder):
    for name in sorted(glob.glob(os.path.join(folder, "report.*"))):
        with open(name, errors="replace") as f:
            yield from (r for r in f.read().split("==================\n") if "WARNING" in r)


def environment_of(options, folder):
    # UCX replaces functions of memory by writing over their code, which ThreadSanitizer's do not
    # survive.
    return {
        "UCX_MEM_EVENTS": "n",
        "TSAN_OPTIONS": "exitcode=0 history_size=4 log_path=%s/report suppressions=%s/suppressions"
                        % (folder, HERE),
        "REFRAIN_LIBRARY_PATH": options.libraries,
    }


def failures(words, way, options, folder):
    name = words[0]
    trace = os.path.join(folder, name + ".rfn")
    environment = environment_of(options, folder)
    command = [options.refrain, "record", "-o", trace] + way
    command += ["--", os.path.join(options.programs, name)] + words[1:]
    library = os.path.join(options.libraries, "librefrain-mpich.so")
    environment["REFRAIN_QUIET"] = "1"
    run = mpirun.run_job("mpich", 2, command, timeout=60, preload=[options.shim],
                         env=environment)
    found = []
    if not is_instrumented(library):
        found.append("%s is not instrumented" % library)
    if run.status != 0:
        found.append("exit status %d: %s" % (run.status, run.stderr))
    if subprocess.run([options.refrain, "check", trace]).returncode != 0:
        found.append("refrain check is not content")
    other = take_ours(reports(folder), lambda report: "librefrain" in report or "/src/tracer/" in report, found)
    print("%s  %s, %d reports without a frame in Refrain"
          % ("FAIL" if found else "pass", " ".join([name] + way), other))
    return found


def take_ours(reports_there, is_ours, found):
    """Appends those that are ours to `found`; the number of the others."""
    other = 0
    for report in reports_there:
        if is_ours(report):
            found.append(report)
        else:
            other += 1
    return other


def is_of_replay(report):
    """One of the accesses is a function of the replay. What MPI does in calls of the replay has MPI's frames first, and
    where a thread was started says nothing."""
    first = [stack.split("\n")[1] for stack in report.split("\n\n")
             if re.search(r"^ +(Previous )?(atomic )?(read|write) of size", stack, re.I | re.M)
             and len(stack.split("\n")) > 1]
    return any("refrain-replay" in frame for frame in first)


def replay_failures(words, options, folder):
    """The program's threads in a replay, where all of them begin at once."""
    trace = os.path.join(folder, words[0] + ".rfn")
    environment = dict(environment_of(options, folder), REFRAIN_QUIET="1")
    recorded = mpirun.run_job("mpich", 2, [options.refrain, "record", "-o", trace, "--",
                                           os.path.join(options.programs, words[0])] + words[1:],
                              timeout=60, preload=[options.shim], env=environment)
    for old in glob.glob(os.path.join(folder, "report.*")):
        os.unlink(old)
    environment["REFRAIN_LIBRARY_PATH"] = options.replay
    run = mpirun.run_job("mpich", 2, [options.refrain, "replay", "--compute", "none", trace],
                         timeout=120, preload=[options.shim], env=environment)
    found = []
    if not is_instrumented(os.path.join(options.replay, "refrain-replay-mpich")):
        found.append("refrain-replay-mpich is not instrumented")
    if recorded.status != 0 or run.status != 0:
        found.append("exit status %d, then %d: %s" % (recorded.status, run.status, run.stderr))
    other = take_ours(reports(folder), is_of_replay, found)
    print("%s  replay of %s, %d reports of others" % ("FAIL" if found else "pass", words[0], other))
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("--refrain", "--libraries", "--replay", "--programs", "--shim"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--only")
    options = parser.parse_args()
    status = 0
    for words in PROGRAMS:
        if options.only not in (None, words[0]):
            continue
        runs = [functools.partial(failures, words, way) for way in WAYS]
        for run in runs + [functools.partial(replay_failures, words)]:
            with tempfile.TemporaryDirectory(prefix="refrain-race-") as folder:
                for failure in run(options, folder):
                    status = 1
                    print(failure)
    return status


if __name__ == "__main__":
    sys.exit(main())
