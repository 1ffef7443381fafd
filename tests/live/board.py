#!/usr/bin/python3
"""One blackboard of all ranks (include/refrain/shared_blackboard.h): what examples/blackboard/histogram.c finds does
not depend on ranks and threads.

    board.py --mpi mpich --program build/tests/live/mpich/histogram --shim yield_shim.so
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import expectations  # noqa: E402
import mpirun  # noqa: E402
from expectations import expect  # noqa: E402

LIMIT_S = 300
PACKS, PACK, KINDS = 200, 1000, 8


def expected():
    counts, sums = [0] * KINDS, [0] * KINDS
    for i in range(PACKS * PACK):
        number = (i * 2654435761 & 0xffffffff) >> 20
        counts[number % KINDS] += 1
        sums[number % KINDS] += number
    return ["kind %d: %d numbers, sum %d" % (kind, counts[kind], sums[kind]) for kind in range(KINDS)]


def main():
    parser = argparse.ArgumentParser()
    for name in ("mpi", "program", "shim"):
        parser.add_argument("--" + name, default="")
    options = parser.parse_args()
    if mpirun.launcher(options.mpi) is None:
        print("skip  no launcher of", options.mpi)
        return 77
    preload = mpirun.shims(options.mpi, options.shim)
    right = expected()
    for ranks in (1, 2, 4):
        for workers in (0, 1, 2, 4):
            line = mpirun.command_line(options.mpi, ranks, [options.program, str(PACKS), str(workers)], preload)
            outcome = mpirun.run_command(line, LIMIT_S, mpirun.job_environment(options.mpi))
            found = outcome.stdout.decode().splitlines()
            expect(outcome.status == 0 and found == right, "%d ranks, %d workers: %d %s %s" % (
                ranks, workers, outcome.status, "as it should be" if found == right else found,
                outcome.stderr.decode()[-300:]))
    return 1 if expectations.failures else 0


if __name__ == "__main__":
    sys.exit(main())
