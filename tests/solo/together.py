#!/usr/bin/python3
"""Ranks that run at once wait for each other where they waited in their job.

    together.py --refrain build/refrain --mpi mpich --programs build/tests/programs/mpich --libraries build/src/tracer

`refrain solo --concurrent` runs the two ranks of a program in which rank 1 is late twice: before MPI_Init, and before
it sends to rank 0. Rank 0 leaves MPI_Init, and, as the trace has times, MPI_Recv, no sooner than rank 1 has come there.
A rank that ends early holds nobody. Exit status: 0 all good, 1 something is wrong, 77 no launcher.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

SKIPPED = 77
RANKS = 2
BEFORE_INIT, AFTER_INIT, BEFORE_MESSAGE, AFTER_MESSAGE = range(4)
options = None


def program():
    return os.path.join(options.programs, "together_alone")


def record(folder, name, *words):
    wrapper = [options.refrain, "record", "-o", name, "--messages", "all", *words, "--"]
    job = mpirun.run_job(options.mpi, RANKS, [program()], 100, cwd=folder, wrapper=wrapper,
                         env={"REFRAIN_LIBRARY_PATH": options.libraries})
    expect(job.status == 0, "recorded: %s" % job.stderr.decode(errors="replace")[-300:])


def at_once(folder, trace, **env):
    return subprocess.run([options.refrain, "solo", trace, "--rank", "0", "--concurrent", "--", program()], cwd=folder,
                          capture_output=True, text=True, timeout=100, check=False,
                          env=dict(os.environ, REFRAIN_LIBRARY_PATH=options.libraries, **env))


def times(folder, trace):
    done = at_once(folder, trace)
    found = {int(rank): [float(t) for t in text.split()]
             for rank, text in re.findall(r"rank (\d): ([\d. ]+)", done.stdout)}
    expect(done.returncode == 0 and sorted(found) == [0, 1], "%s: %d, %s" % (trace, done.returncode, done))
    return found


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--refrain", "--mpi", "--programs", "--libraries"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        return SKIPPED
    folder = tempfile.mkdtemp(prefix="refrain-solo-together-")
    try:
        record(folder, "untimed.rfn")
        found = times(folder, "untimed.rfn")
        expect(found[0][AFTER_INIT] >= found[1][BEFORE_INIT], "rank 0 begins before rank 1: %s" % found)
        record(folder, "timed.rfn", "--timing", "exact")
        found = times(folder, "timed.rfn")
        expect(found[0][AFTER_INIT] >= found[1][BEFORE_INIT], "rank 0 begins before rank 1: %s" % found)
        expect(found[0][AFTER_MESSAGE] >= found[1][BEFORE_MESSAGE], "rank 0 does not wait for rank 1: %s" % found)
        done = at_once(folder, "timed.rfn", TOGETHER_EXIT="1")
        expect(done.returncode == 7, "a rank that ends early: %d, %s" % (done.returncode, done))
        expect("rank 0: " in done.stdout, "it holds rank 0: %s" % done)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d wrong" % expectations.failures)
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
