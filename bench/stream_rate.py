#!/usr/bin/env python3
"""How fast streams of coupling.h are, beside plain MPI_Isend and MPI_Irecv of 1 MiB in the same run.

usage: stream_rate.py [--out DIR] [--blocks N] [--repeats N]

Figure 14 of the online-coupling paper: writers send N blocks of 1 MiB each (256) to readers, for 1:1 to 8:1 writers a
reader, with the coupling library and without it in turn. Prints the medians and what the stream is of the plain way
(target 0.8). Where ranks share cores, a copy more is what a byte costs most. Writes DIR/stream_rate.csv.
"""

import argparse
import csv
import statistics

import common

RATIOS = [(1, 1), (2, 1), (4, 1), (8, 1), (4, 2)]


def coupling_library():
    return common.recorder_library().parent.parent / "stream" / "librefrain-coupling-mpich.so"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--blocks", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    library = coupling_library()
    if not library.exists():
        library = common.recorder_library().parent / library.name  # installed
    binary = folder / "stream_rate"
    common.run(["mpicc.mpich", "-std=c11", "-O2", "-I", common.ROOT / "include", "-o", binary,
                common.ROOT / "bench/programs/stream_rate.c", library, f"-Wl,-rpath,{library.parent}"])
    shim = common.compile_yield_shim(folder)
    header = ["writers", "readers", "memcpy MiB/s", "plain MiB/s", "stream MiB/s", "stream / plain", "target"]
    rows = []
    for writers, readers in RATIOS:
        common.progress(f"{writers} writers, {readers} readers")
        words = [str(arguments.blocks), str(arguments.repeats)]
        text = common.mpiexec(writers, [binary, "writer", *words, ":", "-n", str(readers), binary, "reader", *words],
                              [shim])
        runs = [[float(word) for word in line.split()] for line in text.splitlines()]
        copy, plain, stream = (statistics.median(run[i] for run in runs) for i in (2, 3, 4))
        ratio = statistics.median(run[4] / run[3] for run in runs)
        rows.append([writers, readers, f"{copy:.0f}", f"{plain:.0f}", f"{stream:.0f}", f"{ratio:.2f}", "0.80"])
    common.progress("")
    common.print_table(header, rows)
    with open(folder / "stream_rate.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main()
