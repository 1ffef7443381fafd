#!/usr/bin/env python3
"""How fast streams of coupling.h are, beside plain MPI_Isend and MPI_Irecv of 1 MiB in the same run.

usage: stream_rate.py [--out DIR] [--blocks N] [--repeats N] [--fresh BYTES] [--mpi mpich|openmpi]

Figure 14 of the online-coupling paper: writers send N blocks of 1 MiB each (256) to readers, for 1:1 to 32:1 writers a
reader: plainly, by a stream whose blocks are filled and looked at in place, and by one that copies them, in turn.
Prints medians of what each way moves, and of what the streams are of the plain way in the same turn (target 0.8 in
place). Of each block its writer makes --fresh bytes anew (4096): with all of them (1048576) the plain way, too, pays
for memory that the other core has just read. Where ranks share cores, a copy more is what a byte costs most.
Writes DIR/stream_rate.csv.
"""

import argparse
import csv
import os
import shutil
import statistics

import common

RATIOS = [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (4, 2)]
kTarget = 0.8


def coupling_library(mpi):
    name = f"librefrain-coupling-{mpi}.so"
    library = common.recorder_library().parent.parent / "stream" / name
    return library if library.exists() else common.recorder_library().parent / name  # installed


def command(mpi, writers, readers, binary, words, shim):
    programs = [binary, "writer", *words, ":", "-n", readers, binary, "reader", *words]
    if mpi == "mpich":
        return ["mpiexec.mpich", "-genv", "LD_PRELOAD", shim, "-n", writers, *programs]
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    return ["mpirun.openmpi", *root, "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,vader",
            "-n", writers, *programs]


def measure(mpi, folder, arguments):
    library = coupling_library(mpi)
    binary = folder / f"stream_rate.{mpi}"
    common.run([f"mpicc.{mpi}", "-std=c11", "-O2", "-I", common.ROOT / "include", "-o", binary,
                common.ROOT / "bench/programs/stream_rate.c", library, f"-Wl,-rpath,{library.parent}"])
    shim = common.compile_yield_shim(folder)
    words = [arguments.blocks, arguments.repeats + 1, arguments.fresh]
    for writers, readers in RATIOS:
        common.progress(f"{mpi}: {writers} writers, {readers} readers")
        text = common.run(command(mpi, writers, readers, binary, words, shim), common.MPICH_ENVIRONMENT)
        # The first turn touches memory for the first time.
        turns = [[float(word) for word in line.split()[2:]] for line in text.splitlines()[1:]]
        copy, plain, in_place, copied = (statistics.median(turn[i] for turn in turns) for i in range(4))
        ratios = [statistics.median(turn[i] / turn[1] for turn in turns) for i in (2, 3)]
        yield [mpi, writers, readers, *(f"{value:.0f}" for value in (copy, plain, in_place, copied)),
               *(f"{ratio:.2f}" for ratio in ratios), f"{kTarget:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--blocks", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--fresh", type=int, default=4096)
    parser.add_argument("--mpi", choices=["mpich", "openmpi"])
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    header = ["MPI", "writers", "readers", "memcpy MiB/s", "plain MiB/s", "in place MiB/s", "copied MiB/s",
              "in place / plain", "copied / plain", "target"]
    rows = []
    for mpi in ("mpich", "openmpi"):
        if arguments.mpi in (None, mpi) and shutil.which(f"mpicc.{mpi}") and coupling_library(mpi).exists():
            rows += measure(mpi, folder, arguments)
    common.progress("")
    common.print_table(header, rows)
    with open(folder / "stream_rate.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


if __name__ == "__main__":
    main()
