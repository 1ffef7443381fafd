#!/usr/bin/env python3
"""How well a few ranks stand for all: clusters, and how many parameters of all calls are what they were.

usage: cluster.py [--out DIR] [--quick] [--ranks 64,256] [--program NAME ...]      writes DIR/cluster.csv

Programs of bench/programs run under SimGrid's SMPI. Beside exact endpoints stands the paper's way (`--paper`).
`found_s` is what `refrain cluster` takes as a whole. Exit status 3 if sweep2d has not nine clusters, or a parameter of
it, or any source or destination, is not what it was with exact endpoints.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import time

import common

sys.path.insert(0, str(common.ROOT / "tests/support"))
import smpi  # noqa: E402

# program, argument, settings of SMPI
PROGRAMS = [
    ("sweep2d", 20, ()),
    ("halo2d", 20, ()),
    ("halo3d", 20, ()),
    ("ring", 20, ()),
    ("transpose", 10, ()),
    ("recursive_doubling", 10, ()),
    ("rows_columns", 10, ()),
]
# The rows of ACURDION's table II.
KINDS = ["COUNT", "LOOP", "EVENTS", "SRC", "DEST", "TAG"]
WAYS = [("exact", ()), ("kinds", ("--k", "kinds")), ("paper", ("--paper",)), ("two steps", ("--steps", "2")),
        ("two-signature", ("--method", "two-signature")), ("reference", ("--method", "reference"))]
kHeader = ["program", "ranks", "way", "clusters", "structures", *KINDS, "bytes", "full_bytes", "found_s", "replayable"]


def record(program, argument, ranks, settings, folder):
    """A trace with exact times of the simulation."""
    binary = folder / program
    common.run(["smpicc", "-std=c11", "-O2", "-g", "-o", binary, common.ROOT / f"bench/programs/{program}.c", "-lm"])
    trace = folder / f"{program}-{ranks}.rfn"
    wrapper = [str(common.REFRAIN), "record", "--quiet", "--timing", "exact", "-o", str(trace)]
    line = smpi.command_line(ranks, [str(binary), str(argument)], wrapper, str(folder), settings)
    environment = dict(os.environ, REFRAIN_LIBRARY_PATH=str(recorders()))
    done = smpi.run(line, common.kRunTimeoutSeconds, environment)
    if done.status != 0 or not trace.exists():
        common.fail(f"{program} at {ranks} ranks: exit status {done.status}\n{done.output[-400:]}")
    return trace


def recorders():
    build = common.REFRAIN.resolve().parent
    for folder in (build / "src/tracer", build, build.parent / "lib"):
        if (folder / "librefrain-smpi.so").exists():
            return folder
    common.fail(f"there is no librefrain-smpi.so in {build}")
    return None


def cluster(trace, words, folder):
    """What `refrain cluster` says, and how long it took; nothing where it refuses."""
    out = folder / "clustered.rfn"
    ranks = common.info(trace)["ranks"]
    if "--k" not in words:
        words = (*words, "--k", str(min(9, ranks)))
    began = time.monotonic()
    done = subprocess.run([str(common.REFRAIN), "cluster", str(trace), "-o", str(out), "--force", "--format", "json",
                           *words], capture_output=True, text=True, timeout=common.kRunTimeoutSeconds, check=False)
    if done.returncode != 0:
        print(f"{trace.name} {' '.join(words)}: {done.stderr.strip()}", file=sys.stderr)
        return None, 0
    return json.loads(done.stdout), time.monotonic() - began


def complaints(program, way, said):
    """What must be, and is not."""
    shares = {kind: said["matching"][kind]["share"] for kind in KINDS}
    found = []
    if program == "sweep2d" and way == "exact":
        if said["cluster_count"] != 9:
            found.append(f"sweep2d has {said['cluster_count']} clusters")
        found += [f"sweep2d keeps {shares[kind]:.2%} of {kind}" for kind in KINDS if shares[kind] < 1]
    if way == "exact":
        found += [f"{program} keeps {shares[kind]:.2%} of {kind}" for kind in ("SRC", "DEST") if shares[kind] < 1]
    return found


def main():
    parser = argparse.ArgumentParser(description="Clusters of ranks, and what they keep.")
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--quick", action="store_true", help="64 ranks only")
    parser.add_argument("--ranks", default="64,256,1024", help="with commas between")
    parser.add_argument("--program", action="append", help="only this one; again and again")
    parser.add_argument("--refrain", help="the program (./refrain)")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out, arguments.refrain) / "cluster"
    folder.mkdir(exist_ok=True)
    counts = [64] if arguments.quick else [int(word) for word in arguments.ranks.split(",")]
    rows, wrong = [], []
    for program, argument, settings in PROGRAMS:
        if arguments.program and program not in arguments.program:
            continue
        for ranks in counts:
            common.progress(f"{program}, {ranks} ranks")
            trace = record(program, argument, ranks, settings, folder)
            for way, words in WAYS:
                said, seconds = cluster(trace, words, folder)
                if said is None:
                    continue
                wrong += [f"{ranks} ranks: {text}" for text in complaints(program, way, said)]
                shares = [f"{100 * said['matching'][kind]['share']:.2f}" for kind in KINDS]
                rows.append([program, ranks, way, said["cluster_count"], said["structures"], *shares,
                             said["bytes_after"], said["bytes_before"], f"{seconds:.2f}", said["replayable"]])
    common.progress("")
    common.print_table(kHeader, rows)
    path = pathlib.Path(arguments.out) / "cluster.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([kHeader, *rows])
    print(f"written: {path}")
    for text in wrong:
        print(f"cluster: {text}", file=sys.stderr)
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
