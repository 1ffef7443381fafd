#!/usr/bin/python3
"""Call paths against what the program says: call_paths.c counts its calls by path itself.

    call_paths.py --refrain build/refrain --mpi mpich --program call_paths --libraries build/src/tracer
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

DEPTHS = (1, 3, 8, 30)


def expected(text):
    counts = {}
    for line in text.splitlines():  # of each rank
        path, count = line.rsplit(",", 1)
        counts[path] = counts.get(path, 0) + int(count)
    return counts


def found(refrain, trace):
    done = subprocess.run([refrain, "profile", "--by", "callpath", "--format", "csv", trace],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode != 0:
        sys.exit("FAIL  profile exits with %d: %s" % (done.returncode, done.stderr.decode()))
    rows = csv.DictReader(io.StringIO(done.stdout.decode()))
    return {row["call_path"]: int(row["count"]) for row in rows if row["call"] == "MPI_Comm_rank"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--refrain", "--mpi", "--program", "--libraries"):
        parser.add_argument(name, required=True)
    parser.add_argument("--shim", default="")
    options = parser.parse_args()
    env = {"REFRAIN_LIBRARY_PATH": options.libraries, "REFRAIN_QUIET": "1"}
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="refrain-paths-") as folder:
        for depth in DEPTHS:
            trace = os.path.join(folder, "%d.rfn" % depth)
            record = [options.refrain, "record", "-o", trace, "--callpath", str(depth)]
            # Where ranks are user-level threads they must not get into each other's way.
            done = mpirun.run_job(options.mpi, 3 if options.mpi == "smpi" else 1, [options.program, str(depth)], 60,
                                  [options.shim] if options.shim else [], env, wrapper=record)
            if done.status != 0:
                sys.exit("FAIL  depth %d: exit status %d: %s" % (depth, done.status, done.stderr.decode()))
            want, have = expected(done.stdout.decode()), found(options.refrain, trace)
            for path in sorted(set(want) | set(have)):
                if want.get(path, 0) != have.get(path, 0):
                    wrong += 1
                    if wrong <= 10:
                        print("FAIL  depth %d: %s: the program counted %d, the profile says %d" % (
                            depth, path, want.get(path, 0), have.get(path, 0)))
            print("depth %d: %d paths, %d calls, %d bytes" % (
                depth, len(want), sum(want.values()), os.path.getsize(trace)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
