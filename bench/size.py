#!/usr/bin/env python3
"""Bytes of trace for programs whose communication is regular, for some that are not, and for one that
never repeats.

usage: size.py [--out DIR] [--quick] [--against FILE]      writes DIR/size.csv

Exit status 3 past a target. With --against, an earlier table (bench/results/size.csv is the one of this
version): when that one is past a target, or when a trace has grown but for durations, which a busy machine
spreads, by more than the names of folders and machines, which are in it.

The peers' numbers were measured once on one machine with the same kind of program, without time;
a dash stands where there is none.
"""

import argparse
import csv
import json
import sys

import common

# workload, program, argument, ranks, bytes of Pilgrim, EZTrace and Extrae, target in bytes
ROWS = [
    ("2D 5-point, 500 iterations", "halo2d", 500, 4, 3198, 873_000, 5_000_000, 3000),
    ("2D 5-point, 500 iterations", "halo2d", 500, 16, 5064, 3_580_000, 20_000_000, 3500),
    ("2D 5-point, 500 iterations", "halo2d", 500, 64, 10440, 14_300_000, 80_000_000, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 8, 4614, None, None, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 27, 8900, None, None, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 64, 15198, 12_700_000, 70_000_000, 3600),
    ("2D sweep, 300 times", "sweep2d", 300, 64, None, None, None, 2000),
    ("transpose, 300 times", "transpose", 300, 64, None, None, None, 1200),
    ("recursive doubling, 100 times", "recursive_doubling", 100, 64, None, None, None, 1400),
    ("ring, 300 steps", "ring", 300, 64, None, None, None, 1300),
    ("MPI_Alltoallv, 20 times", "alltoallv", 20, 64, None, None, None, 1800),
    ("rows and columns, 100 times", "rows_columns", 100, 64, None, None, None, 1600),
    ("every call a new signature", "new_signature", 300_000, 1, 22_800_000, 11_400_000, 78_300_000,
     2_400_000),
    # Programs with thousands of signatures: target is what the structure takes, and three bytes of
    # statistics for each signature.
    ("multigrid, 20 V-cycles", "size_multigrid", 20, 16, None, None, None, 16_300),
    ("multigrid, 20 V-cycles", "size_multigrid", 20, 64, None, None, None, 50_600),
    ("adaptive refinement, 60 steps", "size_refinement", 60, 16, None, None, None, 49_400),
    ("CG on an unstructured mesh, 30 iterations", "size_unstructured", 30, 64, None, None, None, 25_900),
]
kHeader = ["workload", "ranks", "calls", "bytes", "structure", "pilgrim", "eztrace", "extrae", "target", "good"]
kMaxQuickRanks = 16
kNames = 160  # bytes that longer names may take
kOtherCompilers = 0.01  # the share that call sites of another compiler may take
# What was measured takes the bytes that it takes: a busy machine spreads durations. The rest, `structure`, is the same
# in every run.
kMeasuredSections = ("durations", "totals")


def structure_bytes(trace, size):
    sections = json.loads(common.run([common.REFRAIN, "stats", "--format", "json", trace]))["sections"]
    measured = [s["stored_bytes"] for s in sections if s["section"] in kMeasuredSections]
    return size - round(sum(measured))


def largest(row):
    """Bytes of structure that are no growth since this row."""
    before = int(row["structure"])
    return before + max(kNames, before * kOtherCompilers)


def grown(results, file):
    """Complaints about rows that are larger than in an earlier table, or not in it at all."""
    with open(file, newline="", encoding="utf-8") as text:
        before = {(row["workload"], int(row["ranks"])): row for row in csv.DictReader(text)}
    found = [f"{file}: {row['workload']}, {row['ranks']} ranks: {row['bytes']} bytes, target {row['target']}"
             for row in before.values() if int(row["bytes"]) > int(row["target"])]
    for workload, ranks, calls, size, structure, *_ in results:
        row = before.get((workload, ranks))
        if row is None or row["structure"] == "-":
            found.append(f"{file} has no row for {workload}, {ranks} ranks")
        elif structure > largest(row) or calls != int(row["calls"]):
            found.append(f"{workload}, {ranks} ranks: {structure} of {size} bytes are structure for {calls} calls, "
                         f"before {row['structure']} of {row['bytes']} for {row['calls']}")
    return found


def main():
    parser = argparse.ArgumentParser(description="Bytes of trace, beside the peers'.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--quick", action="store_true", help="at most 16 ranks")
    parser.add_argument("--against", metavar="FILE", help="a table of before")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    shim = common.compile_yield_shim(folder)
    binaries = {name: common.compile_program(name, folder) for name in {row[1] for row in ROWS}}
    results = []
    for workload, name, argument, ranks, pilgrim, eztrace, extrae, target in ROWS:
        if arguments.quick and ranks > kMaxQuickRanks:
            continue
        common.progress(f"{workload}, {ranks} ranks")
        trace = folder / f"{name}_{ranks}.rfn"
        common.record(ranks, trace, [binaries[name], str(argument)], [shim])
        size = trace.stat().st_size
        peers = ["-" if peer is None else peer for peer in (pilgrim, eztrace, extrae)]
        calls, structure = common.info(trace)["calls"], structure_bytes(trace, size)
        results.append([workload, ranks, calls, size, structure, *peers, target,
                        "yes" if size <= target else "no"])
    common.progress("")
    common.print_table(kHeader, results)
    with open(folder / "size.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *results])
    print(f"written: {folder / 'size.csv'}")
    if not arguments.against:
        return 0 if all(row[-1] == "yes" for row in results) else 3
    complaints = grown(results, arguments.against)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 3 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
