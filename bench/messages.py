#!/usr/bin/env python3
"""What message logs cost: instructions for each receive and each byte, and bytes that are stored.

usage: messages.py [--out DIR]

A program receives messages from itself, with and without --messages; callgrind counts the instructions of its loop.
What the log adds to an iteration (a send, a receive, a wait) of short messages is the cost of a receive; what a byte
costs follows from long ones. The bytes do not compress. Then Table 4 of PHANTOM (2010): what programs received, what
of it came from other nodes (of two ranks), and what their logs take. Writes DIR/messages.csv and DIR/messages.json.

Exit status 1 where a receive takes more than 16 bytes beyond what was received, all that its file has of its own
included. A message beyond 1 MiB takes 8 bytes more for each further MiB.
"""

import argparse
import csv
import json
import sys

import common

SHORT, LONG = 8, 1 << 20
COUNTS = {SHORT: (2000, 6000), LONG: (4, 12)}
TARGET_RECEIVE_NS, TARGET_BYTE_NS = 150, 1.0
MOST_BEYOND = 16  # bytes stored for each receive beyond what was received
# Programs of Table 4, their arguments, and ranks.
TABLE = {"cg": (["2", "1000"], 4), "mg": (["2", "8"], 4), "bt": (["4", "6"], 4), "lu": (["4", "12"], 4),
         "sweep3d": (["weak", "1"], 4)}


def instructions(program, count, size, folder, logs):
    library = common.recorder_library()
    counts = folder / "callgrind.out"
    environment = {**common.MPICH_ENVIRONMENT, "REFRAIN_OUTPUT": str(folder / "messages.rfn"),
                   "LD_PRELOAD": str(library), "REFRAIN_QUIET": "1"}
    if logs:
        environment["REFRAIN_MESSAGES"] = "all"
    common.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--collect-atstart=no",
                "--toggle-collect=measured_piece", program, count, size], environment)
    return common.callgrind_total(counts)


def of_an_iteration(program, size, folder, logs):
    few, many = (instructions(program, count, size, folder, logs) for count in COUNTS[size])
    return (many - few) / (COUNTS[size][1] - COUNTS[size][0])


def stored(program, count, size, folder):
    trace = folder / "messages.rfn"
    common.mpiexec(1, [common.REFRAIN, "record", "-o", trace, "--messages", "all", "--", program, count, size])
    return json.loads(common.run([common.REFRAIN, "messages", trace, "--format", "json"]))["all"]


def table_row(name, words, ranks, folder):
    program, trace = common.compile_program(name, folder), folder / "messages.rfn"
    common.mpiexec(ranks, [common.REFRAIN, "record", "-o", trace, "--messages", "all", "--node-size", 2, "--", program,
                           *words])
    return json.loads(common.run([common.REFRAIN, "messages", trace, "--format", "json"]))["all"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    folder = common.prepare(parser.parse_args().out)
    program = common.compile_program("receives", folder)
    added = {}
    rows = []
    for size in (SHORT, LONG):
        plain = of_an_iteration(program, size, folder, False)
        logged = of_an_iteration(program, size, folder, True)
        added[size] = logged - plain
        rows.append([f"iteration of {size} bytes, instructions", f"{plain:.0f}", f"{logged:.0f}",
                     f"{added[size]:+.0f}", "-"])
    byte = (added[LONG] - added[SHORT]) / LONG
    rows.append(["receive, instructions (150 ns)", "-", "-", f"{added[SHORT]:.0f}", "-"])
    rows.append(["byte, instructions (1 ns)", "-", "-", f"{byte:.3f}", "-"])
    good = True
    for size, count in ((SHORT, 20000), (70000, 500), (LONG, 40)):
        found = stored(program, count, size, folder)
        good = good and found["stored_bytes"] <= found["received_bytes"] + MOST_BEYOND * found["receives"]
        rows.append([f"{count} receives of {size} bytes: stored", found["received_bytes"], found["stored_bytes"],
                     f"{(found['stored_bytes'] - found['received_bytes']) / found['receives']:+.1f}",
                     f"+{MOST_BEYOND}"])
    table = {}
    for name, (words, ranks) in TABLE.items():
        table[name] = found = table_row(name, words, ranks, folder)
        rows.append([f"{name}, {ranks} ranks, nodes of 2: received, crossing, stored", found["received_bytes"],
                     found["crossing_bytes"], found["stored_bytes"], "-"])
    header = ["", "without", "with a log", "added", "target"]
    common.print_table(header, rows)
    with open(folder / "messages.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    with open(folder / "messages.json", "w", encoding="utf-8") as file:
        json.dump({"instructions_a_receive": added[SHORT], "instructions_a_byte": byte, "programs": table}, file,
                  indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
