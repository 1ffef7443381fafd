#!/usr/bin/env python3
"""What it costs to run one rank alone, and how near its times are to those of the whole job.

usage: solo.py [--out DIR] [--repeats N] [--counts | --only PART]

Answering: a rank of a ping-pong, and one that sends to itself, run alone under callgrind with two numbers of messages;
the difference is what a call costs, and long messages say what a byte does. --counts: no more than that.

Times: a ping-pong with work between its messages is recorded --repeats times with exact times, and each of its two
ranks runs alone as often. The sum of the least times of all units, and the median of the units' ratios, are compared
with those in place. The same from a log that 16 ranks made on two cores, of two ranks whose work is that of a job of
two ranks. This wants two cores that nobody else uses.

Share: Sweep3D, weak, measures the seconds in its calls by itself, in a job and alone: 8.28 of 32.62 s in PHANTOM
(section 7.4, figure 14), where a rank in place waits for the others. Work is a sleep, so that ranks need no core each.
So is the time of messages of 64 KiB for which nobody waits. That row has no target: in place they are copied from cache
to cache, and to read a log's bytes out of the memory alone takes more than a quarter of that.

Memory: a kernel on arrays beyond all caches, on two ranks in place, alone, and with --concurrent, in turns. Ranks share
the memory, so times alone are too short; what is compared with a target is --concurrent. Where one rank does not use up
the memory's bandwidth, all three are equal.

--only: answering, times, share or memory. Writes DIR/solo.json.

Exit status 3 where a call takes more than 600 instructions (170 ns) or a byte more than 1.8 (0.5 ns); with times, where
the sums differ by more than 5 % or the median ratio is not between 0.9 and 1.1; where answering takes more than 25 % of
the time that Sweep3D spends in its calls in place.
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
# 170 ns and 0.5 ns; a long memcpy counts as an instruction for each byte.
MOST_A_CALL, MOST_A_BYTE = 600, 1.8
RANKS, ROUNDS, POINTS = 2, 300, 20000
MANY_RANKS = 16
# Of kernel.c: rounds, doubles of an array, bytes of a message.
SMALL_KERNEL = (200, 20000, 8)
SHARED_KERNEL = (2000, 2000, 65536)
# The weak mesh, iterations; nanoseconds of work for a cell.
SWEEP, SWEEP_WORK_NS = ("weak", 10), 25
LARGE_KERNEL = (20, 4 << 20, 8)
MOST_SHARE = 0.25
PARTS = ("answering", "times", "share", "memory")
# Program: calls of an iteration.
CALLS = {"pingpong": 2, "receives": 3}


def recorded(program, ranks, words, folder, options=("--messages", "all"), preload=(), name="solo.rfn", launch=()):
    trace = folder / name
    shutil.rmtree(f"{trace}.messages", ignore_errors=True)
    common.mpiexec(ranks, [common.REFRAIN, "record", "-o", trace, *options, "--", program, *words], preload,
                   words=launch)
    return trace


def answering(program, words, trace, folder):
    """Instructions of rank 0 alone in measured_piece()."""
    counts = folder / "callgrind.out"
    library = common.recorder_library().with_name("librefrain-solo-mpich.so")
    environment = {**common.MPICH_ENVIRONMENT, "LD_PRELOAD": str(library), "REFRAIN_SOLO_TRACE": str(trace),
                   "REFRAIN_SOLO_RANK": "0"}
    common.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", "--collect-atstart=no",
                "--toggle-collect=measured_piece", program, *words], environment)
    return common.callgrind_total(counts)


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
    header = file.take(32)
    has_totals = header[10] & 1
    (vectors,) = struct.unpack_from("<I", header, 24)
    result = {}
    for _ in range(vectors):
        rank, thread = file.varint(), file.varint()
        file.take(1)
        _runs, _doubtful, units = file.varint(), file.varint(), file.varint()
        if has_totals:
            for _ in range(file.varint()):
                file.varint()
            file.take(4)
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


def in_place(program, words, repeats, folder):
    traces = []
    for i in range(repeats):
        traces.append(recorded(program, RANKS, words, folder, ("--timing", "exact"))
                      .rename(folder / f"in_place.{i}.rfn"))
    return times_in_place(traces, folder)


def alone(program, words, repeats, folder, ranks=RANKS):
    """Least times of ranks 0 and 1 from a log of so many ranks."""
    preload = [common.compile_yield_shim(folder)] if ranks > RANKS else []
    trace, vectors = recorded(program, ranks, words, folder, preload=preload), folder / "solo.rfv"
    vectors.unlink(missing_ok=True)
    for rank in range(RANKS):
        common.run([common.REFRAIN, "solo", trace, "--rank", rank, "--repeat", repeats, "--times", vectors,
                    "--", program, *words])
    return least_times(vectors)


def compared(what, times, least_in_place):
    result = []
    for rank in range(RANKS):
        least = least_in_place[rank]
        # Units without work are as short as the clock is coarse.
        ratios = [a / b for a, b in zip(times[rank], least) if b > 1000]
        result.append({"what": what, "rank": rank, "units": len(least), "in_place_ns": sum(least),
                       "alone_ns": sum(times[rank]), "sum_ratio": sum(times[rank]) / max(sum(least), 1),
                       "median_ratio": statistics.median(ratios)})
    return result


def compare_times(repeats, folder):
    program, words = common.compile_program("pingpong", folder), [ROUNDS, SHORT, POINTS]
    result = compared("ping-pong", alone(program, words, repeats, folder), in_place(program, words, repeats, folder))
    kernel = common.compile_program("kernel", folder)
    least = in_place(kernel, SMALL_KERNEL, repeats, folder)
    for ranks in (RANKS, MANY_RANKS):
        result += compared(f"kernel, log of {ranks} ranks", alone(kernel, SMALL_KERNEL, repeats, folder, ranks), least)
    return result


def least_of(runs):
    """By rank: the least time of each unit in all of the runs."""
    return {rank: [min(times) for times in zip(*(run[rank] for run in runs))] for rank in range(RANKS)}


def one_run(log, ranks, words, folder, options=()):
    """The times of the units of these ranks, alone or at once."""
    vectors = folder / "solo.rfv"
    vectors.unlink(missing_ok=True)
    for rank in ranks:
        common.run([common.REFRAIN, "solo", log, "--rank", rank, "--times", vectors, *options, "--", *words])
    return least_times(vectors)


def compare_memory(repeats, folder):
    """In turns, so that what else the machine does meets all of them."""
    words = [common.compile_program("kernel", folder), *LARGE_KERNEL]
    exact = ("--timing", "exact")
    # With times, so that ranks that run at once wait for each other as they did.
    log = recorded(words[0], RANKS, LARGE_KERNEL, folder, ("--messages", "all", *exact), name="memory.rfn")
    in_place_runs, alone_runs, at_once = [], [], []
    for _ in range(repeats):
        # On a core each, as solo pins its ranks.
        pinned = recorded(words[0], RANKS, LARGE_KERNEL, folder, exact, launch=("-bind-to", "core"))
        in_place_runs.append(times_in_place([pinned], folder))
        alone_runs.append(one_run(log, range(RANKS), words, folder))
        at_once.append(one_run(log, [0], words, folder, ["--concurrent"]))
    least = least_of(in_place_runs)
    return (compared("arrays of 32 MiB, alone", least_of(alone_runs), least) +
            compared("arrays of 32 MiB, --concurrent", least_of(at_once), least))


def seconds_in_calls(output):
    """By rank, what kernel.c has printed, or in_calls.h."""
    rows = (line.removeprefix("in calls: ").split() for line in output.splitlines() if not line.startswith("seconds"))
    return {int(rank): float(seconds) for rank, seconds in rows}


def share_of_answers(what, program, words, ranks, repeats, folder, preload=()):
    """Of ranks 0 and 1: the least seconds in the calls of a job, and of the rank alone."""
    least = {}
    trace = recorded(program, ranks, words, folder, preload=preload)
    for _ in range(repeats):
        for rank, seconds in seconds_in_calls(common.mpiexec(ranks, [program, *words], preload)).items():
            least.setdefault(rank, {}).setdefault("in_place", []).append(seconds)
        for rank in range(RANKS):
            output = common.run([common.REFRAIN, "solo", trace, "--rank", rank, "--", program, *words])
            least[rank].setdefault("alone", []).append(seconds_in_calls(output)[rank])
    return [{"what": what, "rank": rank, "in_place_s": min(least[rank]["in_place"]),
             "alone_s": min(least[rank]["alone"]), "share": min(least[rank]["alone"]) / min(least[rank]["in_place"])}
            for rank in range(RANKS)]


def shares(repeats, folder):
    before = ["-include", common.ROOT / "bench/programs/in_calls.h", f"-DWORK_NS={SWEEP_WORK_NS}"]
    sweep = common.compile_program("sweep3d", folder, before)
    shim = [common.compile_yield_shim(folder)]
    result = []
    for ranks in (RANKS, MANY_RANKS):
        result += share_of_answers(f"Sweep3D weak, {ranks} ranks", sweep, SWEEP, ranks, repeats, folder, shim)
    kernel = common.compile_program("kernel", folder)
    for row in result:
        row["target"] = MOST_SHARE
    return result + share_of_answers("64 KiB, nobody waits", kernel, SHARED_KERNEL, RANKS, repeats, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="build/bench")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--counts", action="store_const", const="answering", dest="only",
                        help="count instructions, and measure no times")
    parser.add_argument("--only", choices=PARTS)
    arguments = parser.parse_args()
    folder = common.prepare(arguments.out)
    result, good = {}, True
    if arguments.only in (None, "answering"):
        result["answering"] = costs(folder)
        rows = [[name, f"{c['instructions_a_call']:.0f}", f"{c['instructions_a_byte']:.3f}"]
                for name, c in result["answering"].items()]
        good = all(c["instructions_a_call"] <= MOST_A_CALL and c["instructions_a_byte"] <= MOST_A_BYTE
                   for c in result["answering"].values())
        common.print_table(["answering, instructions", "a call", "a byte"],
                           rows + [["target", MOST_A_CALL, MOST_A_BYTE]])
    for part, compare in (("times", compare_times), ("memory", compare_memory)):
        if arguments.only not in (None, part):
            continue
        result[part] = compare(arguments.repeats, folder)
        common.print_table(["times", "rank", "units", "in place", "alone", "ratio of sums", "median ratio"],
                           [[t["what"], t["rank"], t["units"], f"{t['in_place_ns'] / 1e6:.3f} ms",
                             f"{t['alone_ns'] / 1e6:.3f} ms", f"{t['sum_ratio']:.3f}", f"{t['median_ratio']:.3f}"]
                            for t in result[part]])
        good = good and all(abs(t["sum_ratio"] - 1) <= 0.05 and 0.9 <= t["median_ratio"] <= 1.1
                            for t in result[part] if not t["what"].endswith(", alone"))
    if arguments.only in (None, "share"):
        result["share"] = shares(arguments.repeats, folder)
        common.print_table(["in calls", "rank", "in place", "answering", "share", "target"],
                           [[t["what"], t["rank"], f"{t['in_place_s'] * 1e3:.3f} ms", f"{t['alone_s'] * 1e3:.3f} ms",
                             f"{t['share']:.3f}", t.get("target", "")] for t in result["share"]])
        good = good and all(t["share"] <= t.get("target", t["share"]) for t in result["share"])
    with open(folder / "solo.json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    print(f"written: {folder / 'solo.json'}")
    return 0 if good else 3


if __name__ == "__main__":
    sys.exit(main())
