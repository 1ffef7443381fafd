#!/usr/bin/python3
"""Data races in the recorder: programs with threads, and librefrain-mpich.so, under ThreadSanitizer.

    race.py --refrain build/tsan/refrain --libraries build/tsan/src/tracer/tsan
            --programs FOLDER --shim yield_shim.so [--only NAME]

Exit status 1 when a report has a frame in Refrain, a run fails or its trace is not whole.
Reports without such a frame are the MPI's, which is not instrumented, and are only counted.
"""
import argparse
import glob
import os
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


def failures(words, way, options, folder):
    name = words[0]
    trace = os.path.join(folder, name + ".rfn")
    # UCX replaces functions of memory by writing over their code, which ThreadSanitizer's do not
    # survive.
    environment = {
        "UCX_MEM_EVENTS": "n",
        "TSAN_OPTIONS": "exitcode=0 history_size=4 log_path=%s/report suppressions=%s/suppressions"
                        % (folder, HERE),
    }
    command = [options.refrain, "record", "-o", trace] + way
    command += ["--", os.path.join(options.programs, name)] + words[1:]
    library = os.path.join(options.libraries, "librefrain-mpich.so")
    environment["REFRAIN_LIBRARY_PATH"] = options.libraries
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
    other = 0
    for report in reports(folder):
        if "librefrain" in report or "/src/tracer/" in report:
            found.append(report)
        else:
            other += 1
    print("%s  %s, %d reports without a frame in Refrain"
          % ("FAIL" if found else "pass", " ".join([name] + way), other))
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("--refrain", "--libraries", "--programs", "--shim"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--only")
    options = parser.parse_args()
    status = 0
    for words in PROGRAMS:
        for way in WAYS:
            if options.only not in (None, words[0]):
                continue
            with tempfile.TemporaryDirectory(prefix="refrain-race-") as folder:
                for failure in failures(words, way, options, folder):
                    status = 1
                    print(failure)
    return status


if __name__ == "__main__":
    sys.exit(main())
