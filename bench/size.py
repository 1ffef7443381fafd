#!/usr/bin/env python3
"""Bytes of trace for programs whose communication is regular, for some that are not, and for one that
never repeats.

usage: size.py [--out DIR] [--quick] [--against FILE] [--estimate]      writes DIR/size.csv

Exit status 3 past a target. With --against, an earlier table (bench/results/size.csv is the one of this
version): when that one is past a target, or when a trace has grown but for durations, which a busy machine
spreads, by more than the names of folders and machines, which are in it.

The peers' numbers were measured once on one machine, with a program of the same communication on as many
ranks, without times of single calls. `calls_there` says how many calls they traced: a few more than this
program makes, as that one also asked for the time. Where nobody ran the peers on a program, the table says
"not measured here", and there is nothing to compare. `of_pilgrim` is this version's file, statistics of
durations included, over Pilgrim's, which has none; `structure_of_pilgrim` leaves out here what Pilgrim does
not keep either: statistics and totals. With --estimate (minutes) there is also what Pilgrim's published layout takes
for the calls of each trace (pilgrim_bytes.py), and both ratios to that: where Pilgrim was measured, they show how far
the estimate can be believed.
"""

import argparse
import csv
import json
import sys

import common
import pilgrim_bytes

# program, ranks -> calls that the peers traced, bytes of Pilgrim, EZTrace and Extrae
PEERS = {
    ("halo2d", 4): (18_253, 3198, 873_000, 5_000_000),
    ("halo2d", 16): (73_009, 5064, 3_580_000, 20_000_000),
    ("halo2d", 64): (292_033, 10_440, 14_300_000, 80_000_000),
    ("halo3d", 8): (None, 4614, None, None),
    ("halo3d", 27): (None, 8900, None, None),
    ("halo3d", 64): (252_225, 15_198, 12_700_000, 70_000_000),
    ("new_signature", 1): (300_000, 22_800_000, 11_400_000, 78_300_000),
}
# workload, program, argument, ranks, target in bytes
ROWS = [
    ("2D 5-point, 500 iterations", "halo2d", 500, 4, 3000),
    ("2D 5-point, 500 iterations", "halo2d", 500, 16, 3500),
    ("2D 5-point, 500 iterations", "halo2d", 500, 64, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 8, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 27, 3600),
    ("3D 7-point periodic, 300 iterations", "halo3d", 300, 64, 3600),
    ("2D sweep, 300 times", "sweep2d", 300, 64, 2000),
    ("transpose, 300 times", "transpose", 300, 64, 1200),
    ("recursive doubling, 100 times", "recursive_doubling", 100, 64, 1400),
    ("ring, 300 steps", "ring", 300, 64, 1300),
    ("MPI_Alltoallv, 20 times", "alltoallv", 20, 64, 1800),
    ("rows and columns, 100 times", "rows_columns", 100, 64, 1600),
    ("every call a new signature", "new_signature", 300_000, 1, 2_400_000),
    # Programs with thousands of signatures: target is what the structure takes, and three bytes of
    # statistics for each signature.
    ("multigrid, 20 V-cycles", "size_multigrid", 20, 16, 16_300),
    ("multigrid, 20 V-cycles", "size_multigrid", 20, 64, 50_600),
    ("adaptive refinement, 60 steps", "size_refinement", 60, 16, 49_400),
    ("CG on an unstructured mesh, 30 iterations", "size_unstructured", 30, 64, 25_900),
]
kHeader = ["workload", "ranks", "calls", "bytes", "structure", "calls_there", "pilgrim", "eztrace", "extrae",
           "of_pilgrim", "structure_of_pilgrim", "target", "good", "pilgrim_estimated", "of_estimate",
           "structure_of_estimate"]
kNotMeasured = "not measured here"
kMaxQuickRanks = 16
kNames = 160  # bytes that longer names may take
kOtherCompilers = 0.01  # the share that call sites of another compiler may take
# What was measured takes the bytes that it takes: a busy machine spreads durations. The rest, `structure`, is the same
# in every run, but for some numbers that are compressed with it: the time of the run, and places in its libraries.
kMeasuredSections = ("durations", "totals")


def structure_bytes(trace, size):
    sections = json.loads(common.run([common.REFRAIN, "stats", "--format", "json", trace]))["sections"]
    measured = [s["stored_bytes"] for s in sections if s["section"] in kMeasuredSections]
    return size - round(sum(measured))


def beside_peers(name, ranks, size, structure):
    """The cells from calls_there to structure_of_pilgrim."""
    if (name, ranks) not in PEERS:
        return ["-", kNotMeasured, "-", "-", "-", "-"]
    calls, pilgrim, eztrace, extrae = PEERS[name, ranks]
    return [*("-" if value is None else value for value in (calls, pilgrim, eztrace, extrae)),
            f"{size / pilgrim:.3f}", f"{structure / pilgrim:.3f}"]


def beside_estimate(trace, size, structure):
    common.progress(f"{trace.name}: what Pilgrim would keep")
    estimated = pilgrim_bytes.estimate(trace).total
    return [estimated, f"{size / estimated:.3f}", f"{structure / estimated:.3f}"]


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
    parser.add_argument("--estimate", action="store_true", help="with the bytes of Pilgrim's layout for each trace")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain)
    shim = common.compile_yield_shim(folder)
    binaries = {name: common.compile_program(name, folder) for name in {row[1] for row in ROWS}}
    results = []
    for workload, name, argument, ranks, target in ROWS:
        if arguments.quick and ranks > kMaxQuickRanks:
            continue
        common.progress(f"{workload}, {ranks} ranks")
        trace = folder / f"{name}_{ranks}.rfn"
        common.record(ranks, trace, [binaries[name], str(argument)], [shim])
        size = trace.stat().st_size
        calls, structure = common.info(trace)["calls"], structure_bytes(trace, size)
        results.append([workload, ranks, calls, size, structure, *beside_peers(name, ranks, size, structure),
                        target, "yes" if size <= target else "no",
                        *(beside_estimate(trace, size, structure) if arguments.estimate else ["-"] * 3)])
    common.progress("")
    common.print_table(kHeader, results)
    with open(folder / "size.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *results])
    print(f"written: {folder / 'size.csv'}")
    if not arguments.against:
        return 0 if all(row[kHeader.index("good")] == "yes" for row in results) else 3
    complaints = grown(results, arguments.against)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 3 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
