#!/usr/bin/env python3
"""Regular programs from 64 to 4096 ranks under SimGrid's SMPI: what their traces take.

usage: scale.py [--out DIR] [--ranks 64,256,1024,4096] [--only PROGRAM]
writes DIR/programs.csv; exit status 3 where a file grows with the ranks, but for a byte each
"""

import argparse
import csv
import json
import sys

import common

sys.path.insert(0, str(common.ROOT / "tests/support"))
import regular  # noqa: E402
import smpi  # noqa: E402

kTimeoutSeconds = 3600  # 16 million messages, alone on a machine a quarter of that
kBytesARank = {"totals": 1, "ranks": 0}  # of sections
kBytesOnce = 98
kHeader = ["program", "ranks", "calls", "bytes", "no totals", "s untraced", "s traced", "MB untraced",
           "MB traced", "flat"]


def run(program, binary, ranks, folder, wrapper):
    command = smpi.command_line(ranks, [str(binary), str(program.iterations)], wrapper, str(folder),
                                program.settings)
    done = smpi.run(command, kTimeoutSeconds)
    if done.status != 0 or "refrain:" in done.output:
        common.fail(f"{' '.join(command)}: exit status {done.status}\n{done.output}")
    return done


def measure(program, binary, ranks, folder):
    trace = folder / f"{program.name}_{ranks:05}.rfn"
    plain = run(program, binary, ranks, folder, [])
    traced = run(program, binary, ranks, folder, [str(common.REFRAIN), "record", "-o", str(trace)])
    stats = json.loads(common.run([common.REFRAIN, "stats", "--format", "json", trace]))
    totals = round(sum(s["stored_bytes"] for s in stats["sections"] if s["section"] in kBytesARank))
    size = trace.stat().st_size
    return size, totals, [program.name, ranks, stats["calls"], size, size - totals, f"{plain.seconds:.1f}",
                          f"{traced.seconds:.1f}", plain.peak_bytes >> 20, traced.peak_bytes >> 20]


def compile_program(name, folder):
    binary = folder / f"{name}.smpi"
    common.run(["smpicc", "-std=c11", "-O2", "-g", "-o", binary, common.ROOT / f"bench/programs/{name}.c"])
    return binary


def main():
    parser = argparse.ArgumentParser(description="Bytes of trace at many ranks.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--ranks", default="64,256,1024,4096")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    if not common.has_smpi("real programs at many ranks are left out"):
        return 0
    results, left_out = [], []
    for program in regular.PROGRAMS:
        if arguments.only and program.name != arguments.only:
            continue
        binary = compile_program(program.name, folder)
        first = None
        for ranks in map(int, arguments.ranks.split(",")):
            if ranks > program.max_ranks:
                left_out.append(f"{program.name} at {ranks} ranks: SMPI would simulate {ranks * ranks} messages")
                continue
            common.progress(f"{program.name}, {ranks} ranks")
            size, totals, row = measure(program, binary, ranks, folder)
            first = first or (ranks, size - totals)
            flat = (totals <= sum(kBytesARank.values()) * ranks + kBytesOnce and
                    size - totals <= first[1] + regular.may_grow(program, first[0], ranks))
            results.append([*row, "yes" if flat else "no"])
    common.progress("")
    common.print_table(kHeader, results)
    for line in left_out:
        print(f"left out: {line}")
    with open(folder / "programs.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *results])
    print(f"written: {folder / 'programs.csv'}")
    return 0 if all(row[-1] == "yes" for row in results) else 3


if __name__ == "__main__":
    sys.exit(main())
