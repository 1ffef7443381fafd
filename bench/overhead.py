#!/usr/bin/env python3
"""Nanoseconds that recording adds to a call in a loop: untraced and traced runs in turn, medians.

usage: overhead.py [--out DIR] [--repeats N]      writes DIR/overhead.csv

On a shared machine times scatter: look at the ratio of one run before the nanoseconds. The targets
are for orientation, so the exit status does not depend on them.
"""

import argparse
import csv
import statistics
import sys

import common

# Loop -> nanoseconds per call that recording may add.
TARGETS_NS = {
    "irecv_isend_waitall_self": 100,
    "irecv_isend_waitall_proc_null": 100,
    "allreduce_8_bytes": 80,
    "iprobe": 70,
    "comm_rank": 50,
}
kHeader = ["loop", "untraced ns", "traced ns", "added ns", "ratio", "target ns"]


def measured(text):
    """{loop: ns per call} of one run of bench/programs/overhead.c."""
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()}


def main():
    parser = argparse.ArgumentParser(description="Cost of recording, per call.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=200_000)
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    command = [common.compile_program("overhead", folder), str(arguments.iterations)]
    untraced = {loop: [] for loop in TARGETS_NS}
    traced = {loop: [] for loop in TARGETS_NS}
    for repeat in range(arguments.repeats):
        common.progress(f"run {repeat + 1} of {arguments.repeats}")
        plain = measured(common.mpiexec(1, command))
        recorded = measured(common.record(1, folder / "overhead.rfn", command))
        for loop in TARGETS_NS:
            untraced[loop].append(plain[loop])
            traced[loop].append(recorded[loop])
    common.progress("")
    rows = []
    for loop, target in TARGETS_NS.items():
        before, after = statistics.median(untraced[loop]), statistics.median(traced[loop])
        ratio = statistics.median(t / u for t, u in zip(traced[loop], untraced[loop]))
        rows.append([loop, f"{before:.0f}", f"{after:.0f}", f"{after - before:+.0f}",
                     f"{ratio:.2f}", f"+{target}"])
    common.print_table(kHeader, rows)
    with open(folder / "overhead.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *rows])
    print(f"written: {folder / 'overhead.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
