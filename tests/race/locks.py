#!/usr/bin/python3
"""No lock on the path of a call: a program with threads whose calls are known by then, and what
support/lock_counter.c counts of the recorder meanwhile.

    locks.py --refrain build/release/refrain --mpi mpich --libraries build/release/src/tracer
             --program threads_steady --counter lock_counter.so --shim yield_shim.so

Without a spool there must be none at all; a spool costs some, when its room is used up, and for each
piece of the recorder's own work that took long, as when the thread lost its core meanwhile. How often
that happens is up to the machine, so of each thread the best of some runs counts: a lock on the path
of a call is there in every run. A thread that meets something for the first time takes locks, or the
counter counts nothing.
"""
import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

RANKS, THREADS, ROUNDS = 2, 4, 400
RUNS = 10  # at most
CALLS = 2 * 2 * ROUNDS  # at least so many a thread: two a round, in the loop and in disorder
LINE = re.compile(r"rank (\d+) thread (\d+) locks (\d+) (\d+) (\d+)")


def counts(options, spool):
    """(locks until all is known, in the loop, in disorder) of each thread of each rank."""
    preload = [options.counter] + mpirun.shims(options.mpi, options.shim)
    with tempfile.TemporaryDirectory(prefix="refrain-locks-") as folder:
        record = [options.refrain, "record", "-o", os.path.join(folder, "run.rfn")]
        environment = {"REFRAIN_LIBRARY_PATH": options.libraries}
        if not spool:
            record += ["--spool", "off"]
        run = mpirun.run_job(options.mpi, RANKS, record + [options.program, str(ROUNDS)],
                             timeout=60, preload=preload, env=environment)
    if run.status != 0:
        raise SystemExit("exit status %d: %s" % (run.status, run.stderr.decode()))
    return {(int(m[1]), int(m[2])): tuple(map(int, m.groups()[2:]))
            for m in LINE.finditer(run.stdout.decode())}


def is_good(found, allowed):
    return len(found) == RANKS * THREADS and all(
        first > 0 and loop + disorder <= allowed for first, loop, disorder in found.values())


def main():
    parser = argparse.ArgumentParser()
    for name in ("--refrain", "--libraries", "--program", "--counter", "--shim"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--mpi", required=True)
    options = parser.parse_args()
    failed = False
    for spool in (False, True):
        allowed = CALLS // 50 if spool else 0
        found = {}
        for _ in range(RUNS if spool else 1):
            for thread, count in counts(options, spool).items():
                found[thread] = min(count, found.get(thread, count), key=lambda c: c[1] + c[2])
            good = is_good(found, allowed)
            if good:
                break
        failed = failed or not good
        print("%s  %s a spool, at most %d locks: (before, loop, disorder) %s"
              % ("pass" if good else "FAIL", "with" if spool else "without", allowed, found))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
