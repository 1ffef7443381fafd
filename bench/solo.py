#!/usr/bin/env python3
"""What it costs to run one rank alone, and how near its times are to those of the whole job.

usage: solo.py [--out DIR] [--repeats N] [--counts]

Answering: a rank of a ping-pong, and one that sends to itself, run alone under callgrind with two numbers of messages;
the difference is what a call costs, and long messages say what a byte does. --counts: no more than that.

Times: a ping-pong with work between its messages is recorded --repeats times with exact times, and each of its two
ranks runs alone as often. The sum of the least times of all units, and the median of the units' ratios, are compared
with those in place. This wants two cores that nobody else uses. Writes DIR/solo.json.

Exit status 3 where a call takes more than 900 instructions (250 ns) or a byte more than 1.8 (0.5 ns); with times, where
the sums differ by more than 5 % or the median ratio is not between 0.9 and 1.1.
"""

import argparse
import csv
import json
import shutil
import statistics
import struct
import subprocess
import sys

import common

SHORT, LONG = 8, 1 << 18
COUNTS = {SHORT: (2000, 10000), LONG: (10, 50)}
# 250 ns and 0.5 ns; a long memcpy counts as an instruction for each byte.
MOST_A_CALL, MOST_A_BYTE = 900, 1.8
RANKS, ROUNDS, POINTS = 2, 300, 20000
# Program: calls of an iteration.
CALLS = {"pingpong": 2, "receives": 3}


def recorded(program, ranks, words, folder, options=("--messages", "all")):
    trace = folder / "solo.rfn"
    shutil.rmtree(f"{trace}.messages", ignore_errors=True)
    common.mpiexec(ranks, [common.REFRAIN, "record", "-o", trace, *options, "--", program, *words])
    return trace


def answering(program, words, trace, folder):
    """Instructions of rank 0 alone in measured_piece()."""
    counts = folder / "callgrind.out"
    library = common.recorder_library().with_name("librefrain-solo-mpich.so")
    environment = {**common.MPICH_ENVIRONMENT, "LD_PRELOAD": str(library), "REFRAIN_SOLO_TRACE": str(trace),
                   "REFRAIN_SOLO_RANK": "0"}
    common.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--collect-atstart=no",
                "--toggle-collect=measured_piece", program, *words], environment)
    for line in counts.read_text(encoding="utf-8").splitlines():
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    return common.fail(f"{counts} says no total")


def of_an_iteration(program, name, size, folder):
    found = []
    for count in COUNTS[size]:
        words = [count, size]
        found.append(answering(program, words, recorded(program, RANKS if name == "pingpong" else 1, words,
                                                        folder), folder))
    return (found[1] - found[0]) / (COUNTS[size][1] - COUNTS[size][0])


def costs(folder):
    result = {}
    for name, calls in CALLS.items():
        program = common.compile_program(name, folder)
        short, long = (of_an_iteration(program, name, size, folder) for size in (SHORT, LONG))
        result[name] = {"instructions_a_call": short / calls, "instructions_a_byte": (long - short) / (LONG - SHORT)}
    return result


def unzip(stored, raw_bytes):
    if len(stored) == raw_bytes:
        return stored
    return subprocess.run(["zstd", "-dc"], input=stored, capture_output=True, check=True).stdout


class Bytes:
    """A cursor over bytes of a vector file (docs/format.md, Computation vectors)."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzags(self, count):
        values, value = [], 0
        for _ in range(count):
            code = self.varint()
            value += (code >> 1) ^ -(code & 1)
            values.append(value)
        return values

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]


def least_times(path):
    """By rank: the least time of each unit of its first thread."""
    file = Bytes(path.read_bytes())
    (vectors,) = struct.unpack_from("<I", file.take(32), 24)
    result = {}
    for _ in range(vectors):
        rank, thread = file.varint(), file.varint()
        file.take(1)
        _runs, _doubtful, units = file.varint(), file.varint(), file.varint()
        least = []
        while len(least) < units:
            raw, stored, _checksum = struct.unpack("<III", file.take(12))
            columns = Bytes(unzip(file.take(stored), raw))
            least += columns.zigzags(min(65536, units - len(least)))
        if thread == 0:
            result[rank] = least
    return result


def times_in_place(traces, folder):
    """By rank: the least time of each unit in all of the traces, without the recorder's own work."""
    path, result = folder / "in_place.csv", {}
    common.run([common.REFRAIN, "similarity", *traces, "--vectors", path, "--force"])
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            result.setdefault(int(row["rank"]), []).append(int(row["ns"]))
    return result


def compare_times(repeats, folder):
    program = common.compile_program("pingpong", folder)
    words = [ROUNDS, SHORT, POINTS]
    traces = []
    for i in range(repeats):
        traces.append(recorded(program, RANKS, words, folder, ("--timing", "exact"))
                      .rename(folder / f"in_place.{i}.rfn"))
    in_place = times_in_place(traces, folder)
    trace, vectors = recorded(program, RANKS, words, folder), folder / "solo.rfv"
    vectors.unlink(missing_ok=True)
    for rank in range(RANKS):
        common.run([common.REFRAIN, "solo", trace, "--rank", rank, "--repeat", repeats, "--times", vectors, "--",
                    program, *words])
    alone = least_times(vectors)
    result = []
    for rank in range(RANKS):
        least = in_place[rank]
        # Units without work are as short as the clock is coarse.
        ratios = [a / b for a, b in zip(alone[rank], least) if b > 1000]
        result.append({"rank": rank, "units": len(least), "in_place_ns": sum(least), "alone_ns": sum(alone[rank]),
                       "sum_ratio": sum(alone[rank]) / max(sum(least), 1), "median_ratio": statistics.median(ratios)})
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--counts", action="store_true", help="count instructions, and measure no times")
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    result = {"answering": costs(folder)}
    rows = [[name, f"{c['instructions_a_call']:.0f}", f"{c['instructions_a_byte']:.3f}"]
            for name, c in result["answering"].items()]
    good = all(c["instructions_a_call"] <= MOST_A_CALL and c["instructions_a_byte"] <= MOST_A_BYTE
               for c in result["answering"].values())
    common.print_table(["answering, instructions", "a call", "a byte"],
                       rows + [["target", MOST_A_CALL, MOST_A_BYTE]])
    if not arguments.counts:
        result["times"] = compare_times(arguments.repeats, folder)
        common.print_table(["rank", "units", "in place", "alone", "ratio of sums", "median ratio"],
                           [[t["rank"], t["units"], f"{t['in_place_ns'] / 1e6:.3f} ms", f"{t['alone_ns'] / 1e6:.3f} ms",
                             f"{t['sum_ratio']:.3f}", f"{t['median_ratio']:.3f}"] for t in result["times"]])
        good = good and all(abs(t["sum_ratio"] - 1) <= 0.05 and 0.9 <= t["median_ratio"] <= 1.1
                            for t in result["times"])
    with open(folder / "solo.json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    print(f"written: {folder / 'solo.json'}")
    return 0 if good else 3


if __name__ == "__main__":
    sys.exit(main())
