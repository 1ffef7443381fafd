#!/usr/bin/python3
"""How much of a buffer each function writes: what a program saw, and what its trace says by spec/mpi/calls.

    extents.py --refrain build/refrain --mpi mpich --program touch --reader touched_by [--shim yield_shim.so]
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpirun  # noqa: E402

RANKS = 3


def lines_of(text):
    return [tuple(line.split()) for line in text.splitlines()]


def compare(rank, saw, says):
    """Function by function, as calls of the program's own work lie between those that it looks at."""
    by_function = collections.defaultdict(list)
    for function, parameter, count in says:
        by_function[function, parameter].append(int(count))
    wrong = []
    seen = collections.defaultdict(list)
    for function, parameter, count in saw:
        seen[function, parameter].append(int(count))
    for key, counts in sorted(seen.items()):
        told = by_function.get(key, [])
        if [c for c in counts if c > 0] != [c for c in told if c > 0]:
            wrong.append(f"rank {rank}: {key[0]} writes {counts} bytes of {key[1]}, its trace says {told}")
    return wrong, len(seen)


def run(options, folder):
    trace = os.path.join(folder, "touch.rfn")
    preload = mpirun.shims(options.mpi, options.shim)
    wrapper = [options.refrain, "record", "-o", trace, "--"]
    done = mpirun.run_job(options.mpi, RANKS, [options.program, folder], 120, preload, {}, cwd=folder, wrapper=wrapper)
    if done.status != 0:
        return [f"the program ends with {done.status}: {done.stderr.decode(errors='replace')[-600:]}"]
    wrong, functions = [], 0
    for rank in range(RANKS):
        with open(os.path.join(folder, f"touched.{rank}.log"), encoding="utf-8") as log:
            saw = lines_of(log.read())
        says = subprocess.run([options.reader, trace, str(rank)], capture_output=True, timeout=60, check=True)
        found, functions = compare(rank, saw, lines_of(says.stdout.decode()))
        wrong += found
    print(f"extents: {functions} functions on {options.mpi}, {len(wrong)} wrong")
    if functions < 30:
        wrong.append(f"only {functions} functions were looked at")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for word in ("refrain", "mpi", "program", "reader"):
        parser.add_argument("--" + word, required=True)
    parser.add_argument("--shim")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = run(options, folder)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
