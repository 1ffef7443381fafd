#!/usr/bin/env python3
"""Bytes of time: begin and end of every call, exactly or within a bound, and what keeping them costs.

usage: time.py [--out DIR] [--runs N] [--refrain PATH]      writes DIR/time.csv

The targets and Pilgrim's numbers are for 141 000 calls of the first workload, and times are given for
that many of each; "factor" is the time of the program from MPI_Init to MPI_Finalize, as a multiple of
that with statistics only, medians of runs in turn. Exit status 3 where bytes of the first workload
pass a target.
"""

import argparse
import csv
import os
import statistics
import sys

import common

# workload, program, argument, ranks
ROWS = [
    ("2D 5-point, 500 iterations", "halo2d", 500, 16),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 27),
    ("2D sweep, 300 times", "sweep2d", 300, 16),
    ("ring, 300 steps", "ring", 300, 16),
]
# timing, kB of Pilgrim for 141 000 calls (its grammar, its histogram), target
TIMINGS = [("stats", None, 0), ("bins:0.2", "245, 175", 90), ("bins:0.02", None, 200), ("exact", None, 480)]
kCalls = 141_000
kHeader = ["workload", "ranks", "calls", "timing", "bytes", "a call", "kB in 141k", "pilgrim", "target", "factor"]


def seconds_of(output):
    """Most programs print what they took, as `seconds S finalize F`."""
    for line in output.splitlines():
        words = line.split()
        if words[:1] == ["seconds"]:
            return float(words[1])
    return None


def measure(binary, argument, ranks, shim, folder, runs):
    """Median seconds and the trace's `info`, by timing."""
    seconds, infos = {timing: [] for timing, _, _ in TIMINGS}, {}
    for _ in range(runs):
        for timing, _, _ in TIMINGS:
            trace = folder / f"time_{timing.replace(':', '_')}.rfn"
            output = common.record(ranks, trace, [binary, str(argument)], [shim],
                                   {"REFRAIN_TIMING": timing})
            seconds[timing].append(seconds_of(output))
            infos[timing] = common.info(trace)
            os.unlink(trace)
    known = {timing: None if None in s else statistics.median(s) for timing, s in seconds.items()}
    return known, infos


def main():
    parser = argparse.ArgumentParser(description="Bytes of time, beside Pilgrim's.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    shim = common.compile_yield_shim(folder)
    results, past = [], False
    for row, (workload, name, argument, ranks) in enumerate(ROWS):
        common.progress(f"{workload}, {ranks} ranks")
        binary = common.compile_program(name, folder)
        seconds, infos = measure(binary, argument, ranks, shim, folder, arguments.runs)
        for timing, pilgrim, target in TIMINGS:
            calls, size = infos[timing]["calls"], infos[timing].get("times", {}).get("bytes", 0)
            scaled = size / calls * kCalls / 1000
            past = past or (row == 0 and scaled > target)
            results.append([workload, ranks, calls, timing, size, f"{size / calls:.3f}", f"{scaled:.0f}",
                            (row == 0 and pilgrim) or "-", target if row == 0 else "-",
                            "-" if seconds["stats"] is None else f"{seconds[timing] / seconds['stats']:.2f}"])
    common.progress("")
    common.print_table(kHeader, results)
    with open(folder / "time.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *results])
    print(f"written: {folder / 'time.csv'}")
    return 3 if past else 0


if __name__ == "__main__":
    sys.exit(main())
