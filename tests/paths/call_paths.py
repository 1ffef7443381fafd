#!/usr/bin/python3
"""Call paths against what the program says: call_paths.c and others count their calls by path themselves.

    call_paths.py --refrain build/refrain --mpi mpich --libraries build/src/tracer PROGRAM [ARGUMENT ...]

Each depth is recorded twice: as ever, and with every path unwound by the recorder's rules and by libunwind.
"""
import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpirun  # noqa: E402
import path_check  # noqa: E402

DEPTHS = (1, 3, 8, 30)
CALLBACK_DEPTH = 30  # MPI has many functions between a call of the program and its callback


def expected(text):
    counts = {}
    for line in text.splitlines():  # of each rank
        path, count = line.rsplit(",", 1)
        counts[path] = counts.get(path, 0) + int(count)
    return counts


def without_mpi(path):
    """Without functions of the MPI library, which has no lines in the trace; those of the recorder stay."""
    return " > ".join(site for site in path.split(" > ") if "+0x" not in site or "librefrain" in site)


def found(refrain, trace, is_of_program):
    done = subprocess.run([refrain, "profile", "--by", "callpath", "--format", "csv", trace],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode != 0:
        sys.exit("FAIL  profile exits with %d: %s" % (done.returncode, done.stderr.decode()))
    counts = {}
    for row in csv.DictReader(io.StringIO(done.stdout.decode())):
        if row["call"] == "MPI_Comm_rank":  # one line of the source may be several places in the code
            path = without_mpi(row["call_path"]) if is_of_program else row["call_path"]
            counts[path] = counts.get(path, 0) + int(row["count"])
    return counts


def compare(depth, want, have):
    """How many paths have another count."""
    wrong = 0
    for path in sorted(set(want) | set(have)):
        if want.get(path, 0) == have.get(path, 0):
            continue
        wrong += 1
        if wrong <= 10:
            print("FAIL  depth %d: %s: the program counted %d, the profile says %d" % (
                depth, path, want.get(path, 0), have.get(path, 0)))
    return wrong


def run(options, depth, checked, folder):
    """How much is wrong."""
    trace, paths = os.path.join(folder, "%d.rfn" % depth), os.path.join(folder, "paths")
    env = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "1"}
    if checked:
        env["REFRAIN_CHECK_PATHS"] = "every:" + paths
    record = [options.refrain, "record", "-o", trace, "--callpath", str(depth)]
    program = [options.program[0], str(depth)] + options.program[1:]
    # Where ranks are user-level threads they must not get into each other's way.
    done = mpirun.run_job(options.mpi, 3 if options.mpi == "smpi" else 1, program, 60,
                          [options.shim] if options.shim else [], env, wrapper=record)
    if done.status != 0 or (options.silent and done.stderr):
        sys.exit("FAIL  depth %d: exit status %d: %s" % (depth, done.status, done.stderr.decode()))
    want = expected(done.stdout.decode())
    wrong = compare(depth, want, found(options.refrain, trace, options.callbacks))
    if not checked:
        print("depth %d: %d paths, %d calls, %d bytes" % (
            depth, len(want), sum(want.values()), os.path.getsize(trace)))
        return wrong
    totals = path_check.Totals()
    totals.add(paths)
    print("depth %d: %s" % (depth, totals))
    if totals.fault():
        print("FAIL  depth %d: %s" % (depth, totals.fault()))
        wrong += 1
    # A call's own site is all that is wanted of one frame.
    if depth > 1 and totals.paths < sum(want.values()):
        print("FAIL  depth %d: only %d paths were compared" % (depth, totals.paths))
        wrong += 1
    if path_check.HAS_RULES and options.all_by_rules and totals.by_libunwind > 0:
        print("FAIL  depth %d: %d paths were left to libunwind" % (depth, totals.by_libunwind))
        wrong += 1
    os.remove(paths)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("--refrain", "--mpi", "--libraries"):
        parser.add_argument(name, required=True)
    parser.add_argument("--shim", default="")
    parser.add_argument("--silent", action="store_true", help="the program has nothing to say on stderr")
    parser.add_argument("--all-by-rules", action="store_true", help="no path needs libunwind")
    parser.add_argument("--callbacks", action="store_true", help="calls of functions that MPI calls")
    parser.add_argument("program", nargs="+", help="and its arguments behind the depth")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="refrain-paths-") as folder:
        for depth in (CALLBACK_DEPTH,) if options.callbacks else DEPTHS:
            for checked in (False, True):
                wrong += run(options, depth, checked, folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
